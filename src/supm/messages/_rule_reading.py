"""Reading a rule that a stranger sent."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from supm._errors import MessageError, ParameterError
from supm.messages.rules import LARGEST, CellAnswers, PairPoints, Rule, Scorecard

__all__ = ["read_rule"]

_FIELDS: Final = {"cells": ("kind", "answers"), "scorecard": ("kind", "points", "offsets")}
_OPTIONAL: Final[dict[str, tuple[str, ...]]] = {"cells": (), "scorecard": ("pairs",)}


def read_rule(form: object) -> Rule:
    """Read what ``to_form`` wrote; whatever else a stranger sent is refused.

    Parameters
    ----------
    form : object
        Plain values of JSON.

    Returns
    -------
    CellAnswers or Scorecard

    Raises
    ------
    MessageError
        If it is no rule.
    """
    if not isinstance(form, dict):
        message = "a rule must be a JSON object."
        raise MessageError(message)
    kind = form.get("kind")
    fields = _FIELDS.get(kind, ()) if isinstance(kind, str) else ()
    if not fields or not set(fields) <= set(form) <= {*fields, *_OPTIONAL[str(kind)]}:
        message = (
            "a rule has the kind cells with answers, or scorecard with points, offsets and "
            "perhaps pairs."
        )
        raise MessageError(message)
    return _cells(form["answers"]) if kind == "cells" else _card(form)


def _cells(answers: object) -> CellAnswers:
    given = answers if isinstance(answers, list) else [None]
    if not all(type(label) is int and 0 <= label < 1 << 31 for label in given) or not given:
        message = "answers of a model must be a list of label numbers."
        raise MessageError(message)
    return CellAnswers(answers=np.array(given, dtype=np.int64))


def _card(form: dict[str, Any]) -> Scorecard:
    points, offsets = form["points"], form["offsets"]
    tables = isinstance(points, list) and all(isinstance(each, list) for each in points)
    rows = [row for table in points for row in table] if tables else [None]
    if not tables or not all(points) or not all(_is_row(row, offsets) for row in [*rows, offsets]):
        message = "points of a model must be tables of numbers, as wide as its offsets."
        raise MessageError(message)
    try:
        return Scorecard(points=tuple(points), offsets=offsets, pairs=_pairs(form, offsets))
    except ParameterError as error:
        raise MessageError(str(error)) from None


def _pairs(form: dict[str, Any], offsets: object) -> tuple[PairPoints, ...]:
    # Absent where there are none: a card without pairs has one text only.
    given = form.get("pairs", [None])
    if "pairs" not in form:
        return ()
    if (
        not isinstance(given, list)
        or not given
        or not all(_is_pair(each, offsets) for each in given)
    ):
        message = "pairs of a model must be two places with tables as wide as its offsets."
        raise MessageError(message)
    return tuple(PairPoints(**each) for each in given)


def _is_pair(form: object, offsets: object) -> bool:
    if not isinstance(form, dict) or set(form) != {"first", "second", "points"}:
        return False
    table = form["points"]
    listed = isinstance(table, list) and all(isinstance(row, list) and row for row in table)
    whole = type(form["first"]) is int and type(form["second"]) is int
    return whole and listed and all(_is_row(each, offsets) for row in table for each in row)


def _is_row(row: object, offsets: object) -> bool:
    if not isinstance(row, list) or not isinstance(offsets, list) or len(row) != len(offsets):
        return False
    return bool(row) and all(type(each) in (int, float) and abs(each) <= LARGEST for each in row)
