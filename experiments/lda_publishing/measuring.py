"""All points of a task, over all repetitions."""

from __future__ import annotations

import math
import time
from collections import defaultdict

import numpy as np
from experiments.lda_publishing.data import encoded
from experiments.lda_publishing.results import Row
from experiments.lda_publishing.settings import Scope, Setting, settings_of
from experiments.lda_publishing.work import Split
from tqdm import tqdm

__all__ = ["measure_task"]

Point = tuple[str, Setting]
_PLAIN = Setting(epsilon=math.inf)


def measure_task(task: str, scope: Scope) -> list[Row]:
    """Return the rows of a task."""
    _, rows = encoded(task)
    errors: dict[Point, list[float]] = defaultdict(list)
    seconds: dict[Point, float] = defaultdict(float)
    for seed in tqdm(range(scope.repetitions), desc=task, disable=None, mininterval=5.0):
        split = Split(rows, seed)
        _collect(errors, seconds, _PLAIN, split)
        for setting in settings_of(scope, task):
            _collect(errors, seconds, setting, split)
    base = np.array(errors["lda", _PLAIN])
    return [
        _row(task, point, np.array(found), base, seconds[point]) for point, found in errors.items()
    ]


def _collect(
    errors: dict[Point, list[float]], seconds: dict[Point, float], setting: Setting, split: Split
) -> None:
    began = time.process_time()
    found = split.plain() if setting == _PLAIN else _noisy(setting, split)
    spent = (time.process_time() - began) / len(found)
    for variant, error in found.items():
        errors[variant, setting].append(error)
        seconds[variant, setting] += spent


def _noisy(setting: Setting, split: Split) -> dict[str, float]:
    found = split.strict(setting)
    # The paper knows no colluders.
    if setting.colluders == 0:
        found |= split.faithful(setting, split.owners(setting.parties))
    return found


def _row(
    task: str,
    point: Point,
    found: np.ndarray[tuple[int], np.dtype[np.float64]],
    base: np.ndarray[tuple[int], np.dtype[np.float64]],
    seconds: float,
) -> Row:
    variant, setting = point
    excess = found - base
    return Row(
        task=task,
        variant=variant,
        epsilon=setting.epsilon,
        parties=setting.parties,
        colluders=setting.colluders,
        repetitions=found.size,
        error=float(found.mean()),
        error_sd=float(found.std(ddof=1)),
        excess=float(excess.mean()),
        excess_sd=float(excess.std(ddof=1)),
        seconds=seconds,
    )
