"""A strict study with one part taken away, on simulated owners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm import RandomSource
from supm.collection.cards import label_card, moments_of
from supm.collection.crowd import Crowd
from supm.collection.testing import answer_on_device, asked_in_test
from supm.collection.training import Trained
from supm.learning import Gaps, Learner, Moments, Scores, score
from supm.mechanisms import GeneralizedRandomizedResponse
from supm.messages import Study
from supm.owner import interview
from supm.owner.sampled import SampledInterview
from supm.schema import Records

__all__ = ["AtTheirWord", "NotDebiased", "follow", "private_majority"]


class AtTheirWord(Crowd):
    """Owners whose randomised answer is believed, instead of the most probable label behind it."""

    def test(self, trained: Trained, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return what these people told."""
        asked = asked_in_test(trained)
        source = self._source.child(f"test {trained.study.hash} {int(rows[0])}")
        told = asked.randomize(asked.encode(self.rows(rows)), source)
        return np.asarray(told.symbols, dtype=np.int64).reshape(-1)


class NotDebiased(Crowd):
    """Owners whose training reports are counted as if none were randomised."""

    def train(
        self,
        reduced: Study,
        parts: Sequence[NDArray[np.int64]],
        learner: Learner | None = None,
        weights: Sequence[float] | str | None = None,
    ) -> Trained:
        """Train on the told moments as they are."""
        asked = interview(reduced, "train")
        if not isinstance(asked, SampledInterview):
            return super().train(reduced, parts, learner, weights)
        counts = self._counted(reduced, "train", parts)
        even = np.ones(reduced.labels)
        card = label_card(_believed(moments_of(asked, counts)), even)
        return Trained(study=reduced, predictor=card, weights=even, simulation=counts.simulation)


def _believed(moments: Moments) -> Moments:
    count = len(moments.sizes)
    gaps = Gaps(overall=1.0, single=np.ones(count), pair=np.ones((count, count)))
    return replace(moments, gaps=gaps)


def private_majority(
    labels: NDArray[np.int64],
    folds: Sequence[NDArray[np.int64]],
    randomizer: GeneralizedRandomizedResponse,
    source: RandomSource,
) -> Scores:
    """Answer everybody with the label that the others told most often, each with a whole budget.

    The commonest label is no public number: this is the constant answer that budget and people
    allow, where nothing but the label is ever asked.
    """
    told = randomizer.randomize(labels, source).symbols.reshape(-1)
    answers = np.zeros(len(labels), dtype=np.int64)
    everybody = np.bincount(told, minlength=randomizer.size)
    for fold in folds:
        others = everybody - np.bincount(told[fold], minlength=randomizer.size)
        answers[fold] = others.argmax()
    return score(labels, answers)


def follow(
    owners: type[Crowd],
    study: Study,
    records: Records,
    folds: Sequence[NDArray[np.int64]],
    source: RandomSource,
) -> tuple[Scores, Scores]:
    """Cross-validate a strict study on such owners; return scores of answers and on the device."""
    crowd = owners(study, records, source)
    told, kept = np.zeros(records.rows, np.int64), np.zeros(records.rows, np.int64)
    for place, fold in enumerate(folds):
        others = [*folds[:place], *folds[place + 1 :]]
        trained = crowd.train(crowd.reduce(others), others)
        kept[fold] = answer_on_device(trained, crowd.rows(fold))
        told[fold] = crowd.test(trained, fold)
    truth = np.asarray(records.target)
    return score(truth, told), score(truth, kept)
