"""What the paper claims, beside what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from experiments.copula.data import TITLES
from experiments.copula.pairs import clean_pair
from experiments.copula.results import Results
from experiments.copula.settings import LEARNERS, Scope
from experiments.copula.tables import grid, ratio

__all__ = ["claims", "wins"]

_COMPARED: Final = ("noisy data", "augmentation", "plain copula", "IDUE(R)", "IDUE(O)")
_UP_TO: Final = 8.0
_CUT_EPSILON: Final = 5.0
_CLAIMED_RATIOS: Final = {
    "tree": "below 0 everywhere",
    "kNN": "below 0 everywhere",
    "SVM": "not effective",
    "NN": "below 0, Adult about 0",
}

Line = list[str]


def claims(results: Results, scope: Scope) -> str:
    """Return the table of claims."""
    lines = [
        *(_best(results, scope, data, "8") for data in scope.real),
        *(_best(results, scope, data, "5") for data in scope.distributions),
        *(_growth(results, scope, data) for data in scope.distributions),
        *(
            _increase(results, scope, data, learner, part)
            for part in ("mse", "mae")
            for learner in LEARNERS
            for data in scope.real
        ),
        *_cuts(results, scope),
        *_closer(results, scope),
    ]
    return grid(["what", "claimed", "ours", "gap"], [line for line in lines if line])


def wins(
    results: Results, data: str, epsilons: Sequence[float], others: Sequence[str], records: int
) -> tuple[int, int]:
    """Return at how many budgets the paper's method was better than all others, and of how many."""
    won = known = 0
    for epsilon in epsilons:
        paper = results.at(data, "paper", epsilon, records)
        found = [results.at(data, name, epsilon, records) for name in others]
        errors = [each.mse for each in found if each]
        if paper and errors:
            known += 1
            won += paper.mse < min(errors)
    return won, known


def _best(results: Results, scope: Scope, data: str, figure: str) -> Line:
    records = scope.records if data in scope.real else scope.sizes[0]
    epsilons = [each for each in scope.epsilons if each <= _UP_TO]
    won, known = wins(results, data, epsilons, _COMPARED, records)
    trees, _ = wins(results, data, epsilons, _COMPARED[:3], records)
    over, _ = wins(results, data, epsilons, ("constant",), records)
    return [
        f"figure {figure}, {TITLES[data]}: the paper's method is the best of its six",
        f"at all {known} epsilons up to 8",
        f"at {won} of {known}, without the histograms at {trees}; below the constant at {over}",
        f"{won - known}",
    ]


def _growth(results: Results, scope: Scope, data: str) -> Line:
    """Say how the error moves from the least to the most records (figure 6)."""
    moved = []
    for method in ("paper", "noisy data", "constant"):
        first = results.at(data, method, 1.0, scope.sizes[0])
        last = results.at(data, method, 1.0, scope.sizes[-1])
        moved.append(last.mse / first.mse if first and last else float("nan"))
    return [
        f"figure 6, {TITLES[data]}: more records help the paper's method, not the noisy tree",
        "falls; does not fall",
        f"times {moved[0]:.2f}; times {moved[1]:.2f} (the constant: times {moved[2]:.2f})",
        "none" if moved[0] < 1 else "does not fall",
    ]


def _increase(results: Results, scope: Scope, data: str, learner: str, part: str) -> Line:
    found = [ratio(results, data, each, learner, part, scope.records) for each in scope.epsilons]
    known = [value for value in found if value is not None]
    if not known:
        return []
    below = sum(value < 0 for value in known)
    figure = "9" if part == "mse" else "10"
    return [
        f"figure {figure}, {TITLES[data]}, {learner}: increase of the {part.upper()}",
        _CLAIMED_RATIOS[learner],
        f"median {np.median(known):+.2f}, from {min(known):+.2f} to {max(known):+.2f}",
        f"below 0 at {below} of {len(known)} epsilons",
    ]


def _cuts(results: Results, scope: Scope) -> list[Line]:
    """Return figure 2: the best cut of the crime rate at epsilon 5."""
    epsilon = _CUT_EPSILON if _CUT_EPSILON in scope.epsilons else scope.epsilons[-1]
    clean = clean_pair().split
    lines = [
        ["figure 2: best cut of the crime rate, clean", "7", f"{clean:.1f}", f"{clean - 7:+.1f}"]
    ]
    for method, claimed in (("noisy data", "37, 59"), ("paper", "8, 3"), ("strict copula", "-")):
        cuts = [pair.split for pair in results.pair(method, epsilon)]
        if cuts:
            low, middle, high = np.quantile(cuts, (0.1, 0.5, 0.9))
            words = f"median {middle:.1f}, 80 % from {low:.1f} to {high:.1f}, {len(cuts)} runs"
            gap = f"{np.median(np.abs(np.array(cuts) - clean)):.1f} from the clean cut (median)"
            lines.append([f"figure 2, epsilon {epsilon:g}: {method}", claimed, words, gap])
    return lines


def _closer(results: Results, scope: Scope) -> list[Line]:
    """Return figure 11: the correlation of crime and price."""
    true = clean_pair().correlation
    lines = [["figure 11: correlation, clean", "-0.388", f"{true:.3f}", f"{true + 0.388:+.3f}"]]
    for epsilon in scope.epsilons:
        noisy, paper, ours = (
            np.array([pair.correlation for pair in results.pair(method, epsilon)])
            for method in ("noisy data", "paper", "strict copula")
        )
        if len(noisy):
            means = f"noisy {noisy.mean():.3f}, paper {paper.mean():.3f}, strict {ours.mean():.3f}"
            better = np.mean(np.abs(paper - true) < np.abs(noisy - true))
            gap = f"closer in {100 * better:.0f} % of {len(noisy)} runs"
            name = f"figure 11, epsilon {epsilon:g}: the paper's rows are closer than noisy ones"
            lines.append([name, "always", means, gap])
    return lines
