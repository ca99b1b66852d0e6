"""What accuracy budgets buy, as a table and for machines."""

from __future__ import annotations

from typing import Any, Final

from supm.cli._outcome import Outcome
from supm.cli._output import counted, table
from supm.cli._plans import Result
from supm.cli._words import cost_for_machines, plan_for_machines
from supm.collection import Simulation

__all__ = ["between", "common_for_machines", "figures", "for_machines", "hint"]

_HEAD: Final = (
    *("epsilon", "answered", "spread", "balanced", "on device", "balanced", "majority"),
    *("repetitions", "folds"),
)
# Answers this close to those of a constant are those of one.
_CONSTANT: Final = 0.005


def figures(outcome: Outcome) -> str:
    """Return the accuracies as a table.

    Parameters
    ----------
    outcome : Outcome
        What was measured.

    Returns
    -------
    str
    """
    return table(_HEAD, [_cells(result) for result in outcome.results], left=0)


def between(outcome: Outcome) -> str:
    """Return the two lines between which the accuracies lie, and what the columns mean.

    Parameters
    ----------
    outcome : Outcome
        What was measured.

    Returns
    -------
    str
        Sentences.
    """
    baseline, repeats = outcome.baseline, outcome.results[0].repeats
    lines = (
        f"Always predicting the commonest class is right for {outcome.majority:.1%}; a support "
        f"vector machine without privacy, on the raw data of {baseline.people} people, for "
        f"{baseline.accuracy:.1%} (balanced {baseline.balanced:.1%}; "
        f"{counted(baseline.repeats, 'repetition')})."
    )
    words = [
        lines,
        "Answered: right answers to what owners send.",
        "The spread is the standard deviation over the repetitions." if repeats > 1 else "",
        "On device: the same models, where a record is tested without leaving its owner.",
        "Balanced, beside each: the mean over the classes.",
        _weighed(outcome),
        "The randomness came from a seed: a simulation, not private." if outcome.seeded else "",
    ]
    return " ".join(filter(None, words))


def hint(outcome: Outcome) -> str:
    """Return what to try where a class is rare and no answer names it, or nothing.

    Parameters
    ----------
    outcome : Outcome
        What was measured.

    Returns
    -------
    str
        A sentence, or an empty text.
    """
    alike = 1.0 / outcome.labels
    rare = outcome.majority > alike + _CONSTANT
    if outcome.weights is None and rare and all(_constant(each, alike) for each in outcome.results):
        return (
            "Hint: owners are always answered the commonest class, whatever they send; try "
            "--weights balanced."
        )
    return ""


def for_machines(outcome: Outcome) -> dict[str, Any]:
    """Return everything as plain values for JSON.

    Parameters
    ----------
    outcome : Outcome
        What was measured.

    Returns
    -------
    dict
        The keys are a contract: scripts rely on them.
    """
    return {
        "n": outcome.people,
        "target": outcome.target,
        "majority": outcome.majority,
        "results": [_result(each, outcome) for each in outcome.results],
    }


def common_for_machines(
    result: Result, measured: dict[str, float], evaluation: dict[str, Any], *, seeded: bool
) -> dict[str, Any]:
    """Return what a study of classes and one of a number have in common, with what was measured.

    Parameters
    ----------
    result : Simulation or NumberSimulation
        That of one budget.
    measured : dict
        The figures.
    evaluation : dict
        How they came about.
    seeded : bool
        Whether the randomness came from a seed.

    Returns
    -------
    dict
    """
    study = result.study
    evaluated = {"repeats": result.repeats, "folds": result.folds, **evaluation}
    return {
        "epsilon": study.epsilon,
        "mode": study.mode,
        "trust": list(study.trust.words),
        **measured,
        "plan": plan_for_machines(study) | {"evaluation": evaluated},
        # What the study promises; a seeded run itself keeps nothing secret.
        "guarantee": cost_for_machines(result.account) | {"simulation": seeded},
        "seconds": result.seconds,
    }


def _result(result: Simulation, outcome: Outcome) -> dict[str, Any]:
    baseline = outcome.baseline
    evaluation = {
        "chosen": dict(result.chosen),
        "weights": outcome.weights if outcome.weights is None else _named(outcome.weights),
        "without_privacy_accuracy_mean": baseline.accuracy,
        "without_privacy_balanced_accuracy_mean": baseline.balanced,
        "without_privacy_people": baseline.people,
        "without_privacy_repeats": baseline.repeats,
    }
    measured = {
        "accuracy_mean": result.accuracy_mean,
        "accuracy_sd": result.accuracy_sd,
        "balanced_accuracy_mean": result.balanced_accuracy_mean,
        "on_device_accuracy_mean": result.on_device_accuracy_mean,
        "on_device_balanced_accuracy_mean": result.on_device_balanced_accuracy_mean,
    }
    return common_for_machines(result, measured, evaluation, seeded=outcome.seeded)


def _named(weights: str | tuple[float, ...]) -> str | list[float]:
    return weights if isinstance(weights, str) else list(weights)


def _weighed(outcome: Outcome) -> str:
    if outcome.weights is None:
        return ""
    if isinstance(outcome.weights, str):
        return "Rare classes count as much as common ones in training."
    return "Classes count by the given weights in training."


def _constant(result: Simulation, alike: float) -> bool:
    """Say whether the answers are those of always saying the commonest class."""
    apart = (
        result.accuracy_mean - result.majority,
        result.balanced_accuracy_mean - alike,
    )
    return max(map(abs, apart)) <= _CONSTANT


def _cells(result: Simulation) -> list[str]:
    return [
        f"{result.study.epsilon:g}",
        f"{result.accuracy_mean:.1%}",
        f"± {result.accuracy_sd:.1%}" if result.repeats > 1 else "-",
        f"{result.balanced_accuracy_mean:.1%}",
        f"{result.on_device_accuracy_mean:.1%}",
        f"{result.on_device_balanced_accuracy_mean:.1%}",
        f"{result.majority:.1%}",
        str(result.repeats),
        str(result.folds),
    ]
