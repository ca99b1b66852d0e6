"""Owners who come when another group is asked, when they have trained, or with a report drawn."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.conftest import HEAD, SCHEMA, Address, stored

from supm.cli import main
from supm.collection import plan
from supm.schema import Categorical
from supm.service.actions import open_training, reduce_stored, serve_model, train_stored
from supm.service.store import Store

pytestmark = pytest.mark.usefixtures("own_folder")


def said_to(wallet: str, url: str, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    alone = ["contribute", "mine.csv", "--study", url, "--yes", "--wallet", wallet, *more]
    assert main(alone) == 0
    return " ".join(capsys.readouterr().out.split())


def test_groups_are_asked_in_turn(
    store: Store, address: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    url = address(plan(SCHEMA, epsilon=1.0, owners=100_000, keep=2))
    Path("many.csv").write_text(HEAD + "".join(f"o{n},{n},60,yes\n" for n in range(100)))
    arguments = ["contribute", "many.csv", "--study", url, "--yes", "--json", "-"]
    assert main([*arguments, "--each-row-is-an-owner"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert set(form["owners"]) == {"accepted", "another group is asked"}
    assert sum(form["owners"].values()) == 100
    assert stored(store, url) == {"reduce": form["owners"]["accepted"]}
    waiting = []
    for number in range(20):
        said = said_to(f"{number}.db", url, capsys)
        later = "Run the same command again once the study collects to train." in said
        assert later == said.startswith("Your device drew another group of this study")
        # Whoever is not asked reads of no cost.
        assert later != ("It costs epsilon" in said)
        waiting.append(later)
    assert 0 < sum(waiting) < 20
    reduce_stored(store, url.rpartition("/")[2])
    open_training(store, url.rpartition("/")[2])
    for number, later in enumerate(waiting):
        said = said_to(f"{number}.db", url, capsys)
        assert later == ("It costs epsilon" in said)
        assert later != said.endswith("there is nothing to do. Nothing was sent or spent.")
        if not later:
            dry = said_to(f"{number}.db", url, capsys, "--dry-run")
            assert dry == said


def test_who_trained_is_not_asked_again_nor_told_of_a_cost(
    store: Store, address: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    url = address(plan(SCHEMA, epsilon=4.0, attributes=["age", "pulse"], test="answer"))
    Path("many.csv").write_text(HEAD + "".join(f"o{n},{n},60,yes\n" for n in range(90)))
    many = ["contribute", "many.csv", "--study", url, "--yes", "--each-row-is-an-owner"]
    many += ["--wallet", "many.db", "--json", "found.json"]
    assert main(many) == 0
    assert main(["contribute", "mine.csv", "--study", url, "--yes"]) == 0
    train_stored(store, url.rpartition("/")[2])
    serve_model(store, url.rpartition("/")[2])
    for more in ([], ["--dry-run"]):
        assert main([*many, *more]) == 0
        form = json.loads(Path("found.json").read_text())
        assert (form["owners"], form["reasons"]) == ({"trained already": 90}, {})
        capsys.readouterr()
        assert main(["contribute", "mine.csv", "--study", url, "--yes", *more]) == 1
        said = capsys.readouterr()
        assert "It costs" not in said.out
        assert "not both; look the answer up on the device" in said.err
        assert "supm predict DATA.csv --model model.json" in said.err
    assert stored(store, url) == {"train": 91}


def test_the_chance_of_the_truth_is_that_of_what_was_drawn(
    address: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    fine = replace(SCHEMA, attributes=(*SCHEMA.attributes, Categorical("sex", values=("f", "m"))))
    names = ["age", "pulse", "sex"]
    url = address(plan(fine, epsilon=4.0, attributes=names, classes=5, told=1))
    Path("mine.csv").write_text("age,pulse,sex,ill\n61,88,f,yes\n")
    first = said_to("own.db", url, capsys)
    head = "what leaves one of chance of the truth, by what is drawn "
    assert f"{head}1 of 3 attributes and ill, together 4 to 10 85.8% to 94.8%" in first
    again = said_to("own.db", url, capsys)
    cells, chance = (4, "94.8%") if "sex is " in first else (10, "85.8%")
    assert f"(truly with a chance of {chance}): " in first
    assert f"and ill, together {cells} {chance} " in again
    assert "by what is drawn" not in again
