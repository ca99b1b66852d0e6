"""The model: a label for each cell, with the study that asked and the statement that binds.

A table of labels needs no code to be unpacked and runs anywhere: on a phone, in a page, by hand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import MessageError, ParameterError, SchemaError
from supm._json import canonical, check_fields, read_object
from supm._validation import Integers, check_kind
from supm.messages.statement import Statement
from supm.messages.study import Study, check_version
from supm.schema import Records

__all__ = ["CELLS", "Model"]

CELLS: Final = Integers(
    "cells of a published model", 1, 1 << 20, "Keep fewer attributes or fewer classes."
)
_VERSION: Final = 1
_FIELDS: Final = ("version", "study", "answers", "statement")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Model:
    """What the aggregator publishes: the predicted label of each combination of classes.

    Parameters
    ----------
    study : Study
        The reduced study; it says which attributes form a cell.
    answers : ndarray of int
        The label number of each cell, the last attribute running fastest.
    statement : Statement
        What was promised to whom.

    Examples
    --------
    >>> from supm.collection import plan, publish, run_in_process
    >>> from supm.datasets import load_wdbc
    >>> from supm import simulation
    >>> wdbc = load_wdbc()
    >>> study = plan(wdbc.schema, epsilon=8.0, mode="faithful", attributes=["worst radius"])
    >>> model = publish(run_in_process(study, wdbc.records(), simulation(1)))
    >>> model.answers
    array([0, 1])
    """

    study: Study
    answers: NDArray[np.int64]
    statement: Statement

    def __post_init__(self) -> None:
        check_kind("study", self.study, Study)
        check_kind("statement", self.statement, Statement)
        if self.statement.study != self.study.hash:
            raise ParameterError("statement", "about the model's study", "one about another")
        cells = CELLS.check(math.prod(self.sizes))
        given = np.asarray(self.answers)
        if given.shape != (cells,) or given.dtype.kind not in "iu":
            got = f"{given.dtype} of shape {given.shape}"
            raise ParameterError("answers", f"{cells} whole numbers", got)
        if int(given.min()) < 0 or int(given.max()) >= len(self.labels):
            raise ParameterError("answers", f"numbers below {len(self.labels)}", "one outside")
        # A copy: whoever made the model keeps an array of its own.
        answers = given.astype(np.int64)
        answers.flags.writeable = False
        object.__setattr__(self, "answers", answers)

    def __repr__(self) -> str:
        """Say how large it is and which study it comes from."""
        return f"Model(cells={self.answers.size}, study={self.study!r})"

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of classes of each attribute of a cell."""
        return tuple(each.size for each in self.study.discretizers("test"))

    @property
    def labels(self) -> tuple[str | int | float | bool, ...]:
        """The values of the target, in the order of the label numbers."""
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
        check_kind("records", records, Records)
        classes = records.encode(self.study.discretizers("test"))
        cells = np.ravel_multi_index(tuple(classes.T), self.sizes)
        found: NDArray[np.int64] = self.answers[cells]
        return found

    def to_json(self) -> str:
        """Return the canonical text."""
        form = {
            "version": _VERSION,
            "study": self.study.to_form(),
            "answers": self.answers.tolist(),
            "statement": self.statement.to_form(),
        }
        return canonical(form)

    @classmethod
    def from_json(cls, text: str) -> Model:
        """Read what `to_json` wrote; an unknown version or field is refused.

        Raises
        ------
        MessageError
            If the text is no model of this version.
        """
        form = read_object(text, "model", MessageError)
        check_version(form, _VERSION, "model")
        check_fields(form, _FIELDS, "a model", MessageError)
        parts = all(isinstance(form.get(name), dict) for name in ("study", "statement"))
        if set(form) != set(_FIELDS) or not parts:
            message = f"a model has the fields {', '.join(_FIELDS)}."
            raise MessageError(message)
        try:
            return cls(
                study=Study.from_form(form["study"]),
                answers=_answers(form["answers"]),
                statement=Statement.from_form(form["statement"]),
            )
        except (ParameterError, SchemaError) as error:
            raise MessageError(str(error)) from None


def _answers(form: Any) -> NDArray[np.int64]:  # noqa: ANN401  whatever a stranger sent
    if not isinstance(form, list) or not all(type(label) is int and label >= 0 for label in form):
        message = "answers of a model must be a list of label numbers."
        raise MessageError(message)
    if any(label >= 1 << 31 for label in form):
        message = "answers of a model must be label numbers of its study."
        raise MessageError(message)
    return np.array(form, dtype=np.int64)
