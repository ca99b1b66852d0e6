from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from experiments.copula.bars import (
    against_constant,
    against_paper,
    made_up_against_constant,
    with_more_rows,
)
from experiments.copula.baselines import BASELINES, augmented, plain_copula
from experiments.copula.claims import wins
from experiments.copula.data import scaled, table
from experiments.copula.histograms import _chances, classes_for, histogram_answers
from experiments.copula.made_up import MADE_UP
from experiments.copula.noising import Fold, folds
from experiments.copula.pairs import best_cut
from experiments.copula.program import main, measured_rows
from experiments.copula.results import Pair, Results, Row, append, forget, read
from experiments.copula.settings import EPSILONS, FULL, METHODS, QUICK, VERSIONS, Job, jobs_of
from experiments.copula.tables import number, ratio

from supm import simulation


def row(method: str, mse: float, **changes: object) -> Row:
    known = {"data": "boston", "records": 0, "epsilon": 1.0, "repetition": 0, "group": "paper"}
    known |= {"method": method, "learner": "tree", "mse": mse, "mae": mse, "seconds": 0.0}
    known |= {"version": VERSIONS["paper"]}
    return Row(**(known | changes))  # type: ignore[arg-type]  # fields of a row


def fold(clean: np.ndarray, epsilon: float) -> Fold:
    return Fold(epsilon=epsilon, clean=clean, noisy=clean, test=clean, seed=1)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copula")
    assert main(["--quick", "--output", str(folder)]) == 0
    return folder


@pytest.mark.data
def test_the_quick_run_measures_every_job_and_draws(written: Path) -> None:
    rows = measured_rows(written)
    assert {each.job for each in rows} == set(jobs_of(QUICK))
    assert {each.method for each in rows} == {*METHODS, "paper, more rows"}
    assert {each.learner for each in rows} == {"tree", "kNN", "SVM", "NN"}
    for figure in (2, 5, 6, 7, 8, 9, 10, 11):
        assert (written / "figures" / f"figure{figure}.png").exists()
    text = (written / "README.md").read_text()
    assert "This is the quick run" in text
    assert "None" not in text
    assert "nan" not in text


@pytest.mark.data
def test_a_finished_run_measures_nothing_again(written: Path) -> None:
    files = [written / name for name in ("diabetes.csv", "made_up.csv", "pairs.csv")]
    before = [path.read_text() for path in files]
    assert main(["--quick", "--output", str(written)]) == 0
    assert [path.read_text() for path in files] == before


@pytest.mark.data
def test_at_a_large_budget_our_answers_beat_the_constant(written: Path) -> None:
    results = Results(measured_rows(written))
    errors = {name: results.at("diabetes", name, 10.0, QUICK.records) for name in METHODS}
    known = {name: each.mse for name, each in errors.items() if each}
    assert known["noise-aware"] < known["constant"] < known["noisy data"]
    assert known["strict copula"] < known["paper"]


def test_the_full_run_has_all_figures() -> None:
    jobs = jobs_of(FULL)
    assert len(jobs) == len(set(jobs))
    assert {job.epsilon for job in jobs} == set(EPSILONS)
    assert {job.data for job in jobs} == {"boston", "kung", "diabetes", "adult", *MADE_UP}
    assert {job.records for job in jobs} == {0, 1000, 2000, 5000, 10_000}
    assert [job.repetition for job in jobs] == sorted(job.repetition for job in jobs)


@pytest.mark.data
def test_tables_have_the_sizes_of_the_paper() -> None:
    shapes = {name: table(name, 0, 0).shape for name in ("boston", "kung", "diabetes", "adult")}
    assert shapes == {
        "boston": (506, 14),
        "kung": (287, 4),
        "diabetes": (442, 11),
        "adult": (30_162, 7),
    }


@pytest.mark.parametrize("name", MADE_UP)
def test_made_up_tables_fill_the_range_and_change_with_the_repetition(name: str) -> None:
    first, second = table(name, 200, 0), table(name, 200, 1)
    assert first.shape == (200, 30)
    assert (first.min(axis=0) == 0).all()
    assert (first.max(axis=0) == 1).all()
    assert not np.array_equal(first, second)


