from __future__ import annotations

import io
import sys
import threading

import pytest

from supm.reporting import bar, progress


class Terminal(io.StringIO):
    """A standard error that somebody watches."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if text.strip():
            self.drawn.set()
        return super().write(text)


def test_progress_passes_items_on_and_is_silent_where_nobody_watches(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert list(progress(iter("abc"), total=None, unit="letters")) == ["a", "b", "c"]
    with bar(total=2, unit="steps", label="work") as shown:
        shown.label("more work")
        shown.step()
    assert capsys.readouterr().err == ""


def test_a_bar_appears_before_the_first_step_ends_and_is_wiped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with bar(total=4, unit="folds", label="epsilon 4", after=0.01) as shown:
        assert terminal.drawn.wait(60)
        shown.label("without privacy")
        shown.step()
    drawn, _, rest = terminal.getvalue().rpartition("\x1b[1A")
    assert "epsilon 4" in drawn
    assert "0/4" in drawn
    # Up one line and wiped: nothing stays.
    assert rest == "\x1b[2K"


def test_short_work_shows_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with bar(total=1, unit="folds", label="work", after=3600.0) as shown:
        shown.step()
    assert terminal.getvalue().strip() == ""
