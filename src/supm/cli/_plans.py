"""The plans of several budgets: who is asked what, why, and what is promised."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from supm.cli._asking import TRUTH, askings_table
from supm.cli._output import counted, paragraph, table
from supm.cli._words import cost, opening_lines, promise_words, trust_words
from supm.collection import NumberSimulation, Simulation
from supm.owner import explain
from supm.privacy import Guarantee, NoGuarantee

__all__ = ["Result", "chosen_words", "plans"]

Result: TypeAlias = Simulation | NumberSimulation

_FACTOR: Final = re.compile(r"a factor of at most (\S+) \(([^,)]*), epsilon = [^)]*\)")
_NUMBERS: Final = re.compile(r" \(\d+\) of \d+ classes")
_SHOWN: Final = 5


def plans(results: tuple[Result, ...], people: int) -> str:
    """Return the plans of all budgets, what is promised, and which attributes were chosen.

    Parameters
    ----------
    results : tuple of Simulation or of NumberSimulation
        One for each budget.
    people : int
        How many owners there are.

    Returns
    -------
    str
        Lines without a final newline.
    """
    studies = [each.study for each in results]
    alone = len(results) == 1
    head = opening_lines(studies[0]) if alone else [trust_words(studies[0])]
    known = any(row.truth for study in studies for row in explain(study).rows)
    parts = [*head, *([TRUTH] if known else []), *_reasons(results)]
    blocks = [
        askings_table(studies, people),
        "\n".join(map(paragraph, parts)),
        _promised(results),
    ]
    chosen = [_chosen(each) for each in results if isinstance(each, Simulation) and _searched(each)]
    if chosen:
        blocks.append("\n".join(["How often each attribute was chosen", *chosen]))
    return "\n\n".join(blocks)


def chosen_words(chosen: Mapping[str, int], models: int) -> str:
    """Return which attributes were chosen most often.

    Parameters
    ----------
    chosen : mapping of str to int
        In how many models each attribute was, the most frequent first.
    models : int
        How many models there were.

    Returns
    -------
    str

    Examples
    --------
    >>> chosen_words({"age": 29, "pulse": 1}, 30)
    'in 30 models: age (29), pulse (1).'
    """
    shown = [f"{name} ({count})" for name, count in list(chosen.items())[:_SHOWN]]
    more = f" and {len(chosen) - _SHOWN} more" if len(chosen) > _SHOWN else ""
    return f"in {counted(models, 'model')}: {', '.join(shown)}{more}."


def _reasons(results: tuple[Result, ...]) -> list[str]:
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


def _promised(results: tuple[Result, ...]) -> str:
    """Return what is promised: once, with the factors in a table where there are several."""
    if len(results) == 1:
        return "\n".join(map(paragraph, cost(results[0].account)))
    general = [
        _FACTOR.sub(r"at most the factor below (\2)", line) for line in cost(results[0].account)
    ]
    return "\n".join([*map(paragraph, general), "", _factors(results)])


def _factors(results: tuple[Result, ...]) -> str:
    told = [(_factor(each.account.training), _factor(each.account.testing)) for each in results]
    alike = all(train == test for train, test in told)
    names = ["factor"] if alike else ["factor to train", "factor to test"]
    rows = [
        [f"{each.study.epsilon:g}", str(each.study.classes), *factors[: len(names)]]
        for each, factors in zip(results, told, strict=True)
    ]
    return table(["epsilon", "classes", *names], rows, left=0)


def _factor(promise: Guarantee) -> str:
    found = _FACTOR.search(promise_words(promise))
    if found:
        return found[1]
    return "no promise" if isinstance(promise, NoGuarantee) else "nothing leaves"


def _searched(result: Simulation) -> bool:
    """Say whether some attributes were chosen and others were not."""
    study = result.study
    return study.attributes is None and study.keep < len(study.schema.attributes)


def _chosen(result: Simulation) -> str:
    words = chosen_words(result.chosen, result.repeats * result.folds)
    return paragraph(f"epsilon = {result.study.epsilon:g}, {words}", indent="  ")
