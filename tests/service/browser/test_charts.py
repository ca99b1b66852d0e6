"""Texts of a study in the charts of the dashboard: shown as they are, and never as links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from supm.collection import plan
from supm.schema import Categorical, Continuous, Schema

LINK: Final = '<a href="https://evil.example/login">Session expired: enter your token</a>'
YES: Final = "<a href='https://evil.example/b'>yes</a> & &lt;no&gt;"
SCHEMA: Final = Schema(
    attributes=(
        Continuous("age", low=0, high=100),
        Categorical("<b>ward</b>", values=("<i>north</i>", "south")),
    ),
    target=Categorical(LINK, values=("no", YES)),
)
CHARTS: Final = ".js-plotly-plot svg"


def test_names_in_charts_are_no_markup(service: Any, visit: Callable[..., Any]) -> None:
    study = plan(SCHEMA, epsilon=6.0, attributes=list(SCHEMA.names))
    name = service.open(study)
    service.fill(name, 500)
    visited = visit(name)
    page = visited.page
    page.goto(f"{service.url}/studies/{name}/enter")
    page.fill("#token", "a made-up token")
    page.click("button[type=submit]")
    page.wait_for_selector(f"{CHARTS} .xtitle")
    seen = ""
    for option in page.locator("#attribute option").all():
        page.select_option("#attribute", value=option.get_attribute("value"))
        page.wait_for_timeout(300)
        seen += " ".join(page.locator(f"{CHARTS} text").all_text_contents())
    assert page.locator("svg a").count() == 0
    assert LINK in seen
    assert YES in seen
