from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from supm._errors import ParameterError
from supm.cli._files import check_target, read_text, write_json, write_text


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


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with pytest.raises(ParameterError, match="FILE must be a file that can be read"):
        read_text("FILE", str(path))
    path.write_bytes(b"\xff")
    with pytest.raises(ParameterError, match="It is not UTF-8 text"):
        read_text("FILE", str(path))


def test_a_full_disk_leaves_the_file_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "kept.txt"
    path.write_text("kept")
    path.chmod(0o640)
    with monkeypatch.context() as patched:
        patched.setattr("supm.cli._files.os.fsync", full)
        with pytest.raises(ParameterError, match=r"No space left on device\."):
            write_text("--keep", "new", str(path))
    assert [each.name for each in tmp_path.iterdir()] == ["kept.txt"]
    assert path.read_text() == "kept"
    write_text("--keep", "new", str(path))
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o640)
    assert [each.name for each in tmp_path.iterdir()] == ["kept.txt"]


def test_a_link_or_a_device_is_written_into(tmp_path: Path) -> None:
    path, link = tmp_path / "kept.txt", tmp_path / "link"
    link.symlink_to(path)
    write_text("--keep", "new", str(link))
    assert link.is_symlink()
    assert path.read_text() == "new"
    write_text("--keep", "new", "/dev/null")
    assert Path("/dev/null").is_char_device()
