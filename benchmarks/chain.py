"""What it costs to anchor a log on a chain, in gas, on a chain in this process.

Gas is counted by the rules of Ethereum and not measured, so that the figures are the same on every
machine. What a unit of gas costs is another matter: a chain's users bid for it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from eth_tester import EthereumTester  # type: ignore[import-untyped]  # it ships no types
from tables import Goal, Row, Table, as_json, as_text
from web3 import EthereumTesterProvider

from supm.publication.chain import Chain, ChainAccount, deploy

_ENTRIES = (1, 100, 10_000)
_LIMIT = 110_000


def benchmark() -> tuple[list[Table], list[Goal]]:
    """Deploy a contract, anchor three times, and count."""
    deployment, first, later = _gas()
    transactions: list[Row] = [
        {"transaction": "deployment, once for a log", "gas": deployment},
        {"transaction": "first anchor", "gas": first},
        {"transaction": "each later anchor", "gas": later},
    ]
    entries: list[Row] = [
        {"entries_per_anchor": number, "gas_per_entry": later / number} for number in _ENTRIES
    ]
    tables = [Table("Gas of a transaction", transactions), Table("Gas of an entry", entries)]
    return tables, [Goal(name="gas of each later anchor", measured=later, limit=_LIMIT)]


def _gas() -> tuple[int, int, int]:
    tester = EthereumTester()
    node, publisher = EthereumTesterProvider(tester), ChainAccount(_key(tester))
    made = deploy(node, publisher, b"l" * 32)
    chain = Chain(node, made.contract)
    # All bytes of a root count, and a zero counts less; sizes are those of a log in use.
    used = [chain.anchor(publisher, 10_000 * n, bytes([n]) * 32).gas for n in (1, 2, 3)]
    return made.gas, used[0], used[-1]


def _key(tester: EthereumTester) -> bytes:
    return bytes(tester.backend.account_keys[0].to_bytes())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description="Count the gas of the contract that keeps a log's roots.",
        epilog="example: python benchmarks/chain.py --json figures.json",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args(arguments)
    tables, goals = benchmark()
    print(as_text(tables, goals))
    if options.json:
        options.json.write_text(json.dumps(as_json(tables, goals), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
