"""What an attacker reads from a report: whom it speaks for, what was drawn, every symbol."""

from __future__ import annotations

import numpy as np

from supm.audit import completed, large_studies, small_studies, telling_pairs
from supm.audit.owners import Told
from supm.audit.study_attacks import seen


def test_a_sampled_report_speaks_for_the_record_whose_classes_and_label_it_tells() -> None:
    study = completed(large_studies()["known, sample, answer"])
    told = np.array([[0, 1, 0, 0, 0], [0, 20, 3, 3, 1], [3, 4, 0, 3, 0], [20, 21, 0, 0, 1]])
    crowd = Told(np.zeros(4, dtype=np.int64), {"train": told})
    rows = seen(study, "training owner", crowd, telling_pairs(study)["ends"])
    left, right = np.divmod(rows[:, 1], 6)
    assert left.tolist() == [1, 0, 0, 0]
    assert right.tolist() == [0, 1, 0, 0]
    assert (rows[:, 2] % 3).tolist() == [2, 1, 2, 0]
    assert np.array_equal(rows[:, 3:], told)


def test_without_a_pair_only_groups_and_drawn_places_are_seen() -> None:
    study = completed(large_studies()["regroup, sample, answer"])
    groups = np.array([1, 0, 1])
    reduce = np.array([[2, 9, 3, 1, 0]])
    train = np.array([[4, 5, 1, 0, 1], [6, 7, 0, 0, 0]])
    crowd = Told(groups, {"reduce": reduce, "train": train})
    rows = seen(study, "training owner", crowd)
    assert rows.tolist() == [[1, 4, 5], [0, 2, 9], [1, 6, 7]]


def test_a_set_speaks_for_every_record_whose_cell_is_in_it() -> None:
    study = completed(small_studies()["rand, joint, joint"])
    pair = telling_pairs(study)["ends"]
    crowd = Told(np.zeros(2, dtype=np.int64), {"test": np.array([[0], [1]])})
    assert seen(study, "test owner", crowd, pair)[:, 1].tolist() == [2, 1]
