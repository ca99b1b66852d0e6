from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from supm import simulation
from supm.cli import main
from supm.collection import plan
from supm.messages import Study
from supm.owner import Owner, Wallet
from supm.schema import Categorical, Continuous, Schema

SERVER = "https://host/studies/abcdefghij"


@pytest.fixture(autouse=True)
def _own_wallet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUPM_WALLET", str(tmp_path / "wallet.db"))


@pytest.fixture
def study() -> Study:
    schema = Schema(
        attributes=(Continuous("age", low=0, high=100),),
        target=Categorical("ill", values=("no", "yes")),
    )
    return plan(schema, epsilon=1.5, attributes=["age"], purpose="Who is ill?")


def answer(study: Study, *, seed: int = 1) -> str:
    with Wallet(clock=lambda: 1_800_000_000.0) as wallet, wallet.step():
        owner = Owner(source=simulation(seed), memory=wallet)
        report = owner.answer(study, "train", {"age": 61, "ill": "yes"})
        wallet.note(report, study, epsilon=1.5, server=SERVER)
    return report.id


def test_an_empty_wallet_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["wallet", "show"]) == 0
    assert "nothing was spent yet; no limit in total, no limit for one" in capsys.readouterr().out


def test_a_limit_below_what_is_spent_says_so(
    study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(study)
    assert main(["wallet", "limit", "--total", "1.5", "--per-study", "2"]) == 0
    assert "exceeded" not in capsys.readouterr().out
    assert main(["wallet", "limit", "--total", "1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "exceeded already: 1.5 is spent in total, and that stays spent. Nothing more" in said
    assert main(["wallet", "limit", "--total", "none", "--per-study", "0.5"]) == 0
    assert "exceeded already: 1.5 is spent on one study" in capsys.readouterr().out


def test_what_was_spent_is_shown(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    answer(study)
    assert main(["wallet", "limit", "--total", "4", "--per-study", "2"]) == 0
    assert "at most 4 in total, at most 2 for one study" in capsys.readouterr().out
    assert main(["wallet", "show"]) == 0
    said = capsys.readouterr().out
    assert "epsilon = 1.5 was spent in total; at most 4 in total" in said
    for word in (study.hash[:12], "train", "2027-01-15", "Who is ill?", "1.5", SERVER):
        assert word in said
    assert main(["wallet", "show", "--json", "-"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert (form["spent"], form["total"], form["per_study"]) == (1.5, 4.0, 2.0)
    [row] = form["answers"]
    assert row["study"] == study.hash
    assert row["server"] == SERVER
    assert row["answered"] == "2027-01-15T08:00:00+00:00"
    assert row["acknowledged"] is None


def test_a_limit_is_taken_away(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["wallet", "limit", "--total", "4", "--per-study", "0"]) == 0
    assert main(["wallet", "limit", "--total", "none"]) == 0
    assert "no limit in total, at most 0 for one study." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["limit"], "limit must be followed by --total or --per-study"),
        (["limit", "--total", "-1"], "--total must be a number in [0, 10000]"),
        (["limit", "--total", "much"], "--total must be a number in [0, 10000]"),
        (["forget", "abc", "--yes"], "STUDY must be the first digits of the hash"),
        (["forget", "", "--yes"], "STUDY must be the first digits of the hash"),
        (["forget"], "STUDY must be given"),
        (["spend"], "must be one of show, limit, forget"),
    ],
)
def test_wrong_usage_is_one_sentence(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["wallet", *arguments]) == 2
    said = capsys.readouterr()
    assert complaint in said.err
    assert len(said.err.splitlines()) == 1


def test_to_forget_asks_first_and_refunds_nothing(
    study: Study, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = answer(study, seed=1)
    monkeypatch.setattr("sys.stdin", io.StringIO("no\n"))
    assert main(["wallet", "forget", study.hash[:6]]) == 1
    assert capsys.readouterr().out.endswith("[y/N] Nothing was forgotten.\n")
    assert answer(study, seed=2) == first
    assert main(["wallet", "forget", study.hash[:6], "--yes"]) == 0
    assert "1 report forgotten." in capsys.readouterr().out
    assert answer(study, seed=2) != first
    assert main(["wallet", "show"]) == 0
    assert "epsilon = 3 was spent in total" in capsys.readouterr().out


def test_a_damaged_wallet_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    Path("wallet.db").write_text("no wallet" * 100)
    for arguments in (["show"], ["limit", "--total", "1"], ["forget", "abc", "--yes"]):
        assert main(["wallet", *arguments]) == 1
        said = capsys.readouterr()
        assert "is damaged or is no wallet" in said.err
        assert len(said.err.splitlines()) == 1
    assert Path("wallet.db").read_text() == "no wallet" * 100


def test_another_wallet_may_be_named(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    answer(study)
    assert main(["wallet", "show", "--wallet", "other.db"]) == 2
    assert "--wallet must be a file that exists" in capsys.readouterr().err
    assert main(["wallet", "limit", "--total", "1", "--wallet", "other.db"]) == 0
    assert main(["wallet", "show", "--wallet", "other.db"]) == 0
    assert "nothing was spent yet; at most 1 in total" in capsys.readouterr().out


def test_a_study_is_one_row_whatever_it_asked(
    study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    beginning = plan(study.schema, epsilon=4.0, mode="faithful", reduce="pw", keep=1)
    record = {"age": 61, "ill": "yes"}
    with Wallet() as wallet:
        owner = Owner(source=simulation(1), memory=wallet)
        for each, phase in ((beginning, "reduce"), (beginning.reduced(("age",)), "train")):
            report = owner.answer(each, phase, record)
            wallet.note(report, each, epsilon=0.1, server=SERVER)
            wallet.acknowledge(report, server=SERVER)
    answer(study)
    assert main(["wallet", "show", "--json", "-"]) == 0
    first, second = json.loads(capsys.readouterr().out)["studies"]
    assert (first["study"], first["phases"]) == (beginning.hash, ["reduce", "train"])
    assert (first["owners"], first["answers"], first["arrived"]) == (1, 2, 2)
    assert (first["spent"], second["spent"]) == (0.2, 1.5)
    assert main(["wallet", "show"]) == 0
    assert "2 of 2" in capsys.readouterr().out
