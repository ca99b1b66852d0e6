"""The answer of a published model leaves in place of the record, with the whole budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from supm._errors import MessageError, ParameterError
from supm._random import RandomSource
from supm.mechanisms import GeneralizedRandomizedResponse, Piecewise, Reports
from supm.mechanisms.thresholds import exact_share
from supm.messages import Question, Rule, Scorecard, Study
from supm.owner.columns import (
    class_field,
    describe_randomizer,
    leaving_through,
    named_label,
    randomized_response,
)
from supm.owner.interviews import Interview, Leaving, budget_of
from supm.schema import Attribute, Records
from supm.schema.discretizer import Discretizer


@dataclass(frozen=True, kw_only=True)
class AnswerInterview(Interview):
    """The owner follows the published rule, and tells its answer through one randomizer.

    Parameters
    ----------
    discretizers : tuple of Discretizer
        The classes that the rule is about.
    rule : CellAnswers or Scorecard
        The model. It was made from reports, so handing it out costs nobody anything.
    randomizer : GeneralizedRandomizedResponse or Piecewise
        Over the labels, or over [-1, 1] where the answer is a number.

    Notes
    -----
    **Guarantee.** The randomizer's own, for any record and any rule: the answer is a function of
    the record alone (docs/proofs/answer.md).

    **Utility.** A label is kept with probability e^epsilon / (e^epsilon + labels - 1), however many
    attributes the rule looks at.

    **Cost.** One symbol; the owner adds up one number for each attribute.

    References
    ----------
    docs/proofs/answer.md.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import plan, run_in_process
    >>> from supm.owner import interview
    >>> from supm.datasets import load_wdbc
    >>> wdbc = load_wdbc()
    >>> trained = run_in_process(plan(wdbc.schema, epsilon=4.0), wdbc.records(), simulation(1))
    >>> asked = interview(trained.study.with_rule(trained.rule), "test")
    >>> asked.width, asked.outcomes
    (1, 2)
    """

    discretizers: tuple[Discretizer, ...]
    rule: Rule
    randomizer: GeneralizedRandomizedResponse | Piecewise

    @classmethod
    def of(cls, study: Study, question: Question) -> Self:
        """Give the whole budget to the answer of the study's model."""
        if study.rule is None:
            raise MessageError(
                "the test phase asks for a model's answer; ask study.with_rule(model.rule), "
                "which holds the model."
            )
        return cls(
            discretizers=study.discretizers("test"),
            rule=study.rule,
            randomizer=answer_randomizer(study, question),
        )

    @property
    def epsilon(self) -> float:
        """The randomizer's own."""
        return self.randomizer.epsilon

    @property
    def width(self) -> int:
        """One symbol."""
        return 1

    @property
    def outcomes(self) -> int:
        """As many as the randomizer has."""
        return self.randomizer.outcomes

    def encode(self, records: Records) -> NDArray[Any]:
        """Return the answer for each record."""
        classes = records.encode(self.discretizers)
        if isinstance(self.randomizer, Piecewise):
            if not isinstance(self.rule, Scorecard):
                raise ParameterError("rule", "a scorecard where the answer is a number", "a table")
            return np.clip(self.rule.scores(classes), -1.0, 1.0)
        sizes = tuple(each.size for each in self.discretizers)
        return self.rule.predict(classes, sizes)[:, np.newaxis]

    def randomize(self, inputs: NDArray[Any], source: RandomSource) -> Reports:
        """Turn each answer into what is told."""
        told = self.randomizer.randomize(inputs[:, 0], source)
        symbols = told.symbols.astype(np.int64).reshape(-1, 1)
        return Reports(symbols=symbols, simulation=told.simulation)

    def accepts(self, symbols: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say of each row whether it is a symbol of the randomizer."""
        return np.asarray(np.all((symbols >= 0) & (symbols < self.outcomes), axis=1))

    def inputs(self) -> NDArray[Any]:
        """Return all answers."""
        return self.randomizer.inputs()[:, np.newaxis]

    def outcome(self, reports: Reports) -> NDArray[np.int64]:
        """Return the randomizer's outcome."""
        flat = Reports(symbols=reports.symbols[:, 0], simulation=reports.simulation)
        return self.randomizer.outcome(flat)

    def exact_channel(self) -> list[list[Fraction]]:
        """Return the randomizer's channel."""
        return self.randomizer.exact_channel()

    def leaving(
        self, target: Attribute, symbols: Sequence[int] | None = None
    ) -> tuple[Leaving, ...]:
        """Say that the answer leaves alone."""
        _ = symbols
        return (leaving_through(f"the model's answer for {target.name}", self.randomizer),)

    def describe(self, target: Attribute) -> dict[str, Any]:
        """Return the rule, and what is between its answer and what leaves."""
        _ = target
        told = describe_randomizer(self.randomizer)
        return {
            "fields": [class_field(each) for each in self.discretizers],
            "mechanism": {"kind": "answer", "rule": self.rule.to_form(), "randomizer": told},
        }

    def named(self, target: Attribute, symbols: Sequence[int]) -> tuple[tuple[str, str], ...]:
        """Name the label, where it is one."""
        if isinstance(self.randomizer, Piecewise):
            return ()
        return (named_label(target, self.randomizer.size, symbols[-1]),)


def answer_randomizer(
    study: Study, question: Question
) -> GeneralizedRandomizedResponse | Piecewise:
    """Return what is between a model's answer and what leaves, whatever the model is."""
    epsilon = budget_of(question)
    if study.numeric:
        return Piecewise.optimised(low=-1, high=1, epsilon=epsilon, steps=question.steps or 1)
    return randomized_response(study.labels, exact_share(epsilon, 1))
