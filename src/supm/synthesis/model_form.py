"""A synthetic model as plain values for JSON: numbers, read back strictly, never pickled."""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import MessageError, SupmError
from supm.synthesis.archive import ArchiveSchema
from supm.synthesis.columns import ClassColumn, Column
from supm.synthesis.joining import Copula
from supm.synthesis.marginals import Marginal
from supm.synthesis.moments import ColumnRoles
from supm.synthesis.synthetic_model import SyntheticModel
from supm.synthesis.tree import ClassTree, TreeBranch

__all__ = ["model_from_form", "model_to_form"]

Floats = NDArray[np.float64]

_VERSION: Final = 1
_FIELDS: Final = ("version", "schema", "prior", "tree", "tied", "marginals", "copulas")
_PARTS: Final = ("factor", "shifts", "knots", "levels")
_BRANCH: Final = ("column", "parent", "shares")
_BROKEN: Final = "the synthetic model is not one that this release wrote."
_CLOSE: Final = 1e-6
# Beyond it, sums of a few shifts would not be numbers.
_LARGEST: Final = 1e100


def model_to_form(model: SyntheticModel) -> dict[str, Any]:
    """Return a model as plain values for JSON."""
    return {
        "version": _VERSION,
        "schema": json.loads(model.schema.to_json()),
        "prior": model.prior.tolist(),
        "tree": model.tree.to_form(),
        "tied": model.tied,
        "marginals": [[each.shares.tolist() for each in row] for row in model.marginals],
        "copulas": [
            {name: getattr(each, name).tolist() for name in _PARTS} for each in model.copulas
        ],
    }


def model_from_form(form: object) -> SyntheticModel:
    """Read what `model_to_form` wrote; anything else is refused."""
    if (
        not isinstance(form, dict)
        or set(form) != set(_FIELDS)
        or type(form["version"]) is not int
        or form["version"] != _VERSION
    ):
        message = f"a synthetic model has the fields {', '.join(_FIELDS)}, and version {_VERSION}."
        raise MessageError(message)
    try:
        return _read(form)
    except SupmError as error:
        raise MessageError(str(error)) from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError):
        raise MessageError(_BROKEN) from None


def _read(form: dict[str, Any]) -> SyntheticModel:
    schema = ArchiveSchema.from_json(json.dumps(form["schema"]))
    layout = ColumnRoles(schema)
    classes = 1 if layout.root is None else len(layout.root.values)
    _require(type(form["tied"]) is bool)
    marginals, copulas = _listed(form["marginals"], classes), _listed(form["copulas"], classes)
    return SyntheticModel(
        schema=schema,
        prior=_shares(form["prior"], classes),
        tree=_tree(form["tree"], [len(each.values) for each in layout.nominal], classes),
        marginals=tuple(
            tuple(
                _marginal(column, shares, tied=form["tied"])
                for column, shares in zip(layout.scaled, row, strict=True)
            )
            for row in marginals
        ),
        copulas=tuple(_copula(each, layout) for each in copulas),
    )


def _marginal(column: Column, form: object, *, tied: bool) -> Marginal:
    size = len(column.values) if isinstance(column, ClassColumn) else None
    return column.marginal(_shares(form, size), tied=tied)


def _copula(form: dict[str, Any], layout: ColumnRoles) -> Copula:
    _require(set(form) == set(_PARTS))
    size = len(layout.scaled)
    values = sum(len(each.values) for each in layout.nominal) if size else 0
    factor = _numbers(form["factor"], size, size)
    # Rows of a factor have a length of at most one.
    _require((np.abs(factor) <= 1 + _CLOSE).all())
    shifts = _numbers(form["shifts"], values, size)
    _require((np.abs(shifts) <= _LARGEST).all())
    knots = _numbers(form["knots"], size, None if values else 0)
    levels = _numbers(form["levels"], size, knots.shape[1])
    _require(_distributions(knots, levels) and (knots.shape[1] > 1 or not values))
    return Copula(factor=factor, shifts=shifts, knots=knots, levels=levels)


def _distributions(knots: Floats, levels: Floats) -> bool:
    """Say whether places rise, and what is known there are values of distribution functions."""
    rising = (knots[:, 1:] > knots[:, :-1]).all() and (np.diff(levels) >= -_CLOSE).all()
    return bool(rising and (levels >= 0).all() and (levels <= 1).all())


def _tree(form: object, sizes: list[int], classes: int) -> ClassTree:
    branches: dict[int | None, TreeBranch] = {}
    for each in _listed(form, len(sizes)):
        _require(set(each) == set(_BRANCH))
        column, parent = each["column"], each["parent"]
        # True is 1 in Python, and not a column.
        _require(type(column) is int and 0 <= column < len(sizes) and column not in branches)
        _require(parent is None or (type(parent) is int and parent in branches))
        above = 1 if parent is None else sizes[parent]
        branches[column] = TreeBranch(
            column, parent, _shares(each["shares"], classes, above, sizes[column])
        )
    return ClassTree(tuple(branches.values()))


def _shares(form: object, *shape: int | None) -> Floats:
    """Return a table whose rows are shares: none below zero, and one together."""
    table = _numbers(form, *shape)
    _require(((table >= 0) & (table <= 1 + _CLOSE)).all())
    _require((np.abs(table.sum(axis=-1) - 1) < _CLOSE).all())
    return table


def _numbers(form: object, *shape: int | None) -> Floats:
    """Return nested lists as a table of finite numbers; where the shape is None, of any length."""
    _require(_nested(form, len(shape)))
    table = np.array(form, dtype=float)
    if form == []:
        # No rows do not tell how long they are.
        table = table.reshape(0, *(length or 0 for length in shape[1:]))
    _require(table.ndim == len(shape) and np.isfinite(table).all())
    _require(all(own in (had, None) for own, had in zip(shape, table.shape, strict=True)))
    return table


def _nested(form: object, depth: int) -> bool:
    """Say whether these are lists in lists of numbers, and neither texts nor truths."""
    if not depth:
        return type(form) in (int, float)
    return isinstance(form, list) and all(_nested(each, depth - 1) for each in form)


def _listed(form: object, count: int) -> list[Any]:
    _require(isinstance(form, list) and len(form) == count)
    return form  # type: ignore[return-value]  # checked in the line before


def _require(fits: object) -> None:
    if not fits:
        raise MessageError(_BROKEN)
