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
from supm.publication.bundle import Bundle
from supm.publication.chain import Chain, read_account
from supm.publication.chain import deploy as made
from supm.publication.evidence import ForkEvidence
from supm.publication.log import Log
from supm.publication.proof import Proof

if TYPE_CHECKING:
    from tests.publication.chain.conftest import Place

    from supm.publication.chain import ChainAccount, ChainReceipt

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


def identity(log: str) -> bytes:
    with Log(Path(log), read_only=True) as found:
        return found.first_key.identity


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
        told = " ".join(capsys.readouterr().err.split())
        assert "another log is anchored in the same contract" in told
        assert main(["verify", file, *on_chain]) == 0
        assert "WARNING: another log under the same key may have" in capsys.readouterr().out
        assert main(["log", "check", *on_chain, "--log", log]) == 1


def test_a_log_against_its_chain_leaves_evidence(
    forked: tuple[Place, Place], capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = forked
    contract = f"1001:{deploy('a.db', one)}"
    copy()
    publish("t.csv", "a.db", *paid(one))
    publish("u.csv", "b.db")
    publish("v.csv", "b.db", *paid(one))
    on_chain = [*KEY, "--chain", one.where, "--contract", contract]
    judge = ["log", "evidence", "e.json"]
    for words in (["verify", "v.csv"], ["log", "check"]):
        Path("e.json").unlink(missing_ok=True)
        assert main([*words, *on_chain, "--log", "b.db", "--evidence", "e.json"]) == 1
        capsys.readouterr()
        assert main([*judge, *on_chain]) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert "so the log was anchored with one history, and its keys signed another" in told
    # What only a chain knows is not believed of a file, nor of a contract that the reader does not
    # know: anybody can make one for this log, and anchor in it what they like.
    address = contract.partition(":")[2]
    for words in ([], ["--chain", one.where], ["--chain", one.where, "--contract", address]):
        assert main([*judge, *KEY, *words]) == 2
        assert "only its chain can confirm" in " ".join(capsys.readouterr().err.split())
    other = ["--chain", one.where, "--contract", f"1001:0x{'ab' * 20}"]
    assert main([*judge, *KEY, *other]) == 1
    assert "not the one that you gave" in " ".join(capsys.readouterr().err.split())
    elsewhere = ["--chain", two.where, "--contract", contract, "--json", "o.json"]
    assert main([*judge, *KEY, *elsewhere]) == 1
    assert json.loads(Path("o.json").read_text())["outcome"] == "unknown"
    form = json.loads(Path("e.json").read_text())
    form["first"]["root"] = "0" * 64
    Path("e.json").write_text(json.dumps(form))
    capsys.readouterr()
    assert main([*judge, *on_chain]) == 1
    assert "the chain does not hold the root" in " ".join(capsys.readouterr().err.split())


def test_a_bundle_is_written_anew_once_the_log_is_anchored(forked: tuple[Place, Place]) -> None:
    one, _ = forked
    contract = deploy("a.db", one)
    publish("t.csv", "a.db", *paid(one))
    publish("u.csv", "a.db")
    publish("t.csv", "a.db", *paid(one), "--bundle", "t.zip")
    proof = Path("t.csv.proof").read_text()
    assert Bundle.from_bytes(Path("t.zip").read_bytes()).proof == proof
    # Under the new anchor, and not under the one that there was when the verb began.
    assert Proof.from_json(proof).checkpoint.size == 3
    known = ["--chain", one.where, "--contract", f"1001:{contract}"]
    assert main(["verify", "t.zip", *KEY, *known]) == 0


def test_the_contract_of_another_log_tells_nothing_of_this_one(
    forked: tuple[Place, Place], capsys: pytest.CaptureFixture[str]
) -> None:
    """Anybody can make one and anchor in it; the reader who takes it for the log's is told."""
    one, _ = forked
    publish("t.csv", "a.db")
    payer = read_account("payer.key")
    for name, code in ((b"another log: 32 bytes of its key", 1), (identity("a.db"), 0)):
        contract = made(one.where, payer, name).contract
        chain = Chain(one.where, contract)
        chain.anchor(payer, 1, b"f" * 32)
        anchor = chain.anchored(1)
        assert anchor is not None
        with Log(Path("a.db"), read_only=True) as log:
            now = log.checkpoint()
        claim = ForkEvidence(first=anchor, second=now, path=(), root=now.root)
        Path("e.json").write_text(json.dumps(claim.to_form()))
        known = ["--chain", one.where, "--contract", f"1001:{contract}"]
        capsys.readouterr()
        assert main(["log", "evidence", "e.json", *KEY, *known]) == code
        assert ("is for another log" in capsys.readouterr().err) == bool(code)


def test_a_contract_that_readers_would_refuse_is_not_named(
    forked: tuple[Place, Place], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one, _ = forked

    def of_another_log(url: str, account: ChainAccount, _: bytes) -> ChainReceipt:
        return made(url, account, b"another log: 32 bytes of its key")

    monkeypatch.setattr("supm.publication.chain.client.deploy", of_another_log)
    with Log(Path("a.db"), read_only=True) as log:
        size = log.size
        assert main(["log", "deploy", "--log", "a.db", *paid(one)]) == 1
        told = " ".join(capsys.readouterr().err.split())
        assert "was made, and the log does not name it: the contract 0x" in told
        assert "is for another log" in told
        assert log.size == size


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