def test_counts_of_the_negative_multinomial_have_its_mean_and_spread() -> None:
    counts = MADE_UP["negative multinomial"](4000, simulation(3))
    mean, variance = counts.mean(axis=0), counts.var(axis=0)
    # The variance of a count is its mean plus the squared mean over the failures.
    assert np.mean(variance / (mean + mean**2 / 4000)) == pytest.approx(1.0, abs=0.02)


def test_a_column_that_never_changes_becomes_zero() -> None:
    rows = scaled(np.array([[3.0, 1.0], [3.0, 5.0], [3.0, 2.0]]))
    assert rows[:, 0].tolist() == [0.0, 0.0, 0.0]
    assert rows[:, 1].tolist() == [0.0, 1.0, 0.25]


def test_folds_are_disjoint_noisy_for_training_and_clean_for_testing() -> None:
    job = Job(repetition=0, group="paper", data="normal", records=100, epsilon=2.0)
    clean, tested = table("normal", 100, 0), []
    for each in folds(job):
        tested.append(each.test)
        assert len(each.noisy) == len(each.clean) == 80
        assert (each.noisy - each.clean).std() == pytest.approx(np.sqrt(2) / 2, rel=0.1)
    together = np.concatenate(tested)
    assert sorted(map(tuple, together)) == sorted(map(tuple, clean))


def test_a_histogram_with_a_large_budget_knows_the_commonest_class() -> None:
    inputs = np.repeat([0.05, 0.55, 0.95], 50)
    clean = np.column_stack([inputs, 1 - inputs])
    for kind in ("R", "O"):
        answers = histogram_answers(fold(clean, 20.0), kind)
        assert answers == pytest.approx(clean[:, -1], abs=1 / classes_for(2))


@pytest.mark.parametrize("kind", ["R", "O"])
def test_a_bit_of_a_histogram_costs_its_budget(kind: str) -> None:
    keep, lie = _chances(1.5, kind)
    # Two records differ in two bits: one goes from one to zero, one from zero to one.
    assert keep / lie * (1 - lie) / (1 - keep) == pytest.approx(np.exp(1.5))


@pytest.mark.parametrize(("attributes", "classes"), [(4, 56), (7, 10), (11, 4), (14, 3), (30, 2)])
def test_histograms_have_ten_million_categories_at_most(attributes: int, classes: int) -> None:
    assert classes_for(attributes) == classes
    assert classes == 2 or classes**attributes <= 10**7


def test_a_plain_copula_keeps_correlation_and_quantiles() -> None:
    rows = table("normal", 1000, 0)[:, :3]
    samples = plain_copula(fold(rows, 1.0), 20_000)
    assert np.corrcoef(samples.T) == pytest.approx(np.corrcoef(rows.T), abs=0.03)
    assert np.median(samples, axis=0) == pytest.approx(np.median(rows, axis=0), abs=0.02)


def test_constants_answer_the_mean_the_middle_and_a_mean_in_range() -> None:
    clean = np.column_stack([np.linspace(0, 1, 10)] * 2)
    given = Fold(epsilon=1.0, clean=clean, noisy=clean + 7, test=clean, seed=1)
    assert set(BASELINES["constant"](given, 1)) == {clean[:, -1].mean()}
    assert set(BASELINES["middle"](given, 1)) == {0.5}
    assert set(BASELINES["noisy constant"](given, 1)) == {1.0}


def test_the_best_cut_separates_two_levels() -> None:
    inputs = np.array([4.0, 1.0, 2.0, 3.0, 5.0, 3.0])
    target = np.array([9.0, 1.0, 1.0, 1.0, 9.0, 1.0])
    assert best_cut(inputs, target) == 3.5


