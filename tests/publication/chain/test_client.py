"""The contract does what its page promises, on both chains, through the client."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

from supm._errors import ParameterError
from supm.publication.chain import Anchor, Chain, ChainError, deploy

if not os.environ.get("SUPM_REQUIRE_ALL"):
    pytest.importorskip("supm.publication.chain._library", reason="pip install 'supm[chain]'")


def root(number: int) -> bytes:
    return number.to_bytes(32)


def test_a_new_contract_has_no_anchor(deployed: Any) -> None:
    assert deployed.chain.latest() is None
    assert deployed.chain.anchors() == []
    assert deployed.chain.anchored(1) is None


def test_a_receipt_says_where_the_contract_is_and_what_it_cost(deployed: Any) -> None:
    receipt, web3 = deployed.receipt, deployed.place.web3
    found = web3.eth.get_transaction_receipt(receipt.transaction)
    assert found["contractAddress"] == receipt.contract
    assert (found["gasUsed"], found["blockNumber"]) == (receipt.gas, receipt.block)
    assert receipt.chain == web3.eth.chain_id


def test_what_is_anchored_is_read_back(deployed: Any) -> None:
    chain, before = deployed.chain, time.time()
    receipt = chain.anchor(deployed.publisher, 5, root(50))
    found = chain.anchored(5)
    block = deployed.place.web3.eth.get_block(receipt.block)
    assert found == Anchor(
        size=5,
        root=root(50),
        time=block["timestamp"],
        index=0,
        block=receipt.block,
        publisher=deployed.publisher.address,
        contract=deployed.receipt.contract,
        chain=receipt.chain,
    )
    assert abs(found.time - before) < 3600


def test_anchors_come_in_order_and_the_latest_is_the_last(deployed: Any) -> None:
    chain = deployed.chain
    for size in (1, 7, 2**64 - 1):
        chain.anchor(deployed.publisher, size, root(size))
    assert [(a.index, a.size, a.root) for a in chain.anchors()] == [
        (0, 1, root(1)),
        (1, 7, root(7)),
        (2, 2**64 - 1, root(2**64 - 1)),
    ]
    assert chain.latest() == chain.anchors()[-1] == chain.anchored(2**64 - 1)
    assert chain.anchored(6) is None


def test_more_anchors_than_one_page_are_all_read(on_node: Any) -> None:
    for size in range(1, 67):
        on_node.chain.anchor(on_node.publisher, size, root(size))
    assert [(a.index, a.size) for a in on_node.chain.anchors()] == [(n, n + 1) for n in range(66)]


@pytest.mark.parametrize("size", [8, 7, 1])
@pytest.mark.parametrize("other", [70, 71])
def test_no_size_is_anchored_twice_or_late(deployed: Any, size: int, other: int) -> None:
    deployed.chain.anchor(deployed.publisher, 8, root(70))
    before = deployed.place.web3.eth.get_transaction_count(deployed.publisher.address)
    with pytest.raises(ChainError, match=f"size {size} must be larger than 8"):
        deployed.chain.anchor(deployed.publisher, size, root(other))
    assert deployed.place.web3.eth.get_transaction_count(deployed.publisher.address) == before
    assert [a.root for a in deployed.chain.anchors()] == [root(70)]


def test_a_stranger_cannot_anchor(deployed: Any) -> None:
    with pytest.raises(ChainError, match="refused the transaction: only the publisher may anchor"):
        deployed.chain.anchor(deployed.place.account(), 1, root(1))
    assert deployed.chain.latest() is None


def test_a_root_of_zeros_is_refused(deployed: Any) -> None:
    with pytest.raises(ChainError, match="root must not be zero"):
        deployed.chain.anchor(deployed.publisher, 1, bytes(32))


def test_one_publisher_has_a_contract_for_each_log(deployed: Any, log: bytes) -> None:
    where, publisher = deployed.place.where, deployed.publisher
    other = Chain(where, deploy(where, publisher, log[::-1]).contract)
    other.anchor(publisher, 3, root(3))
    assert deployed.chain.latest() is None
    assert other.check_code(log=log[::-1]) == publisher.address


def test_an_account_without_money_is_told_so(deployed: Any, log: bytes) -> None:
    poor = deployed.place.account(wei=1)
    # A node counts after the estimate, py-evm before it; both name the balance.
    with pytest.raises(ChainError, match=r"holds 1 wei|account balance 1"):
        deploy(deployed.place.where, poor, log)


def test_a_node_on_another_chain_is_refused(deployed: Any, log: bytes) -> None:
    where, contract = deployed.place.where, deployed.receipt.contract
    chain = Chain(where, contract, chain=12345)
    for asked in (chain.latest, lambda: chain.check_code(log=log)):
        with pytest.raises(ChainError, match="and chain 12345 is expected"):
            asked()
    with pytest.raises(ChainError, match="and chain 12345 is expected"):
        chain.anchor(deployed.publisher, 1, root(1))
    with pytest.raises(ChainError, match="and chain 12345 is expected"):
        deploy(where, deployed.publisher, log, chain=12345)
    assert Chain(where, contract, chain=deployed.receipt.chain).latest() is None


@pytest.mark.parametrize("size", [0, -1, 2**64, 1.5, True, "3", None])
def test_what_is_no_size_is_refused(on_node: Any, size: Any) -> None:
    with pytest.raises(ParameterError, match="size must be a whole number"):
        on_node.chain.anchor(on_node.publisher, size, root(1))
    with pytest.raises(ParameterError, match="size must be a whole number"):
        on_node.chain.anchored(size)


@pytest.mark.parametrize("wrong", [b"", bytes(31), bytes(33), "00" * 32, None])
def test_what_is_no_hash_is_refused(on_node: Any, wrong: Any) -> None:
    with pytest.raises(ParameterError, match="root must be 32 bytes"):
        on_node.chain.anchor(on_node.publisher, 1, wrong)
    with pytest.raises(ParameterError, match="log must be 32 bytes"):
        deploy(on_node.place.where, on_node.publisher, wrong)
    with pytest.raises(ParameterError, match="log must be 32 bytes"):
        on_node.chain.check_code(log=wrong)
