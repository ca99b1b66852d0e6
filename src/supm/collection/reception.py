"""The aggregator's door: which reports are counted, which are refused, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import MutableSet
from typing import Final

import numpy as np

from supm._errors import MessageError
from supm._validation import check_kind
from supm.collection.counting import DISTINCT, Counts, RowCounts, count
from supm.mechanisms import Reports
from supm.messages import Report, Study
from supm.owner.interviews import interview

__all__ = ["Reception"]

# So many symbols wait at most before they are folded into the counts.
_BATCH: Final = 1 << 14


class Reception:
    """Counts the reports of one phase; refuses what does not belong to it.

    A report that was accepted is counted exactly once. What is kept beside the counts is the set of
    ids, which a service may hold elsewhere.

    Parameters
    ----------
    study : Study
        The study as the owners saw it.
    phase : {"reduce", "train"}
        Which phase is open.
    seen : mutable set of str, optional
        The ids that were accepted before.
    simulation : bool, default False
        Whether the owners are simulated.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import plan
    >>> from supm.owner import Owner
    >>> from supm.datasets import load_wdbc
    >>> wdbc = load_wdbc()
    >>> study = plan(wdbc.schema, epsilon=1.0, attributes=["mean radius"])
    >>> record = {name: column[0] for name, column in wdbc.columns.items()}
    >>> report = Owner(source=simulation(1)).answer(study, "train", record)
    >>> door = Reception(study, "train", simulation=True)
    >>> door.receive(report), door.receive(report.to_json()), door.reports
    ('accepted', 'sent before', 1)
    """

    def __init__(
        self,
        study: Study,
        phase: str,
        *,
        seen: MutableSet[str] | None = None,
        simulation: bool = False,
    ) -> None:
        check_kind("study", study, Study)
        question = study.question(phase)
        closed = phase == "test" or (phase == "reduce" and study.attributes is not None)
        if question is None or closed:
            message = f"nothing is counted in the {phase} phase of this study."
            raise MessageError(message)
        self._asked = interview(study, phase)
        self._question = question
        self._hash = study.hash
        self._seen: MutableSet[str] = set() if seen is None else seen
        self._simulation = simulation
        self._waiting: list[tuple[int, ...]] = []
        self._counts: Counts | None = None
        self.verdicts: Counter[str] = Counter()

    @property
    def reports(self) -> int:
        """How many reports were accepted here."""
        return self.verdicts["accepted"]

    @property
    def counts(self) -> Counts | None:
        """What the accepted reports add up to; None before the first."""
        if self._waiting:
            told = np.array(self._waiting, dtype=np.int64)
            folded = count(self._asked, Reports(symbols=told, simulation=self._simulation))
            self._counts = folded if self._counts is None else _merged(self._counts, folded)
            self._waiting = []
        return self._counts

    def receive(self, message: Report | str) -> str:
        """Count a report, or refuse it.

        Parameters
        ----------
        message : Report or str
            A report, or the JSON of one.

        Returns
        -------
        str
            "accepted", or the reason of the refusal; `verdicts` counts each.
        """
        verdict, report = self._judge(message)
        self.verdicts[verdict] += 1
        if verdict == "accepted" and report is not None:
            self._seen.add(report.id)
            self._waiting.append(report.symbols)
            if len(self._waiting) * self._asked.width >= _BATCH:
                _ = self.counts
        return verdict

    def _judge(self, message: Report | str) -> tuple[str, Report | None]:
        try:
            report = message if isinstance(message, Report) else Report.from_json(message)
        except MessageError:
            return "not a report of this version", None
        if report.study != self._hash:
            return "of another study", report
        if report.phase != self._question.phase or report.group != self._question.group:
            return "of another phase or group", report
        if report.id in self._seen:
            return "sent before", report
        told = np.array([report.symbols], dtype=np.int64)
        if told.shape[1] != self._asked.width or not self._asked.accepts(told)[0]:
            return "outside the alphabet", report
        return ("no room left" if self._full() else "accepted"), report

    def _full(self) -> bool:
        """Say whether one more answer might not fit: what was acknowledged must be counted."""
        held = self._counts
        if not isinstance(held, RowCounts) or len(held.rows) + len(self._waiting) < DISTINCT:
            return False
        held = self.counts
        return isinstance(held, RowCounts) and len(held.rows) >= DISTINCT


def _merged(left: Counts, right: Counts) -> Counts:
    total: Counts = left + right  # type: ignore[operator]  # both are of the question's one kind
    return total
