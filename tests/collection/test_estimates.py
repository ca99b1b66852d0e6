"""Histograms with bands: calibrated, unclipped, and honest where there are none."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import simulation
from supm._random import RandomSource
from supm.collection import Counts, RowCounts, count, plan
from supm.collection.estimates import estimates
from supm.messages import Study
from supm.owner import interview
from supm.schema import Categorical, Continuous, Ordinal, Records, Schema

SHARES = {
    "pain": (0.62, 0.25, 0.13),
    "ward": (0.05, 0.9, 0.05),
    "age": (0.5, 0.3, 0.2),
    "ill": (0.8, 0.2),
}
SCHEMA = Schema(
    attributes=(
        Ordinal("pain", values=("none", "some", "much")),
        Categorical("ward", values=("north", "east", "south")),
        Continuous("age", low=0, high=90),
    ),
    target=Categorical("ill", values=("no", "yes")),
)
PLANS: dict[str, dict[str, Any]] = {
    "sample": {"epsilon": 3.0, "classes": 3, "told": 2},
    "one of three": {"epsilon": 1.0, "classes": 3, "told": 1},
    "joint": {"epsilon": 2.0, "classes": 3, "train": "joint", "attributes": ["pain", "ward"]},
    "odp": {"epsilon": 6.0, "classes": 3, "train": "odp", "mode": "faithful", "reduce": "rand"},
    "waldp": {"epsilon": 6.0, "classes": 3, "mode": "faithful", "reduce": "waldp", "sampled": 2},
    "oda": {"epsilon": 6.0, "classes": 3, "trust": "t,t,d", "mode": "faithful"},
}


def people(rows: int, source: RandomSource) -> Records:
    """Draw people of the known shares; 30, 60 and 90 years are the three classes of age."""
    drawn: dict[str, NDArray[Any]] = {}
    for name, shares in SHARES.items():
        words = source.below(1 << 53, rows).astype(np.float64) / (1 << 53)
        drawn[name] = np.searchsorted(np.cumsum(shares)[:-1], words, side="right")
    target = drawn.pop("ill").astype(np.int64)
    drawn["age"] = 15.0 + 30.0 * drawn["age"]
    return Records(attributes=SCHEMA.attributes, columns=drawn, target=target, rows=rows)


def study_of(name: str) -> tuple[Study, str]:
    study = plan(SCHEMA, **PLANS[name])
    return study, study.questions[0].phase if study.attributes is None else "train"


def collected(study: Study, phase: str, rows: int, source: RandomSource) -> Counts:
    asked = interview(study, phase)
    return count(asked, asked.randomize(asked.encode(people(rows, source)), source))


@pytest.mark.parametrize("name", PLANS)
def test_bands_cover_the_true_share_as_often_as_they_say(name: str) -> None:
    study, phase = study_of(name)
    if study.attributes is None and phase == "train":
        study = study.reduced(SCHEMA.names[: study.keep])
    source, covered = simulation(5), []
    for _ in range(200):
        found = estimates(study, phase, collected(study, phase, 400, source))
        row = [
            low <= truth <= high
            for each in found["histograms"]
            for low, high, truth in zip(
                each["low"], each["high"], SHARES[each["name"]], strict=True
            )
        ]
        covered.append(row)
    rates = np.mean(covered, axis=0)
    assert 0.93 <= rates.mean() <= 0.97
    assert rates.min() >= 0.90
    assert rates.max() <= 0.99


@pytest.mark.parametrize("name", ["sample", "joint", "waldp"])
def test_estimates_are_right_on_average(name: str) -> None:
    study, phase = study_of(name)
    source = simulation(8)
    found = estimates(study, phase, collected(study, phase, 200_000, source))
    for each in found["histograms"]:
        assert each["shares"] == pytest.approx(SHARES[each["name"]], abs=0.03)
        assert sum(each["shares"]) == pytest.approx(1.0, abs=1e-4)
        assert each["outside"] == [False] * len(each["shares"])


def test_nothing_is_clipped_and_what_is_outside_is_marked() -> None:
    study, phase = study_of("one of three")
    source = simulation(3)
    shown = [
        each
        for _ in range(20)
        for each in estimates(study, phase, collected(study, phase, 60, source))["histograms"]
    ]
    outside = [
        (share, marked)
        for each in shown
        for share, marked in zip(each["shares"], each["outside"], strict=True)
    ]
    assert any(share < 0 for share, _ in outside)
    assert all(marked == (share < 0 or share > 1) for share, marked in outside)
    assert min(low for each in shown for low in each["low"]) < 0
    assert max(high for each in shown for high in each["high"]) > 1


def test_counts_of_distinct_rows_say_the_same_as_a_table() -> None:
    study = plan(SCHEMA, **PLANS["odp"]).reduced(SCHEMA.names[:2])
    asked = interview(study, "train")
    reports = asked.randomize(asked.encode(people(300, simulation(4))), simulation(4))
    rows = RowCounts.of(reports.symbols, simulation=True)
    assert estimates(study, "train", rows) == estimates(study, "train", count(asked, reports))


def test_a_number_is_shown_by_the_levels_it_was_rounded_to() -> None:
    numeric = Schema(attributes=SCHEMA.attributes, target=Continuous("weight", low=0, high=100))
    study = plan(numeric, epsilon=4.0, classes=3)
    asked = interview(study, "train")
    held = people(500, simulation(2))
    target = np.where(held.target == 1, 100.0, 0.0) if held.target is not None else None
    records = Records(
        attributes=SCHEMA.attributes, columns=held.columns, target=target, rows=held.rows
    )
    counts = count(asked, asked.randomize(asked.encode(records), simulation(6)))
    last = estimates(study, "train", counts)["histograms"][-1]
    assert last["classes"] == ["0", "50", "100"]
    assert last["shares"][0] == pytest.approx(0.8, abs=0.15)


def test_where_there_is_no_histogram_the_note_says_why() -> None:
    study, phase = study_of("sample")
    assert estimates(study, phase, None)["note"] == "No report of this phase is stored yet."
    assert estimates(study, "reduce", None)["note"].startswith("The study asks nothing")
    numbers = plan(SCHEMA, epsilon=4.0, mode="faithful", train="pw", attributes=["pain", "age"])
    counts = collected(numbers, "train", 50, simulation(1))
    told = estimates(numbers, "train", counts)
    assert "numbers and not classes" in told["note"]
    assert told["histograms"] == []
    assert told["reports"] == 50


def test_an_attribute_that_nobody_told_has_no_numbers_and_all_is_json() -> None:
    study, phase = study_of("one of three")
    found = estimates(study, phase, collected(study, phase, 1, simulation(1)))
    told = [each for each in found["histograms"] if each["told"] == 0]
    assert len(told) == 2
    assert all(each["shares"] == [None] * 3 for each in told)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
