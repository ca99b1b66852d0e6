"""A printed number beside ours: the kinds of claim that the papers make."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from experiments.supm.results import Line, shared_budgets
from numpy.typing import NDArray

__all__ = [
    "Finding",
    "absent",
    "budget_between",
    "budget_for",
    "differences",
    "gap_between",
    "largest_gap",
    "value",
]

_NEVER = "never up to 50"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What we found for one claim.

    Parameters
    ----------
    ours : str
        Our number with its spread.
    gap : str
        Ours minus the printed one.
    holds : bool or None
        Whether the claim holds; None where it was not measured.
    kind : {"value", "crossing", "order", "difference"}
        What sort of claim it is.
    """

    ours: str
    gap: str
    holds: bool | None
    kind: str


def absent(kind: str) -> Finding:
    """Return what is said where nothing was measured."""
    return Finding(ours="not measured in this run", gap="", holds=None, kind=kind)


def value(found: NDArray[np.float64] | None, claimed: float, tolerance: float) -> Finding:
    """Compare a printed accuracy with our repetitions."""
    if found is None or not found.size:
        return absent("value")
    gap = float(found.mean()) - claimed
    holds = abs(gap) <= tolerance
    return Finding(ours=_spread(found), gap=f"{gap:+.2f}", holds=holds, kind="value")


def budget_for(line: Line, level: float, claimed: float, tolerance: float = 3.0) -> Finding:
    """Compare the printed budget at which an accuracy is reached with that of our mean."""
    if not len(line):
        return absent("crossing")
    found = line.reaches(level)
    reached = [each for each in line.each_reaches(level) if each is not None]
    runs = f"; in {len(reached)} of {line.repeats} repetitions"
    if reached:
        low, high = np.min(reached), np.max(reached)
        runs += f" at {low:.1f} to {high:.1f}"
    ours = f"{_NEVER if found is None else f'{found:.1f}'}{runs}"
    if found is None:
        top = line.mean.max()
        return _crossing(f"{ours}; highest mean {top:.2f}")
    return _crossing(ours, found - claimed, tolerance)


def budget_between(
    first: Line, others: list[Line], claimed: float, *, above: bool, tolerance: float = 3.0
) -> Finding:
    """Compare the printed budget above or below which one line is the highest of all."""
    budgets = shared_budgets([first, *others])
    if not budgets:
        return absent("crossing")
    leads = np.min([first.only(budgets).mean - each.only(budgets).mean for each in others], axis=0)
    behind = np.flatnonzero(leads < 0)
    if above:
        place = int(behind[-1]) + 1 if behind.size else 0
    else:
        place = int(behind[0]) - 1 if behind.size else len(budgets) - 1
    if not 0 <= place < len(budgets):
        return _crossing(f"nowhere (largest lead {leads.max():+.2f})")
    word = "from" if above else "up to"
    return _crossing(f"{word} {budgets[place]:g}", budgets[place] - claimed, tolerance)


def _crossing(ours: str, gap: float | None = None, tolerance: float = 0.0) -> Finding:
    if gap is None:
        return Finding(ours=ours, gap="", holds=False, kind="crossing")
    return Finding(ours=ours, gap=f"{gap:+.1f}", holds=abs(gap) <= tolerance, kind="crossing")


def gap_between(
    first: Line, second: Line, low: float = 10, high: float = 50, *, always: bool = False
) -> Finding:
    """Say by how much the mean of one line lies above that of another between two budgets.

    It holds where the lead is positive on average and at most budgets, or at every budget if
    ``always`` is claimed.
    """
    budgets = [each for each in shared_budgets([first, second]) if low <= each <= high]
    if not budgets:
        return absent("order")
    each = _leads(first, second, budgets)
    lead = each.mean(axis=1)
    ahead = int((lead > 0).sum())
    ours = (
        f"{lead.min():+.2f} to {lead.max():+.2f}, mean {lead.mean():+.2f}; ahead at {ahead} of "
        f"{lead.size} budgets, and in {100 * (each > 0).mean():.0f} % of single runs"
    )
    holds = ahead == lead.size if always else bool(lead.mean() > 0 and 2 * ahead > lead.size)
    return Finding(ours=ours, gap="", holds=holds, kind="order")


def largest_gap(first: Line, second: Line, claimed: float) -> Finding:
    """Compare the printed largest difference of two lines with that of our means."""
    budgets = shared_budgets([first, second])
    if not budgets:
        return absent("difference")
    each = _leads(first, second, budgets)
    lead = each.mean(axis=1)
    place = int(np.abs(lead).argmax())
    found = float(abs(lead[place]))
    small = int((np.abs(each).max(axis=0) <= claimed).sum())
    ours = f"{found:.2f} (at {budgets[place]:g}; from {lead.min():+.2f} to {lead.max():+.2f})"
    if claimed:
        ours += f"; at most {claimed:g} in {small} of {each.shape[1]} repetitions"
    holds = found <= claimed + 0.7
    return Finding(ours=ours, gap=f"{found - claimed:+.2f}", holds=holds, kind="difference")


def _leads(first: Line, second: Line, budgets: list[float]) -> NDArray[np.float64]:
    """Return the lead in each repetition: the same folds, draws and noise for both."""
    return differences(first.only(budgets).values, second.only(budgets).values)


def differences(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Subtract repetition by repetition, as many as both have: equal numbers have equal folds."""
    shared = min(one.shape[-1], other.shape[-1])
    return np.asarray(one[..., :shared] - other[..., :shared])


def _spread(found: NDArray[np.float64]) -> str:
    if found.size == 1:
        return f"{found[0]:.2f} (1 repetition)"
    sd = found.std(ddof=1)
    return f"{found.mean():.2f} ± {sd:.2f} ({found.size} repetitions, best {found.max():.2f})"
