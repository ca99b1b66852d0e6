"""Several budgets side by side, with the two lines between which they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supm._random import RandomSource
from supm.cli._baseline import Baseline, without_privacy
from supm.cli._curve import Curve
from supm.cli._output import bar, notice, table
from supm.cli._words import cost_for_machines, plan_for_machines
from supm.collection import Simulation, simulate
from supm.learning import Learner
from supm.messages import Study
from supm.schema import Records

__all__ = ["Outcome", "curve", "figures", "for_machines", "measure"]

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


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What budgets buy.

    Parameters
    ----------
    people : int
        How many records there are.
    target : str
        What was predicted.
    majority : float
        Share of the commonest class.
    baseline : Baseline
        Accuracy without privacy.
    results : tuple of Simulation
        One for each budget.
    """

    people: int
    target: str
    majority: float
    baseline: Baseline
    results: tuple[Simulation, ...]


def measure(
    studies: list[Study],
    records: Records,
    source: RandomSource,
    *,
    folds: int,
    repeats: int,
    learner: Learner,
) -> Outcome:
    """Simulate studies of one schema on the same people.

    Parameters
    ----------
    studies : list of Study
        One for each budget.
    records : Records
        Labelled records: public, or made up.
    source : RandomSource
        Where all randomness comes from.
    folds, repeats : int
        How people are split, and how often.
    learner : Learner
        What trains.

    Returns
    -------
    Outcome
    """
    schema = studies[0].schema
    with bar(total=repeats * len(studies), unit="repetitions") as step:
        results = tuple(
            simulate(
                study,
                records,
                source=source,
                folds=folds,
                repeats=repeats,
                learner=learner,
                progress=step,
            )
            for study in studies
        )
    for result in results:
        asked = result.study.epsilon
        notice(asked, getattr(result.account.training, "epsilon", asked))
    counts = np.bincount(np.asarray(records.target, dtype=np.int64))
    return Outcome(
        people=records.rows,
        target=schema.target.name,
        majority=float(counts.max() / records.rows),
        baseline=without_privacy(schema, records, learner, source, split=folds, repeats=repeats),
        results=results,
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
    often = "repetition" if first.repeats == 1 else "repetitions"
    how = f"{first.repeats} {often} of {first.folds}-fold cross-validation"
    trust = f"trust {first.study.trust.letters}"
    return Curve(
        title=f"{name}: {outcome.people} people; {first.study.mode}, {trust}\n{how}",
        epsilons=tuple(each.study.epsilon for each in results),
        reported=tuple(each.accuracy_mean for each in results),
        spread=tuple(each.accuracy_sd for each in results),
        device=tuple(each.on_device_accuracy_mean for each in results),
        majority=outcome.majority,
        without_privacy=outcome.baseline.accuracy,
        tested_on_device=first.study.question("test") is None,
    )


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
        "results": [_result(each, outcome.baseline) for each in outcome.results],
    }


def _result(result: Simulation, baseline: Baseline) -> dict[str, Any]:
    study = result.study
    evaluation = {
        "repeats": result.repeats,
        "folds": result.folds,
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
        "guarantee": cost_for_machines(result.account),
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
