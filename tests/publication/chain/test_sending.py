"""What becomes of a transaction when the chain or the way to it fails; and nodes that lie."""

from __future__ import annotations

import importlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from supm.publication.chain import Chain, ChainError, deploy

if not os.environ.get("SUPM_REQUIRE_ALL"):
    pytest.importorskip("supm.publication.chain._library", reason="pip install 'supm[chain]'")

sending: Any = importlib.import_module("supm.publication.chain.sending")
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
    counted = on_node.chain._reader.contract.encode_abi("count")

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
    monkeypatch.setattr(sending, "WAIT_SECONDS", 0.3)
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
    reader = chain._reader
    data = bytes.fromhex(reader.contract.encode_abi("anchor", [9, log])[2:])
    late = sending._prepared(web3, publisher.address, data, reader.address)
    chain.anchor(publisher, 9, log)
    name, signed = publisher.sign(late | {"chainId": reader.chain, "nonce": late["nonce"] + 1})
    web3.eth.send_raw_transaction(signed)
    assert refusal(lambda: sending._waited(web3, name)) == (
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
