"""From what scikit-learn users hand over to checked records, with no value in any error.

scikit-learn's own checks are used, but not all of their messages: some print the cell that they
could not read. Those messages are replaced.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from supm._errors import ParameterError, RecordError
from supm._random import RandomSource, secure, simulation
from supm.messages import Part, ReleaseStatement
from supm.privacy import NoGuarantee
from supm.schema import Attribute, Continuous, Records, Schema

_T = TypeVar("_T")
_MOST: Final = 0.5

# Messages that start so hold shapes, kinds and column names only.
_HARMLESS: Final = (
    "Feature names are only supported",
    "Found array with",
    "Input X contains",
    "Input y contains",
    "Sparse data was passed",
    "The feature names should match",
    "Unknown label type: continuous",
    "Unknown label type: unknown",
    "X has ",
    "float() argument must be",
    "y should be a 1d array",
)
_MISSING: Final = "Input X contains NaN."
_TWICE: Final = "the table has two columns of one name; rename one of them."
_REPLACED: Final = (
    (
        "Expected 2D array",
        "the table must have two dimensions, one row for each record. Reshape your data.",
    ),
    ("Complex data not supported", "Complex data not supported; a cell is one real number."),
    ("Expected unique column names", _TWICE),
)
_UNREADABLE: Final = (
    "the table must hold numbers, and at least one cell is not one; convert it, or describe the "
    "columns by a schema."
)


def quietly(step: Callable[[], _T], *, otherwise: str = _UNREADABLE) -> _T:
    """Run a check of scikit-learn; an error that may print a value is replaced by a RecordError."""
    try:
        return step()
    except Warning:  # where warnings are errors
        raise
    except Exception as error:  # noqa: BLE001  any library's error may hold a value
        told, kind = str(error), type(error)
    # Raised out here, so that the error behind it, which may print a value too, is not attached.
    if told.startswith(_MISSING):
        told = f"{_MISSING} Describe the columns by a schema in which missing is a class."
        raise kind(told)
    if told.startswith(_HARMLESS):
        raise kind(told)
    raise RecordError(next((new for old, new in _REPLACED if told.startswith(old)), otherwise))


def check_schema(schema: object) -> Schema | None:
    """Return the schema, or that of a file, or None, or raise ParameterError."""
    if schema is None or isinstance(schema, Schema):
        return schema
    if isinstance(schema, str | PathLike):
        return Schema.load(schema)
    raise ParameterError("schema", "a supm.schema.Schema, a file or None", type(schema).__name__)


def check_bounds(name: str, bounds: object) -> tuple[float, float]:
    """Return the two bounds that a parameter of this name holds, or raise."""
    if not isinstance(bounds, Sequence) or len(bounds) != 2:
        raise ParameterError(name, "two numbers (low, high)", bounds)
    # The attribute knows the rules of bounds; its name stands in the message.
    checked = Continuous(name, low=bounds[0], high=bounds[1])
    return checked.low, checked.high


def read_table(
    estimator: Any,  # noqa: ANN401  scikit-learn has no types
    table: object,
    *,
    reset: bool,
) -> Records:
    """Return the records of a table, without labels.

    Parameters
    ----------
    estimator : estimator
        Its ``schema`` and ``bounds`` describe the columns; it is told their names and number.
    table : table
        With a schema: what `Schema.read` takes. Without: any table of numbers.
    reset : bool
        True in ``fit``, where the names and number of columns are kept; False where they must be
        the same again.

    Returns
    -------
    Records
    """
    schema = check_schema(estimator.schema)
    if schema is not None:
        if reset:
            estimator.n_features_in_ = len(schema.names)
            estimator.feature_names_in_ = np.array(schema.names, dtype=object)
        return schema.read(table, labelled=False)
    low, high = check_bounds("bounds", estimator.bounds)
    numbers = quietly(lambda: validate_data(estimator, table, dtype=np.float64, reset=reset))
    names = _feature_names(estimator)
    if len(set(names)) < len(names):  # older scikit-learn does not mind
        raise RecordError(_TWICE)
    _warn_of_clipping(numbers, low, high)
    attributes = tuple(Continuous(name, low=low, high=high) for name in names)
    return _records(attributes, numbers)


def _warn_of_clipping(numbers: NDArray[np.float64], low: float, high: float) -> None:
    """Say so where bounds that nobody thought about leave little of the table."""
    outside = ((numbers < low) | (numbers > high)).mean(axis=0) > _MOST
    if outside.mean() > _MOST:
        message = (
            f"most values of {int(outside.sum())} of {outside.size} columns lie outside of "
            f"bounds=({low:g}, {high:g}) and are clipped; give public bounds, or a schema."
        )
        warnings.warn(message, UserWarning, stacklevel=5)


def _feature_names(estimator: Any) -> tuple[str, ...]:  # noqa: ANN401  scikit-learn has no types
    """Return the names of the columns, made up where the table had none."""
    if hasattr(estimator, "feature_names_in_"):
        return tuple(map(str, estimator.feature_names_in_))
    return tuple(f"x{place}" for place in range(estimator.n_features_in_))


def _records(attributes: Sequence[Attribute], numbers: NDArray[np.float64]) -> Records:
    pairs = zip(attributes, numbers.T, strict=True)
    columns = {attribute.name: attribute.read(column) for attribute, column in pairs}
    for column in columns.values():
        column.flags.writeable = False
    return Records(attributes=tuple(attributes), columns=columns, target=None, rows=len(numbers))


def check_flag(name: str, value: object) -> bool:
    """Return a choice as a bool, or raise ParameterError.

    Examples
    --------
    >>> check_flag("latent", np.False_)
    False
    >>> check_flag("latent", "no")
    Traceback (most recent call last):
    supm._errors.ParameterError: latent must be True or False, got 'no'.
    """
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(name, "True or False", value)
    return bool(value)


_HINT = "None draws secure randomness; a whole number is a public seed, for simulations."


def source_for(random_state: object, step: str) -> RandomSource:
    """Return the source of one step: new and secure, or the beginning of the seed's stream.

    Parameters
    ----------
    random_state : None or int
        The parameter of the estimator.
    step : str
        Which step draws. Different steps of one seed draw independently; the same step draws the
        same again.

    Returns
    -------
    RandomSource

    Examples
    --------
    >>> source_for(None, "predict")
    RandomSource(secure)
    >>> source_for(7, "predict").words(1) == source_for(7, "predict").words(1)
    array([ True])
    """
    if random_state is None:
        return secure()
    if isinstance(random_state, bool) or not isinstance(random_state, numbers.Integral):
        kind = type(random_state).__name__
        raise ParameterError("random_state", "None or a whole number", f"a {kind}", _HINT)
    return simulation(int(random_state)).child(step)


def tag_input(tags: Any, schema: object) -> Any:  # noqa: ANN401  scikit-learn has no types
    """Return the tags with what the schema, if there is one, says about the columns."""
    if isinstance(schema, Schema):
        listed = any(not isinstance(each, Continuous) for each in schema.attributes)
        tags.input_tags.categorical = tags.input_tags.string = listed
        tags.input_tags.allow_nan = any(each.missing == "class" for each in schema.attributes)
    return tags


class NoisyEstimator:
    """An estimator whose noise costs accuracy: it does not reach scikit-learn's scores.

    A mixin that stands before those of scikit-learn, whose tags it completes.
    """

    schema: Any

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401  scikit-learn has no types
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # a mixin's of scikit-learn
        for kind in (tags.classifier_tags, tags.regressor_tags):
            if kind is not None:
                kind.poor_score = True
        return tag_input(tags, self.schema)


def without_promise(statement: ReleaseStatement, method: str, reason: str) -> ReleaseStatement:
    """Return a statement that promises nothing, since labels were used as they are."""
    nothing = NoGuarantee(reason)
    labels = Part(name="labels", method=method, guarantee=nothing)
    return replace(statement, parts=(*statement.parts, labels), total=nothing)
