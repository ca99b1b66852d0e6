from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiments.supm.baselines import learner_of
from experiments.supm.cache import Cache
from experiments.supm.checks import (
    budget_between,
    budget_for,
    differences,
    gap_between,
    largest_gap,
    value,
)
from experiments.supm.jobs import Job, Outcome
from experiments.supm.pictures import draw_all
from experiments.supm.program import HERE, main, run
from experiments.supm.readme import write_readme
from experiments.supm.results import Line, Results, first_at_least
from experiments.supm.schedule import FULL, Scope, entries_of
from experiments.supm.settings import DATA, FIGURES, SEARCHED
from experiments.supm.studies import grouped_folds, source_of, split, study_of, table_of
from experiments.supm.tables import COLUMNS, write_results
from experiments.supm.trials import run_trial
from experiments.supm.work import do

from supm import simulation
from supm.collection import account, cross_validate

WDBC = replace(
    DATA["wdbc"],
    grid=(10.0, 50.0),
    coarse=(50.0,),
    repeats=1,
    raw_repeats=2,
    searches=("rand",),
    search_repeats=1,
    combined=(50.0,),
    noisy=(50.0,),
)
SLICE = Scope(name="slice", data=(WDBC,), searched=((2, 2), (3, 3)))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Results]:
    folder = tmp_path_factory.mktemp("supm")
    return folder, run(SLICE, folder, workers=1)


def made_up(job: Job) -> Outcome:
    """Rise with the budget, with as many repetitions as the job has."""
    found = tuple(0.6 + job.epsilon / 200 + number / 1000 for number in range(job.repeats))
    return Outcome(
        answered=found,
        answered_balanced=found,
        device=found,
        device_balanced=found,
        majority=0.6,
        seconds=1.0,
    )


