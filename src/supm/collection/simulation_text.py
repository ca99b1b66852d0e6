"""What budgets buy, in tables and sentences, with the plans that led to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from supm.collection.evaluation import Evaluation
from supm.collection.words import cost_lines, opening_lines, promise_words, trust_words
from supm.learning import Metric
from supm.messages import Study
from supm.owner import explain
from supm.privacy import Guarantee, NoGuarantee
from supm.reporting import Table, counted

if TYPE_CHECKING:
    from supm.collection.simulation import Simulation

_Each = TypeVar("_Each")

COMBINATIONS: Final = (
    "Combinations: how many truths an answer may stand for, at most. Truth: how often it is the "
    "owner's own beyond chance, at least."
)
_ANSWERED: Final = (
    "Answered: from what owners send. On device: the same models, where a record is tested "
    "without leaving its owner."
)
_SPREAD: Final = "The spread is the standard deviation over the repetitions."
_FACTOR: Final = re.compile(r"a factor of at most (\S+) \(([^,)]*), epsilon = [^)]*\)")
_NUMBERS: Final = re.compile(r" \(\d+\) of \d+ classes")
_SHOWN: Final = 5
_WIDEST: Final = 25
# Answers this close to those of a constant are those of one.
_CLOSE: Final = 0.005


class _Kind(NamedTuple):
    """What the figures of labels, or of a number, are called and how they are written."""

    headline: str
    beside: str
    constant: str
    column: str
    main: str
    spread: str


_LABELS: Final = _Kind(
    "accuracy", "balanced_accuracy_mean", "majority", column="balanced", main=".1%", spread=".1%"
)
_NUMBER: Final = _Kind(
    "error", "explained", "constant", column="explained", main=".4g", spread=".2g"
)


def kind_of(found: Simulation) -> _Kind:
    """Return what the figures are called."""
    return _NUMBER if found.labels is None else _LABELS


def tables(found: Simulation) -> list[Table]:
    """Return the figures, who was asked what, and what is promised where that differs."""
    shown = [_figures(found), _asked(found)]
    return shown if len(found.results) == 1 else [*shown, _factors(found.results)]


def words(found: Simulation) -> list[str]:
    """Return what the tables mean: the lines around the figures, plans and promises."""
    results, studies = found.results, [each.study for each in found.results]
    known = any(row.truth for study in studies for row in explain(study).rows)
    said = [
        _between(found),
        _ANSWERED,
        _SPREAD if results[0].repeats > 1 else "",
        _weighed(found),
        "The randomness came from a seed: a simulation, not private." if found.seeded else "",
    ]
    plans = opening_lines(studies[0]) if len(results) == 1 else [trust_words(studies[0])]
    chosen = [_chosen(each) for each in results if _searched(each.study)]
    return [
        " ".join(filter(None, said)),
        *filter(None, [_hint(found)]),
        *plans,
        *([COMBINATIONS] if known else []),
        *_reasons(results),
        *_promised(results),
        *chosen,
    ]


def _figures(found: Simulation) -> Table:
    kind = kind_of(found)
    return figures(
        found.results,
        ("epsilon", "g", lambda each: each.study.epsilon),
        ("answered", kind.main, lambda each: each.answered.headline),
        ("spread", kind.spread, lambda each: each.spread if each.repeats > 1 else None),
        (kind.column, ".1%", lambda each: each.answered.beside),
        ("on device", kind.main, lambda each: each.on_device.headline),
        (f"on-device {kind.column}", ".1%", lambda each: each.on_device.beside),
        (kind.constant, kind.main, lambda each: each.answered.of_constant),
        ("repetitions", "g", lambda each: each.repeats),
        ("folds", "g", lambda each: each.folds),
    )


def figures(
    results: Iterable[_Each], *columns: tuple[str, str, Callable[[_Each], float | None]]
) -> Table:
    """Return a row for each result, whose columns have a head, a format and what is shown."""
    heads, formats, shown = zip(*columns, strict=True)
    rows = [[show(each) for show in shown] for each in results]
    return Table(head=heads, rows=rows, formats=formats, words=0)


def _asked(found: Simulation) -> Table:
    rows = []
    for each in found.results:
        for phase, *cells, _ in asked_rows(each.study, found.people):
            rows.append([each.study.epsilon, phase, *cells])
    head = ("epsilon", "phase", "who", "is asked for", "combinations", "truth")
    formats = ("g", "", "", "", "g", ".2f")
    return Table(head=head, rows=rows, formats=formats, words=4, widest=_WIDEST)


def asked_table(study: Study, owners: int | None = None) -> Table:
    """Return what each group of owners is asked, a row for each."""
    head = ("phase", "who", "is asked for", "combinations", "truth", "epsilon")
    rows = [
        [*row, "no promise" if epsilon is None else epsilon]
        for *row, epsilon in asked_rows(study, owners)
    ]
    formats = ("", "", "", "g", ".2f", "g")
    return Table(head=head, rows=rows, formats=formats, words=3, widest=_WIDEST)


def asked_rows(
    study: Study, owners: int | None
) -> list[tuple[str, str, str, int | None, float | None, float | None]]:
    """Return phase, who, what, combinations, truth and epsilon of each question."""
    found = []
    for place, row in enumerate(explain(study).rows):
        phase = study.questions[place].phase if place < len(study.questions) else "test"
        who = f"{row.who}{_about(study, place, owners)}"
        found.append((phase, who, row.asked, row.combinations, row.truth, row.epsilon))
    return found


def _about(study: Study, place: int, owners: int | None) -> str:
    """Say about how many people a group is, where there are several."""
    if owners is None or len(study.groups) == 1 or place >= len(study.questions):
        return ""
    question = study.questions[place]
    if question.phase == "test":
        return ""
    share = study.groups[question.group] / sum(study.groups)
    return f", by lot: about {round(owners * share)}"


def _between(found: Simulation) -> str:
    """Say between which two lines the figures lie."""
    baseline, reached = found.baseline, found.baseline.reached
    people, often = baseline.people, counted(baseline.repeats, "repetition")
    if found.labels is None:
        return (
            f"Mean squared errors. Always predicting the mean has {found.constant:.4g}; least "
            f"squares without privacy, on the raw data of {people} people, "
            f"{reached.headline:.4g} ({often}). Explained, beside each: which part of the "
            "constant's error is gone."
        )
    return (
        f"Always predicting the commonest class is right for {found.constant:.1%}; a support "
        f"vector machine without privacy, on the raw data of {people} people, for "
        f"{reached.headline:.1%} (balanced {reached.beside:.1%}; {often}). Balanced, beside each: "
        "the mean over the classes."
    )


def _weighed(found: Simulation) -> str:
    if found.weights is None:
        return ""
    if isinstance(found.weights, str):
        return "Rare classes count as much as common ones in training."
    return "Classes count by the given weights in training."


def _hint(found: Simulation) -> str:
    """Return what to try where a class is rare and no answer names it, or nothing."""
    if found.labels is None or found.weights is not None:
        return ""
    alike = 1.0 / found.labels
    rare = found.constant > alike + _CLOSE
    if rare and all(_says_nothing(each.answered, alike) for each in found.results):
        return (
            "Hint: owners are always answered the commonest class, whatever they send; try "
            "balanced weights."
        )
    return ""


def _says_nothing(answered: Metric, alike: float) -> bool:
    """Say whether the answers are those of always saying the commonest class."""
    apart = answered.headline - answered.of_constant, answered.beside - alike
    return max(map(abs, apart)) <= _CLOSE


def _reasons(results: tuple[Evaluation, ...]) -> list[str]:
    """Return why plans look as they do, with the budgets where they differ."""
    budgets: dict[str, list[str]] = {}
    for each in results:
        sentence = explain(each.study).sentence
        if len(results) > 1:
            sentence = _NUMBERS.sub("", sentence)  # the tables have them
        budgets.setdefault(sentence, []).append(f"{each.study.epsilon:g}")
    if len(budgets) == 1:
        return list(budgets)
    return [f"Epsilon {', '.join(those)}: {sentence}" for sentence, those in budgets.items()]


def _promised(results: tuple[Evaluation, ...]) -> list[str]:
    """Return what is promised: once, with the factors in a table where there are several."""
    said = cost_lines(results[0].account)
    if len(results) == 1:
        return said
    return [_FACTOR.sub(r"at most the factor above (\2)", line) for line in said]


def _factors(results: tuple[Evaluation, ...]) -> Table:
    told = [(_factor(each.account.training), _factor(each.account.testing)) for each in results]
    alike = all(train == test for train, test in told)
    names = ["factor"] if alike else ["factor to train", "factor to test"]
    rows: list[list[str | float]] = [
        [each.study.epsilon, each.study.classes, *factors[: len(names)]]
        for each, factors in zip(results, told, strict=True)
    ]
    return Table(head=["epsilon", "classes", *names], rows=rows, words=0)


def _factor(promise: Guarantee) -> str:
    found = _FACTOR.search(promise_words(promise))
    if found:
        return found[1]
    return "no promise" if isinstance(promise, NoGuarantee) else "nothing leaves"


def _searched(study: Study) -> bool:
    """Say whether some attributes were chosen and others were not."""
    return study.attributes is None and study.keep < len(study.schema.attributes)


def _chosen(result: Evaluation) -> str:
    """Return which attributes were chosen most often."""
    shown = [f"{name} ({count})" for name, count in list(result.chosen.items())[:_SHOWN]]
    more = f" and {len(result.chosen) - _SHOWN} more" if len(result.chosen) > _SHOWN else ""
    models = counted(result.repeats * result.folds, "model")
    return (
        f"How often each attribute was chosen at epsilon {result.study.epsilon:g}, in {models}: "
        f"{', '.join(shown)}{more}."
    )
