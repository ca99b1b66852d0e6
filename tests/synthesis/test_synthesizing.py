"""One call from noised records to rows and their report."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supm
from supm import simulation
from supm._errors import ParameterError, SchemaError
from supm.estimators import CopulaSynthesizer
from supm.mechanisms import ContinuousLaplace
from supm.synthesis import Archive, ArchiveSchema, NumberColumn, assess, synthesize

LAW = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=4.0)
SCHEMA = ArchiveSchema(columns=(NumberColumn("a", LAW), NumberColumn("b", LAW)), target="b")


def archive() -> Archive:
    clean = np.linspace(0, 1, 400)
    return Archive.noised({"a": clean, "b": clean**2}, SCHEMA, simulation(1))


def test_rows_are_those_of_the_estimator_with_the_same_seed() -> None:
    made = supm.synthesize(archive(), rows=50, seed=7)
    other = CopulaSynthesizer(schema=SCHEMA, random_state=7).fit(archive().table()).sample(50)
    for name in SCHEMA.names:
        np.testing.assert_array_equal(made.rows[name], other[name])


def test_an_archive_a_table_and_a_file_are_read_alike(tmp_path: Path) -> None:
    noisy = archive().table()
    path = tmp_path / "noisy.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([noisy, *zip(*noisy.values(), strict=True)])
    described = tmp_path / "archive.json"
    described.write_text(SCHEMA.to_json())
    found = [
        synthesize(archive(), seed=1),
        synthesize(noisy, SCHEMA, seed=1),
        synthesize(str(path), SCHEMA, seed=1),
        synthesize(path, described, seed=1),
    ]
    assert [len(each.rows["a"]) for each in found] == [400] * 4
    assert all(np.array_equal(each.rows["b"], found[0].rows["b"]) for each in found)
    assert found[2].name == "noisy.csv"
    assert [each.statement.simulation for each in found] == [True, False, False, False]
    described.write_text("{}")
    with pytest.raises(SchemaError, match=r"archive\.json: version must be 1"):
        synthesize(path, described)


def test_the_result_shows_itself() -> None:
    made = synthesize(archive(), rows=20, seed=1)
    assert repr(made) == "<400 noised records of 2 columns>"
    assert "What each record had spent" in str(made)
    form = json.loads(made.to_json())
    assert (form["mode"], form["synthetic_rows"]) == ("strict", 20)
    assert form["statement"] == made.statement.to_form()
    assert len(made.to_frame()) == 4
    told = io.StringIO()
    made.write_rows(told)
    assert len(told.getvalue().splitlines()) == 21


def test_the_report_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "quality.html"
    made = synthesize(archive(), rows=20, seed=1, name="my archive", report=str(path))
    assert path.read_text() == made.page()
    assert "Synthetic rows from my archive" in made.page()


def test_what_was_learned_is_not_estimated_again_for_the_report() -> None:
    made = synthesize(archive(), rows=100, seed=1)
    again = assess(archive(), made.rows, model=made.model)
    assert again.to_form() == made.quality.to_form()
    spreads = made.model.variances()
    assert set(spreads) == {"a", "b"}
    assert all(0 < each < 0.25 for each in spreads.values())


@pytest.mark.parametrize(
    ("records", "options", "words"),
    [
        ("archive", {"mode": "magic"}, "mode must be one of"),
        ({"a": [0.5], "b": [0.5]}, {}, "schema must be given"),
        ("archive", {"rows": 0}, "rows must be"),
    ],
)
def test_what_cannot_be_done_is_refused(records: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        synthesize(archive() if records == "archive" else records, **options)
