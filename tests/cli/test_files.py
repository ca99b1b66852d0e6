from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from supm._errors import ParameterError
from supm.cli._files import check_picture, check_target, read_text, write_json


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


def test_a_picture_has_a_known_ending(tmp_path: Path) -> None:
    for name in ("a.png", "B.PDF", "c.svg"):
        check_picture("--plot", str(tmp_path / name))
    check_picture("--plot", None)
    with pytest.raises(ParameterError, match="--plot must be a file that ends in"):
        check_picture("--plot", str(tmp_path / "a.doc"))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with pytest.raises(ParameterError, match="FILE must be a file that can be read"):
        read_text("FILE", str(path))
    path.write_bytes(b"\xff")
    with pytest.raises(ParameterError, match="It is not UTF-8 text"):
        read_text("FILE", str(path))
