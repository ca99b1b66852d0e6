"""The model: a rule of plain numbers, with the study that asked and the statement that binds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm.messages.codec import Message
from supm.messages.release import Statement
from supm.messages.rules import CellAnswers, Rule, Scorecard
from supm.messages.study import Study
from supm.schema import Continuous, Records


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Model(Message):
    """What the aggregator publishes: how a record's classes lead to an answer.

    Parameters
    ----------
    study : Study
        The reduced study; it says which attributes the rule is about, and their classes.
    rule : CellAnswers or Scorecard
        A label for each combination of classes, or points that add up.
    statement : Statement
        What was promised to whom.

    Examples
    --------
    >>> from supm.collection import plan, make_model, run_in_process
    >>> from supm.datasets import load_wdbc
    >>> from supm import simulation
    >>> wdbc = load_wdbc()
    >>> study = plan(wdbc.schema, epsilon=8.0, owners=wdbc.rows)
    >>> model = make_model(run_in_process(study, wdbc.records(), simulation(1)))
    >>> model.rule
    Scorecard(attributes=30, outputs=2)
    """

    noun = "a model"
    version = 2
    study: Study
    rule: Rule
    statement: Statement

    def __post_init__(self) -> None:
        self.check_kinds()
        if not isinstance(self.rule, CellAnswers | Scorecard):
            raise ParameterError("rule", "CellAnswers or a Scorecard", type(self.rule))
        if self.study.rule is not None:
            raise ParameterError("study", "the one before a rule is put into it", "one with a rule")
        if self.statement.study != self.study.hash:
            raise ParameterError("statement", "about the model's study", "one about another")
        if self.study.numeric and not isinstance(self.rule, Scorecard):
            raise ParameterError("rule", "a scorecard where the target is a number", "a table")
        self.rule.check(self.sizes, self.study.outputs)

    def __eq__(self, other: object) -> bool:
        """Say whether two models are the same documents."""
        return isinstance(other, Model) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        """Return the same number for the same documents."""
        return hash(self.to_json())

    def __repr__(self) -> str:
        """Say how large it is and which study it comes from."""
        return f"Model(rule={self.rule!r}, study={self.study!r})"

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of classes of each attribute."""
        return tuple(each.size for each in self.study.discretizers("test"))

    @property
    def labels(self) -> tuple[str | int | float | bool, ...]:
        """The values of the target, in the order of the label numbers; none for a number."""
        values: tuple[str | int | float | bool, ...] = getattr(
            self.study.schema.target, "values", ()
        )
        return values

    def predict(self, records: Records) -> NDArray[np.int64]:
        """Return the label number of each record, on the device that holds it: nothing leaves.

        Parameters
        ----------
        records : Records
            What ``study.schema.read(table, labelled=False)`` returned.

        Returns
        -------
        ndarray of int64
        """
        if self.study.numeric:
            raise ParameterError("target", "a list of classes; ask for values", "a number")
        return self.rule.predict(self._classes(records), self.sizes)

    def probabilities(self, records: Records) -> NDArray[np.float64]:
        """Return the probability of each label for each record, where the rule is a scorecard."""
        if self.study.numeric or not isinstance(self.rule, Scorecard):
            rule = "a scorecard with labels to give probabilities"
            raise ParameterError("rule", rule, "another", "Ask for values where it is a number.")
        return self.rule.probabilities(self._classes(records))

    def values(self, records: Records) -> NDArray[np.float64]:
        """Return the predicted number of each record, in the unit of the target."""
        target = self.study.schema.target
        if not isinstance(target, Continuous) or not isinstance(self.rule, Scorecard):
            raise ParameterError("target", "a number; ask to predict", "a list of classes")
        return target.unscaled(self.rule.scores(self._classes(records))[:, 0])

    def _classes(self, records: Records) -> NDArray[np.int64]:
        given: object = records
        if not isinstance(given, Records):
            hint = "Use study.schema.read(table, labelled=False)."
            raise ParameterError("records", "what a schema read", type(given), hint)
        return records.encode(self.study.discretizers("test"))
