"""One split of a task: everything that is measured on it.

The exact sums of a split are computed once. A noisy sum over parties is that and the noise that
each party would add, which is what the protocol tells for a table without rows; the tests check
that this is the same to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from experiments.lda_publishing.paper_lda import PaperLDA, PaperTable
from experiments.lda_publishing.settings import DELTA, Setting
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from supm import simulation
from supm.federation.discriminant import Discriminant, DiscriminantOutcome
from supm.federation.protocol import Circle, RoundQuestion
from supm.federation.rows import Encoding, Rows, VectorEncoding
from supm.learning.directions import ClassMoments

__all__ = ["Split", "best_threshold", "noisy_run"]

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

_TRAINED = 0.8


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to train on and rows to test on.

    Parameters
    ----------
    rows : Rows
        All of a task.
    seed : int
        Which split.
    """

    rows: Rows
    seed: int

    @cached_property
    def _order(self) -> Whole:
        return simulation(self.seed).child("split").permutation(self.rows.size)

    @property
    def chosen(self) -> Whole:
        """Which four fifths are trained on, in random order."""
        return self._order[: int(_TRAINED * self.rows.size)]

    @cached_property
    def train(self) -> Rows:
        """Four fifths, in random order."""
        return _taken(self.rows, self.chosen)

    @cached_property
    def test(self) -> Rows:
        """The rest."""
        return _taken(self.rows, self._order[int(_TRAINED * self.rows.size) :])

    @cached_property
    def encoding(self) -> Encoding:
        """Rows as they are."""
        return VectorEncoding(width=self.rows.width, classes=self.rows.classes)

    @cached_property
    def vectors(self) -> tuple[Floats, Floats]:
        """Vectors of norm at most one: to train on, to test on."""
        return self.train.unit, self.test.unit

    def owners(self, parties: int) -> list[PaperTable]:
        """Return the training rows, dealt to owners, as the paper has them."""
        parts = zip(
            np.array_split(self.vectors[0], parties),
            np.array_split(self.train.labels, parties),
            strict=True,
        )
        return [PaperTable(vectors=vectors, labels=labels) for vectors, labels in parts]

    def errors(self, answers: Whole) -> float:
        """Return how many of the test rows are answered wrongly, as a share."""
        return float(np.mean(answers != self.test.labels))

    def plain(self) -> dict[str, float]:
        """Return the errors of what knows no privacy."""
        first, second = self.vectors
        machine = LinearSVC(dual=False).fit(first, self.train.labels)
        common = int(np.argmax(np.bincount(self.train.labels)))
        unit = self.owners(1)[0]
        return {
            "majority": self.errors(np.full(self.test.size, common)),
            "svm": self.errors(machine.predict(second)),
            "lda": self.along(_direction(first, self.train.labels)),
            "lda of unit rows": self._unit(_direction(unit.vectors, unit.labels), unit.vectors),
        }

    def faithful(self, setting: Setting, owners: list[PaperTable]) -> dict[str, float]:
        """Return the errors of the paper's publications, with a threshold as good as any."""
        source = simulation(self.seed).child(f"faithful {setting}")
        found = {}
        # One owner has no means of others, so that line 11 says the same in both readings.
        kinds = {"faithful": "local"} | ({"faithful global": "global"} if len(owners) > 1 else {})
        for name, line11 in kinds.items():
            paper = PaperLDA(epsilon=setting.epsilon, delta=DELTA, line11=line11)  # type: ignore[arg-type]  # one of its two words
            published = paper.publish(owners, source)
            found[name] = self._unit(published.direction, None, published.scores)
        return found

    def strict(self, setting: Setting) -> dict[str, float]:
        """Return the errors of the strict protocol: direction only, and the whole release."""
        circle = Circle(parties=setting.parties, colluders=setting.colluders)
        kinds = (
            Discriminant.for_budget(
                encoding=self.encoding,
                epsilon=setting.epsilon,
                delta=DELTA,
                circle=circle,
                histogram=histogram,
            )
            for histogram in (False, True)
        )
        second = self.vectors[1]
        alone, release = (noisy_run(each, self, f"strict {setting}") for each in kinds)
        return {
            "direction, their threshold": self.along(alone.directions[0]),
            "direction only": self.errors(alone.predict(second)),
            "release": self.errors(release.predict(second)),
            "release, made-up pairs": self._made_up(release),
        }

    def _made_up(self, release: DiscriminantOutcome) -> float:
        """Return the error of a threshold that was learned from pairs drawn of the release."""
        labels, scores = release.sample(self.train.size, simulation(self.seed).child("pairs"))
        rule = best_threshold(scores[:, 0], labels)
        return self.errors(_answers(release.scores(self.vectors[1])[:, 0], rule))

    def _unit(self, direction: Floats, train: Floats | None, scores: Floats | None = None) -> float:
        """Return the error along a direction for rows of length one."""
        known = train @ direction if train is not None else scores
        test = PaperTable(vectors=self.vectors[1], labels=self.test.labels)
        rule = best_threshold(np.asarray(known), self.train.labels)
        return self.errors(_answers(test.vectors @ direction, rule))

    def along(self, direction: Floats) -> float:
        """Return the error along a direction, with the threshold that is best in training."""
        train, test = self.vectors
        rule = best_threshold(train @ direction, self.train.labels)
        return self.errors(_answers(test @ direction, rule))

    @cached_property
    def _exact(self) -> Whole:
        """The first sum without its noise: one noise is added to the rows and to no rows."""
        plan = Discriminant.for_budget(
            encoding=self.encoding, epsilon=1.0, delta=DELTA, circle=Circle(parties=1)
        )
        question = plan.ask([])
        return np.asarray(
            plan.tell(self.train, question, simulation(0))
            - plan.tell(_nobody(self.train), question, simulation(0))
        )

    def noisy(self, plan: Discriminant, question: RoundQuestion, label: str) -> Whole:
        """Return a sum over the parties of a protocol, each with its noise."""
        source = simulation(self.seed).child(f"{label} round {question.number}")
        # In the first round the exact sum is known, so that no party needs rows to tell its noise.
        first = _nobody(self.train) if question.number == 0 else self.train
        tables = [first, *[_nobody(self.train)] * (plan.circle.parties - 1)]
        told = [
            plan.tell(table, question, source.child(f"party {number}"))
            for number, table in enumerate(tables)
        ]
        total: Whole = np.sum(told, axis=0)
        return total + self._exact if question.number == 0 else total


