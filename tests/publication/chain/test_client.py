"""The contract does what its page promises, on both chains, through the client."""

from __future__ import annotations

import importlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from supm._errors import ParameterError
from supm.publication.chain import Anchor, Chain, ChainError, deploy
from supm.publication.deploying import anchor, name_contract
from supm.publication.log import Log
from supm.publication.signing import SigningKey

if TYPE_CHECKING:
    from tests.publication.chain.conftest import Place

if not os.environ.get("SUPM_REQUIRE_ALL"):
    pytest.importorskip("supm.publication.chain.node", reason="pip install 'supm[chain]'")


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
        block=receipt.block,
        contract=deployed.receipt.contract,
        chain=receipt.chain,
    )
    assert abs(found.time - before) < 3600


def test_anchors_come_in_order_and_the_latest_is_the_last(deployed: Any) -> None:
    chain = deployed.chain
    for size in (1, 7, 2**64 - 1):
        chain.anchor(deployed.publisher, size, root(size))
    assert [(a.size, a.root) for a in chain.anchors()] == [
        (1, root(1)),
        (7, root(7)),
        (2**64 - 1, root(2**64 - 1)),
    ]
    assert chain.latest() == chain.anchors()[-1] == chain.anchored(2**64 - 1)
    assert chain.anchored(6) is None


def test_more_anchors_than_one_page_are_all_read(on_node: Any) -> None:
    for size in range(1, 67):
        on_node.chain.anchor(on_node.publisher, size, root(size))
    assert [a.size for a in on_node.chain.anchors()] == list(range(1, 67))


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


if not os.environ.get("SUPM_REQUIRE_ALL"):
    pytest.importorskip("supm.publication.chain.node", reason="pip install 'supm[chain]'")

client: Any = importlib.import_module("supm.publication.chain.client")
Answer = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any] | None]


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(ChainError) as refused:
        call()
    return str(refused.value)


