"""The contract as it was compiled: what is deployed, and what an address must hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["Artefact", "artefact"]

_WORD = 32


@dataclass(frozen=True, kw_only=True)
class Artefact:
    """What the compiler made of ``anchor.vy``.

    Parameters
    ----------
    abi : list of dict
        The functions and the event.
    bytecode : bytes
        What a transaction carries to make the contract; the log's hash follows it.
    runtime : bytes
        The code that an address holds; three words follow it: log, publisher, block of birth.
    compiler : str
        Name and version of the compiler.
    """

    abi: list[dict[str, Any]]
    bytecode: bytes
    runtime: bytes
    compiler: str

    def creation(self, log: bytes) -> bytes:
        """Return what a transaction must carry to make the contract of a log."""
        return self.bytecode + log

    def fixed_words(self, code: bytes) -> tuple[bytes, bytes, int] | None:
        """Return log, publisher and block of birth from a contract's code; None if it is another.

        Parameters
        ----------
        code : bytes
            All that the address holds.

        Returns
        -------
        tuple of bytes, bytes and int, or None
            32 bytes, 20 bytes and the number of a block.

        Examples
        --------
        >>> shipped = artefact()
        >>> fixed = bytes(32) + bytes(31) + b"p" + bytes(31) + b"b"
        >>> shipped.fixed_words(shipped.runtime + fixed)[2]
        98
        >>> shipped.fixed_words(b"other code") is None
        True
        """
        fixed = code[len(self.runtime) :]
        if code[: len(self.runtime)] != self.runtime or len(fixed) != 3 * _WORD:
            return None
        log, publisher, born = fixed[:_WORD], fixed[_WORD : 2 * _WORD], fixed[2 * _WORD :]
        return log, publisher[-20:], int.from_bytes(born)


@cache
def artefact() -> Artefact:
    """Return what is shipped in ``anchor.json``.

    Examples
    --------
    >>> artefact().compiler
    'vyper 0.4.3'
    """
    form = json.loads((files("supm.publication.chain") / "anchor.json").read_text("utf-8"))
    return Artefact(
        abi=form["abi"],
        bytecode=bytes.fromhex(form["bytecode"]),
        runtime=bytes.fromhex(form["runtime"]),
        compiler=form["compiler"],
    )
