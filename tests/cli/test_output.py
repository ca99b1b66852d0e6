from __future__ import annotations

import argparse

import pytest

from supm.cli._output import bar, epsilons, paragraph, progress, table


def test_a_table_aligns_words_left_and_figures_right() -> None:
    shown = table(["a", "b", "c"], [["xx", "1", "22"], ["y", "333", "4"]], left=1)
    assert shown.splitlines() == ["a     b   c", "xx    1  22", "y   333   4"]


def test_budgets_are_different_numbers() -> None:
    assert epsilons("1,0.5") == [1.0, 0.5]
    for text in ("1,1.0", "0", "1,", ",".join(map(str, range(1, 102)))):
        with pytest.raises(argparse.ArgumentTypeError):
            epsilons(text)


def test_a_paragraph_is_broken_and_indented() -> None:
    lines = paragraph("word " * 40, indent="  ").splitlines()
    assert len(lines) == 3
    assert all(line.startswith("  word") and len(line) <= 88 for line in lines)


def test_progress_passes_items_on_and_is_silent_where_nobody_watches(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert list(progress(iter("abc"), total=None, unit="letters")) == ["a", "b", "c"]
    with bar(total=2, unit="steps") as step:
        step()
    assert capsys.readouterr().err == ""
