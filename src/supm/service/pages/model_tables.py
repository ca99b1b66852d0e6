"""What was chosen and what was learned, as rows of tables with bars."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from supm.mechanisms import record_numbers
from supm.messages import CellAnswers, Model, Scorecard, Study
from supm.schema import Continuous

_CELLS_SHOWN: Final = 64


@dataclass(frozen=True, kw_only=True)
class ClassRow:
    """One class of an attribute with its points, and how far they go for the largest."""

    name: str
    points: tuple[float, ...]
    lengths: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class AttributeRow:
    """One attribute of a scorecard: how far its classes are apart, and the points of each."""

    name: str
    apart: float
    length: float
    classes: tuple[ClassRow, ...]


@dataclass(frozen=True, kw_only=True)
class CellRow:
    """One combination of classes with its answer."""

    classes: tuple[str, ...]
    answer: str


@dataclass(frozen=True, kw_only=True)
class RuleView:
    """A model as tables."""

    kind: str
    outputs: tuple[str, ...] = ()
    offsets: tuple[float, ...] = ()
    attributes: tuple[AttributeRow, ...] = ()
    names: tuple[str, ...] = ()
    cells: tuple[CellRow, ...] = ()
    cell_count: int = 0


def chosen_of(study: Study) -> list[tuple[str, tuple[str, ...]]]:
    """Return the chosen attributes with their classes; none before they are chosen."""
    if study.attributes is None:
        return []
    return [(each.attribute.name, each.labels) for each in study.discretizers("train")]


def rule_view(model: Model) -> RuleView:
    """Return a model as tables."""
    if isinstance(model.rule, CellAnswers):
        return _cells(model, model.rule)
    return _card(model, model.rule)


def _card(model: Model, card: Scorecard) -> RuleView:
    names, labels, told = _tables(model, card)
    points, offsets, outputs = _shown(model, told, card.offsets)
    largest = max(float(np.abs(each).max()) for each in points) or 1.0
    widest = max(_apart(each) for each in points) or 1.0
    rows = [
        AttributeRow(
            name=name,
            apart=_apart(table),
            length=_apart(table) / widest,
            classes=_class_rows(held, table, largest),
        )
        for name, held, table in zip(names, labels, points, strict=True)
    ]
    rows.sort(key=lambda row: -row.apart)
    start = tuple(float(each) for each in offsets)
    return RuleView(kind="scorecard", outputs=outputs, offsets=start, attributes=tuple(rows))


def _tables(
    model: Model, card: Scorecard
) -> tuple[list[str], list[tuple[str, ...]], list[NDArray[np.float64]]]:
    """Return names, classes and points of attributes, then of pairs that have points together."""
    held = model.study.discretizers("test")
    names = [each.attribute.name for each in held]
    labels = [each.labels for each in held]
    told = list(card.points)
    for pair in card.pairs:
        names.append(f"{names[pair.first]} with {names[pair.second]}")
        both = product(labels[pair.first], labels[pair.second])
        labels.append(tuple(f"{one} with {two}" for one, two in both))
        told.append(pair.points.reshape(-1, card.offsets.size))
    return names, labels, told


def _class_rows(
    labels: tuple[str, ...], table: NDArray[np.float64], largest: float
) -> tuple[ClassRow, ...]:
    return tuple(
        ClassRow(
            name=label,
            points=tuple(float(each) for each in row),
            lengths=tuple(float(each) / largest for each in row),
        )
        for label, row in zip(labels, table, strict=True)
    )


def _shown(
    model: Model, told: list[NDArray[np.float64]], offsets: NDArray[np.float64]
) -> tuple[list[NDArray[np.float64]], NDArray[np.float64], tuple[str, ...]]:
    """Return points as they are read best: of two labels, what speaks for the second."""
    target = model.study.schema.target
    if isinstance(target, Continuous):
        unit = (target.high - target.low) / 2.0
        middle = (target.high + target.low) / 2.0
        return [each * unit for each in told], offsets * unit + middle, (target.name,)
    names = tuple(str(label) for label in model.labels)
    if len(names) != 2:
        return told, offsets, names
    apart = [each[:, 1:] - each[:, :1] for each in told]
    return apart, offsets[1:] - offsets[:1], names[1:]


def _apart(table: NDArray[np.float64]) -> float:
    return float((table.max(axis=0) - table.min(axis=0)).max())


def _cells(model: Model, rule: CellAnswers) -> RuleView:
    held = model.study.discretizers("test")
    count = rule.answers.size
    numbers = np.arange(min(count, _CELLS_SHOWN), dtype=np.int64)
    places = record_numbers(numbers, model.sizes)
    rows = tuple(
        CellRow(
            classes=tuple(each.labels[int(place)] for each, place in zip(held, row, strict=True)),
            answer=str(model.labels[int(rule.answers[number])]),
        )
        for number, row in zip(numbers, places, strict=True)
    )
    names = tuple(each.attribute.name for each in held)
    return RuleView(kind="cells", names=names, cells=rows, cell_count=count)
