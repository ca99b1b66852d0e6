"""Files that the verb publish writes: none of them is one that it reads, and no two are one."""

from __future__ import annotations

import argparse
from pathlib import Path

from supm._errors import ParameterError
from supm.cli._bundled import check_bundle
from supm.cli._checking import check_replaceable
from supm.cli._targets import check_targets
from supm.publication.proof import Proof

__all__ = ["checked_target"]


def checked_target(arguments: argparse.Namespace) -> str:
    """Return where the proof goes; refuse what cannot be written before anything is published.

    Parameters
    ----------
    arguments : Namespace
        Of the verb.

    Returns
    -------
    str
    """
    target: str = arguments.proof or f"{arguments.file}.proof"
    check_replaceable("--proof", target, Proof.from_json)
    check_bundle(arguments.bundle)
    outputs = {"--proof": target, "--bundle": arguments.bundle, "--json": arguments.json}
    check_targets(_inputs(arguments), outputs)
    if arguments.bundle:
        _check_beside(arguments.bundle, target)
    return target


def _check_beside(bundle: str, proof: str) -> None:
    """Refuse a bundle that readers would verify as it is, since a proof is beside it."""
    beside = Path(f"{bundle}.proof")
    if beside.exists() or beside.resolve() == Path(proof).resolve():
        hint = "Readers would take the bundle for a file that was published itself."
        raise ParameterError("--bundle", "a file with no proof beside it", bundle, hint)


def _inputs(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the files that are read; the secret key is beside the log where none is named."""
    beside = str(Path(arguments.log).with_suffix(".key")) if arguments.log else None
    named = {
        "FILE": arguments.file,
        "--statement": arguments.statement,
        "--log": arguments.log,
        "--signing-key": arguments.signing_key or beside,
        "--account": arguments.account,
    }
    return {name: path for name, path in named.items() if path}
