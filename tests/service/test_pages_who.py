"""The dashboard says how many reports are still expected, and how many invitations are left."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import pytest
from tests.service.conftest import GUARD

from supm.collection import plan
from supm.schema import Schema
from supm.service import actions
from supm.service.app import make_app
from supm.service.security import cookie_name, hash_token
from supm.service.serving import running
from supm.service.store import Opened, Store, Submission

TOKEN = "not-a-real-token"  # noqa: S105  made up for the tests
CODES = [f"{each:064x}" for each in range(8)]
Told: TypeAlias = Callable[..., Submission]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(f"sqlite:///{tmp_path}/pages.db")
    yield opened
    opened.close()


@pytest.fixture
def shown(store: Store) -> Iterator[Callable[[Opened], str]]:
    """Return a function that returns what the analyst sees next to the step to take."""
    with (
        running(make_app(store)) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=GUARD) as client,
    ):

        def next_step(opened: Opened) -> str:
            client.cookies.set(cookie_name(opened.name), TOKEN)
            text = client.get(f"/studies/{opened.name}/dashboard").text
            section = text.split("What comes next")[1].split("</section>")[0]
            return " ".join(re.sub("<[^>]*>", "", section).split())

        yield next_step


def create(store: Store, schema: Schema, **more: Any) -> Opened:
    study = plan(schema, epsilon=4.0, reduce="rank", keep=2)
    wanted: dict[str, Any] = {"minimums": {}, "deadlines": {}} | more
    return store.create(study, token_hash=hash_token(TOKEN), **wanted)


def test_reports_that_are_still_expected_are_those_that_a_step_needs(
    store: Store, schema: Schema, told: Told, shown: Callable[[Opened], str]
) -> None:
    opened = create(store, schema, minimums={"reduce": 1500, "train": 70})
    store.add([told(opened, 200, 1)])
    assert "At least 1,500 needed: 200 stored, 1,300 still expected" in shown(opened)
    store.add([told(opened, 1400, 2)])
    assert "At least 1,500 needed: 1,600 stored, 0 still expected" in shown(opened)
    actions.reduce_stored(store, opened.name)
    assert "still expected" not in shown(opened)
    actions.open_training(store, opened.name)
    assert "At least 70 needed: 0 stored, 70 still expected" in shown(opened)


def test_invitations_that_nobody_used_are_counted(
    store: Store, schema: Schema, told: Told, shown: Callable[[Opened], str]
) -> None:
    opened = create(store, schema, invitations=CODES)
    assert "with an invitation. Unused invitations: 8" in shown(opened)
    store.add([told(opened, 1, at, code) for at, code in enumerate(CODES[:7])])
    assert "Unused invitations: 1" in shown(opened)
    assert "Unused" not in shown(create(store, schema))
    actions.close_study(store, opened.name)
    assert "Unused" not in shown(opened)
