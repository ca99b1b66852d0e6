from __future__ import annotations

from supm.cli._output import paragraph, table


def test_a_table_aligns_words_left_and_figures_right() -> None:
    shown = table(["a", "b", "c"], [["xx", "1", "22"], ["y", "333", "4"]], left=1)
    assert shown.splitlines() == ["a     b   c", "xx    1  22", "y   333   4"]


def test_a_paragraph_is_broken_and_indented() -> None:
    lines = paragraph("word " * 40, indent="  ").splitlines()
    assert len(lines) == 3
    assert all(line.startswith("  word") and len(line) <= 88 for line in lines)
