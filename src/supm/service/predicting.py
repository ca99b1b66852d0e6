"""Answers to reports of the test phase, in the words of the target."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm.collection import Trained, answer_reports
from supm.collection._noisy_answers import answer_chances, sample_chances
from supm.collection.testing import asked_in_test
from supm.mechanisms import GeneralizedRandomizedResponse, Reports
from supm.owner import AnswerInterview, SampledInterview
from supm.schema import Continuous

__all__ = ["predictions"]


def predictions(trained: Trained, symbols: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return the answer to each report."""
    reports = Reports(symbols=symbols, simulation=trained.simulation)
    found = answer_reports(trained, reports)
    target = trained.study.schema.target
    if isinstance(target, Continuous):
        return [{"answer": float(each), "probability": None} for each in found]
    chances = _chances(trained, reports)
    probable = [None] * len(found) if chances is None else chances.max(axis=1).tolist()
    pairs = zip(found.tolist(), probable, strict=True)
    return [{"answer": target.values[label], "probability": chance} for label, chance in pairs]


def _chances(trained: Trained, reports: Reports) -> NDArray[np.float64] | None:
    asked = asked_in_test(trained)
    if isinstance(asked, SampledInterview):
        return sample_chances(trained, asked, reports)
    if isinstance(asked, AnswerInterview):
        randomizer = asked.randomizer
        if isinstance(randomizer, GeneralizedRandomizedResponse):
            chances = answer_chances(trained, randomizer)
            return None if chances is None else chances[reports.symbols[:, 0]]
    return None
