from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supm import simulation
from supm.cli import main
from supm.schema import Categorical, Continuous
from supm.synthesis import Archive, ArchiveSchema
from supm.synthesis.collecting import Collection

ROWS = 2000
VERB = ["synthesize", "noisy.csv", "--schema", "archive.json", "-o", "rows.csv"]
COLUMNS: list[dict[str, Any]] = [
    {"name": "age", "kind": "number", "low": 0, "high": 100, "mechanism": "laplace", "epsilon": 4},
    {
        "name": "weight",
        "kind": "number",
        "low": 20,
        "high": 140,
        "mechanism": "piecewise",
        "epsilon": 4,
    },
    {
        "name": "sex",
        "kind": "class",
        "values": ["f", "m"],
        "mechanism": "randomized_response",
        "epsilon": 2,
    },
]


def truth() -> dict[str, Any]:
    first, second, third = (simulation(seed).words(ROWS) / 2.0**64 for seed in (1, 2, 3))
    age = 100 * first
    return {
        "age": age,
        "weight": 40 + 0.5 * age + 30 * second,
        "sex": np.where(third > 0.3, "f", "m"),
    }


def write(name: str, columns: dict[str, Any]) -> None:
    with Path(name).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def described(columns: list[dict[str, Any]], **more: Any) -> None:
    form = {"version": 1, "target": "weight", "columns": columns, **more}
    Path("archive.json").write_text(json.dumps(form))