@pytest.fixture
def lying(node: Any) -> Iterator[Callable[[Answer], str]]:
    """Return a function that puts a liar before the node, who changes an answer or gives none."""
    servers = []

    def start(answer: Answer) -> str:
        class Liar(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                true = node.web3.provider.make_request(asked["method"], asked["params"])
                told = answer(asked, true | {"id": asked["id"]})
                if told is not None:
                    body = json.dumps(told).encode()
                    self.send_response(200)
                    self.send_header("content-length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Liar)
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def word(number: int) -> str:
    return f"{number:064x}"


def in_call(result: str) -> Answer:
    """Answer every call of a contract's function like this, and all else truly."""

    def answer(asked: dict[str, Any], true: dict[str, Any]) -> dict[str, Any]:
        return true | {"result": f"0x{result}"} if asked["method"] == "eth_call" else true

    return answer


def test_a_record_of_another_size_is_refused(on_node: Any, lying: Any) -> None:
    record = word(0) + word(7) + "ab" * 32 + word(1) + word(1)
    chain = Chain(lying(in_call(record)), on_node.receipt.contract)
    assert "is not one that the contract" in refusal(lambda: chain.anchored(8))
    assert chain.anchored(7) is not None


@pytest.mark.parametrize("result", ["", "00", word(2**255), "zz"])
def test_nonsense_in_a_call_is_a_refusal(on_node: Any, lying: Any, result: str) -> None:
    chain = Chain(lying(in_call(result)), on_node.receipt.contract)
    for call in (lambda: chain.anchored(8), chain.latest, chain.anchors):
        assert refusal(call).endswith(".")


PAGES: dict[str, tuple[int, list[tuple[int, int]]]] = {
    "empty": (2, []),
    "shorter than the contract's": (65, [(0, 5)]),
    "shorter at the end": (3, [(0, 5), (1, 6)]),
    "longer than what is there": (1, [(0, 5), (1, 6)]),
    "the same again": (2, [(0, 5), (0, 6)]),
    "no larger": (2, [(0, 5), (1, 5)]),
    "of no size": (2, [(0, 0), (1, 1)]),
}


@pytest.mark.parametrize(("count", "page"), PAGES.values(), ids=PAGES)
def test_pages_that_the_contract_cannot_give_are_refused(
    on_node: Any, lying: Any, count: int, page: Any
) -> None:
    records = [word(index) + word(size) + "ab" * 32 + word(1) * 2 for index, size in page]
    told = word(32) + word(len(records)) + "".join(records)
    counted = on_node.chain._contract.encode_abi("count")

    def answer(asked: dict[str, Any], true: dict[str, Any]) -> dict[str, Any]:
        if asked["method"] != "eth_call":
            return true
        carried = asked["params"][0]["data"]
        return true | {"result": f"0x{word(count) if carried == counted else told}"}

    chain = Chain(lying(answer), on_node.receipt.contract)
    assert "is not one" in refusal(chain.anchors)


def test_a_count_beyond_reason_is_refused(on_node: Any, lying: Any) -> None:
    chain = Chain(lying(in_call(word(2**200))), on_node.receipt.contract)
    assert "is not one that the contract" in refusal(chain.anchors)


def test_a_transaction_whose_sending_was_not_answered_is_named(
    on_node: Any, lying: Any, log: bytes
) -> None:
    def answer(asked: dict[str, Any], true: dict[str, Any]) -> dict[str, Any] | None:
        return None if asked["method"] == "eth_sendRawTransaction" else true

    chain = Chain(lying(answer), on_node.receipt.contract)
    told = refusal(lambda: chain.anchor(on_node.publisher, 4, log))
    assert "may have been sent; look it up before you repeat it: the node" in told
    assert on_node.place.web3.eth.get_transaction_receipt(told.split()[1])["status"] == 1
    assert on_node.chain.anchored(4).root == log


def test_a_transaction_in_no_block_is_named(
    start_anvil: Any, monkeypatch: pytest.MonkeyPatch, log: bytes
) -> None:
    place = start_anvil()
    publisher, ask = place.account(), place.web3.provider.make_request
    monkeypatch.setattr(client, "WAIT_SECONDS", 0.3)
    ask("evm_setAutomine", [False])
    told = refusal(lambda: deploy(place.where, publisher, log))
    assert told.startswith("transaction 0x")
    assert told.endswith("is not known: it is in no block after 0.3 seconds.")
    # Sent again it takes the same place, so that only one of the two can ever be in a block.
    again = refusal(lambda: deploy(place.where, publisher, log))
    assert again.startswith(
        ("the node refused the transaction: ", f"transaction {told.split()[1]}")
    )
    ask("evm_mine", [])
    assert place.web3.eth.get_transaction_count(publisher.address) == 1
    assert place.web3.eth.get_transaction_receipt(told.split()[1])["status"] == 1


def test_a_transaction_that_fails_in_its_block_is_told_of(on_node: Any, log: bytes) -> None:
    """Two publishers' programs at once: both estimates succeed, and one transaction fails."""
    web3, publisher, chain = on_node.place.web3, on_node.publisher, on_node.chain
    data = bytes.fromhex(chain._contract.encode_abi("anchor", [9, log])[2:])
    late = client._prepared(web3, publisher.address, data, chain._address)
    chain.anchor(publisher, 9, log)
    name, signed = publisher.sign(late | {"chainId": chain._chain, "nonce": late["nonce"] + 1})
    web3.eth.send_raw_transaction(signed)
    assert refusal(lambda: client._waited(web3, name)) == (
        f"the contract refused transaction {name}, whose gas is spent; nothing changed."
    )


def test_a_chain_without_a_base_fee_is_written_to(start_anvil: Any, log: bytes) -> None:
    place = start_anvil("--hardfork", "berlin")
    assert "baseFeePerGas" not in place.web3.eth.get_block("latest")
    publisher = place.account()
    chain = Chain(place.where, deploy(place.where, publisher, log).contract)
    chain.anchor(publisher, 3, log)
    assert chain.check_code(log=log) == publisher.address
    assert [each.size for each in chain.anchors()] == [3]


TIME = "2026-11-18T14:00:00Z"


def test_block_time_and_transaction_are_noted_and_kept(tmp_path: Path, node: Place) -> None:
    key, account = SigningKey.made("log.example", tmp_path / "log.key"), node.account()
    with Log.create(tmp_path / "log.db", key) as log:
        made = deploy(node.where, account, log.first_key.identity)
        name_contract(log, key, made, account.address, TIME)
        chain = Chain(node.where, made.contract)
        size, receipt = anchor(log, chain, account)
        found = chain.anchored(size)
        assert receipt is not None
        assert found is not None
        noted = {
            "chain": made.chain,
            "contract": made.contract,
            "block": receipt.block,
            "transaction": receipt.transaction,
            "time": found.time,
        }
        assert json.loads(log.anchor_note(size) or "") == noted
        assert anchor(log, chain, account) == (size, None)
        assert json.loads(log.anchor_note(size) or "") == noted
        # As a log that did not hear the answer, and finds the root on the chain.
        log.note_anchor(size, "{}")
        anchor(log, chain, account)
        del noted["transaction"]
        assert json.loads(log.anchor_note(size) or "") == noted
        # What another contract said is not mixed with what this one says.
        other = noted | {"contract": "0x" + "ab" * 20, "transaction": receipt.transaction}
        log.note_anchor(size, json.dumps(other))
        anchor(log, chain, account)
        assert json.loads(log.anchor_note(size) or "") == noted
        assert log.anchor_note(size + 1) is None
