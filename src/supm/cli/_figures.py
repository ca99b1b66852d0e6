"""What accuracy budgets buy, as a table, as a picture and for machines."""

from __future__ import annotations

import math
from typing import Any, Final

from supm.cli._curve import Curve, Level, Line
from supm.cli._outcome import Outcome
from supm.cli._output import counted, table
from supm.cli._plans import Result
from supm.cli._words import cost_for_machines, plan_for_machines
from supm.collection import Simulation
from supm.messages import Study
from supm.privacy import NoGuarantee

__all__ = [
    "between",
    "budget_words",
    "common_for_machines",
    "curve",
    "figures",
    "for_machines",
    "title",
]

_HEAD: Final = (
    *("epsilon", "answered", "spread", "balanced", "on device", "balanced", "majority"),
    *("repetitions", "folds"),
)
_STEPS: Final = 60


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
    places = tuple(each.study.epsilon for each in results)
    kept = tuple(each.on_device_accuracy_mean for each in results)
    spread = tuple(each.accuracy_sd for each in results)
    on_device = results[0].study.question("test") is None
    device = Line(
        name="tested on the owner's device" + (" (± 1 s.d.)" if on_device else ""),
        kind="device",
        places=places,
        values=kept,
        spread=spread if on_device else None,
    )
    answered = Line(
        name="answered (± 1 s.d.)",
        kind="answered",
        places=places,
        values=tuple(each.accuracy_mean for each in results),
        spread=spread,
    )
    baseline, majority = outcome.baseline.accuracy, outcome.majority
    return Curve(
        title=title(outcome.people, results[0], name, seeded=outcome.seeded),
        epsilons=places,
        lines=((device,) if on_device else (answered, device))
        + _limit(results[0], places, majority),
        levels=(
            Level(name=f"without privacy: {baseline:.1%}", kind="open", value=baseline),
            Level(
                name=f"always the commonest class: {majority:.1%}", kind="constant", value=majority
            ),
        ),
        budget=budget_words(results[0]),
        measure="accuracy",
    )


def title(people: int, result: Result, name: str, *, seeded: bool) -> str:
    """Return what a picture is about, in two lines.

    Parameters
    ----------
    people : int
        How many there are.
    result : Simulation or NumberSimulation
        That of one budget.
    name : str
        Whose data.
    seeded : bool
        Whether the randomness came from a seed.

    Returns
    -------
    str
    """
    how = f"{counted(result.repeats, 'repetition')} of {result.folds}-fold cross-validation"
    trust = f"{result.study.mode}, trust {result.study.trust.letters}"
    mark = "; simulation, not private" if seeded else ""
    return f"{name}: {people} people; {trust}\n{how}{mark}"


def budget_words(result: Result) -> str:
    """Say whose budget the axis shows, which is nobody's where nothing is promised.

    Parameters
    ----------
    result : Simulation or NumberSimulation
        That of one budget.

    Returns
    -------
    str
    """
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


def _limit(result: Simulation, places: tuple[float, ...], majority: float) -> tuple[Line, ...]:
    """Return what a randomised answer of two classes reaches at most, whatever the model."""
    if not _answers_of_two(result.study):
        return ()
    ratio = places[-1] / places[0]
    steps = [places[0] * ratio ** (step / _STEPS) for step in range(_STEPS + 1)]
    most = tuple(max(majority, 1.0 / (1.0 + math.exp(-each))) for each in steps)
    name = "limit of a randomised answer"
    return (Line(name=name, kind="limit", places=tuple(steps), values=most),)


def _answers_of_two(study: Study) -> bool:
    test = study.question("test")
    return test is not None and test.form == "answer" and study.labels == 2


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
