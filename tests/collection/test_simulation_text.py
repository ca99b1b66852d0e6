from __future__ import annotations

import json
from dataclasses import replace

from supm.collection import Simulation, simulate
from supm.datasets import load_wdbc
from supm.learning import Scores


def outcome() -> Simulation:
    data = load_wdbc()
    return simulate(
        data.records(),
        schema=data.schema,
        epsilon=2,
        folds=2,
        repeats=1,
        seed=1,
        attributes=["mean radius"],
    )


def test_the_two_lines_are_said_with_people_and_repetitions() -> None:
    found = outcome()
    assert (found.baseline.people, found.baseline.repeats) == (569, 1)
    words = found.words()[0]
    reached = found.baseline.reached
    assert f"without privacy, on the raw data of 569 people, for {reached.headline:.1%}" in words
    assert f"(balanced {reached.beside:.1%}; 1 repetition)." in words


def test_machines_get_the_balanced_accuracy_without_privacy() -> None:
    found = outcome()
    told = found.to_form()["results"][0]["plan"]["evaluation"]
    assert told["without_privacy_balanced_accuracy_mean"] == found.baseline.reached.beside


def test_a_rare_class_that_no_answer_names_gets_one_hint_unless_classes_have_weights() -> None:
    found = outcome()
    assert not hinted(found)
    (result,) = found.results
    constant = replace(
        result, answered=Scores(accuracy=0.951, balanced_accuracy=0.503, majority=0.95)
    )
    rare = replace(found, constant=0.95, results=(constant,))
    assert hinted(rare)
    assert not hinted(replace(rare, weights="balanced"))
    assert not hinted(replace(rare, results=(constant, result)))


def hinted(found: Simulation) -> bool:
    return any(each.endswith("try balanced weights.") for each in found.words())


def test_a_simulation_shows_itself() -> None:
    found = outcome()
    assert repr(found) == "<data: 569 people, target 'diagnosis'.>"
    text, page = str(found), found._repr_html_()
    for each in ("epsilon", "is asked for", "majority"):
        assert each in text
        assert each in page
    frame = found.to_frame()
    assert frame["answered"].tolist() == [found.results[0].answered.headline]
    assert json.loads(found.to_json()) == json.loads(json.dumps(found.to_form()))
    assert len(found.plot().axes) == 1
