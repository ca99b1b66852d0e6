"""Made-up people of public priors, for choices that no private data may have a say in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from experiments.budget.made_up import normal, numbers, uniform
from numpy.typing import NDArray

from supm import RandomSource
from supm.schema import Categorical, Records, Schema

__all__ = ["Population", "people_of"]

_VALUES: Final = 6


@dataclass(frozen=True, kw_only=True)
class Population:
    """Made-up people.

    Parameters
    ----------
    kind : {"linear", "heavy", "skewed", "ring", "categorical"}
        Attributes that move with the label; the same with heavy tails, and with most people near
        the lower bound; some whose spread moves; unordered values whose shares do.
    labels, owners, attributes : int
        How many there are of each.
    """

    kind: str
    labels: int
    owners: int
    attributes: int


def people_of(population: Population, source: RandomSource) -> tuple[Schema, Records]:
    """Draw people; a third of their attributes say something about the label.

    Examples
    --------
    >>> from supm import simulation
    >>> few = Population(kind="categorical", labels=4, owners=10, attributes=5)
    >>> schema, records = people_of(few, simulation(1))
    >>> schema.attributes[0].values
    (0, 1, 2, 3, 4, 5)
    """
    shape = population.owners, population.attributes
    held = source.child("labels").below(population.labels, shape[0]).astype(np.int64)
    # Every label occurs, or the schema would be another.
    held[: population.labels] = np.arange(population.labels)
    strong = np.arange(shape[1]) % 3 == 0
    # Which labels an attribute tells apart: another pattern for each.
    moved = np.sin(np.outer(held + 1.0, np.arange(shape[1]) + 1.0) * 2.0) * strong
    if population.kind == "categorical":
        return _categories(moved, held, source)
    noise = normal(source.child("own"), *shape)
    if population.kind == "heavy":
        # Student's distribution of three degrees of freedom.
        others = normal(source.child("others"), 3, *shape)
        noise = noise / np.sqrt(np.square(others).mean(axis=0))
    if population.kind == "ring":
        return numbers(noise * np.exp(0.8 * moved), held)
    if population.kind == "skewed":
        # Incomes and counts: bounds that hold nearly everybody are far from the middle of most.
        return numbers(np.exp(noise + 0.7 * moved) / 4.0 - 2.5, held)
    return numbers(noise + 0.7 * moved, held)


def _categories(
    moved: NDArray[np.float64], held: NDArray[np.int64], source: RandomSource
) -> tuple[Schema, Records]:
    even = uniform(source.child("own"), *moved.shape)
    odd = (np.floor(_VALUES / 2 * uniform(source.child("half"), *moved.shape))).astype(np.int64)
    # Values 0, 2, 4 are commoner with some labels, 1, 3, 5 with others.
    classes = 2 * odd + (even < 0.5 + 0.35 * moved)
    names = [f"a{place}" for place in range(moved.shape[1])]
    schema = Schema(
        attributes=tuple(Categorical(name, values=tuple(range(_VALUES))) for name in names),
        target=Categorical("label", values=tuple(range(int(held.max()) + 1))),
    )
    columns: dict[str, Any] = dict(zip(names, classes.T, strict=True))
    return schema, schema.read({**columns, "label": held})
