"""Two chains that run the same contract: py-evm in this process, and anvil behind JSON-RPC."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from supm import secure
from supm.publication.chain import Chain, ChainAccount, ChainReceipt, deploy

if TYPE_CHECKING:
    from supm.publication.chain.node import RPCEndpoint, RPCResponse, Web3

ROOT = Path(__file__).resolve().parents[3]
MISSING = "install anvil (make anvil, which needs npm) to run the tests that need a node"
LOG = b"the log of these tests, 32 bytes"
ETHER = 10**18


def start_py_evm() -> Any:
    """Return a new chain in this process."""
    limit = sys.getrecursionlimit()
    from eth_tester import EthereumTester  # type: ignore[import-untyped]  # noqa: PLC0415  an extra
    from eth_tester.exceptions import TransactionFailed  # type: ignore[import-untyped]  # noqa: PLC0415  an extra
    from eth_utils.exceptions import ValidationError  # noqa: PLC0415  an extra
    from web3 import EthereumTesterProvider  # noqa: PLC0415  an extra

    class InProcess(EthereumTesterProvider):
        """py-evm that refuses in its answer, as a node does, and not by raising."""

        def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
            try:
                return super().make_request(method, params)
            except (TransactionFailed, ValidationError) as error:
                told = {"code": 3, "message": str(error)}
                return {"jsonrpc": "2.0", "id": 1, "error": told}  # type: ignore[typeddict-item]  # a node's

    made = InProcess(EthereumTester())
    sys.setrecursionlimit(limit)  # py-evm raises it, for all tests
    return made


class Anvil:
    """anvil on a port that it chooses, in a folder of its own."""

    def __init__(self, program: Path, home: Path, *options: str) -> None:
        command = [str(program), "--host", "127.0.0.1", "--port", "0", *options]
        environment = os.environ | {"HOME": str(home)}
        self._process = subprocess.Popen(  # noqa: S603  the tests' own words
            command, stdout=subprocess.PIPE, text=True, cwd=home, env=environment
        )
        assert self._process.stdout is not None
        self._output = self._process.stdout
        # Else it would wait, one day, for somebody to read what it says.
        self._reader = threading.Thread(target=self._output.read, daemon=True)

    def url(self) -> str:
        """Wait until it listens; what it says later goes nowhere."""
        for line in self._output:
            if line.startswith("Listening on "):
                self._reader.start()
                return f"http://{line.removeprefix('Listening on ').strip()}"
        pytest.fail("anvil ended before it listened")

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        if self._reader.is_alive():
            self._reader.join()
        self._output.close()


@dataclass(frozen=True)
class Place:
    """A chain, and accounts with money on it."""

    where: Any

    @property
    def web3(self) -> Web3:
        from supm.publication.chain.node import connect  # noqa: PLC0415  needs an extra

        return connect(self.where)

    def account(self, wei: int = ETHER) -> ChainAccount:
        """Return a new account that holds so much."""
        made = ChainAccount(secure().words(4).tobytes())
        web3 = self.web3
        paid = {"from": web3.eth.accounts[0], "to": made.address, "value": wei}
        paid["gasPrice"] = web3.eth.gas_price  # which every hard fork takes
        web3.eth.wait_for_transaction_receipt(web3.eth.send_transaction(paid))  # type: ignore[arg-type]
        return made

    def deploy_code(self, account: ChainAccount, creation: bytes) -> str:
        """Make a contract of any code; return its address."""
        from supm.publication.chain.client import send  # noqa: PLC0415  needs an extra

        web3 = self.web3
        return str(send(web3, account, creation, None, web3.eth.chain_id)["contractAddress"])


@dataclass(frozen=True)
class Deployed:
    """A contract of ours, with nothing anchored yet."""

    place: Place
    publisher: ChainAccount
    receipt: ChainReceipt
    chain: Chain


def found_anvil() -> Path | None:
    on_path = shutil.which("anvil")
    installed = ROOT.glob(".anvil/node_modules/@foundry-rs/anvil-*/bin/anvil")
    return Path(on_path) if on_path else next(installed, None)


@pytest.fixture(scope="session")
def start_anvil(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Place]]:
    """Return a function that starts a node; all of them are stopped at the end."""
    program = found_anvil()
    if program is None:
        (pytest.fail if os.environ.get("SUPM_REQUIRE_ALL") else pytest.skip)(MISSING)
    with ExitStack() as stack:

        def start(*options: str) -> Place:
            node = Anvil(program, tmp_path_factory.mktemp("anvil"), *options)
            stack.callback(node.stop)
            return Place(node.url())

        yield start


@pytest.fixture(scope="session")
def node(start_anvil: Callable[..., Place]) -> Place:
    """Return a chain behind JSON-RPC."""
    return start_anvil()


@pytest.fixture(params=["py-evm", "anvil"])
def place(request: pytest.FixtureRequest) -> Place:
    """Return a chain of each kind."""
    if request.param == "py-evm":
        return Place(start_py_evm())
    found: Place = request.getfixturevalue("node")
    return found


def deployed_at(place: Place) -> Deployed:
    publisher = place.account()
    receipt = deploy(place.where, publisher, LOG)
    return Deployed(place, publisher, receipt, Chain(place.where, receipt.contract))


@pytest.fixture
def deployed(place: Place) -> Deployed:
    """Return a new contract on a chain of each kind."""
    return deployed_at(place)


@pytest.fixture
def on_node(node: Place) -> Deployed:
    """Return a new contract behind JSON-RPC."""
    return deployed_at(node)


@pytest.fixture(scope="session")
def log() -> bytes:
    """Return what names the log."""
    return LOG
