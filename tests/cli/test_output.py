from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from supm._errors import ParameterError
from supm.cli._output import check_target, table, write_json


def test_a_table_aligns_words_left_and_figures_right() -> None:
    shown = table(["a", "b", "c"], [["xx", "1", "22"], ["y", "333", "4"]], left=1)
    assert shown.splitlines() == ["a     b   c", "xx    1  22", "y   333   4"]


def test_an_infinite_number_is_written_as_text(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_json({"epsilon": math.inf, "rows": [math.nan, 1.5, "±"]}, str(path))
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "epsilon": "inf",
        "rows": ["nan", 1.5, "±"],
    }


def test_a_target_is_checked_before_the_work(tmp_path: Path) -> None:
    for target in (None, "-", "here.json", str(tmp_path / "x.json")):
        check_target("--json", target)
    for target in ("", str(tmp_path), str(tmp_path / "no" / "x.json")):
        with pytest.raises(ParameterError, match="--output must be a file in a folder that exists"):
            check_target("--output", target)
