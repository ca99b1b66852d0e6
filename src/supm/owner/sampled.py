"""A few attributes, drawn at random, and the target: together one symbol with the whole budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from supm._errors import RecordError
from supm._random import RandomSource
from supm.mechanisms import GeneralizedRandomizedResponse, Reports
from supm.mechanisms.thresholds import exact_share
from supm.messages import Question, Study
from supm.owner.columns import (
    class_field,
    labels_of,
    named_classes,
    named_label,
    numbers_of,
    outline,
    place_field,
    randomized_response,
)
from supm.owner.draws import (
    CHANNEL_ENTRIES,
    DrawnInterview,
    draw_places,
    in_runs,
    mean_over_draws,
    reachable_products,
)
from supm.owner.interviews import Leaving, budget_of
from supm.schema import Attribute, Continuous, Records
from supm.schema.discretizer import Discretizer

FINE: Final = 64
"""Steps between two levels of a number, before it is rounded at random to one of them."""


@dataclass(frozen=True, kw_only=True)
class SampledInterview(DrawnInterview):
    """Each owner draws a few attributes; their classes and the label leave as one symbol.

    Parameters
    ----------
    discretizers : tuple of Discretizer
        The classes of each attribute that may be drawn.
    sampled : int
        How many attributes each owner draws. Which ones is told in clear: it does not depend on the
        record.
    labels : int, optional
        Number of labels, where the target is asked too.
    target : Continuous, optional
        The target where it is a number: it is rounded at random to one of ``labels`` levels, so
        that what is told is right on average.
    share : Fraction
        The budget of the symbol, exact.

    Notes
    -----
    **Guarantee.** Whatever is drawn, one randomized response over all combinations of the drawn
    classes and the label, so the record has the epsilon of that response: docs/proofs/sampled.md.

    **Utility.** A report is the truth with probability ``gap``, and otherwise every combination is
    alike. The planner draws as many attributes as give the smallest variance.

    **Cost.** ``2 sampled + 1`` symbols; one draw of a word for the symbol, and one for each
    attribute that may be drawn.

    References
    ----------
    docs/proofs/sampled.md. Paper 000 randomises each part of a record with a part of the budget.

    Examples
    --------
    >>> from supm.collection import plan
    >>> from supm.owner import interview
    >>> from supm.datasets import load_wdbc
    >>> asked = interview(plan(load_wdbc().schema, epsilon=4.0), "train")
    >>> asked.sampled, asked.width, asked.epsilon <= 4.0
    (2, 5, True)
    """

    discretizers: tuple[Discretizer, ...]
    sampled: int
    labels: int | None = None
    target: Continuous | None = None
    share: Fraction

    @classmethod
    def of(cls, study: Study, question: Question) -> Self:
        """Give the whole budget to the one symbol."""
        target = study.schema.target
        return cls(
            discretizers=study.discretizers(question.phase),
            sampled=question.sampled or 1,
            labels=study.labels if question.labelled else None,
            target=target if question.labelled and isinstance(target, Continuous) else None,
            share=exact_share(budget_of(question), 1),
        )

    @property
    def told(self) -> int:
        """As many as are drawn."""
        return self.sampled

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of classes of each attribute."""
        return tuple(each.size for each in self.discretizers)

    @property
    def label_sizes(self) -> tuple[int, ...]:
        """The number of labels."""
        return () if self.labels is None else (self.labels,)

    @cached_property
    def epsilon(self) -> float:
        """The largest over what may be drawn."""
        return max(self._response(cells).epsilon for cells in self._alphabets)

    @property
    def width(self) -> int:
        """Places of the drawn attributes, then their classes, then the label."""
        return 2 * self.sampled + (self.labels is not None)

    def gap(self, *told: int) -> float:
        """Return how often a report is the truth, on average over draws with these attributes."""
        return mean_over_draws(self.sizes, told, self.sampled, self.truth)

    def encode(self, records: Records) -> NDArray[np.int64]:
        """Return the classes of each record, and what is known of its target last."""
        classes = records.encode(self.discretizers)
        if self.labels is None:
            return classes
        if self.target is None:
            return np.column_stack((classes, labels_of(records)))
        return np.column_stack((classes, self._fine(self.target, records)))

    def randomize(self, inputs: NDArray[Any], source: RandomSource) -> Reports:
        """Draw attributes for each row, and randomise their classes and the label as one symbol."""
        self._check_inputs(inputs)
        whole = inputs.astype(np.int64, copy=False)
        return in_runs(whole, self.width, source, self._chunk)

    @property
    def _held_sizes(self) -> tuple[int, ...]:
        """How many values a record may hold of each attribute, and of the target."""
        if self.labels is None:
            return self.sizes
        fine = (self.labels - 1) * FINE + 1
        return (*self.sizes, self.labels if self.target is None else fine)

    def _check_inputs(self, inputs: NDArray[Any]) -> None:
        """Refuse numbers of classes or labels that do not exist; the message has none of them."""
        limits = np.array(self._held_sizes)
        whole = inputs.dtype.kind in "iu"
        inside = whole and inputs.ndim == 2 and inputs.shape[1] == limits.size
        if not inside or bool(((inputs < 0) | (inputs >= limits)).any()):
            raise RecordError("classes and label must be numbers of the question's alphabet.")

    def _chunk(self, inputs: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
        places = draw_places(len(self.sizes), self.sampled, len(inputs), source)
        sizes = self.sizes_at(places)
        held = np.take_along_axis(inputs, places, axis=1)
        if self.labels is not None:
            held = np.column_stack((held, self._rounded(inputs[:, -1], source)))
        cells = np.zeros(len(inputs), dtype=np.int64)
        for column in range(held.shape[1]):
            cells = cells * sizes[:, column] + held[:, column]
        told = self._respond(cells, sizes.prod(axis=1), source)
        symbols = np.empty_like(held)
        for column in reversed(range(held.shape[1])):
            told, symbols[:, column] = np.divmod(told, sizes[:, column])
        return np.hstack((places, symbols))

    def _respond(
        self, cells: NDArray[np.int64], alphabet: NDArray[np.int64], source: RandomSource
    ) -> NDArray[np.int64]:
        told = np.empty_like(cells)
        for size in np.unique(alphabet):
            rows = np.flatnonzero(alphabet == size)
            told[rows] = self._response(int(size)).randomize(cells[rows], source).symbols
        return told

    def _rounded(self, last: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
        """Return the label, or the level below or above a number in proportion to the nearness."""
        if self.target is None:
            return last
        below, rest = np.divmod(last, FINE)
        up = source.below(FINE, len(last)).astype(np.int64) < rest
        return below + up

    def _fine(self, target: Continuous, records: Records) -> NDArray[np.int64]:
        levels = (self.labels or 2) - 1
        share = (target.scaled(numbers_of(records)) + 1) / 2
        return np.rint(share * levels * FINE).astype(np.int64)

    def inputs(self) -> NDArray[np.int64]:
        """Return all combinations of classes and of what may be known of the target."""
        CHANNEL_ENTRIES.check(math.prod(self._held_sizes))
        return np.array(list(product(*map(range, self._held_sizes))), dtype=np.int64)

    def exact_channel(self) -> list[list[Fraction]]:
        """Return the response's channel for each draw, with the draw's own probability."""
        rows = self.inputs()
        CHANNEL_ENTRIES.check(len(rows) * self.outcomes)
        draws = self.draws()
        return [
            [each / len(draws) for drawn in draws for each in self._row(held, drawn)]
            for held in rows.tolist()
        ]

    def _row(self, held: list[int], drawn: tuple[int, ...]) -> list[Fraction]:
        sizes = self.sizes_of(drawn)
        response = self._response(math.prod(sizes))
        chances = [Fraction(0)] * response.size
        classes = [held[place] for place in drawn]
        for label, chance in self._levels(held[-1]):
            told = (*classes, label) if self.labels is not None else tuple(classes)
            chances[int(np.ravel_multi_index(told, sizes))] += chance
        return [response.miss + (response.hit - response.miss) * each for each in chances]

    def _levels(self, last: int) -> list[tuple[int, Fraction]]:
        if self.target is None:
            return [(last, Fraction(1))]
        below, rest = divmod(last, FINE)
        return [(below, 1 - Fraction(rest, FINE)), (below + (rest > 0), Fraction(rest, FINE))]

    @cached_property
    def _alphabets(self) -> list[int]:
        return [each * (self.labels or 1) for each in reachable_products(self.sizes, self.sampled)]

    def _response(self, cells: int) -> GeneralizedRandomizedResponse:
        return randomized_response(cells, self.share)

    def truth(self, product_of_sizes: int) -> float:
        """Return how often a report of so many combinations of classes is the truth."""
        response = self._response(product_of_sizes * (self.labels or 1))
        return float(response.hit - response.miss)

    def leaving(
        self, target: Attribute, symbols: Sequence[int] | None = None
    ) -> tuple[Leaving, ...]:
        """Say of how many attributes, or of which ones once they are drawn."""
        told = [target.name] if self.labels is not None else []
        if symbols is not None:
            drawn = symbols[: self.sampled]
            names = [self.discretizers[place].attribute.name for place in drawn]
            cells, chance = self._chance(math.prod(self.sizes[place] for place in drawn))
            return (Leaving.certain(f"{_joined([*names, *told])}, together", cells, chance),)
        classes = reachable_products(self.sizes, self.sampled)
        fewest, surest = self._chance(classes[0])
        most, least_sure = self._chance(classes[-1])
        what = _joined([f"{self.sampled} of {len(self.sizes)} attributes", *told])
        return (
            Leaving(
                what=f"{what}, together",
                choices=most,
                truth=least_sure,
                fewest_choices=fewest,
                most_truth=surest,
            ),
        )

    def _chance(self, classes: int) -> tuple[int, float]:
        """Return how many combinations there are, with the target's, and how often the truth is."""
        cells, gap = classes * (self.labels or 1), self.truth(classes)
        return cells, gap + (1 - gap) / cells

    def describe(self, target: Attribute) -> dict[str, Any]:
        """Return one threshold for each number of combinations that a draw may lead to."""
        fields = [class_field(each) for each in self.discretizers]
        if self.target is not None:
            read = {"how": "level", "levels": self.labels, "fine": FINE}
            fields.append(outline(target) | {"read": read})
        elif self.labels is not None:
            fields.append(place_field(target, self.labels))
        words = {str(cells): str(self._response(cells).keep_words) for cells in self._alphabets}
        mechanism = {"kind": "sample", "sampled": self.sampled, "responses": words}
        return {"fields": fields, "mechanism": mechanism}

    def named(self, target: Attribute, symbols: Sequence[int]) -> tuple[tuple[str, str], ...]:
        """Name the drawn classes and the label."""
        told = named_classes(self.discretizers, symbols[: 2 * self.sampled], self.sampled)
        if self.labels is not None:
            told.append(named_label(target, self.labels, symbols[-1]))
        return tuple(told)


def _joined(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
