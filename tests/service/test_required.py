"""A program that is missing skips its tests here, and fails them where all programs are to be."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

import pytest

ROOT: Final = Path(__file__).parents[2]
BROWSED: Final = "tests/service/browser/test_charts.py"


@pytest.mark.parametrize(
    ("required", "outcome"),
    [("1", pytest.fail.Exception), ("", pytest.skip.Exception), (None, pytest.skip.Exception)],
)
def test_what_is_missing_fails_only_where_it_is_required(
    missing: Callable[[str], NoReturn],
    monkeypatch: pytest.MonkeyPatch,
    required: str | None,
    outcome: type[BaseException],
) -> None:
    if required is None:
        monkeypatch.delenv("SUPM_REQUIRE_ALL", raising=False)
    else:
        monkeypatch.setenv("SUPM_REQUIRE_ALL", required)
    with pytest.raises(outcome, match="install it"):
        missing("install it")


@pytest.mark.parametrize(("required", "code", "word"), [("1", 1, "error"), ("", 0, "skipped")])
def test_the_tests_of_the_pages_give_up_where_no_browser_is_found(
    tmp_path: Path, required: str, code: int, word: str
) -> None:
    words = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", BROWSED]
    around = {**os.environ, "PATH": str(tmp_path), "SUPM_REQUIRE_ALL": required}
    done = subprocess.run(  # noqa: S603  our own words
        words, cwd=ROOT, env=around, capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    last = done.stdout.splitlines()[-1]
    assert (word in last, "passed" in last) == (True, False)
    assert "install the Debian package chromium" in done.stdout
