"""The help and the pages of all verbs come from one docstring each."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from supm.cli import VERBS, main

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def verbs() -> ModuleType:
    """What writes the pages when the documentation is built."""
    spec = importlib.util.spec_from_file_location("verbs", DOCS / "verbs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("verb", VERBS)
def test_the_list_of_verbs_repeats_the_first_line_of_each(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, "--help"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith(f"usage: supm {verb} ")
    assert (shown[2][0].lower() + shown[2][1:]).rstrip(".") == VERBS[verb]


def test_every_verb_has_a_page() -> None:
    listed = (DOCS / "cli" / "index.md").read_text().split("```{toctree}")[1]
    assert [line.rpartition("/")[2] for line in listed.split() if "/" in line] == list(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_a_page_says_what_each_option_is(verb: str, verbs: ModuleType) -> None:
    page = verbs.page(verb)
    assert page.startswith(f"# `supm {verb}`")
    assert "**Examples**" in page
    assert ": …" not in page
    assert "`--json FILE`" in page or verb in {"schema", "contribute", "serve", "synthesize"}
