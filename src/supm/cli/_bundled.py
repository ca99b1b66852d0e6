"""Bundles on the command line: a published file and its proof in one file."""

from __future__ import annotations

from pathlib import Path

from supm._errors import ParameterError
from supm.cli._files import check_target, write_bytes
from supm.cli._published import read_bytes
from supm.publication.bundle import Bundle, is_bundle

__all__ = ["check_bundle", "write_bundle"]


def check_bundle(target: str | None) -> None:
    """Refuse what cannot be written, or is there and is no bundle, before anything is published.

    Parameters
    ----------
    target : str or None
        The name of the file, or None for no bundle.
    """
    if target is None:
        return
    if target == "-":
        raise ParameterError("--bundle", "a file", target)
    check_target("--bundle", target)
    if Path(target).exists() and not is_bundle(read_bytes("--bundle", target)):
        wanted = "a new file, or one of the same kind, which is replaced"
        raise ParameterError("--bundle", wanted, target)


def write_bundle(target: str, name: str, content: bytes, proof: str) -> None:
    """Write a file and the text of its proof into one file.

    Parameters
    ----------
    target : str
        The name of the bundle.
    name : str
        What the file is called in it.
    content : bytes
        The file.
    proof : str
        The text of its proof.
    """
    made = Bundle(name=name, content=content, proof=proof).to_bytes()
    write_bytes("--bundle", made, target)
