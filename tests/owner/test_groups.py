from __future__ import annotations

import pytest

from supm import simulation
from supm.collection import plan
from supm.datasets import load_wdbc
from supm.owner.owner import draw_groups


def test_groups_are_disjoint_and_follow_their_weights() -> None:
    study = plan(load_wdbc().schema, epsilon=2.0, reduce="regroup")
    assert study.groups == (2, 3)
    groups = draw_groups(study, 50_000, simulation(1))
    assert set(groups.tolist()) == {0, 1}
    assert (groups == 0).mean() == pytest.approx(0.4, abs=0.015)
    asked = [study.question(phase) for phase in ("reduce", "train")]
    assert [question.group for question in asked if question] == [0, 1]
