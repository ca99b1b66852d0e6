"""What budgets buy, as a table, as a picture and for machines."""

from __future__ import annotations

from typing import Any

from supm.cli._curve import Curve
from supm.cli._outcome import Outcome
from supm.cli._output import counted, table
from supm.cli._words import cost_for_machines, plan_for_machines
from supm.collection import Simulation
from supm.privacy import NoGuarantee

__all__ = ["between", "curve", "figures", "for_machines"]

_HEAD = (
    "epsilon",
    "accuracy",
    "spread",
    "balanced",
    "on device",
    "majority",
    "repetitions",
    "folds",
)


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
        f"Always predicting the commonest class is right for {outcome.majority:.1%}; the same "
        f"learner without privacy, on the raw data of {baseline.people} people, for "
        f"{baseline.accuracy:.1%} ({counted(baseline.repeats, 'repetition')})."
    )
    words = [
        lines,
        "The spread is the standard deviation over the repetitions." if repeats > 1 else "",
        "On device: the same models, where a record is tested without leaving its owner.",
        "The randomness came from a seed: a simulation, not private." if outcome.seeded else "",
    ]
    return " ".join(filter(None, words))


def curve(outcome: Outcome, name: str) -> Curve:
    """Return the accuracies as a picture has them.

    Parameters
    ----------
    outcome : Outcome
        What was measured.
    name : str
        Whose data.

    Returns
    -------
    Curve
    """
    results = sorted(outcome.results, key=lambda each: each.study.epsilon)
    first = results[0]
    how = f"{counted(first.repeats, 'repetition')} of {first.folds}-fold cross-validation"
    trust = f"trust {first.study.trust.letters}"
    seeded = "; simulation, not private" if outcome.seeded else ""
    return Curve(
        title=f"{name}: {outcome.people} people; {first.study.mode}, {trust}\n{how}{seeded}",
        epsilons=tuple(each.study.epsilon for each in results),
        reported=tuple(each.accuracy_mean for each in results),
        spread=tuple(each.accuracy_sd for each in results),
        device=tuple(each.on_device_accuracy_mean for each in results),
        majority=outcome.majority,
        without_privacy=outcome.baseline.accuracy,
        tested_on_device=first.study.question("test") is None,
        budget=_budget(first),
    )


def _budget(result: Simulation) -> str:
    """Say whose budget the axis shows, which is nobody's where nothing is promised."""
    trained, tested = (
        isinstance(promise, NoGuarantee)
        for promise in (result.account.training, result.account.testing)
    )
    if trained and tested:
        return "epsilon of the plan; nothing is promised to anybody"
    if trained and result.study.question("test") is None:
        return "epsilon of the plan; training owners are promised nothing"
    if trained:
        return "budget of each tested owner, epsilon; training owners are promised nothing"
    if tested:
        return "budget of each training owner, epsilon; tested owners are promised nothing"
    return "budget of each owner, epsilon (smaller is more private)"


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


def _result(result: Simulation, outcome: Outcome) -> dict[str, Any]:
    study, baseline = result.study, outcome.baseline
    evaluation = {
        "repeats": result.repeats,
        "folds": result.folds,
        "chosen": dict(result.chosen),
        "without_privacy_accuracy_mean": baseline.accuracy,
        "without_privacy_people": baseline.people,
        "without_privacy_repeats": baseline.repeats,
    }
    return {
        "epsilon": study.epsilon,
        "mode": study.mode,
        "trust": list(study.trust.words),
        "accuracy_mean": result.accuracy_mean,
        "accuracy_sd": result.accuracy_sd,
        "balanced_accuracy_mean": result.balanced_accuracy_mean,
        "on_device_accuracy_mean": result.on_device_accuracy_mean,
        "plan": plan_for_machines(study) | {"evaluation": evaluation},
        # What the study promises; a seeded run itself keeps nothing secret.
        "guarantee": cost_for_machines(result.account) | {"simulation": outcome.seeded},
        "seconds": result.seconds,
    }


def _cells(result: Simulation) -> list[str]:
    return [
        f"{result.study.epsilon:g}",
        f"{result.accuracy_mean:.1%}",
        f"± {result.accuracy_sd:.1%}" if result.repeats > 1 else "-",
        f"{result.balanced_accuracy_mean:.1%}",
        f"{result.on_device_accuracy_mean:.1%}",
        f"{result.majority:.1%}",
        str(result.repeats),
        str(result.folds),
    ]
