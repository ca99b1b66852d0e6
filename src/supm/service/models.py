"""Trained models, kept while the service runs, and their answers in the words of the target."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm.collection import Trained, answer_reports, train
from supm.collection.testing import asked_in_test, report_chances
from supm.learning import RadialSVM
from supm.mechanisms import Reports
from supm.schema import Continuous
from supm.service.actions import NotReady, document_of, stored_counts
from supm.service.shared import Shared
from supm.service.store import Opened, Store

_MOST_TRAININGS: Final = 2


class Models:
    """Trained models with what answers to reports need, made anew from counts after a restart."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # Of their own: others must not wait for a thread until a model is trained.
        self._threads = ThreadPoolExecutor(_MOST_TRAININGS, thread_name_prefix="supm-train")
        self._shared: Shared[Trained] = Shared(executor=self._threads)

    async def find(self, opened: Opened) -> Trained:
        """Return the trained model of a study that has one."""
        return await self._shared.get(opened.name, lambda: self._again(opened))

    def stop(self) -> None:
        """Begin no other training."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _again(self, opened: Opened) -> Trained:
        if opened.model is None:
            message = "the study has no model yet; train it first."
            raise NotReady(message)
        counts = stored_counts(self._store, opened.name, "train")
        study = document_of(opened, "train")
        return train(study, counts, RadialSVM(), weights=opened.weights)


def predictions(trained: Trained, symbols: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return the answer to each report."""
    reports = Reports(symbols=symbols, simulation=trained.simulation)
    found = answer_reports(trained, reports)
    target = trained.study.schema.target
    if isinstance(target, Continuous):
        return [{"answer": float(each), "probability": None} for each in found]
    chances = report_chances(trained, asked_in_test(trained), reports)
    probable = [None] * len(found) if chances is None else chances.max(axis=1).tolist()
    pairs = zip(found.tolist(), probable, strict=True)
    return [{"answer": target.values[label], "probability": chance} for label, chance in pairs]