def test_goals_tell_the_choice_from_hindsight() -> None:
    shown = {"paper": 0.1, "strict copula": 0.05, "noise-aware": 0.08}
    constants = {"constant": 0.07, "middle": 0.2, "noisy constant": 0.1}
    results = Results([row(name, mse) for name, mse in (shown | constants).items()])
    line = "0.0800 ± 0.0000 | 0.80 | 0.80 | 0.50 (strict copula) | in hindsight only |"
    assert line in against_paper(results, FULL)
    assert "Met in 0 of 1 settings." in against_paper(results, FULL)
    told = against_constant(results, FULL)
    assert "| 0.80 | 0.80 | 1.14 | 0.50 (strict copula) | **met** |" in told
    assert "At most 1.02 in 1 against the noisy constant, 1 against the better of" in told
    assert "0 against the clean constant, of 1 settings." in told


def test_made_up_tables_are_held_against_the_constants_too() -> None:
    shown = {"constant": 0.1, "middle": 0.2, "noisy constant": 0.4, "noise-aware": 0.3}
    shown |= {"paper": 0.5, "strict copula": 0.5}
    first = FULL.sizes[0]
    rows = [row(name, mse, data="normal", records=first) for name, mse in shown.items()]
    told = made_up_against_constant(Results(rows), FULL)
    assert "| 0.75 | 1.50 | 3.00 | 1.50 (noise-aware) | **missed** |" in told
    assert "At most 1.02 in 1 against the noisy constant, 0 against the better of" in told


def test_one_repetition_that_went_wrong_does_not_move_the_ratio_of_medians() -> None:
    rows = [row("paper", mse, repetition=place) for place, mse in enumerate((0.2, 0.2, 2.0))]
    others = ("strict copula", "noise-aware", "constant", "middle", "noisy constant")
    rows += [row(name, 0.1, repetition=place) for name in others for place in range(3)]
    assert "| 0.13 | 0.50 |" in against_paper(Results(rows), FULL)


def test_more_rows_are_compared_within_one_repetition() -> None:
    rows = [row("paper", 0.2), row("paper", 0.9, repetition=1), row("paper, more rows", 0.1)]
    assert "is 0.50 times as large on average" in with_more_rows(Results(rows), FULL)


def test_what_an_older_version_showed_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    kept = row("paper", 0.2)
    append([row("paper", 0.1, version=VERSIONS["paper"] - 1), kept], path)
    assert read(Row, path) == [kept]
    forget(Row, path)
    assert len(path.read_text().splitlines()) == 2
    pair = {"epsilon": 1.0, "repetition": 0, "method": "paper", "correlation": 0.0, "split": 1.0}
    append([Pair(**pair, version=0)], tmp_path / "pairs.csv")  # type: ignore[arg-type]  # as a row
    forget(Pair, tmp_path / "pairs.csv")
    assert not (tmp_path / "pairs.csv").exists()


def test_a_file_of_before_there_were_versions_counts_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    append([row("paper", 0.2)], path)
    path.write_text("\n".join(line.rpartition(",")[0] for line in path.read_text().splitlines()))
    assert read(Row, path) == []


def test_augmentation_is_five_shaken_copies() -> None:
    records = table("normal", 200, 0)
    copies = augmented(fold(records, 1.0)).reshape(5, 200, 30)
    shaken = (copies - records).std(axis=(0, 1))
    assert shaken == pytest.approx(0.05 * records.std(axis=0), rel=0.15)


def test_wins_count_budgets_at_which_all_others_are_worse() -> None:
    rows = [row("paper", 0.2), row("paper", 0.2, epsilon=2.0), row("noisy data", 0.3)]
    rows += [row("noisy data", 0.1, epsilon=2.0), row("constant", 0.25)]
    assert wins(Results(rows), "boston", EPSILONS, ("noisy data", "constant"), 0) == (1, 2)


def test_the_increase_is_relative_to_noisy_data() -> None:
    rows = [row("paper", 0.2, learner="kNN"), row("noisy data", 0.8, learner="kNN")]
    assert ratio(Results(rows), "boston", 1.0, "kNN", "mse") == pytest.approx(-0.75)
    assert ratio(Results(rows), "boston", 1.0, "SVM", "mse") is None


def test_numbers_are_short() -> None:
    assert [number(each) for each in (0.04169, 3.14159, 20_000.0)] == ["0.0417", "3.14", "2.0e4"]
