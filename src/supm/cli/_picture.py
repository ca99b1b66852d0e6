"""What accuracy budgets buy, as a picture."""

from __future__ import annotations

import math
from typing import Final

from supm.cli._curve import Curve, Level, Line
from supm.cli._outcome import Outcome
from supm.cli._output import counted
from supm.cli._plans import Result
from supm.collection import Simulation
from supm.messages import Study
from supm.privacy import NoGuarantee

__all__ = ["budget_words", "curve", "title"]

_STEPS: Final = 60
_MOST_NAMED: Final = 4


def curve(outcome: Outcome, name: str) -> Curve:
    """Return the accuracies as a picture has them: balanced ones where classes have weights.

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
    weighed = outcome.weights is not None
    told = title(outcome.people, results[0], name, seeded=outcome.seeded)
    constant = 1.0 / outcome.labels if weighed else outcome.majority
    lines = _balanced_lines(results, places) if weighed else _lines(results, places)
    return Curve(
        title=f"{told}{_weights(outcome)}",
        epsilons=places,
        lines=lines + _limit(results[0], places, constant),
        levels=_levels(outcome, constant),
        budget=budget_words(results[0]),
        measure="balanced accuracy (mean over the classes)" if weighed else "accuracy",
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


def _lines(results: list[Simulation], places: tuple[float, ...]) -> tuple[Line, ...]:
    spread = tuple(each.accuracy_sd for each in results)
    on_device = results[0].study.question("test") is None
    device = Line(
        name="tested on the owner's device" + (" (± 1 s.d.)" if on_device else ""),
        kind="device",
        places=places,
        values=tuple(each.on_device_accuracy_mean for each in results),
        spread=spread if on_device else None,
    )
    answered = Line(
        name="answered (± 1 s.d.)",
        kind="answered",
        places=places,
        values=tuple(each.accuracy_mean for each in results),
        spread=spread,
    )
    return (device,) if on_device else (answered, device)


def _balanced_lines(results: list[Simulation], places: tuple[float, ...]) -> tuple[Line, ...]:
    device = Line(
        name="tested on the owner's device",
        kind="device",
        places=places,
        values=tuple(each.on_device_balanced_accuracy_mean for each in results),
    )
    if results[0].study.question("test") is None:
        return (device,)
    values = tuple(each.balanced_accuracy_mean for each in results)
    return Line(name="answered", kind="answered", places=places, values=values), device


def _levels(outcome: Outcome, constant: float) -> tuple[Level, ...]:
    baseline, always = outcome.baseline.accuracy, "always the commonest class"
    if outcome.weights is not None:
        baseline, always = outcome.baseline.balanced, "always the same class"
    return (
        Level(name=f"without privacy: {baseline:.1%}", kind="open", value=baseline),
        Level(name=f"{always}: {constant:.1%}", kind="constant", value=constant),
    )


def _weights(outcome: Outcome) -> str:
    """Return a further line of the title, where classes have weights."""
    given = outcome.weights
    if given is None:
        return ""
    if isinstance(given, str):
        named = given
    elif len(given) > _MOST_NAMED:
        named = "as given"
    else:
        values = getattr(outcome.results[0].study.schema.target, "values", ())
        pairs = zip(values, given, strict=True)
        named = ", ".join(f"{value}={weight:g}" for value, weight in pairs)
    return f"\nweights of the classes in training: {named}"


def _limit(result: Simulation, places: tuple[float, ...], constant: float) -> tuple[Line, ...]:
    """Return what a randomised answer of two classes reaches at most, whatever the model."""
    if not _answers_of_two(result.study):
        return ()
    ratio = places[-1] / places[0]
    steps = [places[0] * ratio ** (step / _STEPS) for step in range(_STEPS + 1)]
    most = tuple(max(constant, 1.0 / (1.0 + math.exp(-each))) for each in steps)
    name = "limit of a randomised answer"
    return (Line(name=name, kind="limit", places=tuple(steps), values=most),)


def _answers_of_two(study: Study) -> bool:
    test = study.question("test")
    return test is not None and test.form == "answer" and study.labels == 2
