"""What is shipped is what the source compiles to, and it alone passes the check of an address.

Run as a program, this file compiles ``anchor.vy`` and writes ``anchor.json`` anew.
"""

from __future__ import annotations

import importlib
import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from supm.publication.chain import Chain, ChainAccount, ChainError
from supm.publication.chain.contract import artefact

if not os.environ.get("SUPM_REQUIRE_ALL"):
    pytest.importorskip("supm.publication.chain.node", reason="pip install 'supm[chain]'")
    pytest.importorskip("vyper", reason="pip install 'supm[test]'")

FOLDER = Path(__file__).resolve().parents[3] / "src/supm/publication/chain"
SOURCE, ARTEFACT = FOLDER / "anchor.vy", FOLDER / "anchor.json"
FALSE = "f" * 64
# A constructor that leaves a root in the storage which nobody ever anchored, an hour before.
SEEDED = f"""
    self.count = 1
    self.sizes[0] = 5
    self.roots[5] = 0x{FALSE}
    self.facts[5] = (block.timestamp - 3600) << 64 | (block.number - 1)
"""


def compiled(source: str) -> dict[str, Any]:
    vyper: Any = importlib.import_module("vyper")
    made = vyper.compile_code(source, output_formats=["abi", "bytecode", "bytecode_runtime"])
    return {
        "abi": made["abi"],
        "bytecode": made["bytecode"].removeprefix("0x"),
        "compiler": f"vyper {vyper.__version__}",
        "runtime": made["bytecode_runtime"].removeprefix("0x"),
    }


def creation(source: str, log: bytes) -> bytes:
    return bytes.fromhex(compiled(source)["bytecode"]) + log


def changed(old: str, new: str) -> str:
    source = SOURCE.read_text()
    assert source.count(old) == 1
    return source.replace(old, new)


def test_what_is_shipped_is_what_the_source_compiles_to() -> None:
    assert json.loads(ARTEFACT.read_text()) == compiled(SOURCE.read_text())


@pytest.mark.parametrize("name", ["anchor.vy", "anchor.json"])
def test_source_and_artefact_are_in_the_package(name: str) -> None:
    assert (files("supm.publication.chain") / name).is_file()


def test_nothing_but_anchor_changes_the_contract() -> None:
    writing = [
        each["name"]
        for each in artefact().abi
        if each["type"] == "function" and each["stateMutability"] not in {"view", "pure"}
    ]
    assert writing == ["anchor"]


def test_the_contract_cannot_destroy_itself_or_run_other_code() -> None:
    # SELFDESTRUCT, DELEGATECALL, CALLCODE, CALL, CREATE, CREATE2, as operations and not as data.
    code, place, seen = artefact().runtime, 0, set()
    while place < len(code):
        seen.add(code[place])
        pushed = code[place] - 0x5F if 0x60 <= code[place] <= 0x7F else 0
        place += 1 + pushed
    assert not seen & {0xFF, 0xF4, 0xF2, 0xF1, 0xF0, 0xF5}


def test_our_contract_passes_and_names_its_publisher(deployed: Any, log: bytes) -> None:
    publisher = deployed.publisher.address
    assert deployed.chain.check_code(log=log) == publisher
    assert deployed.chain.check_code(log=log, publisher=publisher.lower()) == publisher


def test_our_contract_passes_when_it_is_in_use(deployed: Any, log: bytes) -> None:
    deployed.chain.anchor(deployed.publisher, 1, bytes(31) + b"1")
    assert Chain(deployed.place.where, deployed.receipt.contract).check_code(log=log)


def test_another_log_is_refused(deployed: Any, log: bytes) -> None:
    with pytest.raises(ChainError, match="is for another log"):
        deployed.chain.check_code(log=log[::-1])


def test_another_publisher_is_refused(deployed: Any, log: bytes) -> None:
    stranger = ChainAccount(bytes(31) + b"1").address
    with pytest.raises(ChainError, match=f"and {stranger} is expected"):
        deployed.chain.check_code(log=log, publisher=stranger)


