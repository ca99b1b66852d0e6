"""The plans of several budgets: what they share is said once, and what differs is a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from supm.cli._output import counted, paragraph, table
from supm.cli._words import cost, plan_lines, promise_words
from supm.collection import Simulation
from supm.privacy import Guarantee, NoGuarantee

__all__ = ["chosen_words", "plans"]

_FACTOR: Final = re.compile(r"a factor of at most (\S+) \(([^,)]*), epsilon = [^)]*\)")
_SHOWN: Final = 5


def plans(results: tuple[Simulation, ...], people: int) -> str:
    """Return the plans of all budgets, what is promised, and which attributes were chosen.

    Parameters
    ----------
    results : tuple of Simulation
        One for each budget.
    people : int
        How many owners there are.

    Returns
    -------
    str
        Lines without a final newline.
    """
    letters = _differing(results)
    general = [_general(each, people, letters) for each in results]
    if len(results) == 1 or any(lines != general[0] for lines in general):
        blocks = [_own(each, people) for each in results]
    else:
        head = "The plan, with what differs between the budgets in a table"
        blocks = [_block(head, general[0]), _differences(results, letters)]
    chosen = [_chosen(each) for each in results if _searched(each)]
    if chosen:
        head = "How often each attribute was chosen"
        blocks.append("\n".join([head, *chosen]))
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


def _own(result: Simulation, people: int) -> str:
    lines = [*plan_lines(result.study, people), *cost(result.account)]
    return _block(f"The plan for epsilon = {result.study.epsilon:g}", lines)


def _differing(results: tuple[Simulation, ...]) -> str:
    keeps = {each.study.keep for each in results}
    classes = {each.study.classes for each in results}
    return ("K" if len(keeps) > 1 else "") + ("L" if len(classes) > 1 else "")


def _general(result: Simulation, people: int, letters: str) -> list[str]:
    """Return the plan without what depends on the budget."""
    promised = [
        _FACTOR.sub(r"at most the factor below (\2)", line) for line in cost(result.account)
    ]
    return [*plan_lines(result.study, people, letters=letters), *promised]


def _differences(results: tuple[Simulation, ...], letters: str) -> str:
    alike = all(each.account.training == each.account.testing for each in results)
    factors = ["factor"] if alike else ["factor to train", "factor to test"]
    rows = []
    for each in results:
        sizes = {"K": str(each.study.keep), "L": str(each.study.classes)}
        spent = (each.account.training, each.account.testing)
        told = [_factor(promise) for promise in spent[: len(factors)]]
        rows.append([f"{each.study.epsilon:g}", *(sizes[letter] for letter in letters), *told])
    return table(["epsilon", *letters, *factors], rows, left=0)


def _factor(promise: Guarantee) -> str:
    found = _FACTOR.search(promise_words(promise))
    if found:
        return found[1]
    return "no promise" if isinstance(promise, NoGuarantee) else "nothing leaves"


def _searched(result: Simulation) -> bool:
    return result.study.attributes is None


def _chosen(result: Simulation) -> str:
    words = chosen_words(result.chosen, result.repeats * result.folds)
    return paragraph(f"epsilon = {result.study.epsilon:g}, {words}", indent="  ")


def _block(head: str, lines: list[str]) -> str:
    return "\n".join([head, *(paragraph(line, indent="  ") for line in lines)])
