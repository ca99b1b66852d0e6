"""Two logs under one key, on real chains: what readers are told who know the contract."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.publication.chain.test_whole_story import fund
from tests.publication.conftest import Maker

from supm._json import canonical
from supm.cli import main
from supm.publication.log import Log

if TYPE_CHECKING:
    from tests.publication.chain.conftest import Place

KEY = ["--key", "a.pub"]


@pytest.fixture(scope="module")
def chains(start_anvil: Callable[..., Place]) -> tuple[Place, Place]:
    """Return two chains."""
    return start_anvil("--chain-id", "1001"), start_anvil("--chain-id", "1002")


@pytest.fixture
def forked(
    tmp_path: Path, chains: tuple[Place, Place], maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> tuple[Place, Place]:
    """Make a log a.db and an account that has money on both chains."""
    monkeypatch.chdir(tmp_path)
    Path("s.json").write_text(canonical(maker.release_statement().to_form()))
    for name in "tuv":
        Path(f"{name}.csv").write_text(name)
    assert main(["log", "create", "a.db", "--name", "log.example"]) == 0
    assert main(["log", "account", "payer.key"]) == 0
    for place in chains:
        fund(place, "payer.key")
    return chains


def paid(place: Place) -> list[str]:
    return ["--chain", place.where, "--account", "payer.key"]


def deploy(log: str, place: Place, *more: str) -> str:
    assert main(["log", "deploy", "--log", log, *paid(place), *more]) == 0
    with Log(Path(log), read_only=True) as found:
        return str(json.loads(found.entries(found.size - 1, found.size)[0])["contract"])


def publish(file: str, log: str, *more: str) -> None:
    assert main(["publish", file, "--statement", "s.json", "--yes", "--log", log, *more]) == 0


def copy() -> None:
    for end in ("db", "key"):
        shutil.copy(f"a.{end}", f"b.{end}")


def test_two_logs_in_one_contract_are_seen(
    forked: tuple[Place, Place], capsys: pytest.CaptureFixture[str]
) -> None:
    one, _ = forked
    contract = f"1001:{deploy('a.db', one)}"
    copy()
    publish("t.csv", "a.db", *paid(one))
    publish("v.csv", "b.db")
    publish("u.csv", "b.db", *paid(one))
    on_chain = [*KEY, "--chain", one.where, "--contract", contract]
    for file, log in (("t.csv", "a.db"), ("u.csv", "b.db")):
        capsys.readouterr()
        assert main(["verify", file, *on_chain, "--log", log]) == 1
        assert "another log is anchored in the same contract" in capsys.readouterr().err
        assert main(["verify", file, *on_chain]) == 0
        assert "WARNING: another log under the same key may have" in capsys.readouterr().out
        assert main(["log", "check", *on_chain, "--log", log]) == 1


def test_an_address_does_not_name_a_chain(
    forked: tuple[Place, Place], capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = forked
    copy()
    first = deploy("a.db", one)
    # As often as on the first chain, where the other test may have deployed before.
    second = ""
    while second != first:
        second = deploy("b.db", two, "--again")
    publish("t.csv", "a.db", *paid(one))
    publish("u.csv", "b.db", *paid(two))
    for contract, code in ((f"1001:{first}", 1), (f"1002:{first}", 0), (first, 0)):
        capsys.readouterr()
        words = ["--chain", two.where, "--contract", contract]
        assert main(["verify", "u.csv", *KEY, *words, "--log", "b.db"]) == code
        told = capsys.readouterr()
        assert ("names the contract 1002:" in told.err) == bool(code)
        assert ("that it is on this chain, only the log says" in told.out) == (contract == first)


def test_a_log_can_move_to_another_chain(
    forked: tuple[Place, Place], capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = forked
    deploy("a.db", one)
    publish("t.csv", "a.db", *paid(one))
    capsys.readouterr()
    # The proof names a contract on the first chain: a node of the second can say nothing of it.
    words = ["verify", "t.csv", *KEY, "--chain", two.where, "--json", "told.json"]
    assert main(words) == 1
    assert "the node is on chain 1002, and chain 1001 is expected" in capsys.readouterr().err
    assert json.loads(Path("told.json").read_text())["outcome"] == "unknown"
    deploy("a.db", two, "--again")
    assert main(["log", "anchor", "--log", "a.db", *paid(two)]) == 0
    for place, other in ((one, 1002), (two, 1001)):
        capsys.readouterr()
        assert main(["log", "check", "--log", "a.db", *KEY, "--chain", place.where]) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert f"is on chain {other}, and the node is not" in told
        assert "agrees with every anchor on the chain: 1" in told