def test_an_address_without_code_is_refused(deployed: Any, log: bytes) -> None:
    chain = Chain(deployed.place.where, deployed.publisher.address)
    for asked in (lambda: chain.check_code(log=log), chain.latest, chain.anchors):
        with pytest.raises(ChainError, match="there is no contract at 0x"):
            asked()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("size > self._latest()", "size >= self._latest()"),  # takes a second root for a size
        ("block.timestamp << 64", "block.timestamp << 63"),  # as long as ours
    ],
)
def test_a_changed_contract_is_refused(place: Any, log: bytes, old: str, new: str) -> None:
    account = place.account()
    chain = Chain(place.where, place.deploy_code(account, creation(changed(old, new), log)))
    for asked in (lambda: chain.check_code(log=log), chain.latest):
        with pytest.raises(ChainError, match="is not the contract of this version of SUPM"):
            asked()
    with pytest.raises(ChainError, match="is not the contract of this version of SUPM"):
        chain.anchor(account, 1, log)


def test_every_byte_of_the_code_counts() -> None:
    shipped = artefact()
    code = shipped.runtime + bytes(96)
    assert shipped.fixed_words(code) is not None
    for place in range(len(shipped.runtime)):
        other = code[:place] + bytes([code[place] ^ 1]) + code[place + 1 :]
        assert shipped.fixed_words(other) is None
    for other in (code[:-1], code + bytes(1), code[:-32], code + bytes(32), shipped.runtime, b""):
        assert shipped.fixed_words(other) is None


def test_our_code_over_a_false_storage_is_refused(place: Any, log: bytes) -> None:
    false, account = (
        changed("    born = block.number\n", "    born = block.number\n" + SEEDED),
        place.account(),
    )
    chain = Chain(place.where, place.deploy_code(account, creation(false, log)))
    assert [each.root.hex() for each in chain.anchors()] == [FALSE]  # so that its code is ours
    with pytest.raises(ChainError, match="was not made as this version of SUPM makes it"):
        chain.check_code(log=log)


def test_a_false_storage_does_not_pass_by_the_birth_of_another(deployed: Any, log: bytes) -> None:
    place, account = deployed.place, deployed.publisher
    false = changed("    born = block.number\n", "    born = block.number - 1\n" + SEEDED)
    chain = Chain(place.where, place.deploy_code(account, creation(false, log)))
    assert chain.anchors()
    with pytest.raises(ChainError, match="was not made as this version of SUPM makes it"):
        chain.check_code(log=log)
    assert deployed.chain.check_code(log=log) == account.address


def test_the_contract_itself_refuses_what_the_client_would(deployed: Any, log: bytes) -> None:
    """A publisher with another client meets the same refusals."""
    deployed.chain.anchor(deployed.publisher, 8, log)
    anchor = deployed.chain._contract.functions.anchor
    for size in (0, 7, 8):
        with pytest.raises(Exception, match="size must be larger than the last anchored size"):
            anchor(size, log[::-1]).call({"from": deployed.publisher.address})
    with pytest.raises(Exception, match="only the publisher may anchor"):
        anchor(9, log).call({"from": deployed.place.web3.eth.accounts[1]})


def test_an_event_tells_of_each_anchor(deployed: Any, log: bytes) -> None:
    done = deployed.chain.anchor(deployed.publisher, 8, log)
    found = deployed.place.web3.eth.get_transaction_receipt(done.transaction)
    [event] = deployed.chain._contract.events.Anchored().process_receipt(found)
    told = deployed.chain.anchored(8)
    assert dict(event["args"]) == {
        "index": 0,
        "size": 8,
        "root": log,
        "publisher": deployed.publisher.address,
        "time": told.time,
    }


def test_what_is_public_agrees_with_the_records(deployed: Any, log: bytes) -> None:
    deployed.chain.anchor(deployed.publisher, 8, log)
    call, told = deployed.chain._call, deployed.chain.anchored(8)
    assert call("roots", 8) == told.root
    assert call("times", 8) == told.time
    assert call("sizes", 0) == 8
    assert call("count") == 1
    assert call("page", 1) == []
    assert call("log_id") == log
    assert call("publisher") == deployed.publisher.address
    assert call("born") == deployed.receipt.block


if __name__ == "__main__":
    ARTEFACT.write_text(json.dumps(compiled(SOURCE.read_text()), indent=1, sort_keys=True) + "\n")
