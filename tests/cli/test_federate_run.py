"""What a run on one machine refuses before anything is spent, and does not write over."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from supm.cli import main

CREATE = ["federate", "create", "--schema", "wdbc.json", "--epsilon", "1", "--delta", "1e-5"]
LDA = [*CREATE, "--protocol", "lda", "--parties", "2"]
RUN = ["federate", "run", "study.json"]


@pytest.fixture(autouse=True)
def tables(wdbc: Path) -> None:
    """Put two halves of WDBC beside the whole, and a study of them."""
    head, *lines = wdbc.read_text().splitlines()
    for start, name in enumerate(("north", "south")):
        Path(f"{name}.csv").write_text("\n".join([head, *lines[start::2], ""]))
    assert main([*LDA, "-o", "study.json"]) == 0


def test_a_table_that_is_given_twice_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """The promise is for records that count once."""
    shutil.copy("north.csv", "copy.csv")
    Path("link.csv").symlink_to("north.csv")
    for again in ("north.csv", "./north.csv", "link.csv", "copy.csv"):
        capsys.readouterr()
        assert main([*RUN, "north.csv", again, "-o", "out.json"]) == 2
        told = capsys.readouterr().err
        assert f"north.csv and {again} are one table, whose records would count twice" in told
        assert told.count("\n") == 1
        assert not Path("out.json").exists()
    assert main([*RUN, "north.csv", "absent.csv"]) == 2
    assert "must be a file that can be read" in capsys.readouterr().err


def test_a_release_that_was_paid_for_is_not_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    run = [*RUN, "north.csv", "south.csv", "-o"]
    for seed in ("1", "2"):
        assert main([*run, "out.json", "--seed", seed]) == 0
    assert main([*run, "out.json"]) == 0
    for target, more in (("out.json", []), ("out.json", ["--seed", "1"]), ("south.csv", [])):
        before = Path(target).read_bytes()
        capsys.readouterr()
        assert main([*run, target, *more]) == 2
        told = capsys.readouterr().err
        assert f"-o must be a new file, or a simulation, which is replaced, got '{target}'" in told
        assert "A second run costs the budget of a release there again" in told
        assert Path(target).read_bytes() == before


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            [*LDA, "--directions", "3", "--no-histogram"],
            "in [1, 1], got 3. Two classes have one direction.",
        ),
        (
            [*CREATE, "--protocol", "pca", "--parties", "2", "--share", "subspace"],
            "--components must be given for pca, which publishes so many, got None.",
        ),
    ],
)
def test_what_a_study_lacks_is_said_with_the_reason(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(words) == 2
    assert capsys.readouterr().err.endswith(f"{sentence}\n")