def noisy_run(plan: Discriminant, split: Split, label: str) -> DiscriminantOutcome:
    """Run all rounds of a protocol on the training rows of a split."""
    totals: list[Whole] = []
    for _ in range(plan.rounds):
        totals.append(split.noisy(plan, plan.ask(totals), label))
    return plan.conclude(totals)


def best_threshold(scores: Floats, labels: Whole) -> tuple[float, int]:
    """Return the threshold that answers the fewest wrongly, and the class above it.

    Examples
    --------
    >>> best_threshold(np.array([0.1, 0.4, 0.2, 0.9]), np.array([0, 1, 0, 1]))
    (0.30000000000000004, 1)
    """
    order = np.argsort(scores, kind="stable")
    ordered, second = scores[order], labels[order]
    below = np.concatenate(([0], np.cumsum(2 * second - 1)))
    # Between equal scores there is no threshold.
    allowed = np.concatenate(([True], np.diff(ordered) > 0, [True]))
    wrong = np.where(allowed, below, labels.size + 1)
    other = np.where(allowed, below, -labels.size - 1)
    ends = np.concatenate(([-np.inf], (ordered[1:] + ordered[:-1]) / 2, [np.inf]))
    zeros = int(np.count_nonzero(labels == 0))
    above = zeros + wrong.min() <= labels.size - zeros - other.max()
    place = int(np.argmin(wrong) if above else np.argmax(other))
    return float(ends[place]), int(above)


def _answers(scores: Floats, rule: tuple[float, int]) -> Whole:
    threshold, above = rule
    return np.where(scores > threshold, above, 1 - above)


def _direction(vectors: Floats, labels: Whole) -> Floats:
    member = (labels == np.arange(2)[:, np.newaxis]).astype(np.float64)
    moments = ClassMoments(
        counts=member.sum(axis=1), sums=member @ vectors, scatter=vectors.T @ vectors
    )
    return np.asarray(moments.directions(1)[0])


def _taken(rows: Rows, chosen: Whole) -> Rows:
    return Rows(values=rows.values[chosen], labels=rows.labels[chosen], classes=rows.classes)


def _nobody(rows: Rows) -> Rows:
    return _taken(rows, np.empty(0, dtype=np.int64))
