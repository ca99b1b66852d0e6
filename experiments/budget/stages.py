"""When do two stages pay? One stage against two on made-up people of public priors.

The planner takes two stages where the first group would know an attribute's association well: where
``noise = 1 / (gap sqrt(reports per attribute))`` is below a constant. Here that noise is held
against what the second stage gained, over populations of many kinds.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Final

import numpy as np
from experiments.budget.populations import Population, people_of
from experiments.budget.variants import two_stages
from tqdm import tqdm

from supm import simulation
from supm.collection import plan, run_in_process
from supm.collection.testing import answer_on_device
from supm.learning import score
from supm.messages import Study
from supm.owner import interview
from supm.owner.sampled import SampledInterview

__all__ = ["Stage", "best_threshold", "compare", "measure_stages", "read_stages"]

_SEED: Final = 5
_TESTED: Final = 4_000
_KINDS: Final = ("linear", "heavy", "skewed", "ring", "categorical")
_LABELS: Final = (2, 4)
_OWNERS: Final = (500, 2_000, 10_000, 50_000)
_COUNTS: Final = (5, 20, 100)
_BUDGETS: Final = (1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True, kw_only=True)
class Stage:
    """On-device accuracy with one stage and with two.

    Parameters
    ----------
    kind, labels, owners, attributes, epsilon
        The population, and the budget.
    noise : float
        What the planner judges by.
    one, two, majority : float
        Accuracies, means over repetitions.
    """

    kind: str
    labels: int
    owners: int
    attributes: int
    epsilon: float
    noise: float
    one: float
    two: float
    majority: float


def measure_stages(path: Path, repetitions: int) -> None:
    """Measure what is missing in a file, and add it; nothing with 0 repetitions."""
    done = {(_population(each), each.epsilon) for each in read_stages(path)}
    every = product(_populations(), _BUDGETS) if repetitions else ()
    wanted = [each for each in every if each not in done]
    for population, epsilon in tqdm(wanted, unit="stage", disable=None, mininterval=5.0):
        _add(compare(population, epsilon, repetitions), path)


def compare(population: Population, epsilon: float, repetitions: int) -> Stage:
    """Compare one stage with two.

    Examples
    --------
    >>> from experiments.budget.populations import Population
    >>> people = Population(kind="linear", labels=2, owners=500, attributes=5)
    >>> found = compare(people, 8.0, 1)
    >>> found.one > found.majority
    True
    """
    found = [_once(population, epsilon, number) for number in range(repetitions)]
    one, two, majority = (fmean(each) for each in zip(*found, strict=True))
    schema = people_of(population, simulation(_SEED))[0]
    study = two_stages(schema, epsilon=epsilon, owners=population.owners)
    return Stage(
        **asdict(population),
        epsilon=epsilon,
        noise=_noise(study, population.owners),
        one=one,
        two=two,
        majority=majority,
    )


def read_stages(path: Path) -> list[Stage]:
    """Return what a file holds, nothing where there is none."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [_read(cells) for cells in csv.DictReader(file) if None not in cells.values()]


def best_threshold(found: list[Stage]) -> tuple[float, float, float]:
    """Return the noise below which two stages do best, its mean gain, and the largest possible.

    Examples
    --------
    >>> given = dict(kind="linear", labels=2, owners=9, attributes=5, epsilon=1.0, majority=0.5)
    >>> good = Stage(**given, noise=0.1, one=0.7, two=0.8)
    >>> bad = Stage(**given, noise=0.3, one=0.7, two=0.6)
    >>> [round(each, 3) for each in best_threshold([good, bad])]
    [0.2, 0.05, 0.05]
    """
    inorder = sorted(found, key=lambda each: each.noise)
    gains = np.array([each.two - each.one for each in inorder])
    reached = np.concatenate(([0.0], np.cumsum(gains)))
    place = int(reached.argmax())
    noise = [0.0, *(each.noise for each in inorder), inorder[-1].noise]
    threshold = (noise[place] + noise[place + 1]) / 2
    possible = np.maximum(gains, 0.0).sum()
    return threshold, float(reached[place]) / len(found), float(possible) / len(found)


def _populations() -> list[Population]:
    return [
        Population(kind=kind, labels=labels, owners=owners, attributes=count)
        for kind, labels, owners, count in product(_KINDS, _LABELS, _OWNERS, _COUNTS)
    ]


def _once(population: Population, epsilon: float, number: int) -> tuple[float, float, float]:
    source = simulation(_SEED).child(f"{population} {epsilon} {number}")
    schema, people = people_of(population, source.child("people"))
    _, tested = people_of(replace(population, owners=_TESTED), source.child("tested"))
    studies = (
        plan(schema, epsilon=epsilon),  # without a number of owners there is one stage
        two_stages(schema, epsilon=epsilon, owners=population.owners),
    )
    scores = [
        score(
            np.asarray(tested.target),
            answer_on_device(run_in_process(study, people, source.child("reports")), tested),
        )
        for study in studies
    ]
    return scores[0].accuracy, scores[1].accuracy, scores[0].majority


def _noise(study: Study, owners: int) -> float:
    asked = interview(study, "reduce")
    if not isinstance(asked, SampledInterview):
        raise TypeError("the first stage draws attributes")
    first = owners * study.groups[0] / sum(study.groups)
    reports = first * asked.sampled / len(study.schema.attributes)
    return 1.0 / (asked.gap() * math.sqrt(reports))


def _population(stage: Stage) -> Population:
    return Population(
        kind=stage.kind, labels=stage.labels, owners=stage.owners, attributes=stage.attributes
    )


def _add(stage: Stage, path: Path) -> None:
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow([each.name for each in fields(Stage)])
        writer.writerow(_cells(stage))


def _cells(stage: Stage) -> Iterator[str]:
    for value in asdict(stage).values():
        yield f"{value:.4f}" if isinstance(value, float) else str(value)


def _read(cells: dict[str, str]) -> Stage:
    return Stage(
        kind=cells["kind"],
        labels=int(cells["labels"]),
        owners=int(cells["owners"]),
        attributes=int(cells["attributes"]),
        epsilon=float(cells["epsilon"]),
        noise=float(cells["noise"]),
        one=float(cells["one"]),
        two=float(cells["two"]),
        majority=float(cells["majority"]),
    )
