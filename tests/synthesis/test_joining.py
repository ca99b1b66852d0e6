"""How nominal columns move the copula, and the numbers that stand for ordered classes."""

from __future__ import annotations

import numpy as np
import pytest

from supm import simulation
from supm.mechanisms import GeneralizedRandomizedResponse
from supm.synthesis import Archive, ArchiveSchema, ClassColumn
from supm.synthesis.moments import ColumnRoles
from supm.synthesis.synthetic_model import join


def test_shifts_leave_the_mean_of_the_normals_where_it_is() -> None:
    source = simulation(1)
    codes = [source.below(size, 5000).astype(np.int64) for size in (3, 2)]
    drawn = np.concatenate([np.eye(n)[c] for n, c in zip((3, 2), codes, strict=True)], axis=1)
    shifts = np.array([[0.5, 0.1], [0.2, 0.4], [0.9, 0.3], [0.3, 0.2], [0.1, 0.6]])
    copula = join(np.eye(2), shifts, drawn)
    assert (drawn @ copula.shifts).mean(axis=0) == pytest.approx(np.zeros(2), abs=1e-12)
    apart = [shifts[:3] - shifts[:3].mean(axis=0), copula.shifts[:3]]
    assert apart[1] - apart[1].mean(axis=0) == pytest.approx(apart[0])


@pytest.mark.parametrize("size", [2, 3, 5])
def test_places_of_ordered_classes_are_read_without_bias(size: int) -> None:
    law = GeneralizedRandomizedResponse.for_epsilon(size=size, epsilon=1.0)
    schema = ArchiveSchema(columns=(ClassColumn("x", tuple(range(size)), law, ordered=True),))
    archive = Archive.read({"x": list(range(size))}, schema)
    told = ColumnRoles(schema).unbiased(archive, slice(None))[:, 0]
    assert law.channel() @ told == pytest.approx(np.linspace(0, 1, size))
