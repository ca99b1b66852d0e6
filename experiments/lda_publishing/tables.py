"""The tables of the README: bars, figures, parties, claims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from experiments.lda_publishing.attacks import Attack
from experiments.lda_publishing.data import TITLES
from experiments.lda_publishing.results import Results, Row
from experiments.lda_publishing.settings import PLAIN, RIVAL, VARIANTS, Scope
from experiments.supm.markdown import table

__all__ = ["bars", "claims", "figure_table", "parties_table", "plain_table"]

_FIXED: Final = 0.2
_THREE: Final = 3


class _Bar(NamedTuple):
    task: str
    epsilon: float
    most: float


_BARS: Final = (
    *(_Bar(task, 0.05, 1.5) for task in ("money", "outside", "bathing", "traveling")),
    *(_Bar(task, 0.4, 0.5) for task in ("money", "outside", "bathing", "traveling")),
    _Bar("salary", 0.1, 2.5),
    _Bar("salary", 0.8, 1.0),
    _Bar("education", 0.05, 1.0),
)
_SHOWN: Final = (
    "direction, their threshold",
    "direction only",
    "release",
    "release, made-up pairs",
)


def bars(results: Results) -> str:
    """Return the bars: points above LDA without privacy, by what is used of the release."""
    rows = [line for bar in _BARS if (line := _bar_line(results, bar))]
    head = ("task", "epsilon", "bar", *_SHOWN, "release less direction (bar 1.0)", "met")
    return table(head, rows)


def _bar_line(results: Results, bar: _Bar) -> tuple[str, ...] | None:
    found = [results.at(bar.task, variant, bar.epsilon) for variant in _SHOWN]
    if None in found:
        return None
    kept = [row for row in found if row is not None]
    cost = 100 * (kept[2].excess - kept[0].excess)
    met = 100 * kept[0].excess <= bar.most and 100 * kept[2].excess <= bar.most and cost <= 1.0
    cells = (_excess(row) for row in kept)
    words = "yes" if met else "**no**"
    return TITLES[bar.task], f"{bar.epsilon:g}", f"{bar.most:g}", *cells, f"{cost:+.2f}", words


def plain_table(results: Results) -> str:
    """Return the errors of what knows no privacy."""
    rows = [
        (TITLES[task], *(_error(results.plain(task, variant)) for variant in PLAIN))
        for task in results.tasks
    ]
    return table(("task", *PLAIN), rows)


def figure_table(results: Results, scope: Scope, parties: int, colluders: int) -> str:
    """Return the errors of all variants by budget, for one number of parties."""
    rows = [
        line
        for task in results.tasks
        for variant in (*VARIANTS, RIVAL)
        if (line := _line(results, scope, task, variant, (parties, colluders)))
    ]
    return table(("task", "variant", *(f"{epsilon:g}" for epsilon in scope.budgets)), rows)


def _line(
    results: Results, scope: Scope, task: str, variant: str, circle: tuple[int, int]
) -> tuple[str, ...] | None:
    found = [results.at(task, variant, epsilon, *circle) for epsilon in scope.budgets]
    if all(row is None for row in found):
        return None
    return TITLES[task], variant, *(_error(row) for row in found)


def parties_table(results: Results, scope: Scope) -> str:
    """Return figure 3: errors at 0.2 by the number of parties, and the noise in the sums."""
    rows = list(_party_lines(results, scope))
    head = ("task", "variant", "noise, variance", *(str(count) for count in scope.parties))
    return table(head, rows)


def _party_lines(results: Results, scope: Scope) -> Iterator[tuple[str, ...]]:
    for task in ("salary", "education"):
        if results.at(task, "release", _FIXED, scope.parties[0], 0) is None:
            continue
        for variant in ("faithful", "faithful global", "direction only", "release"):
            cells = (_error(results.at(task, variant, _FIXED, m, 0)) for m in scope.parties)
            yield TITLES[task], variant, "x 1", *cells
        for variant in ("direction only", "release"):
            cells = (_error(results.at(task, variant, _FIXED, m, m - 1)) for m in scope.parties)
            yield TITLES[task], f"{variant}, all but one collude", "x M", *cells


def claims(results: Results, scope: Scope, attacks: list[Attack]) -> str:
    """Return what the paper claims in words, what was measured, and the gap."""
    rows = [
        *_budget_claims(results, scope),
        *_party_claims(results, scope),
        *_private_claims(attacks),
        *_rival_claims(results, scope),
        (
            "LDA-DP is close to PrivHD; Mul-LDA-DP beats DP-SUBN³",
            "not measured: no library",
            "open",
        ),
    ]
    return table(("claimed", "ours", "gap"), rows)


def _budget_claims(results: Results, scope: Scope) -> Iterator[tuple[str, str, str]]:
    low, high = scope.budgets[0], scope.budgets[-1]
    for task in results.tasks:
        first, last = (results.at(task, "faithful", epsilon) for epsilon in (low, high))
        base, common = results.plain(task, "lda"), results.plain(task, "majority")
        if first is None or last is None or base is None or common is None:
            continue
        words = f"{_error(first)} at {low:g}, {_error(last)} at {high:g}; majority {_error(common)}"
        gap = f"{100 * last.excess:+.1f} points above LDA at {high:g}"
        yield f"{TITLES[task]}: errors fall with epsilon, good utility", words, gap


def _party_claims(results: Results, scope: Scope) -> Iterator[tuple[str, str, str]]:
    claim = "the noise of several owners is that of one (means of each, line 11)"
    for task in results.tasks:
        epsilon = scope.budgets[-1]
        ours, theirs = (
            results.at(task, variant, epsilon, _THREE)
            for variant in ("faithful global", "faithful")
        )
        if ours is None or theirs is None:
            continue
        words = f"{_error(theirs)} with line 11, {_error(ours)} with global means"
        gap = f"{100 * (theirs.error - ours.error):+.1f} points"
        yield f"{TITLES[task]}, 3 owners at {epsilon:g}: {claim}", words, gap


def _private_claims(attacks: list[Attack]) -> Iterator[tuple[str, str, str]]:
    read = sum(each.faithful for each in attacks)
    published = sum(each.published for each in attacks)
    if published:
        claim = "it is impossible to infer the original data from the projected data"
        words = f"{read:,} of {published:,} published records are read from their scores"
        yield claim, words, f"{100 * read / published:.1f} %"


def _rival_claims(results: Results, scope: Scope) -> Iterator[tuple[str, str, str]]:
    for task in results.tasks:
        rows = [
            tuple(results.at(task, name, epsilon) for name in (RIVAL, "faithful", "release"))
            for epsilon in scope.budgets
        ]
        known = [(a.error, b.error, c.error) for a, b, c in rows if a and b and c]
        if known:
            paper, ours = (sum(row[n] < row[0] for row in known) for n in (1, 2))
            words = f"at {paper} of {len(known)} budgets; our release at {ours} of {len(known)}"
            gap = "none" if paper == len(known) else f"{paper - len(known)} budgets"
            yield f"{TITLES[task]}: LDA-DP beats PrivBayes", words, gap


def _error(row: Row | None) -> str:
    return "-" if row is None else f"{100 * row.error:.1f} ± {100 * row.error_sd:.1f}"


def _excess(row: Row) -> str:
    return f"{100 * row.excess:.2f} ± {100 * row.excess_error:.2f}"
