"""What an owner may write in place of a value that does not fit: the values of a study are public.

The author of a schema may declare more values; an owner can do no such thing, and is told what is
allowed instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from supm._errors import RecordError
from supm.schema import Attribute, Continuous

__all__ = ["allowed", "saying_what_is_allowed"]

_SHOWN: Final = 8
_LONGEST: Final = 40


@contextmanager
def saying_what_is_allowed(columns: Iterable[Attribute]) -> Iterator[None]:
    """Say what is allowed where a record does not fit, in place of advice for a schema's author.

    Parameters
    ----------
    columns : iterable of Attribute
        What is asked.

    Raises
    ------
    RecordError
        With the same fact.
    """
    try:
        yield
    except RecordError as error:
        known = {each.name: each for each in columns}
        if error.attribute not in known:
            raise
        told = RecordError(error.fact, allowed(known[error.attribute]), attribute=error.attribute)
        raise told from None


def allowed(attribute: Attribute) -> str:
    """Return what may be written for an attribute.

    Parameters
    ----------
    attribute : Attribute
        What is asked.

    Returns
    -------
    str

    Examples
    --------
    >>> from supm.schema import Categorical, Continuous
    >>> allowed(Categorical("smoker", values=("former", "no", "yes"), missing="class"))
    'allowed: former, no, yes, or nothing'
    >>> allowed(Continuous("age", low=0, high=100))
    'allowed: a number; what is below 0 counts as 0, and what is above 100 as 100'
    """
    nothing = ", or nothing" if attribute.missing == "class" else ""
    if isinstance(attribute, Continuous):
        low, high = f"{attribute.low:.6g}", f"{attribute.high:.6g}"
        beyond = f"what is below {low} counts as {low}, and what is above {high} as {high}"
        return f"allowed: a number{nothing}; {beyond}"
    values = [_short(value) for value in attribute.values]
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return f"allowed: {', '.join(values[:_SHOWN])}{more}{nothing}"


def _short(value: str | float | bool) -> str:  # noqa: FBT001  one of a schema's values
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
