"""How a column of an archive was noised, as a file says it.

=====================  ===============================  ===========================================
mechanism              what it is                       parameters, or epsilon, from which they come
=====================  ===============================  ===========================================
laplace                `ContinuousLaplace`              scale
gaussian               `ContinuousGaussian`             sigma and delta; epsilon needs a delta, too
piecewise              `ContinuousPiecewise`            width and outside
square_wave            `ContinuousSquareWave`           width and outside
randomized_response    `GeneralizedRandomizedResponse`  keep
=====================  ===============================  ===========================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from supm._errors import ParameterError, SchemaError
from supm._validation import EPSILON
from supm.mechanisms import (
    ContinuousGaussian,
    ContinuousLaplace,
    ContinuousPiecewise,
    ContinuousSquareWave,
    GeneralizedRandomizedResponse,
)
from supm.mechanisms.randomizers.generalized_response import KEEP
from supm.schema.columns import check_attribute_name, check_values
from supm.synthesis.columns import RESPONSE, ClassColumn, Column, NumberColumn


class _Known(NamedTuple):
    """How a mechanism is made from what a file says."""

    parameters: tuple[str, ...]
    stated: Callable[..., Any]
    for_epsilon: Callable[..., Any]


_NUMBERS: Final = {
    each.name: _Known(each.parameters, each, each.for_epsilon)
    for each in (ContinuousLaplace, ContinuousGaussian, ContinuousPiecewise, ContinuousSquareWave)
}


def response_for_epsilon(*, size: int, epsilon: float) -> GeneralizedRandomizedResponse:
    """Make the randomized response that keeps epsilon and whose probability is a float."""
    exact = GeneralizedRandomizedResponse.for_epsilon(size=size, epsilon=epsilon).hit
    keep = min(float(exact), KEEP.high)
    if keep > exact:
        keep = float(np.nextafter(keep, 0.0))
    return GeneralizedRandomizedResponse.with_keep(size=size, keep=keep)


_CLASSES: Final = {
    RESPONSE: _Known(("keep",), GeneralizedRandomizedResponse.with_keep, response_for_epsilon)
}
_NUMBER_FIELDS: Final = ("name", "kind", "low", "high", "mechanism")
_CLASS_FIELDS: Final = ("name", "kind", "values", "ordered", "mechanism")


def column_from_form(form: object, place: int) -> Column:
    """Read a column: its name, its kind, its mechanism, and epsilon or what epsilon follows from.

    Examples
    --------
    >>> form = {"name": "age", "kind": "number", "low": 0, "high": 1, "mechanism": "laplace"}
    >>> column_from_form({**form, "epsilon": 2.0}, 0).mechanism
    ContinuousLaplace(low=0.0, high=1.0, scale=0.5)
    >>> column_from_form(form, 0)
    Traceback (most recent call last):
    supm._errors.SchemaError: columns[0] 'age': how much noise there is was not given; state epsilon
    or scale.
    """
    path = f"columns[{place}]"
    if not isinstance(form, dict):
        raise SchemaError(f"{path} must be a JSON object.")
    given = dict(form)
    name = check_attribute_name(given.pop("name", None))
    path = f"{path} {name!r}"
    kind = given.pop("kind", None)
    if kind == "number":
        return NumberColumn(name, _made(given, _NUMBERS, {}, _NUMBER_FIELDS, path))
    if kind == "class":
        return _class_column(name, given, path)
    raise SchemaError(f'{path}: kind must be "number" or "class".')


def _class_column(name: str, given: dict[str, Any], path: str) -> ClassColumn:
    values = check_values(name, given.pop("values", None))
    ordered = given.pop("ordered", False)
    if not isinstance(ordered, bool):
        raise SchemaError(f"{path}: ordered must be true or false.")
    mechanism = _made(given, _CLASSES, {"size": len(values)}, _CLASS_FIELDS, path)
    return ClassColumn(name, values, mechanism, ordered)


def _made(
    form: dict[str, Any],
    known: dict[str, _Known],
    size: dict[str, int],
    fields: tuple[str, ...],
    path: str,
) -> Any:  # noqa: ANN401  mechanisms of several kinds
    """Make the mechanism from its parameters, or from epsilon with what must stand beside it."""
    given = dict(form)
    name = _named(given.pop("mechanism", None), known, path)
    kind = known[name]
    public = ("low", "high") if known is _NUMBERS else ()
    wanted = (*public, *kind.parameters)
    if "epsilon" in given:
        beside = tuple(each for each in kind.parameters if each == "delta")
        wanted = (*public, "epsilon", *beside)
    _check_names(name, given, wanted, (*fields, "epsilon", *kind.parameters), kind, path)
    try:
        return (kind.for_epsilon if "epsilon" in given else kind.stated)(**size, **given)
    except ParameterError as error:
        # In a file nobody can say NoGuarantee.
        sentence = str(error).removesuffix(EPSILON.hint).rstrip()
        quoted = any(isinstance(value, str) for value in given.values())
        raise SchemaError(f"{path}: {sentence}{' Remove the quotes.' if quoted else ''}") from None


def _named(name: object, known: dict[str, _Known], path: str) -> str:
    if isinstance(name, str) and name in known:
        return name
    word = "is not given" if name is None else f"{str(name)[:60]!r} is not known"
    plain = str(name).lower().replace("-", "_").replace(" ", "_")
    advice = f"state one of {', '.join(known)}"
    if plain in known:
        advice = f"write {plain}"
    elif plain in {**_NUMBERS, **_CLASSES}:
        what = "classes" if plain in _CLASSES else "numbers"
        advice = f"{plain} is for {what}, {advice}"
    raise SchemaError(f"{path}: its mechanism {word}; {advice}.")


def _check_names(
    name: str,
    given: dict[str, Any],
    wanted: tuple[str, ...],
    fields: tuple[str, ...],
    kind: _Known,
    path: str,
) -> None:
    for each in given:
        if each not in fields:
            raise SchemaError(
                f"{path}: {each[:60]} is not a field of a column; its fields are "
                f"{', '.join(fields)}."
            )
    if not any(each in given for each in ("epsilon", *kind.parameters)):
        own = " and ".join(kind.parameters)
        raise SchemaError(f"{path}: how much noise there is was not given; state epsilon or {own}.")
    for each in wanted:
        if each not in given:
            raise SchemaError(f"{path}: {each} is missing; {name} needs {', '.join(wanted)}.")
    for each in given:
        if each not in wanted:
            raise SchemaError(
                f"{path}: {each} does not go with {', '.join(wanted)}; keep one of them."
            )
