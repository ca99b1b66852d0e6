"""How many records are read from what is published."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from experiments.lda_publishing.data import TITLES, encoded
from experiments.lda_publishing.lookup_attack import LookupAttack
from experiments.lda_publishing.paper_lda import PaperLDA, PaperTable
from experiments.lda_publishing.settings import DELTA, Scope
from experiments.lda_publishing.work import Split, noisy_run
from experiments.supm.markdown import table
from numpy.typing import NDArray

from supm import simulation
from supm.federation.discriminant import Discriminant
from supm.federation.protocol import Circle
from supm.federation.rows import Rows

__all__ = ["Attack", "attack_table", "measure_attacks"]

_EPSILON = 0.05
_ITEMS = 15


@dataclass(frozen=True, kw_only=True)
class Attack:
    """What a table of the domain reads from the paper's scores, and from a strict release."""

    task: str
    domain: int
    published: int
    faithful: int
    strict: int


def measure_attacks(scope: Scope) -> list[Attack]:
    """Attack every task once, at the smallest budget."""
    return [_attack(task) for task in scope.tasks]


def attack_table(attacks: list[Attack]) -> str:
    """Return the table: domain, records, and how many are read."""
    rows = [
        (
            TITLES[each.task],
            f"{each.domain:,}",
            f"{each.published:,}",
            f"{each.faithful:,} ({100 * each.faithful / each.published:.1f} %)",
            f"{each.strict:,}",
        )
        for each in attacks
    ]
    head = ("task", "records in the domain", "records published", "read, faithful", "read, strict")
    return table(head, rows)


def _attack(task: str) -> Attack:
    _, rows = encoded(task)
    split = Split(rows, 0)
    table_of = split.owners(1)[0]
    paper = PaperLDA(epsilon=_EPSILON, delta=DELTA)
    published = paper.publish([table_of], simulation(1))
    domain = _domain(rows, task)
    unit = PaperTable(vectors=domain, labels=np.zeros(len(domain), dtype=np.int64)).vectors
    read = LookupAttack(domain=unit, direction=published.direction).recover(published.scores)
    right = (read >= 0) & (unit[read] == table_of.vectors).all(axis=1)
    return Attack(
        task=task,
        domain=len(domain),
        published=split.train.size,
        faithful=int(np.count_nonzero(right)),
        strict=_strict(split, domain),
    )


def _strict(split: Split, domain: NDArray[np.float64]) -> int:
    """Return how many of as many made-up scores are exactly those of a record of the domain."""
    plan = Discriminant.for_budget(
        encoding=split.encoding, epsilon=_EPSILON, delta=DELTA, circle=Circle(parties=1)
    )
    outcome = noisy_run(plan, split, "attack")
    _, scores = outcome.sample(split.train.size, simulation(2))
    attack = LookupAttack(domain=domain, direction=outcome.directions[0])
    return int(np.count_nonzero(attack.recover(scores[:, 0]) >= 0))


def _domain(rows: Rows, task: str) -> NDArray[np.float64]:
    """Return all patterns of NLTCS, or the distinct records of Adult."""
    if task in ("salary", "education"):
        return np.unique(rows.unit, axis=0)
    step = np.abs(rows.unit).max()
    return np.array(list(product((-step, step), repeat=_ITEMS)))
