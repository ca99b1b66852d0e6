"""A learned model and its promise in one file, read back strictly; nothing in it is executed."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from supm._errors import MessageError, SupmError
from supm.messages import ReleaseStatement
from supm.messages.codec import Message
from supm.synthesis.archive import ArchiveSchema, archive_statement
from supm.synthesis.columns import ClassColumn, Column
from supm.synthesis.distributions import Marginal
from supm.synthesis.moments import ColumnRoles
from supm.synthesis.synthetic_model import BINS, MODES, Copula, SyntheticModel
from supm.synthesis.tables import ClassTree, TreeBranch

_SETTINGS: Final = {"mode": str, "bins": int, "latent": bool, "smooth": bool}
Floats = NDArray[np.float64]
_MODEL_VERSION: Final = 1
_MODEL_FIELDS: Final = ("version", "schema", "prior", "tree", "tied", "marginals", "copulas")
_BROKEN: Final = "the synthetic model is not one that this release wrote."
_CLOSE: Final = 1e-6
# Beyond it, sums of a few shifts would not be numbers.
_LARGEST: Final = 1e100


@dataclass(frozen=True, kw_only=True)
class SavedSynthesizer(Message):
    """What a synthesizer learned, how it was set, and what was promised to the records.

    Parameters
    ----------
    settings : dict
        Its mode, and how it was told to learn.
    model : SyntheticModel
        What it learned.
    statement : ReleaseStatement
        What the noise of the records promises.
    """

    settings: dict[str, Any]
    model: SyntheticModel
    statement: ReleaseStatement

    noun = "a copula synthesizer"
    kind = "copula synthesizer"
    version = 2

    def to_form(self) -> dict[str, Any]:
        """Return what was learned and promised as plain values of JSON."""
        return {**super().to_form(), "model": model_to_form(self.model)}

    @classmethod
    def from_form(cls, form: object) -> Self:
        """Read what `to_form` wrote; MessageError where it promises more than its schema does.

        Whether the records were a simulation is the word of who saved it: nothing in a text can
        show that.
        """
        held = cls._checked(form)
        model = model_from_form(held["model"])
        settings = _settings(held["settings"], model)
        told = ReleaseStatement.from_form(held["statement"])
        # Derived anew: a statement is not believed beside the noise that it speaks of.
        statement = archive_statement(model.schema, simulation=told.simulation)
        if replace(told, software=statement.software) != statement:
            raise MessageError(f"the {cls.kind} states something else than its schema promises.")
        return cls(settings=settings, model=model, statement=statement)


def _settings(form: Any, model: SyntheticModel) -> dict[str, Any]:  # noqa: ANN401  from a stranger
    named = isinstance(form, dict) and set(form) == set(_SETTINGS)
    typed = named and all(type(form[name]) is kind for name, kind in _SETTINGS.items())
    if (
        not typed
        or form["mode"] != MODES[model.tied]
        or not BINS.low <= form["bins"] <= BINS.high
        or not model.bins <= {form["bins"]}
    ):
        raise MessageError(
            f"the settings of the {SavedSynthesizer.kind} are not those of the model beside them."
        )
    return dict(form)


def model_to_form(model: SyntheticModel) -> dict[str, Any]:
    """Return a model as plain values for JSON."""
    return {
        "version": _MODEL_VERSION,
        "schema": json.loads(model.schema.to_json()),
        "prior": model.prior.tolist(),
        "tree": [each.to_form() for each in model.tree.branches],
        "tied": model.tied,
        "marginals": [[each.shares.tolist() for each in row] for row in model.marginals],
        "copulas": [each.to_form() for each in model.copulas],
    }


def model_from_form(form: object) -> SyntheticModel:
    """Read what `model_to_form` wrote; anything else is refused."""
    if (
        not isinstance(form, dict)
        or set(form) != set(_MODEL_FIELDS)
        or type(form["version"]) is not int
        or form["version"] != _MODEL_VERSION
    ):
        names = ", ".join(_MODEL_FIELDS)
        raise MessageError(
            f"a synthetic model has the fields {names}, and version {_MODEL_VERSION}."
        )
    try:
        return _read_model(form)
    except SupmError as error:
        raise MessageError(str(error)) from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError):
        raise MessageError(_BROKEN) from None


def _read_model(form: dict[str, Any]) -> SyntheticModel:
    schema = ArchiveSchema.from_json(json.dumps(form["schema"]))
    layout = ColumnRoles(schema)
    classes = 1 if layout.root is None else len(layout.root.values)
    _require(type(form["tied"]) is bool)
    marginals, copulas = _listed(form["marginals"], classes), _listed(form["copulas"], classes)
    return SyntheticModel(
        schema=schema,
        prior=_shares_of(form["prior"], classes),
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
    return column.marginal(_shares_of(form, size), tied=tied)


def _copula(form: dict[str, Any], layout: ColumnRoles) -> Copula:
    _require(set(form) == Copula.names())
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
        _require(set(each) == TreeBranch.names())
        column, parent = each["column"], each["parent"]
        # True is 1 in Python, and not a column.
        _require(type(column) is int and 0 <= column < len(sizes) and column not in branches)
        _require(parent is None or (type(parent) is int and parent in branches))
        above = 1 if parent is None else sizes[parent]
        branches[column] = TreeBranch(
            column, parent, _shares_of(each["shares"], classes, above, sizes[column])
        )
    return ClassTree(tuple(branches.values()))


def _shares_of(form: object, *shape: int | None) -> Floats:
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
