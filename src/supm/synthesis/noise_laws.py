"""How a column was noised: one frozen law for each mechanism, by its name in a schema file.

=====================  ==================  =====================================================
mechanism              law                 parameters, or epsilon, from which they follow
=====================  ==================  =====================================================
laplace                `LaplaceLaw`        scale
gaussian               `GaussianLaw`       sigma and delta; with epsilon a delta is needed as well
piecewise              `PiecewiseLaw`      width and outside
square_wave            `SquareWaveLaw`     width and outside
randomized_response    `ResponseLaw`       keep
=====================  ==================  =====================================================
"""

from __future__ import annotations

from typing import Any, Final

from supm._errors import ParameterError, SchemaError
from supm._validation import EPSILON
from supm.synthesis._number_law import BinnedReports, NumberLaw
from supm.synthesis.gaussian_law import GaussianLaw
from supm.synthesis.laplace_law import LaplaceLaw
from supm.synthesis.response_law import ResponseLaw
from supm.synthesis.window_laws import PiecewiseLaw, SquareWaveLaw

__all__ = [
    "BinnedReports",
    "GaussianLaw",
    "LaplaceLaw",
    "NumberLaw",
    "PiecewiseLaw",
    "ResponseLaw",
    "SquareWaveLaw",
    "number_law",
    "response_law",
]

_NUMBER_LAWS: Final[dict[str, Any]] = {
    law.mechanism: law for law in (LaplaceLaw, GaussianLaw, PiecewiseLaw, SquareWaveLaw)
}
_FIELDS: Final = (
    ("name", "kind", "low", "high", "mechanism"),
    ("name", "kind", "values", "ordered", "mechanism"),
)


def number_law(form: dict[str, Any], path: str) -> NumberLaw:
    """Return the law of a number that a form describes, or raise SchemaError.

    Parameters
    ----------
    form : dict
        Has low, high, mechanism, and epsilon or the parameters of the mechanism.
    path : str
        Where the form stands, for the sentence of a refusal.

    Returns
    -------
    NumberLaw

    Examples
    --------
    >>> form = {"mechanism": "laplace", "low": 0, "high": 1, "epsilon": 2.0}
    >>> number_law(form, "age")
    LaplaceLaw(low=0.0, high=1.0, scale=0.5)
    >>> number_law({"mechanism": "laplace", "low": 0, "high": 1}, "age")
    Traceback (most recent call last):
    supm._errors.SchemaError: age: how much noise there is was not given; state epsilon or scale.
    """
    kind = _NUMBER_LAWS[_mechanism(form, _NUMBER_LAWS, path)]
    given = {name: value for name, value in form.items() if name != "mechanism"}
    law: NumberLaw = _made(kind, given, ("low", "high"), path)
    return law


def response_law(form: dict[str, Any], size: int, path: str) -> ResponseLaw:
    """Return the law of a class that a form describes, or raise SchemaError.

    Parameters
    ----------
    form : dict
        Has mechanism, and epsilon or keep.
    size : int
        How many values the class has.
    path : str
        Where the form stands, for the sentence of a refusal.

    Returns
    -------
    ResponseLaw

    Examples
    --------
    >>> response_law({"mechanism": "randomized_response", "keep": 0.75}, 2, "sex")
    ResponseLaw(size=2, keep=0.75)
    """
    _mechanism(form, (ResponseLaw.mechanism,), path)
    given = {name: value for name, value in form.items() if name != "mechanism"}
    law: ResponseLaw = _made(ResponseLaw, {"size": size, **given}, ("size",), path)
    return law


def _mechanism(form: dict[str, Any], known: Any, path: str) -> str:  # noqa: ANN401  names, of any kind
    name = form.get("mechanism")
    if isinstance(name, str) and name in known:
        return name
    word = "is not given" if name is None else f"{str(name)[:60]!r} is not known"
    message = f"{path}: its mechanism {word}; {_advice(name, known)}."
    raise SchemaError(message)


def _advice(name: object, known: Any) -> str:  # noqa: ANN401  names, of any kind
    plain = str(name).lower().replace("-", "_").replace(" ", "_")
    if plain in known:
        return f"write {plain}"
    other = ""
    if plain == ResponseLaw.mechanism or plain in _NUMBER_LAWS:
        other = f"{plain} is for {'classes' if plain == ResponseLaw.mechanism else 'numbers'}, "
    return f"{other}state one of {', '.join(known)}"


def _made(kind: Any, given: dict[str, Any], public: tuple[str, ...], path: str) -> Any:  # noqa: ANN401  laws of several kinds
    """Make the law from its parameters, or from epsilon with what must stand beside it."""
    beside = tuple(name for name in kind.parameters if name == "delta")
    if "epsilon" in given:
        wanted, make = (*public, "epsilon", *beside), kind.for_epsilon
    else:
        wanted, make = (*public, *kind.parameters), kind
    _check_names(kind, given, wanted, path)
    try:
        return make(**given)
    except ParameterError as error:
        # In a file nobody can say NoGuarantee.
        sentence = str(error).removesuffix(EPSILON.hint).rstrip()
        quoted = any(isinstance(value, str) for value in given.values())
        message = f"{path}: {sentence}{' Remove the quotes.' if quoted else ''}"
        raise SchemaError(message) from None


def _check_names(kind: Any, given: dict[str, Any], wanted: tuple[str, ...], path: str) -> None:  # noqa: ANN401  laws of several kinds
    chosen = ("epsilon", *kind.parameters)
    for name in given:
        if name not in (*wanted, *chosen):
            fields = ", ".join((*_FIELDS[int(kind is ResponseLaw)], *chosen))
            message = f"{path}: {name[:60]} is not a field of a column; its fields are {fields}."
            raise SchemaError(message)
    if not any(name in given for name in chosen):
        own = " and ".join(kind.parameters)
        message = f"{path}: how much noise there is was not given; state epsilon or {own}."
        raise SchemaError(message)
    for name in wanted:
        if name not in given:
            message = f"{path}: {name} is missing; {kind.mechanism} needs {', '.join(wanted)}."
            raise SchemaError(message)
    for name in given:
        if name not in wanted:
            message = f"{path}: {name} does not go with {', '.join(wanted)}; keep one of them."
            raise SchemaError(message)