def published(**settings: str) -> dict[str, str]:
    """Return the row of the results in the repository that has these settings."""
    with (HERE / "results.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if settings.items() <= row.items()]
    assert len(rows) == 1
    return rows[0]


def line(*points: tuple[float, float]) -> Line:
    epsilon, accuracy = zip(*points, strict=True)
    return Line(epsilon=np.array(epsilon), values=np.array(accuracy)[:, np.newaxis])


def test_every_figure_of_both_papers_is_scheduled() -> None:
    assert [figure.name for figure in FIGURES] == [
        *(f"000-{number}" for number in range(1, 10)),
        *(f"001-{number}" for number in range(1, 7)),
    ]
    purposes = {entry.purpose for entry in entries_of(FULL)}
    assert {figure.name for figure in FIGURES} < purposes


@pytest.mark.parametrize(
    ("figure", "phases", "pairs"),
    [
        ("000-1", ("odp", "odp"), ((5, 2), (6, 3), (7, 4))),
        ("000-3", ("odp", "oda"), ((6, 2), (8, 4))),
        ("001-3", ("odp", "odp"), ((5, 2), (7, 4), (6, 3))),
        ("000-6", ("odp", "oda"), ((3, 2), (5, 4), (8, 2))),
        ("000-9", ("oda", "odp"), ((2, 2), (10, 5))),
    ],
)
def test_a_figure_has_the_printed_sizes(
    figure: str, phases: tuple[str, str], pairs: tuple[tuple[int, int], ...]
) -> None:
    curves = next(each for each in FIGURES if each.name == figure).curves
    assert [c.pairs for c in curves if (c.train, c.test) == phases] == [pairs]


def test_the_full_run_has_the_repetitions_that_were_asked_for() -> None:
    assert {data.name: data.repeats for data in FULL.data} == {
        "wdbc": 20,
        "ionosphere": 20,
        "musk2": 3,
    }
    searched = {e.job.pairs[0] for e in entries_of(FULL) if e.purpose == "search"}
    assert searched == set(SEARCHED) == {(k, c) for k in range(2, 11) for c in range(2, 6)}


def test_a_run_draws_every_figure_and_writes_every_job(written: tuple[Path, Results]) -> None:
    folder, results = written
    names = [f"figure-{figure.name}.png" for figure in SLICE.figures]
    extra = [f"wdbc-{name}.png" for name in ("draws", "chosen", "searched")]
    assert sorted(path.name for path in (folder / "figures").iterdir()) == sorted(names + extra)
    with (folder / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == len({(entry.job, entry.test) for entry in entries_of(SLICE)})
    assert all(0 < float(row["mean"]) <= 100 and float(row["majority"]) > 60 for row in rows)
    assert set(results.outcomes) == {entry.job for entry in entries_of(SLICE)}


def test_the_readme_has_every_printed_number_and_says_what_it_is(
    written: tuple[Path, Results],
) -> None:
    text = (written[0] / "README.md").read_text()
    for printed in ("98.04", "84.77", "90.29", "21.4", "27.4", "22.4", "3.57"):
        assert f"| {printed} |" in text or f"at most {printed}" in text
    assert "This is the slice run" in text
    assert "majority class" in text
    assert "chosen by inner folds" in text


def test_a_second_run_does_nothing_again(written: tuple[Path, Results]) -> None:
    cache = Cache(written[0] / ".cache" / "slice.jsonl")
    assert cache.missing(tuple(entry.job for entry in entries_of(SLICE))) == []
    assert cache.outcomes == written[1].outcomes


def test_a_line_that_was_cut_off_is_done_again(tmp_path: Path) -> None:
    jobs = [Job(data="wdbc", method="raw", reading=word, repeats=1) for word in ("a", "b", "c")]
    outcome = made_up(jobs[0])
    path = tmp_path / "cache" / "x.jsonl"
    for job in jobs[:2]:
        Cache(path).add(job, outcome)
    path.write_bytes(path.read_bytes()[:-20])
    assert Cache(path).missing(tuple(jobs)) == jobs[1:]
    Cache(path).add(jobs[2], outcome)
    assert Cache(path).missing(tuple(jobs)) == [jobs[1]]


def test_the_command_writes_from_what_is_finished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--quick", "--tables", "--output", str(tmp_path)]) == 0
    assert "Written to" in capsys.readouterr().out
    assert "not measured in this run" in (tmp_path / "README.md").read_text()


@pytest.mark.data
def test_the_quick_run_measures_all_that_it_is_about(tmp_path: Path) -> None:
    assert main(["--quick", "--workers", "1", "--output", str(tmp_path)]) == 0
    text = (tmp_path / "README.md").read_text()
    told = re.search(r"This is the quick run.* (\d+) of (\d+) settings", text)
    assert told is not None
    assert told.group(1) == told.group(2)
    assert (tmp_path / "results.csv").read_text().count("\n") > 100
    assert len(list((tmp_path / "figures").glob("*.png"))) > 5


@pytest.mark.parametrize(
    ("reduction", "reading", "train"),
    [("rand", "", "odp"), ("wa", "", "oda"), ("pw", "total", "odp"), ("waldp", "twice", "odp")],
)
def test_a_trial_is_the_cross_validation_of_the_package(
    reduction: str, reading: str, train: str
) -> None:
    job = Job(
        data="wdbc",
        reading=reading,
        reduction=reduction,
        train=train,
        pairs=((3, 3),),
        epsilon=20.0,
        repeats=1,
    )
    table, source = table_of("wdbc", "extremes"), source_of(job, 0)
    folds = split(job, table, source.child("folds"))
    learner = learner_of(2.1)
    ours = run_trial(job, table, folds, source, learner, lambda study: study.hash)
    study = study_of(job, (3, 3), table.schema)
    theirs = cross_validate(study, table.records, folds, source, learner=learner)
    assert ours == (theirs.answered, theirs.on_device)


@pytest.mark.parametrize(
    ("reading", "training", "testing"), [("total", 20.0, 15.0), ("twice", 40.0, 15.0)]
)
def test_the_two_readings_of_the_budget_cost_what_they_say(
    reading: str, training: float, testing: float
) -> None:
    job = Job(
        data="wdbc",
        reading=reading,
        reduction="pw",
        train="odp",
        pairs=((3, 2),),
        epsilon=20.0,
        repeats=1,
    )
    spent = account(study_of(job, (3, 2), table_of("wdbc", "extremes").schema))
    assert getattr(spent.training, "epsilon", None) == pytest.approx(training)
    # The share of the label that a test record does not have, 5 of 20, is not sent.
    assert getattr(spent.testing, "epsilon", None) == pytest.approx(testing)


def test_a_choice_among_equals_is_no_choice() -> None:
    plain = Job(data="wdbc", reduction="wa", train="odp", pairs=((2, 2),), epsilon=10.0, repeats=2)
    twins = replace(plain, method="nested", pairs=((2, 2), (2, 2)))
    assert do(plain).answered == do(twins).answered


def test_groups_stay_together_and_everybody_is_in_a_fold() -> None:
    groups = np.repeat(np.arange(30), np.arange(1, 31))
    folds = grouped_folds(groups, 10, simulation(1))
    assert sorted(np.concatenate(folds).tolist()) == list(range(len(groups)))
    held = [set(groups[fold].tolist()) for fold in folds]
    assert sum(len(each) for each in held) == 30
    assert max(len(fold) for fold in folds) <= 2 * len(groups) / 10


def test_the_budget_at_a_level_lies_between_the_points_around_it() -> None:
    rising = line((10.0, 80.0), (20.0, 90.0), (30.0, 91.0))
    assert first_at_least(rising.epsilon, rising.mean, 85.0) == pytest.approx(15.0)
    assert rising.reaches(80.0) == 10.0
    assert rising.reaches(95.0) is None
    assert budget_for(rising, 85.0, 14.0).gap == "+1.0"
    assert budget_for(rising, 95.0, 14.0).holds is False


def test_a_crossing_is_where_a_line_stays_ahead() -> None:
    low, high = line((10.0, 80.0), (20.0, 81.0)), line((10.0, 70.0), (20.0, 90.0))
    assert budget_between(high, [low], 20.0, above=True).ours == "from 20"
    assert budget_between(low, [high], 10.0, above=False).ours == "up to 10"
    assert budget_between(low, [high], 10.0, above=True).holds is False


def test_a_lead_and_a_difference_are_told_with_their_range() -> None:
    low = line((10.0, 80.0), (20.0, 81.0), (30.0, 82.0))
    high = line((10.0, 82.0), (20.0, 80.0), (30.0, 83.0))
    assert gap_between(high, low).holds is True
    assert gap_between(high, low, high=20.0).holds is False
    assert gap_between(high, low, always=True).holds is False
    assert largest_gap(high, low, 3.57).holds is True
    assert value(np.array([90.0, 92.0]), 90.0, 0.7).gap == "+1.00"
    assert value(None, 90.0, 0.7).holds is None


def test_repetitions_are_compared_as_far_as_both_have_them() -> None:
    found = differences(np.array([3.0, 5.0, 9.0]), np.array([1.0, 1.0]))
    assert found.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("every", [1, 2, 3, 7])
def test_a_readme_can_be_written_of_any_part_of_the_full_run(tmp_path: Path, every: int) -> None:
    jobs = dict.fromkeys(entry.job for entry in entries_of(FULL))
    results = Results(FULL, {job: made_up(job) for job in list(jobs)[::every]})
    write_readme(results, [], tmp_path / "README.md")
    text = (tmp_path / "README.md").read_text()
    assert f"{len(results.outcomes)} of {len(jobs)} settings" in text
    assert ("Not measured in this run" in text) is (every > 1)


def test_pictures_and_results_can_be_made_of_a_part_of_a_run(
    tmp_path: Path, written: tuple[Path, Results]
) -> None:
    some = dict(list(written[1].outcomes.items())[::2])
    results = Results(SLICE, some)
    assert all(path.exists() for path in draw_all(results, tmp_path))
    rows = write_results(results, tmp_path / "results.csv")
    assert len(some) <= rows < len({(entry.job, entry.test) for entry in entries_of(SLICE)})


def test_every_claim_that_does_not_hold_is_explained() -> None:
    lines = (HERE / "README.md").read_text().splitlines()
    claims = [line.strip("|").split("|") for line in lines if line.startswith(("| 000", "| 001"))]
    failed = [cells for cells in claims if "no" in cells[5]]
    assert len(claims) > 60
    assert failed
    assert all(cells[6].strip() for cells in failed)


@pytest.mark.parametrize(
    ("name", "reading"),
    [
        ("wdbc", "largest"),
        ("wdbc", "overall"),
        ("ionosphere", "largest"),
        ("ionosphere", "overall"),
        ("musk2", "overall"),
    ],
)
def test_without_noise_what_is_published_here_is_within_the_bar(name: str, reading: str) -> None:
    row = published(data=name, method="raw", reading=reading, folds="equal")
    assert int(row["repeats"]) == DATA[name].raw_repeats
    assert abs(float(row["mean"]) - DATA[name].raw) <= 0.7


def test_without_noise_wdbc_is_near_the_printed_accuracy() -> None:
    found = do(Job(data="wdbc", method="raw", reading="largest", repeats=10))
    assert abs(found.accuracy("raw").mean() - 98.04) <= 0.7


@pytest.mark.data
def test_without_noise_ionosphere_is_near_the_printed_accuracy_and_as_published_here() -> None:
    data = DATA["ionosphere"]
    found = do(Job(data=data.name, method="raw", reading="largest", repeats=data.raw_repeats))
    mean = found.accuracy("raw").mean()
    assert abs(mean - data.raw) <= 1.0
    row = published(data=data.name, method="raw", reading="largest", folds="equal")
    assert row["mean"] == f"{mean:.2f}"


@pytest.mark.data
def test_without_noise_musk_is_near_the_printed_accuracy() -> None:
    found = do(Job(data="musk2", method="raw", reading="overall", repeats=1))
    assert abs(found.accuracy("raw").mean() - DATA["musk2"].raw) <= 0.7


def test_weak_anonymisation_at_ten_is_within_the_bar_and_as_published_here() -> None:
    job = Job(data="wdbc", reduction="wa", train="odp", pairs=((2, 2),), epsilon=10.0, repeats=20)
    found = do(job).accuracy("odp").mean()
    assert abs(found - 90.29) <= 2.0
    settings = {"reduction": "wa", "K": "2", "L": "2", "epsilon": "10", "bounds": "extremes"}
    row = published(data="wdbc", method="supm", test="odp", repeats="20", **settings)
    assert row["mean"] == f"{found:.2f}"


def test_a_readme_can_be_written_of_nothing(tmp_path: Path) -> None:
    write_readme(Results(SLICE, {}), [], tmp_path / "README.md")
    assert "not measured in this run" in (tmp_path / "README.md").read_text()
