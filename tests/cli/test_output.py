from __future__ import annotations

import pytest

from supm.cli._output import notice, paragraph, table


def test_a_table_aligns_words_left_and_figures_right() -> None:
    shown = table(["a", "b", "c"], [["xx", "1", "22"], ["y", "333", "4"]], left=1)
    assert shown.splitlines() == ["a     b   c", "xx    1  22", "y   333   4"]


def test_a_paragraph_is_broken_and_indented() -> None:
    lines = paragraph("word " * 40, indent="  ").splitlines()
    assert len(lines) == 3
    assert all(line.startswith("  word") and len(line) <= 88 for line in lines)


def test_only_a_smaller_epsilon_than_was_asked_for_is_noticed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    notice(4.0, 3.999)
    assert capsys.readouterr().err == ""
    notice(1000.0, 44.36)
    assert "more than epsilon 44.36 here; 1000 was asked for" in capsys.readouterr().err
