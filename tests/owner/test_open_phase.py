from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from supm import MessageError, PromiseError, SupmError
from supm.collection import plan
from supm.messages import Study
from supm.owner import Wallet, contribute, fetch_open_phase, interview
from supm.owner.http import Remote

if TYPE_CHECKING:
    from tests.owner.conftest import FarEnd


def test_a_study_that_states_less_than_it_spends_is_refused(
    far_end: FarEnd,
    wallet: Wallet,
    record: dict[str, object],
    study: Study,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # No document of this release can do that; a defect in a mechanism could.
    class Careless(type(interview(study, "train"))):  # type: ignore[misc]  # the class is chosen by the plan
        @property
        def epsilon(self) -> float:
            return 1.5

    honest = interview(study, "train")
    fields = {name: getattr(honest, name) for name in honest.__dataclass_fields__}  # type: ignore[attr-defined]  # interviews are dataclasses
    for place in ("supm.owner.open_phase.interview", "supm.owner.owner.interview"):
        monkeypatch.setattr(place, lambda *_: Careless(**fields))
    with pytest.raises(PromiseError, match=r"spends epsilon = 1\.5, and the study states 1;"):
        contribute(far_end.url, record, wallet=wallet)
    assert far_end.posts == []
    assert list(wallet) == []


def test_a_server_that_names_a_lower_price_than_its_document_is_refused(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object], study: Study
) -> None:
    far_end.overrides = {"epsilon": 0.1}
    with pytest.raises(PromiseError, match="another epsilon than the study's document"):
        contribute(far_end.url, record, wallet=wallet)
    # Nor can the document say less in total than its questions take.
    far_end.overrides, far_end.document = {}, study.to_form() | {"epsilon": 0.1}
    with pytest.raises(MessageError):
        contribute(far_end.url, record, wallet=wallet)
    assert far_end.posts == []
    assert list(wallet) == []


@pytest.mark.parametrize("field", ["purpose", "hash"])
def test_a_document_that_is_not_the_named_one_is_refused(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object], field: str
) -> None:
    if field == "hash":
        far_end.overrides = {"document": "0" * 64}
    else:
        far_end.document = far_end.study.to_form() | {"purpose": "another"}
    with pytest.raises(MessageError, match="not the one it names by hash"):
        contribute(far_end.url, record, wallet=wallet)
    assert far_end.posts == []
    assert list(wallet) == []


@pytest.mark.parametrize(
    ("overrides", "phase", "complaint"),
    [
        ({"open_phase": None}, None, "asks nothing now"),
        ({"open_phase": None, "state": "closed"}, None, "the study is closed"),
        ({"open_phase": "guess"}, None, "does not know"),
        ({}, "test", "asks for the train phase now"),
        ({"open_phase": "reduce"}, None, "asks nothing in the reduce phase"),
    ],
)
def test_a_phase_that_is_not_open_is_refused(
    far_end: FarEnd,
    wallet: Wallet,
    record: dict[str, object],
    overrides: dict[str, Any],
    phase: str | None,
    complaint: str,
) -> None:
    far_end.overrides = overrides
    with pytest.raises(MessageError, match=complaint):
        contribute(far_end.url, record, wallet=wallet, phase=phase)
    assert list(wallet) == []


def test_a_server_that_is_gone_costs_nothing(wallet: Wallet) -> None:
    remote = Remote("http://127.0.0.1:9", attempts=1)
    with pytest.raises(SupmError, match="cannot be reached"):
        fetch_open_phase("http://127.0.0.1:9/studies/abc", remote=remote)
    assert list(wallet) == []


def test_what_would_come_too_late_is_refused_before_anything_is_spent(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object]
) -> None:
    far_end.overrides = {"deadlines": {"train": "2020-01-01T00:00:00Z"}}
    with pytest.raises(MessageError, match="the deadline of the train phase has passed"):
        contribute(far_end.url, record, wallet=wallet)
    assert list(wallet) == []
    moment = 1_577_836_800.0
    assert fetch_open_phase(far_end.url, clock=lambda: moment).phase == "train"
    with pytest.raises(MessageError, match="has passed"):
        fetch_open_phase(far_end.url, clock=lambda: moment + 1)


@pytest.mark.parametrize(
    "deadlines", [{"train": "soon"}, {"train": 7}, {"test": "2020-01-01T00:00:00Z"}, 7, None]
)
def test_a_deadline_that_is_none_is_left_to_the_aggregator(
    far_end: FarEnd, deadlines: object
) -> None:
    far_end.overrides = {"deadlines": deadlines}
    assert fetch_open_phase(far_end.url).phase == "train"


def test_an_offer_that_spends_more_than_stated_is_refused_before_it_is_shown(
    far_end: FarEnd, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The owner checks again before a report is drawn; here nothing is drawn.
    dear = interview(plan(study.schema, epsilon=2.0, attributes=["age", "pulse"]), "train")
    monkeypatch.setattr("supm.owner.open_phase.interview", lambda *_: dear)
    with pytest.raises(PromiseError, match="and the study states 1; nothing was sent"):
        fetch_open_phase(far_end.url)
    assert far_end.posts == []
