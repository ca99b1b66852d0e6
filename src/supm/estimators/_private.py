"""What the estimators of one table share: public bounds, rows, one run, a statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from supm._errors import ParameterError, RecordError
from supm.estimators._reading import (
    NoisyEstimator,
    check_schema,
    quietly,
    read_table,
    source_for,
    without_promise,
)
from supm.estimators._targets import (
    ReadLabels,
    declared_labels,
    found_labels,
    listed_labels,
    target_for,
)
from supm.federation import FederatedStudy, Protocol, Rows, run_pooled
from supm.federation.rows import Encoding, SchemaEncoding, VectorEncoding
from supm.schema import Categorical, Records, Schema

_NAME: Final = "party 1"
_FOUND: Final = "the possible labels were found in the table; give labels=, or a schema"


class PrivateEstimator(NoisyEstimator):
    """Reads a table by its public description and runs a protocol of one party on it."""

    epsilon: float
    delta: float
    schema: Schema | None
    bounds: tuple[float, float] | None
    norm: float | None
    random_state: int | None
    outcome_: Any

    def _read_unlabelled(self, table: object) -> tuple[Encoding, Rows]:
        """Return the rows of a table without labels: all are of one class."""
        data = self._read(table, reset=True)
        count = data.rows if isinstance(data, Records) else len(data)
        labels = ReadLabels(np.array([0, 1]), np.zeros(count, dtype=np.int64))
        encoding = self._encoding_for(data, labels)
        return encoding, self._rows(encoding, data, labels.numbers)

    def _vectors(self, table: object) -> NDArray[np.float64]:
        """Return the vectors of a table with the columns that ``fit`` saw."""
        check_is_fitted(self)
        return self.encoding_.vectors(self._read(table, reset=False))

    def _run(self, protocol: Protocol, rows: Rows) -> Any:  # noqa: ANN401  each protocol its own
        """Run the protocol on one table, and keep what it promises."""
        source = source_for(self.random_state, "fit")
        study = FederatedStudy(name=type(self).__name__, protocol=protocol, delta=self.delta)
        outcome = run_pooled(protocol, [rows], [_NAME], source)
        self.encoding_ = protocol.encoding
        self.study_ = study
        release = study.release(outcome, simulation=source.simulation)
        if self._finds_labels:
            told = "those that occur in the table"
            release = replace(release, statement=without_promise(release.statement, told, _FOUND))
        self.release_ = release
        self.statement_ = self.release_.statement
        self.clipped_ = rows.clipped
        return outcome

    @property
    def _finds_labels(self) -> bool:
        """Whether the list of labels came from the table; components have none."""
        return self.schema is None and getattr(self, "labels", ()) is None

    def _read(self, table: object, *, reset: bool) -> Records | NDArray[np.float64]:
        if self.bounds is None and self.schema is None:
            return np.asarray(
                quietly(lambda: validate_data(self, table, dtype=np.float64, reset=reset))
            )
        return read_table(self, table, reset=reset)

    def _encoding_for(self, data: Records | NDArray[np.float64], labels: ReadLabels) -> Encoding:
        if not isinstance(data, Records):
            norm = 1.0 if self.norm is None else self.norm
            return VectorEncoding(width=data.shape[1], classes=len(labels.classes), norm=norm)
        schema = check_schema(self.schema)
        if schema is None:
            names = tuple(attribute.name for attribute in data.attributes)
            schema = Schema(attributes=data.attributes, target=target_for(labels, names))
        elif not isinstance(schema.target, Categorical) and len(labels.classes) < 2:
            raise ParameterError("target", "a list of classes", "another")
        return SchemaEncoding(schema=schema, norm=self.norm)

    def _rows(
        self, encoding: Encoding, data: Records | NDArray[np.float64], labels: NDArray[np.int64]
    ) -> Rows:
        count = data.rows if isinstance(data, Records) else len(data)
        if labels.size != count:
            raise RecordError(f"y has {labels.size} labels and the table {count} records.")
        if isinstance(encoding, SchemaEncoding) and isinstance(data, Records):
            return encoding.rows(replace(data, target=labels))
        if isinstance(encoding, VectorEncoding):
            return encoding.rows(data, labels)
        raise ParameterError("table", "the kind that the encoding reads", type(data))


class PrivateClassifier(PrivateEstimator):
    """The same with labels, which are public or found in the table."""

    labels: Sequence[Any] | None

    def predict(self, X: object) -> NDArray[Any]:  # noqa: N803  scikit-learn's name
        """Return a label for each row; nothing is spent.

        Parameters
        ----------
        X : table
            With the columns that ``fit`` saw.

        Returns
        -------
        ndarray
        """
        vectors = self._vectors(X)
        named: NDArray[Any] = self.classes_[self.outcome_.predict(vectors)]
        return named

    def _read_labelled(self, table: object, y: object) -> tuple[Encoding, Rows]:
        """Return the rows of a table with labels, and keep the possible labels."""
        data = self._read(table, reset=True)
        labels = self._labels_of(y)
        encoding = self._encoding_for(data, labels)
        self.classes_ = labels.classes
        return encoding, self._rows(encoding, data, labels.numbers)

    def _labels_of(self, y: object) -> ReadLabels:
        schema = check_schema(self.schema)
        if schema is not None:
            if self.labels is not None:
                raise ParameterError("labels", "None where there is a schema", "a list")
            return declared_labels(y, schema)
        return found_labels(y) if self.labels is None else listed_labels(y, self.labels)
