from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiments.federated_svm.program import main
from experiments.federated_svm.readme import bar, worse_than_alone
from experiments.federated_svm.results import Results, Row, read_rows
from experiments.federated_svm.settings import EPSILONS, FULL, METHODS, QUICK, Cell, cells_of
from experiments.federated_svm.work import _accuracies


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("federated_svm")
    assert main(["--quick", "--output", str(folder)]) == 0
    return folder


@pytest.mark.data
def test_the_quick_run_measures_every_cell_and_draws(written: Path) -> None:
    rows = read_rows(written / "results.csv")
    assert {row.cell for row in rows} == set(cells_of(QUICK))
    assert {row.cell.method for row in rows} == set(METHODS)
    assert (written / "figures" / "budgets.png").exists()
    assert (written / "figures" / "shapes.png").exists()
    text = (written / "README.md").read_text()
    assert "This is the quick run" in text
    assert "None" not in text


@pytest.mark.data
def test_a_finished_run_measures_nothing_again(written: Path) -> None:
    before = (written / "results.csv").read_text()
    assert main(["--quick", "--output", str(written), "--tables"]) == 0
    assert main(["--quick", "--output", str(written)]) == 0
    assert (written / "results.csv").read_text() == before


@pytest.mark.data
def test_the_paper_really_costs_what_ten_classes_cost(written: Path) -> None:
    results = Results(read_rows(written / "results.csv"))
    paper = results.at("mnist", "paper", epsilon=1.0, sizes=QUICK.default, components=20)
    ours = results.at("mnist", "strict", epsilon=1.0, sizes=QUICK.default, components=20)
    assert paper is not None
    assert ours is not None
    assert float(paper.cost) > 5.0
    assert float(ours.cost) == 1.0


def test_the_full_run_has_all_figures() -> None:
    cells = cells_of(FULL)
    assert len(cells) == len(set(cells))
    assert {cell.data for cell in cells} == {"mnist", "fashion_mnist", "cifar10"}
    for data in {cell.data for cell in cells}:
        own = [cell for cell in cells if cell.data == data]
        assert {cell.components for cell in own} == {5, 10, 20, 50, 100}
        assert {max(cell.sizes) for cell in own} == {100, 500, 1000, 2000, 5000, 10_000}
        assert {cell.epsilon for cell in own if cell.method == "paper, DPML"} == set(EPSILONS)


def test_accuracies_are_what_they_are_called() -> None:
    scores = np.full((2, 10), -1.0)
    scores[0, 3], scores[1, 4] = 1.0, 1.0
    ten, against, parity = _accuracies(scores, np.array([3, 6]))
    assert (ten, parity) == (0.5, 1.0)
    assert against == pytest.approx(18 / 20)


@pytest.mark.parametrize(("accuracy", "verdict"), [(0.80, "met"), (0.70, "missed")])
def test_the_bar_tells_the_gap(accuracy: float, verdict: str) -> None:
    def row(method: str, epsilon: float, shown: float) -> Row:
        cell = Cell(data="mnist", method=method, epsilon=epsilon)
        figures = {"against_rest": 0.9, "even_odd": 0.5, "majority": 0.1, "seconds": 1.0}
        return Row(cell=cell, accuracy=shown, accuracy_sd=0.0, cost="1", **figures)

    # The loss of the strict way is softmax, and so is that of what it is judged by.
    rows = [row("non-private, softmax", 0.1, 0.87), row("non-private", 0.1, 0.1)]
    rows.append(row("strict", 1.0, accuracy))
    told = bar(Results([*rows, row("strict, one party", 1.0, 0.6)]), FULL)
    assert f"**{verdict}**" in told


def test_settings_in_which_one_party_alone_is_better_are_listed() -> None:
    def row(method: str, shown: float) -> Row:
        cell = Cell(data="mnist", method=method, epsilon=1.0)
        figures = {"against_rest": 0.9, "even_odd": 0.5, "majority": 0.1, "seconds": 1.0}
        return Row(cell=cell, accuracy=shown, accuracy_sd=0.0, cost="1", **figures)

    better = Results([row("strict", 0.8), row("strict, one party", 0.6)])
    assert "In no setting" in worse_than_alone(better, FULL)
    worse = Results([row("strict", 0.5), row("strict, one party", 0.6)])
    told = worse_than_alone(worse, FULL)
    assert "in 1 of 1 settings" in told
    assert "- mnist, strict, epsilon 1, k = 20, 10000 records each: 50.0 against 60.0 %." in told
    small = [replace(each, cell=replace(each.cell, components=5)) for each in worse.rows]
    assert "- mnist, strict, epsilon 1, k = 5, " in worse_than_alone(Results(small), FULL)
