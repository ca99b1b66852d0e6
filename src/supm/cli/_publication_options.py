"""Options that verbs of publication share."""

from __future__ import annotations

import argparse
import os
from typing import Final

__all__ = [
    "add_account",
    "add_chain",
    "add_contract",
    "add_log",
    "add_reader_key",
    "add_signing_key",
    "add_telling",
    "add_time",
]

LOG: Final = "SUPM_LOG"
KEY: Final = "SUPM_LOG_KEY"


def add_log(parser: argparse.ArgumentParser, what: str = "the log's file") -> None:
    """Add the option that names a log."""
    parser.add_argument(
        "--log", default=os.environ.get(LOG), metavar="LOG", help=f"{what}; or set {LOG}"
    )


def add_signing_key(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the publisher's key."""
    parser.add_argument(
        "--signing-key",
        metavar="FILE",
        help="the log's secret key; by default the file beside the log that ends in .key",
    )


def add_reader_key(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the log's public key."""
    parser.add_argument(
        "--key",
        default=os.environ.get(KEY),
        metavar="KEY",
        help=f"the log's public key, or a file that holds it; or set {KEY}",
    )


def add_chain(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """Add the option that names a node of a chain."""
    parser.add_argument(
        "--chain", required=required, metavar="URL", help="a node of the chain (JSON-RPC)"
    )


def add_contract(parser: argparse.ArgumentParser) -> None:
    """Add the option that says which contract a reader knows."""
    parser.add_argument(
        "--contract",
        metavar="ID:0x…",
        help="the contract's chain and address, from elsewhere than the log; without it the log is "
        "believed",
    )


def add_account(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """Add the option that names who pays on the chain."""
    parser.add_argument(
        "--account",
        required=required,
        metavar="FILE",
        help="the key of the account that pays there (supm log account makes one)",
    )


def add_time(parser: argparse.ArgumentParser) -> None:
    """Add the option that says when."""
    parser.add_argument("--time", metavar="T", help="when, in UTC: 2026-11-18T14:00:00Z; or now")


def add_telling(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where the outcome of checks goes."""
    parser.add_argument("--evidence", metavar="FILE", help="write the evidence of a fork here")
    parser.add_argument("--json", metavar="FILE", help="write what was checked; - prints it")
