from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from supm import MessageError, ParameterError, simulation
from supm._errors import FederationError
from supm.federation import (
    Circle,
    Components,
    Discriminant,
    FederatedStudy,
    Margin,
    Protocol,
    VectorEncoding,
    open_release,
    run_pooled,
)
from supm.messages import Release, Update
from supm.privacy import NoGuarantee

ENCODING = VectorEncoding(width=3, classes=2)
CIRCLE = Circle(parties=3, colluders=1)
STRANGE: list[object] = [None, [], "x", -1, 0.5]


def protocols() -> list[Protocol]:
    budget: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-5, "circle": CIRCLE}
    return [
        Discriminant.for_budget(encoding=ENCODING, **budget),
        Components.for_budget(encoding=ENCODING, components=2, **budget),
        Margin.for_budget(encoding=ENCODING, loss="huber", components=2, **budget),
        Margin.for_budget(encoding=ENCODING, loss="logistic", components=None, **budget),
    ]


@pytest.fixture(params=range(4), ids=["discriminant", "components", "huber", "logistic"])
def study(request: pytest.FixtureRequest) -> FederatedStudy:
    protocol = protocols()[request.param]
    return FederatedStudy(name="wards", protocol=protocol, delta=1e-5, purpose="who returns")


def test_what_was_written_is_read(study: FederatedStudy) -> None:
    again = FederatedStudy.from_json(study.to_json())
    assert again.to_json() == study.to_json()
    assert again.hash == study.hash
    assert again.promise == study.promise


def test_the_promise_is_kept_and_not_wasted(study: FederatedStudy) -> None:
    assert 0.99 <= study.promise.epsilon <= 1.0  # type: ignore[attr-defined]  # it has one
    assert study.promise.delta <= 1e-5 * (1 + 1e-9)  # type: ignore[attr-defined]  # the same


def test_epsilon_is_nowhere_in_the_document(study: FederatedStudy) -> None:
    assert "epsilon" not in json.loads(study.to_json())["protocol"]


def test_words_tell_what_a_party_should_know(study: FederatedStudy) -> None:
    words = study.words
    assert "'wards'" in words
    assert "who returns" in words
    assert "3 parties add noise" in words


def test_less_noise_is_told_as_more_epsilon(study: FederatedStudy) -> None:
    form = json.loads(study.to_json())
    smaller = _halved(form["protocol"])
    assert smaller, "the document must hold the noise"
    other = FederatedStudy.from_json(json.dumps(form))
    assert other.promise.epsilon > 1.2 * study.promise.epsilon  # type: ignore[attr-defined]  # they have one


def _halved(form: Any) -> int:
    """Halve all widths of noise in place: large whole numbers, and the scale of a loss."""
    found = 0
    for name, value in form.items():
        if isinstance(value, dict):
            found += _halved(value)
        elif isinstance(value, int) and not isinstance(value, bool) and value > 10_000:
            form[name], found = value // 2, found + 1
        elif name == "scale":
            form[name], found = value / 2, found + 1
    return found


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"name": ""},
        {"name": 3},
        {"delta": 0},
        {"protocol": None},
        {"protocol": {"kind": "other"}},
        {"more": 1},
    ],
)
def test_other_documents_are_refused(study: FederatedStudy, change: dict[str, Any]) -> None:
    form = json.loads(study.to_json()) | change
    with pytest.raises(MessageError):
        FederatedStudy.from_json(json.dumps(form))


def test_every_leaf_of_the_protocol_is_checked(study: FederatedStudy) -> None:
    for path in _paths(json.loads(study.to_json())["protocol"]):
        for strange in STRANGE:
            form = json.loads(study.to_json())
            holder = form["protocol"]
            for step in path[:-1]:
                holder = holder[step]
            if holder[path[-1]] == strange:
                continue
            holder[path[-1]] = strange
            try:
                FederatedStudy.from_json(json.dumps(form))
            except MessageError:
                continue
            # What is allowed is another study: nothing may be read as if it had not changed.
            assert FederatedStudy.from_json(json.dumps(form)).hash != study.hash


