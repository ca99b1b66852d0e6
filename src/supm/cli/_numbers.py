"""What budgets buy where the target is a number: as a table, as a picture and for machines."""

from __future__ import annotations

from typing import Any, Final

from supm.cli._curve import Curve, Level, Line
from supm.cli._figures import common_for_machines
from supm.cli._outcome import NumberOutcome
from supm.cli._output import counted, table
from supm.cli._picture import budget_words, title
from supm.collection import NumberSimulation

__all__ = ["number_between", "number_curve", "number_figures", "number_for_machines"]

_HEAD: Final = (
    *("epsilon", "answered", "spread", "explained", "on device", "explained", "constant"),
    *("repetitions", "folds"),
)


def number_figures(outcome: NumberOutcome) -> str:
    """Return the mean squared errors as a table.

    Parameters
    ----------
    outcome : NumberOutcome
        What was measured.

    Returns
    -------
    str
    """
    return table(_HEAD, [_cells(result) for result in outcome.results], left=0)


def number_between(outcome: NumberOutcome) -> str:
    """Return the two lines between which the errors lie, and what the columns mean.

    Parameters
    ----------
    outcome : NumberOutcome
        What was measured.

    Returns
    -------
    str
        Sentences.
    """
    baseline, repeats = outcome.baseline, outcome.results[0].repeats
    lines = (
        f"Mean squared errors. Always predicting the mean has {outcome.constant:.4g}; least "
        f"squares without privacy, on the raw data of {baseline.people} people, "
        f"{baseline.error:.4g} ({counted(baseline.repeats, 'repetition')})."
    )
    words = [
        lines,
        "Answered: from what owners send.",
        "The spread is the standard deviation over the repetitions." if repeats > 1 else "",
        "On device: the same models, where a record is tested without leaving its owner.",
        "Explained, beside each: which part of the constant's error is gone.",
        "The randomness came from a seed: a simulation, not private." if outcome.seeded else "",
    ]
    return " ".join(filter(None, words))


def number_curve(outcome: NumberOutcome, name: str) -> Curve:
    """Return which part of the error is gone, as a picture has it.

    Parameters
    ----------
    outcome : NumberOutcome
        What was measured.
    name : str
        Whose data.

    Returns
    -------
    Curve
    """
    results = sorted(outcome.results, key=lambda each: each.study.epsilon)
    places = tuple(each.study.epsilon for each in results)
    device = Line(
        name="tested on the owner's device",
        kind="device",
        places=places,
        values=tuple(_explained(each.on_device_error_mean, each.constant) for each in results),
    )
    answered = Line(
        name="answered (± 1 s.d.)",
        kind="answered",
        places=places,
        values=tuple(_explained(each.error_mean, each.constant) for each in results),
        spread=tuple(each.error_sd / each.constant for each in results),
    )
    reached = _explained(outcome.baseline.error, outcome.constant)
    return Curve(
        title=title(outcome.people, results[0], name, seeded=outcome.seeded),
        epsilons=places,
        lines=(device,) if results[0].study.question("test") is None else (answered, device),
        levels=(
            Level(name=f"least squares without privacy: {reached:.1%}", kind="open", value=reached),
            Level(name="always the mean: 0%", kind="constant", value=0.0),
        ),
        budget=budget_words(results[0]),
        measure="share of the squared error that is explained",
    )


def number_for_machines(outcome: NumberOutcome) -> dict[str, Any]:
    """Return everything as plain values for JSON.

    Parameters
    ----------
    outcome : NumberOutcome
        What was measured.

    Returns
    -------
    dict
        The keys are a contract: scripts rely on them.
    """
    return {
        "n": outcome.people,
        "target": outcome.target,
        "constant": outcome.constant,
        "results": [_result(each, outcome) for each in outcome.results],
    }


def _result(result: NumberSimulation, outcome: NumberOutcome) -> dict[str, Any]:
    baseline = outcome.baseline
    evaluation = {
        "without_privacy_error_mean": baseline.error,
        "without_privacy_people": baseline.people,
        "without_privacy_repeats": baseline.repeats,
    }
    measured = {
        "error_mean": result.error_mean,
        "error_sd": result.error_sd,
        "explained": _explained(result.error_mean, result.constant),
        "on_device_error_mean": result.on_device_error_mean,
        "on_device_explained": _explained(result.on_device_error_mean, result.constant),
    }
    return common_for_machines(result, measured, evaluation, seeded=outcome.seeded)


def _explained(error: float, constant: float) -> float:
    return 1.0 - error / constant


def _cells(result: NumberSimulation) -> list[str]:
    return [
        f"{result.study.epsilon:g}",
        f"{result.error_mean:.4g}",
        f"± {result.error_sd:.2g}" if result.repeats > 1 else "-",
        f"{_explained(result.error_mean, result.constant):.1%}",
        f"{result.on_device_error_mean:.4g}",
        f"{_explained(result.on_device_error_mean, result.constant):.1%}",
        f"{result.constant:.4g}",
        str(result.repeats),
        str(result.folds),
    ]