@pytest.fixture(autouse=True)
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder that holds a noised table and its schema."""
    monkeypatch.chdir(tmp_path)
    described(COLUMNS)
    schema = ArchiveSchema.from_json(Path("archive.json").read_text())
    write("noisy.csv", Archive.noised(truth(), schema, simulation(4)).table())


def rows() -> list[dict[str, str]]:
    with Path("rows.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def refused(arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("supm: error: ")
    assert said.err.count("\n") == 1
    return said.err


def test_rows_are_as_many_as_records_and_like_the_truth() -> None:
    assert main([*VERB, "--seed", "1"]) == 0
    found = rows()
    assert len(found) == ROWS
    assert list(found[0]) == ["age", "weight", "sex"]
    ages = np.array([float(row["age"]) for row in found])
    weights = np.array([float(row["weight"]) for row in found])
    assert 0 <= ages.min() <= ages.max() <= 100
    assert ages.mean() == pytest.approx(truth()["age"].mean(), abs=4)
    true = np.corrcoef(truth()["age"], truth()["weight"])[0, 1]
    assert np.corrcoef(ages, weights)[0, 1] == pytest.approx(true, abs=0.15)
    women = np.mean([row["sex"] == "f" for row in found])
    assert women == pytest.approx(0.7, abs=0.08)


@pytest.mark.parametrize("mode", ["strict", "faithful"])
def test_any_number_of_rows_in_either_mode(mode: str) -> None:
    if mode == "faithful":
        numbers_only()
    assert main([*VERB, "--rows", "12", "--mode", mode]) == 0
    assert len(rows()) == 12


def numbers_only() -> None:
    numbers = [dict(COLUMNS[0]), {**COLUMNS[0], "name": "weight", "low": 20, "high": 140}]
    described(numbers)
    schema = ArchiveSchema.from_json(Path("archive.json").read_text())
    clean = {name: truth()[name] for name in ("age", "weight")}
    write("noisy.csv", Archive.noised(clean, schema, simulation(4)).table())


def test_the_paper_knew_numbers_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--mode must be" in refused([*VERB, "--mode", "faithful"], 2, capsys)


def test_a_seed_repeats_a_run_and_another_does_not() -> None:
    texts = []
    for seed in ("7", "7", "8"):
        assert main([*VERB, "--rows", "50", "--seed", seed]) == 0
        texts.append(Path("rows.csv").read_text())
    assert texts[0] == texts[1] != texts[2]


def test_it_says_what_was_spent_and_what_cannot_be_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*VERB, "--rows", "100", "--seed", "1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "2000 noised records of 3 columns." in said
    assert "What each record had spent: " in said
    assert "epsilon = 10" in said
    assert "Synthesis spends nothing more" in said
    assert "What can and cannot be known:" in said
    assert "± " in said
    assert "100 synthetic rows written to rows.csv." in said


def test_the_report_is_one_page_and_the_figures_are_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*VERB, "--report", "quality.html", "--json", "figures.json", "--seed", "1"]) == 0
    assert "The report is in quality.html." in capsys.readouterr().out
    page = Path("quality.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "Synthetic rows from noisy.csv" in page
    told = json.loads(Path("figures.json").read_text())
    assert (told["mode"], told["rows"], told["synthetic_rows"]) == ("strict", ROWS, ROWS)
    assert told["guarantee"]["epsilon"] == pytest.approx(10.0)
    assert len(told["pairs"]) == 3
    assert told["unknown"]
    assert told["statement"]


def test_figures_or_rows_can_be_printed_and_words_then_go_elsewhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*VERB, "--json", "-"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["rows"] == ROWS
    assert "What can and cannot be known" in said.err
    assert main([*VERB[:-1], "-", "--rows", "3"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[0] == "age,weight,sex"
    assert len(said.out.splitlines()) == 4
    assert "What can and cannot be known" in said.err


def test_owners_who_told_a_pair_leave_empty_cells() -> None:
    attributes = (
        Continuous("age", low=0, high=100),
        Continuous("weight", low=20, high=140),
        Categorical("sex", values=("f", "m")),
    )
    pairs = Collection(attributes=attributes, asked=2, budget=12.0)
    told = pairs.archive(pairs.randomize(pairs.encode(truth()), simulation(6)), target="weight")
    Path("archive.json").write_text(told.schema.to_json())
    cells = {
        name: ["" if cell is None or cell != cell else cell for cell in column]  # noqa: PLR0124  NaN differs from itself
        for name, column in told.table().items()
    }
    write("noisy.csv", cells)
    assert main([*VERB, "--rows", "500", "--seed", "1"]) == 0
    ages = np.array([float(row["age"]) for row in rows()])
    assert ages.mean() == pytest.approx(truth()["age"].mean(), abs=6)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mechanism": None}, "'age'.*its mechanism is not given"),
        ({"mechanism": "magic"}, "'age'.*its mechanism 'magic' is not known"),
        ({"epsilon": None}, "'age'.*how much noise there is was not given"),
        ({"epsilon": -1}, "'age'.*epsilon must be"),
        ({"low": None}, "'age'.*low is missing"),
    ],
)
def test_a_column_is_refused_where_its_noise_is_not_described(
    change: dict[str, Any], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first = {name: value for name, value in {**COLUMNS[0], **change}.items() if value is not None}
    described([first, *COLUMNS[1:]])
    said = refused(VERB, 1, capsys)
    assert "archive.json: " in said
    assert re.search(words, said)
    assert not Path("rows.csv").exists()


def test_a_column_that_is_not_described_at_all_is_refused_by_its_place(
    capsys: pytest.CaptureFixture[str],
) -> None:
    described(COLUMNS[:2])
    said = refused(VERB, 1, capsys)
    assert "does not say how column 3 of noisy.csv was noised" in said
    assert "sex" not in said


def test_a_schema_may_begin_with_a_mark_of_its_encoding() -> None:
    Path("archive.json").write_text(Path("archive.json").read_text(), encoding="utf-8-sig")
    assert ArchiveSchema.load("archive.json").names == ("age", "weight", "sex")
    assert main(VERB) == 0


def test_a_column_that_is_absent_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    described([*COLUMNS, {**COLUMNS[0], "name": "height"}])
    assert "has no column 'height'" in refused(VERB, 1, capsys)


def test_a_missing_cell_is_refused_and_nothing_of_the_record_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = Path("noisy.csv").read_text().splitlines()
    held = lines[1].split(",")
    Path("noisy.csv").write_text("\n".join([lines[0], f",{held[1]},{held[2]}", *lines[2:]]))
    said = refused(VERB, 1, capsys)
    assert "age: 1 of 2000 cells are missing" in said
    assert held[1] not in said


def test_one_record_is_not_enough_and_nothing_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = Path("noisy.csv").read_text().splitlines()
    Path("noisy.csv").write_text("\n".join(lines[:2]))
    assert "at least two owners" in refused(VERB, 1, capsys)
    assert not Path("rows.csv").exists()


def test_text_where_numbers_are_expected_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Path("noisy.csv").read_text().splitlines()
    Path("noisy.csv").write_text("\n".join([lines[0], "secret,60,f", *lines[2:]]))
    said = refused(VERB, 1, capsys)
    assert "line 2" in said
    assert "secret" not in said
    assert 'describe the column with "kind": "class"' in said


def test_decimal_commas_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Path("noisy.csv").read_text().replace(",", ";").replace(".", ",")
    Path("noisy.csv").write_text(lines)
    said = refused(VERB, 1, capsys)
    assert "age: the column holds text" in said
    assert "write decimals with a point instead of a comma" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["synthesize", "noisy.csv", "-o", "rows.csv"], "--schema must be given"),
        (["synthesize", "noisy.csv", "--schema", "archive.json"], "--output must be given"),
        ([*VERB, "--rows", "0"], "--rows must be"),
        ([*VERB, "--rows", "many"], "--rows must be"),
        ([*VERB, "--mode", "magic"], "--mode must be one of"),
        ([*VERB, "--report", "nowhere/page.html"], "--report must be"),
        ([*VERB, "--json", "-", "--report", "-"], "another target than that of --report"),
        ([*VERB, "--report", "rows.csv"], "--report must be a file that ends in .html"),
        ([*VERB, "--json", "./rows.csv"], "another target than that of -o"),
        ([*VERB, "--report", "a.html", "--json", "a.html"], "another target than that of --report"),
        ([*VERB, "--report", "quality.pdf"], "a file that ends in .html or .htm"),
        ([*VERB[:-1], "rows.parquet"], "a file that ends in .csv"),
        (["synthesize", "none.csv", *VERB[2:]], "a file that can be read"),
        ([*VERB[:2], "--schema", "none.json", "-o", "rows.csv"], "--schema must be"),
        ([*VERB[:-1], "nowhere/rows.csv"], "-o must be"),
    ],
)
def test_wrong_usage_is_one_sentence(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in refused(arguments, 2, capsys)


def test_the_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synthesize", "--help"]) == 0
    said = capsys.readouterr().out
    assert "supm synthesize noisy.csv --schema archive.json -o rows.csv" in said
    start = said.index('  {"version": 1')
    end = said.index("Mechanisms of numbers")
    assert ArchiveSchema.from_json(said[start:end]).epsilon == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("option", "target"),
    [("-o", "noisy.csv"), ("-o", "other.csv"), ("--json", "archive.json"), ("--json", "noisy.csv")],
)
def test_no_target_may_be_an_input(
    option: str, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("other.csv").symlink_to("noisy.csv")
    held = {name: Path(name).read_text() for name in ("noisy.csv", "archive.json")}
    assert "It would be overwritten." in refused([*VERB, option, target], 2, capsys)
    assert {name: Path(name).read_text() for name in held} == held


def test_a_name_without_an_ending_may_be_a_target() -> None:
    assert main([*VERB[:-1], "rows", "--rows", "3"]) == 0
    assert len(Path("rows").read_text().splitlines()) == 4


def test_noise_that_was_not_used_is_said_aloud(capsys: pytest.CaptureFixture[str]) -> None:
    described([{**COLUMNS[0], "epsilon": 0.5}, *COLUMNS[1:]])
    assert main([*VERB, "--rows", "10", "--json", "figures.json"]) == 0
    said = capsys.readouterr()
    assert said.err.startswith("supm: note: age varies less than the noise that the schema states")
    assert "age varies less than the noise" in said.out
    assert list(json.loads(Path("figures.json").read_text())["doubts"]) == ["age"]
