"""What a publisher might try with a chain: each is refused by the contract or seen by a reader."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from supm._errors import PublicationError, SupmError
from supm.messages import Part, ReleaseStatement
from supm.privacy import GaussianDP, Neighbours
from supm.publication.anchoring import verify_chain
from supm.publication.chain import Chain, ChainAccount, deploy
from supm.publication.deploying import anchor, name_contract
from supm.publication.entry import ChainEntry
from supm.publication.log import Log
from supm.publication.monitoring import check_log
from supm.publication.proof import Proof, make_proof, verify_file
from supm.publication.publishing import enter_file
from supm.publication.signing import SigningKey

if TYPE_CHECKING:
    from tests.publication.chain.conftest import Place

TIME = "2026-11-18T14:00:00Z"
CONTENT = b"what was published"
PROMISE = GaussianDP(mu=0.1, neighbours=Neighbours.REPLACE_ONE)
STATEMENT = ReleaseStatement(
    study="0" * 64,
    parts=(Part(name="sums", method="noise", guarantee=PROMISE),),
    total=PROMISE,
    trust="One party.",
    simulation=False,
    software="supm",
)


@dataclass
class Anchored:
    """A log with one release, anchored once, then grown and not anchored again."""

    place: Place
    key: SigningKey
    log: Log
    account: ChainAccount
    chain: Chain

    def publish(self, content: bytes) -> int:
        return enter_file(self.log, self.key, content, name="r", statement=STATEMENT, time=TIME)

    @property
    def proof(self) -> Proof:
        return make_proof(self.log, 1, self.log.anchored(1))

    def verify(self, proof: Proof | None = None, chain: Chain | None = None) -> list[str]:
        proof = proof or self.proof
        held = list(verify_file(CONTENT, proof, self.key.verifier))
        return held + list(verify_chain(chain or self.chain, proof, self.key.verifier))

    @property
    def contract(self) -> ChainEntry:
        found = self.proof.contract
        assert found is not None
        return found


@pytest.fixture
def anchored(place: Place, tmp_path: Path) -> Anchored:
    key = SigningKey.made("log.example", tmp_path / "log.key")
    log = Log.create(tmp_path / "log.db", key)
    account = place.account()
    receipt = deploy(place.where, account, log.first_key.identity)
    name_contract(log, key, receipt, account.address, TIME)
    world = Anchored(place, key, log, account, Chain(place.where, receipt.contract))
    world.publish(CONTENT)
    assert anchor(log, world.chain, account)[0] == 2
    world.publish(b"another")
    return world


def test_what_nobody_altered_is_verified(anchored: Anchored) -> None:
    held = anchored.verify()
    assert "SUPM's code" in held[-2]
    assert "The root of 2 entries is on chain" in held[-1]
    anchors = anchored.chain.anchors()
    checked = list(check_log(anchored.log, anchored.key.verifier, anchors=anchors))
    assert "every anchor on the chain: 1" in checked[-1]


def test_to_anchor_twice_is_to_anchor_once(anchored: Anchored) -> None:
    size, receipt = anchor(anchored.log, anchored.chain, anchored.account)
    assert size == 3
    assert receipt is not None
    assert anchor(anchored.log, anchored.chain, anchored.account) == (3, None)
    assert [each.size for each in anchored.chain.anchors()] == [2, 3]
    # A proof moves under the newest anchor by itself.
    assert anchored.proof.checkpoint.size == 3
    assert anchored.verify()


def replayed(world: Anchored) -> None:
    world.chain.anchor(world.account, 2, world.log.checkpoint().root)


def another_root_for_a_size(world: Anchored) -> None:
    other = Log.create(world.log._file.path.with_name("other.db"), world.key)
    for content in (b"a", b"b"):
        enter_file(other, world.key, content, name="r", statement=STATEMENT, time=TIME)
    world.chain.anchor(world.account, 2, other.checkpoint().root)


def a_stranger_who_anchors(world: Anchored) -> None:
    world.chain.anchor(world.place.account(), 9, hashlib.sha256().digest())


def a_checkpoint_that_is_not_anchored(world: Anchored) -> None:
    world.verify(make_proof(world.log, 1))


def a_contract_of_another_log(world: Anchored) -> None:
    receipt = deploy(world.place.where, world.account, b"another log: 32 bytes of its key")
    other = Chain(world.place.where, receipt.contract)
    other.anchor(world.account, 2, world.proof.checkpoint.root)
    world.verify(chain=other)


def a_contract_of_another_publisher(world: Anchored) -> None:
    thief = world.place.account()
    receipt = deploy(world.place.where, thief, world.log.first_key.identity)
    other = Chain(world.place.where, receipt.contract)
    other.anchor(thief, 2, world.proof.checkpoint.root)
    world.verify(chain=other)


def a_contract_that_the_log_does_not_name(world: Anchored) -> None:
    receipt = deploy(world.place.where, world.account, world.log.first_key.identity)
    proof = world.proof
    assert proof.chain is not None
    entry = replace(world.contract, contract=receipt.contract)
    other = Chain(world.place.where, receipt.contract)
    other.anchor(world.account, 2, proof.checkpoint.root)
    world.verify(replace(proof, chain=replace(proof.chain, text=entry.text)), other)


def a_proof_that_names_no_contract(world: Anchored) -> None:
    world.verify(replace(world.proof, chain=None))


def another_chain(world: Anchored) -> None:
    entry = replace(world.contract, chain=world.contract.chain + 1)
    list(Chain(world.place.where, entry.contract, chain=entry.chain).anchors())


def a_log_rewritten_after_it_was_anchored(world: Anchored) -> None:
    other = Log.create(world.log._file.path.with_name("other.db"), world.key)
    for content in (b"a", b"b", b"c"):
        enter_file(other, world.key, content, name="r", statement=STATEMENT, time=TIME)
    anchors = world.chain.anchors()
    list(check_log(other, world.key.verifier, anchors=anchors))


def a_log_cut_after_it_was_anchored(world: Anchored) -> None:
    other = Log.create(world.log._file.path.with_name("other.db"), world.key)
    anchors = world.chain.anchors()
    list(check_log(other, world.key.verifier, anchors=anchors))


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (replayed, "larger|2 entries"),
        (another_root_for_a_size, "larger|2 entries"),
        (a_stranger_who_anchors, "publisher"),
        (a_checkpoint_that_is_not_anchored, "no anchor of 3 entries"),
        (a_contract_of_another_log, "another log"),
        (a_contract_of_another_publisher, "publisher"),
        (a_contract_that_the_log_does_not_name, "does not lead to the root"),
        (a_proof_that_names_no_contract, "names no contract"),
        (another_chain, "chain"),
        (a_log_rewritten_after_it_was_anchored, "another root for the first 2"),
        (a_log_cut_after_it_was_anchored, "it was cut"),
    ],
)
def test_a_tampering_with_the_chain_is_noticed(
    do: Callable[[Anchored], None], words: str, anchored: Anchored
) -> None:
    with pytest.raises(SupmError, match=words):
        do(anchored)


def test_a_log_without_a_contract_is_not_anchored(anchored: Anchored, tmp_path: Path) -> None:
    other = Log.create(tmp_path / "bare.db", anchored.key)
    with pytest.raises(PublicationError, match="supm log deploy"):
        anchor(other, anchored.chain, anchored.account)


def a_contract_that_the_log_says_is_of_another_log(world: Anchored) -> None:
    other = b"another log: 32 bytes of its key"
    receipt = deploy(world.place.where, world.account, other)
    entry = replace(world.contract, contract=receipt.contract, log=other.hex())
    world.log.append([entry], world.key)
    chain = Chain(world.place.where, receipt.contract)
    anchor(world.log, chain, world.account)
    world.verify(make_proof(world.log, 1), chain)


def another_chain_than_the_log_names(world: Anchored) -> None:
    entry = replace(world.contract, chain=world.contract.chain + 1)
    world.log.append([entry], world.key)
    checkpoint = world.log.checkpoint()
    world.chain.anchor(world.account, checkpoint.size, checkpoint.root)
    world.verify(make_proof(world.log, 1))


def a_log_that_goes_on_after_another_root_was_anchored(world: Anchored) -> None:
    world.chain.anchor(world.account, 3, hashlib.sha256(b"x").digest())
    anchor(world.log, world.chain, world.account)


def a_contract_that_is_not_checked_before_it_is_paid(world: Anchored) -> None:
    receipt = deploy(world.place.where, world.account, b"another log: 32 bytes of its key")
    anchor(world.log, Chain(world.place.where, receipt.contract), world.account)


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (a_contract_that_the_log_says_is_of_another_log, "bound to another log"),
        (another_chain_than_the_log_names, "another chain than the log names"),
        (a_log_that_goes_on_after_another_root_was_anchored, "another root for 3 entries"),
        (a_contract_that_is_not_checked_before_it_is_paid, "another log"),
    ],
)
def test_what_a_log_says_of_its_contract_is_not_believed(
    do: Callable[[Anchored], None], words: str, anchored: Anchored
) -> None:
    with pytest.raises(SupmError, match=words):
        do(anchored)


def test_a_proof_names_the_contract_of_its_time(anchored: Anchored) -> None:
    before = anchored.proof
    receipt = deploy(anchored.place.where, anchored.account, anchored.log.first_key.identity)
    name_contract(anchored.log, anchored.key, receipt, anchored.account.address, TIME)
    # The newest anchor is still in the first contract, and so is the proof.
    assert anchored.proof == before
    assert anchored.verify()
    anchor(anchored.log, Chain(anchored.place.where, receipt.contract), anchored.account)
    assert anchored.contract.contract == receipt.contract
