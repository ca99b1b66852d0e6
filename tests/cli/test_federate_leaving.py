"""What a party is shown before it agrees."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from supm import secure
from supm.cli import main
from supm.cli._federate_leaving import describe, example
from supm.cli._federate_study import read_rows, read_study

CREATE = ["federate", "create", "--schema", "wdbc.json", "--epsilon", "1", "--delta", "1e-5"]
SHOWN = re.compile(r"the first of round 1: (\d+), (\d+), (\d+), …")


def numbers_in(sentence: str) -> list[int]:
    found = SHOWN.search(sentence)
    assert found is not None
    return [int(each) for each in found.groups()]


@pytest.mark.parametrize(
    "words",
    [
        ["lda", "--parties", "3"],
        ["pca", "--components", "2", "--parties", "1"],
        ["logistic", "--parties", "2"],
    ],
    ids=lambda words: str(words[0]),
)
def test_a_party_sees_numbers_such_as_those_that_leave(wdbc: Path, words: list[str]) -> None:
    assert main([*CREATE, "--protocol", *words, "-o", "study.json"]) == 0
    study = read_study("study.json")
    rows = read_rows(str(wdbc), study)
    first, again = (numbers_in(describe(study, rows, str(wdbc))[-1]) for _ in range(2))
    assert not set(first) & set(again)
    assert all(0 <= each < 1 << 64 for each in (*first, *again))


def test_the_numbers_that_are_shown_are_uniform(wdbc: Path) -> None:
    """Whatever is beneath, each bit is 1 in half of them."""
    words = ["--protocol", "lda", "--parties", "1", "-o", "study.json"]
    assert main([*CREATE, *words]) == 0
    protocol = read_study("study.json").protocol
    rows, source = read_rows(str(wdbc), read_study("study.json")), secure()
    told = [numbers_in(example(protocol, rows, source)) for _ in range(100)]
    numbers = [each for one in told for each in one]
    bits = np.array([[number >> place & 1 for place in range(64)] for number in numbers])
    spread = np.sqrt(len(numbers)) / 2
    assert (np.abs(bits.sum(axis=0) - len(numbers) / 2) < 7 * spread).all()
