from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from experiments.lda_publishing.data import TABLES, TASKS, encoded, read_task, records_of
from experiments.lda_publishing.privbayes import Coded, measure_budget
from experiments.lda_publishing.program import main
from experiments.lda_publishing.results import COLUMNS, Row, add_rows, read_rows
from experiments.lda_publishing.settings import BUDGETS, FULL, QUICK, RIVAL, Setting, settings_of
from experiments.lda_publishing.views import views_table
from experiments.lda_publishing.work import Split, best_threshold, noisy_run

from supm import simulation
from supm.federation.discriminant import Discriminant
from supm.federation.protocol import Circle
from supm.federation.rows import Rows, grid_rows
from supm.mechanisms.noise import GaussianNoise
from supm.schema import Continuous


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lda_publishing")
    assert main(["--quick", "--output", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def rows() -> Rows:
    drawn = GaussianNoise(0.3).draw(3 * 500, simulation(2)).reshape(500, 3)
    labels = np.arange(500) % 2
    drawn[:, 0] += 0.5 * labels
    return grid_rows(drawn, labels, classes=2)


@pytest.mark.data
def test_the_quick_run_measures_every_point_and_draws(written: Path) -> None:
    found = read_rows(written / "results.csv")
    for task in QUICK.tasks:
        points = {
            Setting(epsilon=row.epsilon, parties=row.parties, colluders=row.colluders)
            for row in found
            if row.task == task and row.variant == "release"
        }
        assert points == set(settings_of(QUICK, task))
    assert all(0.05 < row.error < 0.95 for row in found)
    names = {path.name for path in (written / "figures").iterdir()}
    assert names == {"figure1.png", "figure2.png", "figure3.png"}


@pytest.mark.data
def test_the_readme_has_bars_claims_and_the_attack(written: Path) -> None:
    text = (written / "README.md").read_text()
    for words in (
        "quick run, a look",
        "## The bars",
        "majority",
        "17,259 (100.0 %)",
        "| claimed |",
    ):
        assert words in text
    assert " nan" not in text


@pytest.mark.data
def test_a_second_run_measures_nothing_again(written: Path) -> None:
    before = (written / "results.csv").read_text()
    assert main(["--quick", "--output", str(written)]) == 0
    assert (written / "results.csv").read_text() == before


@pytest.mark.data
@pytest.mark.parametrize(
    ("task", "records", "attributes"),
    [("bathing", 21574, 15), ("salary", 45222, 14), ("education", 45222, 13)],
)
def test_the_tables_have_the_papers_sizes(task: str, records: int, attributes: int) -> None:
    schema, found = records_of(task)
    assert found.rows == records
    assert len(schema.attributes) == attributes
    assert not {"education", "education-num"} & {each.name for each in schema.attributes} or (
        task == "salary"
    )


def test_the_full_run_has_all_panels_of_the_figures() -> None:
    assert FULL.repetitions == 50
    assert FULL.tasks == TASKS
    points = {task: set(settings_of(FULL, task)) for task in TASKS}
    assert all(Setting(epsilon=epsilon) in points[task] for task in TASKS for epsilon in BUDGETS)
    for task in ("money", "outside", "salary", "education"):
        assert Setting(epsilon=0.05, parties=3, colluders=2) in points[task]
    for parties in (2, 4, 6, 8, 10):
        assert Setting(epsilon=0.2, parties=parties) in points["education"]


@pytest.mark.parametrize("parties", [1, 3])
def test_noise_added_to_exact_sums_is_what_parties_tell(rows: Rows, parties: int) -> None:
    split = Split(rows, 4)
    plan = Discriminant.for_budget(
        encoding=split.encoding,
        epsilon=1.0,
        delta=1e-3,
        circle=Circle(parties=parties, colluders=0),
    )
    totals: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    for number in range(2):
        question = plan.ask(totals)
        source = simulation(4).child(f"here round {number}")
        told = [
            plan.tell(part, question, source.child(f"party {n}"))
            for n, part in enumerate(dealt(split.train, parties))
        ]
        totals.append(np.sum(told, axis=0))
    wanted = plan.conclude(totals)
    found = noisy_run(plan, split, "here")
    assert found.to_form() == wanted.to_form()


def dealt(rows: Rows, parties: int) -> list[Rows]:
    return [
        Rows(values=rows.values[n::parties], labels=rows.labels[n::parties], classes=rows.classes)
        for n in range(parties)
    ]


@pytest.mark.data
@pytest.mark.parametrize("task", ["money", "salary"])
def test_a_table_of_classes_is_read_back_as_the_same_classes(task: str) -> None:
    coded = Coded.of(task)
    assert coded.codes.min() == 0
    assert (coded.codes.max(axis=0) < coded.sizes).all()
    schema, records = read_task(task, coded.columns(coded.codes))
    assert records.rows == len(coded.codes)
    np.testing.assert_array_equal(records.target, coded.codes[:, -1])
    words = [n for n, each in enumerate(schema.attributes) if not isinstance(each, Continuous)]
    told = np.column_stack([records.columns[schema.attributes[n].name] for n in words])
    np.testing.assert_array_equal(told, coded.codes[:, words])


@pytest.mark.data
def test_a_rival_that_tells_the_table_itself_learns_as_without_privacy() -> None:
    found = measure_budget("NLTCS", 0.4, 1, lambda codes, *_: (codes, 1.0))
    assert [row.task for row in found] == list(TABLES["NLTCS"])
    assert all(row.variant == RIVAL and abs(row.excess) < 0.01 for row in found)


@pytest.mark.data
def test_a_rival_that_knows_one_class_only_answers_it() -> None:
    row = measure_budget("Adult", 0.4, 1, lambda codes, *_: (0 * codes, 1.0))[0]
    plain = Split(encoded("salary")[1], 0).plain()
    assert row.error == plain["majority"]


def test_owners_who_collude_see_more_than_the_paper_claims() -> None:
    lines = views_table(FULL).splitlines()[2:]
    for parties, line in zip(FULL.parties, lines, strict=True):
        owners, claimed, *shown = (float(cell) for cell in line.strip("| ").split("|"))
        publisher, eavesdropper, coalition = shown[3:]
        assert owners == parties
        assert publisher == pytest.approx(claimed, rel=0.01)
        assert eavesdropper < claimed < coalition
        assert max(shown[:3]) < claimed


def test_a_split_has_every_row_once(rows: Rows) -> None:
    split = Split(rows, 1)
    both = np.vstack([split.train.values, split.test.values])
    assert len(split.train.values) == 400
    np.testing.assert_array_equal(np.unique(both, axis=0), np.unique(rows.values, axis=0))
    assert not np.array_equal(split.train.values, Split(rows, 2).train.values)


def test_no_threshold_is_better_than_the_best() -> None:
    for seed in range(30):
        scores = simulation(seed).below(9, 40).astype(np.float64)
        labels = simulation(seed + 100).below(2, 40).astype(np.int64)
        threshold, above = best_threshold(scores, labels)
        answered = np.where(scores > threshold, above, 1 - above)
        tried = [
            min(np.mean((scores > t) != labels), np.mean((scores > t) == labels))
            for t in np.arange(-1, 10) + 0.5
        ]
        assert np.mean(answered != labels) == pytest.approx(min(tried))


def test_results_come_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    given = Row(
        task="money",
        variant="lda",
        epsilon=math.inf,
        parties=1,
        colluders=0,
        repetitions=4,
        error=0.125,
        error_sd=0.25,
        excess=0.0,
        excess_sd=0.5,
        seconds=1.0,
    )
    add_rows([given], path)
    assert tuple(path.read_text().splitlines()[0].split(",")) == COLUMNS
    assert read_rows(path) == [given]
    assert given.excess_error == 0.25
