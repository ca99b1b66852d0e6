"""The top of the README: what was to be reached, and whether it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from experiments.supm.claims import Claim
from experiments.supm.markdown import table
from experiments.supm.results import Results, figure_of
from experiments.supm.settings import Data

__all__ = ["VERDICTS", "bars"]

VERDICTS: Final = {True: "yes", False: "**no**", None: "-"}
_HEAD: Final = ("bar", "what", "printed", "ours", "majority class", "holds", "picture", "notes")
_GAMMAS: Final = {
    "largest": "gamma as the text says",
    "overall": "gamma as scikit-learn's default",
    "mean": "gamma by the mean variance",
}
_KINDS: Final = {"order": "order of the methods", "crossing": "crossing points"}
# Bars of one claim: its key, the bar, what it is about, and the kind of the figure.
_SINGLE: Final = (
    ("wdbc wa", "2: within 2", "DR.WA at epsilon = 10", "reductions"),
    ("wdbc 3.57", "14: both reported", "(ODA, ODA) and (ODP, ODA), largest difference", "phases"),
    ("wdbc 3.57 in 001", "14: both reported", "(WA, WA) and (WA, WALDP), the same", "phases"),
)


def bars(results: Results, claims: Mapping[str, Sequence[Claim]], notes: Sequence[str]) -> str:
    """Return the table of bars, and in words for which readings the first one holds."""
    parts = (_raw(results, claims), _single(results, claims), _groups(results, claims))
    rows = [(*row, _numbers(told, notes)) for part in parts for row, told in part]
    return f"## The bars\n\n{table(_HEAD, rows)}\n{_readings(claims)}"


Row = tuple[tuple[str, ...], list[Claim]]


def _raw(results: Results, claims: Mapping[str, Sequence[Claim]]) -> Iterator[Row]:
    for data in results.scope.data:
        for reading in ("largest", "overall"):
            text = _GAMMAS[reading]
            claim = _find(claims, f"{data.name} raw {reading}")
            yield _row(results, data, "1: within 0.7", f"no noise, {text}", claim, "reductions")


def _single(results: Results, claims: Mapping[str, Sequence[Claim]]) -> Iterator[Row]:
    for key, bar, text, kind in _SINGLE:
        data = results.scope.of(key.split()[0])
        if data is not None:
            yield _row(results, data, bar, text, _find(claims, key), kind)


def _row(results: Results, data: Data, bar: str, text: str, claim: Claim, kind: str) -> Row:
    what = f"{data.title}: {text}"
    found = (claim.claimed, claim.found.ours, _majority(results, data), VERDICTS[claim.found.holds])
    paper = "001" if claim.where.startswith("001") else "000"
    return (bar, what, *found, _figure(data, kind, paper)), [claim]


def _groups(results: Results, claims: Mapping[str, Sequence[Claim]]) -> Iterator[Row]:
    for data in results.scope.data:
        for kind, text in _KINDS.items():
            told = [claim for claim in claims[data.name] if claim.found.kind == kind]
            measured = [claim for claim in told if claim.found.holds is not None]
            failed = [claim for claim in measured if not claim.found.holds]
            held = f"{len(measured) - len(failed)} of {len(told)} hold"
            if len(measured) < len(told):
                held += f", {len(told) - len(measured)} not measured"
            verdict = VERDICTS[not failed] if measured else VERDICTS[None]
            if failed and all(claim.why for claim in failed):
                word = "in part" if len(failed) < len(told) else VERDICTS[False]
                verdict = f"{word}; explained"
            bar = "2: reproduced or explained"
            found = ("see below", held, _majority(results, data), verdict)
            pictures = ", ".join((_figure(data, "sizes"), _figure(data, "reductions")))
            yield (bar, f"{data.title}: {text}", *found, pictures), failed


def _find(claims: Mapping[str, Sequence[Claim]], key: str) -> Claim:
    return next(claim for claim in claims[key.split(maxsplit=1)[0]] if claim.key == key)


def _majority(results: Results, data: Data) -> str:
    share = results.majority(data.name)
    return "-" if share is None else f"{share:.1f}"


def _figure(data: Data, kind: str, paper: str = "000") -> str:
    name = figure_of(data.name, kind, paper).name
    return f"[{name}](figures/figure-{name}.png)"


def _numbers(claims: Sequence[Claim], notes: Sequence[str]) -> str:
    return ", ".join(
        str(number) for number, note in enumerate(notes, 1) if any(c.why == note for c in claims)
    )


def _readings(claims: Mapping[str, Sequence[Claim]]) -> str:
    told = []
    for reading, text in _GAMMAS.items():
        found = [_find(claims, f"{name} raw {reading}").found.holds for name in claims]
        told.append(f"with {text} it holds on {found.count(True)} of {len(found)} data sets")
    return (
        f"Bar 1 depends on the reading of gamma: {', '.join(told)}. Everything else here uses "
        "gamma as the text says. Claims about DR.PW count once for each reading of its budget.\n"
    )