def _paths(form: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = []
    for name, value in form.items():
        found.append((*path, name))
        if isinstance(value, dict):
            found += _paths(value, (*path, name))
    return found


def test_a_release_is_opened_by_whoever_has_it(study: FederatedStudy) -> None:
    rows = VectorEncoding(width=3, classes=2).rows(np.eye(3) / 2, np.array([0, 1, 1]))
    names = ["a", "b", "c"]
    outcome = run_pooled(study.protocol, [rows] * 3, names, simulation(1))
    release = study.release(outcome, simulation=True)
    again, found = open_release(Release.from_json(release.to_json()))
    assert again.hash == study.hash
    assert found.to_form() == outcome.to_form()


def test_a_statement_that_promises_more_is_noticed(study: FederatedStudy) -> None:
    form = released(study)
    form["statement"]["total"]["epsilon"] = 0.1
    form["statement"]["parts"] = [
        part | {"guarantee": form["statement"]["total"]} for part in form["statement"]["parts"]
    ]
    with pytest.raises(MessageError, match="not what the noise of its study keeps"):
        open_release(Release.from_json(json.dumps(form)))


def test_a_statement_that_names_less_trust_is_noticed(study: FederatedStudy) -> None:
    form = released(study)
    form["statement"]["trust"] = "Nobody has to be trusted, whoever works with the server."
    with pytest.raises(MessageError, match="not what the noise of its study keeps"):
        open_release(Release.from_json(json.dumps(form)))


def test_a_statement_may_keep_its_promise_back(study: FederatedStudy) -> None:
    form = released(study)
    nothing = NoGuarantee("labels were found").to_form()
    form["statement"]["total"] = nothing
    form["statement"]["parts"] += [{"name": "labels", "method": "found", "guarantee": nothing}]
    assert open_release(Release.from_json(json.dumps(form)))[0].hash == study.hash
    form["statement"]["parts"][0]["method"] = "no noise at all"
    with pytest.raises(MessageError, match="not what the noise of its study keeps"):
        open_release(Release.from_json(json.dumps(form)))


def test_numbers_of_another_shape_are_noticed(study: FederatedStudy) -> None:
    wide = json.loads(study.to_json())
    wide["protocol"]["encoding"] |= {"classes": 3, "width": 5}
    wide["protocol"] |= {"loss": "softmax"} if wide["protocol"].get("loss") == "logistic" else {}
    other = FederatedStudy.from_json(json.dumps(wide))
    form = released(study)
    form["study"] = json.loads(other.to_json())
    form["statement"] = other.statement(simulation=True).to_form()
    with pytest.raises(MessageError, match="another number of columns or classes"):
        open_release(Release.from_json(json.dumps(form)))


def released(study: FederatedStudy) -> dict[str, Any]:
    rows = VectorEncoding(width=3, classes=2).rows(np.eye(3) / 2, np.array([0, 1, 1]))
    outcome = run_pooled(study.protocol, [rows] * 3, ["a", "b", "c"], simulation(1))
    form: dict[str, Any] = json.loads(study.release(outcome, simulation=True).to_json())
    return form


def test_a_study_needs_a_protocol() -> None:
    with pytest.raises(ParameterError, match="protocol"):
        FederatedStudy(name="x", protocol=None, delta=1e-5)  # type: ignore[arg-type]  # that is what is tested


def test_a_party_answers_for_the_study_that_it_has_read_and_no_other(study: FederatedStudy) -> None:
    other = replace(study, name="another")
    rows = ENCODING.rows(np.zeros((2, 3)), np.array([0, 1]))
    problems, paid = list[Exception](), list[FederatedStudy]()
    for asking, told in ((other, "refusal"), (study, "keys")):
        party = study.participant(
            rows, simulation(1).child, charge=paid.append, on_problem=problems.append
        )
        invitation = asking.coordinator(simulation=True).begin()[0]
        _, reply = party.answer(b"", invitation)
        assert Update.from_bytes(reply).kind == told
        assert paid == ([study] if told == "keys" else [])
    assert [str(each) for each in problems] == [
        "the server runs another study than the one that this party has read."
    ]


def test_a_release_with_another_statement_is_refused() -> None:
    protocol = protocols()[0]
    study, other = (FederatedStudy(name=n, protocol=protocol, delta=1e-5) for n in ("one", "two"))
    tables = [ENCODING.rows(np.zeros((2, 3)), np.array([0, 1]))] * 3
    outcome = run_pooled(protocol, tables, ["a", "b", "c"], simulation(1))
    study.check_release(study.release(outcome, simulation=False))
    for wrong in (
        study.release(outcome, simulation=True),
        other.release(outcome, simulation=False),
    ):
        with pytest.raises(FederationError, match="whose statement is not that of this study"):
            study.check_release(wrong)
