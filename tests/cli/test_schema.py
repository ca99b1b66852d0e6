from __future__ import annotations

from pathlib import Path

import pytest

from supm.cli import main
from supm.schema import Categorical, Continuous, Schema


@pytest.fixture(autouse=True)
def _in_a_folder_with_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{20.5 + k},here,{'ny'[k % 2]}" for k in range(40)]
    Path("public.csv").write_text("\n".join(["age,site,ill", *rows]))


def test_a_schema_is_written_and_the_reading_of_data_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["schema", "public.csv", "--target", "ill", "-o", "schema.json"]) == 0
    assert Schema.from_json(Path("schema.json").read_text()) == Schema(
        attributes=(Continuous("age", low=20.5, high=59.5),),
        target=Categorical("ill", values=("n", "y")),
    )
    said = capsys.readouterr()
    assert "Numbers end two standard deviations from their mean" in said.out
    assert said.out.startswith("1 attribute (1 continuous), target 'ill'.\n")
    assert "\nThe schema is in schema.json: read it" in said.out
    assert "public.csv, so it must be public or synthetic" in said.err
    assert "1 column is constant and left out: 'site'." in said.err


def test_bounds_may_hold_the_whole_range(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--target", "ill", "-o", "schema.json", "--bounds", "range"]
    assert main(["schema", "public.csv", *options]) == 0
    (age,) = Schema.from_json(Path("schema.json").read_text()).attributes
    assert age == Continuous("age", low=20.0, high=60.0)
    said = capsys.readouterr()
    assert "Numbers end just outside of the smallest and the largest value" in said.out
    assert "from private data they would be a leak" in said.err


def test_a_schema_that_was_corrected_is_not_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["schema", "public.csv", "--target", "ill", "-o"]
    for _ in range(2):  # what would be written is there already
        assert main([*words, "schema.json"]) == 0
    corrected = Path("schema.json").read_text().replace("59.5", "120")
    Path("schema.json").write_text(corrected)
    for target in ("schema.json", "public.csv"):
        before = Path(target).read_text()
        capsys.readouterr()
        assert main([*words, target]) == 2
        assert f"--output must be a new file, got '{target}'." in capsys.readouterr().err
        assert Path(target).read_text() == before


def test_a_dash_prints_the_schema_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "public.csv", "--target", "ill", "-o", "-"]) == 0
    assert Schema.from_json(capsys.readouterr().out).names == ("age",)


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (
            ["public.csv", "--target", "ILL", "-o", "-"],
            2,
            "--target must be a column of public.csv, got 'ILL'. Did you mean 'ill'?",
        ),
        (["public.csv", "--target", "site", "-o", "-"], 1, "all 40 records have one label"),
        (
            ["nowhere.csv", "--target", "ill", "-o", "-"],
            2,
            "DATA.csv must be a file that can be read",
        ),
        (["public.csv", "--target", "ill", "-o", "no/x"], 2, "-o must be a file in a folder"),
        (["public.csv", "-o", "-"], 2, "--target must be given"),
        (["public.csv", "--target", "ill"], 2, "--output must be given"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str], code: int, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schema", *arguments]) == code
    said = capsys.readouterr()
    assert complaint in said.err.splitlines()[-1]
    assert said.out == ""
