"""A printed number beside ours: the kinds of claim that the papers make."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from experiments.supm.results import Line
from numpy.typing import NDArray

__all__ = [
    "Finding",
    "budget_between",
    "budget_for",
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
    """

    ours: str
    gap: str
    holds: bool | None


ABSENT = Finding(ours="not measured in this run", gap="", holds=None)


def value(found: NDArray[np.float64] | None, claimed: float, tolerance: float) -> Finding:
    """Compare a printed accuracy with our repetitions."""
    if found is None or not found.size:
        return ABSENT
    gap = float(found.mean()) - claimed
    return Finding(ours=f"{_spread(found)}", gap=f"{gap:+.2f}", holds=abs(gap) <= tolerance)


def budget_for(line: Line, level: float, claimed: float, tolerance: float = 3.0) -> Finding:
    """Compare the printed budget at which an accuracy is reached with that of our mean."""
    if not len(line):
        return ABSENT
    found = line.reaches(level)
    reached = [each for each in line.each_reaches(level) if each is not None]
    runs = f"; in {len(reached)} of {line.repeats} repetitions"
    if reached:
        low, high = np.min(reached), np.max(reached)
        runs += f" at {low:.1f} to {high:.1f}"
    ours = f"{_NEVER if found is None else f'{found:.1f}'}{runs}"
    if found is None:
        top = line.mean.max()
        return Finding(ours=f"{ours}; highest mean {top:.2f}", gap="", holds=False)
    gap = found - claimed
    return Finding(ours=ours, gap=f"{gap:+.1f}", holds=abs(gap) <= tolerance)


def budget_between(
    first: Line, others: list[Line], claimed: float, *, above: bool, tolerance: float = 3.0
) -> Finding:
    """Compare the printed budget above or below which one line is the highest of all."""
    if not len(first) or not all(len(other) == len(first) for other in others):
        return ABSENT
    wins = np.all([first.mean >= other.mean for other in others], axis=0)
    run = np.flatnonzero(~wins)
    if above:
        place = int(run[-1]) + 1 if run.size else 0
        inside = place < len(first)
    else:
        place = int(run[0]) - 1 if run.size else len(first) - 1
        inside = place >= 0
    if not inside:
        lead = min(float((first.mean - other.mean).max()) for other in others)
        return Finding(ours=f"nowhere (largest lead {lead:+.2f})", gap="", holds=False)
    found = float(first.epsilon[place])
    word = "from" if above else "up to"
    gap = found - claimed
    return Finding(ours=f"{word} {found:g}", gap=f"{gap:+.1f}", holds=abs(gap) <= tolerance)


def gap_between(
    first: Line, second: Line, low: float = 10, high: float = 50, *, always: bool = False
) -> Finding:
    """Say by how much the mean of one line lies above that of another between two budgets.

    It holds where the lead is positive on average, or at every budget if ``always`` is claimed.
    """
    shared = sorted(set(first.epsilon.tolist()) & set(second.epsilon.tolist()))
    budgets = [epsilon for epsilon in shared if low <= epsilon <= high]
    if not budgets:
        return ABSENT
    each = _leads(first, second, budgets)
    lead = each.mean(axis=1)
    ahead = int((lead > 0).sum())
    ours = (
        f"{lead.min():+.2f} to {lead.max():+.2f}, mean {lead.mean():+.2f}; ahead at {ahead} of "
        f"{lead.size} budgets, and in {100 * (each > 0).mean():.0f} % of single runs"
    )
    holds = ahead == lead.size if always else bool(lead.mean() > 0)
    return Finding(ours=ours, gap="", holds=holds)


def largest_gap(first: Line, second: Line, claimed: float) -> Finding:
    """Compare the printed largest difference of two lines with that of our means."""
    budgets = sorted(set(first.epsilon.tolist()) & set(second.epsilon.tolist()))
    if not budgets:
        return ABSENT
    each = _leads(first, second, budgets)
    lead = each.mean(axis=1)
    place = int(np.abs(lead).argmax())
    found = float(abs(lead[place]))
    small = int((np.abs(each).max(axis=0) <= claimed).sum())
    ours = f"{found:.2f} (at {budgets[place]:g}; from {lead.min():+.2f} to {lead.max():+.2f})"
    if claimed:
        ours += f"; at most {claimed:g} in {small} of {each.shape[1]} repetitions"
    return Finding(ours=ours, gap=f"{found - claimed:+.2f}", holds=found <= claimed + 0.7)


def _leads(first: Line, second: Line, budgets: list[float]) -> NDArray[np.float64]:
    """Return the lead in each repetition: the same folds, draws and noise for both."""
    one, other = first.only(budgets).values, second.only(budgets).values
    shared = min(one.shape[1], other.shape[1])
    return np.asarray(one[:, :shared] - other[:, :shared])


def _spread(found: NDArray[np.float64]) -> str:
    if found.size == 1:
        return f"{found[0]:.2f} (1 repetition)"
    sd = found.std(ddof=1)
    return f"{found.mean():.2f} ± {sd:.2f} ({found.size} repetitions, best {found.max():.2f})"
