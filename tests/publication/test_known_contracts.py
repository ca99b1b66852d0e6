"""Which contract a reader knows: a chain and an address, and nothing less."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from supm._errors import ParameterError, PublicationError
from supm.publication import anchoring
from supm.publication.anchoring import KnownContract, anchors_of, doubts
from supm.publication.chain.contract import Anchor, ChainError, OtherChainError
from supm.publication.entry import ChainEntry

FIRST, SECOND = "0x" + "aB" * 20, "0x" + "Cd" * 20
ROOT, OTHER = bytes(32), bytes(31) + b"x"


def named(chain: int, contract: str = FIRST) -> ChainEntry:
    return ChainEntry(
        time="2026-11-18T14:00:00Z",
        chain=chain,
        contract=contract,
        publisher="0x" + "0" * 40,
        log="0" * 64,
    )


@dataclass
class Found:
    size: int
    root: bytes


@dataclass
class Contract:
    roots: Mapping[int, bytes]
    ours: bool = True

    def check_code(self, *, log: bytes, publisher: str) -> str:
        assert len(log) == 32
        if not self.ours:
            message = "the code is not ours."
            raise ChainError(message)
        return publisher

    def anchors(self) -> list[Found]:
        return [Found(size, root) for size, root in self.roots.items()]


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> dict[str, Contract]:
    """Stand in for a node of chain 1 with two contracts."""
    held = {FIRST: Contract({1: ROOT}), SECOND: Contract({2: OTHER})}
    monkeypatch.setattr("supm.publication.chain.client.chain_of", lambda _: 1)
    monkeypatch.setattr(anchoring, "chain_at", lambda _, entry: held[entry.contract])
    return held


def roots(found: list[Anchor]) -> dict[int, bytes]:
    return {each.size: each.root for each in found}


def test_a_contract_is_read_with_its_chain_or_without() -> None:
    assert KnownContract.on("http://x", FIRST) == KnownContract(FIRST, None)
    assert KnownContract.on("http://x", f"31337:{FIRST}") == KnownContract(FIRST, 31337)


@pytest.mark.parametrize(
    "wrong", ["", "nonsense", "0x12", f"0:{FIRST}", f"-1:{FIRST}", f":{FIRST}", f"1:{FIRST}0"]
)
def test_what_is_no_contract_is_refused(wrong: str) -> None:
    with pytest.raises(ParameterError, match="contract must be the number of a chain"):
        KnownContract.on("http://x", wrong)


def test_a_contract_without_a_node_is_wrong_usage() -> None:
    with pytest.raises(ParameterError, match="name a node"):
        KnownContract.on(None, FIRST)


def test_an_address_without_its_chain_is_warned_of() -> None:
    assert [line[:40] for line in doubts(None, named(7))] == [
        "WARNING: which contract it is, only the "
    ]
    [line] = doubts(KnownContract(FIRST, None), named(7))
    assert line.startswith("WARNING: that it is on this chain, only the log says")
    assert "7:0x" in line
    assert not list(doubts(KnownContract(FIRST, 7), named(7)))


def test_a_contract_is_compared_with_its_chain() -> None:
    KnownContract(FIRST.upper().replace("X", "x"), 7).check(named(7))
    KnownContract(FIRST, None).check(named(7))
    for wrong in (KnownContract(SECOND, 7), KnownContract(FIRST, 8), KnownContract(SECOND, None)):
        with pytest.raises(PublicationError, match=f"names the contract 7:{FIRST}"):
            wrong.check(named(7))


@pytest.mark.usefixtures("node")
def test_the_anchors_of_all_contracts_on_the_chain_are_read() -> None:
    found, told = anchors_of("x", [named(1), named(1, SECOND)], KnownContract(SECOND, 1))
    assert (roots(found), told) == ({1: ROOT, 2: OTHER}, [])
    with pytest.raises(PublicationError, match="names no contract on a chain"):
        anchors_of("x", [], None)
    # The newest is the one that counts.
    with pytest.raises(PublicationError, match="not the one that you gave"):
        anchors_of("x", [named(1), named(1, SECOND)], KnownContract(FIRST, 1))


def test_two_contracts_that_contradict_each_other_are_seen(node: dict[str, Contract]) -> None:
    node[SECOND].roots = {1: ROOT}
    assert roots(anchors_of("x", [named(1), named(1, SECOND)], None)[0]) == {1: ROOT}
    node[SECOND].roots = {1: OTHER}
    with pytest.raises(PublicationError, match="hold different roots of 1 entry"):
        anchors_of("x", [named(1), named(1, SECOND)], None)


@pytest.mark.parametrize("place", [FIRST, SECOND])
def test_the_code_of_each_contract_is_checked(node: dict[str, Contract], place: str) -> None:
    node[place].ours = False
    with pytest.raises(ChainError, match="not ours"):
        anchors_of("x", [named(1), named(1, SECOND)], None)


@pytest.mark.usefixtures("node")
def test_a_log_that_moved_is_compared_where_the_node_is() -> None:
    for moved in ([named(1), named(2, SECOND)], [named(2, SECOND), named(1)]):
        found, told = anchors_of("x", moved, KnownContract(FIRST, 1))
        assert roots(found) == {1: ROOT}
        [line] = told
        assert line.startswith(f"WARNING: the contract {SECOND} is on chain 2")


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize("known", [None, KnownContract(FIRST, None), KnownContract(FIRST, 2)])
def test_a_node_of_another_chain_accuses_nobody(known: KnownContract | None) -> None:
    with pytest.raises(OtherChainError, match="on chain 1, and the contract is on 2; check"):
        anchors_of("x", [named(2)], known)


@pytest.mark.usefixtures("node")
def test_a_contract_that_the_log_never_named_is_refused() -> None:
    with pytest.raises(PublicationError, match="not the one that you gave"):
        anchors_of("x", [named(2)], KnownContract(FIRST, 1))
