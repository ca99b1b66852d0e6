"""Bundles on the command line: a published file and its proof in one file."""

from __future__ import annotations

from pathlib import Path

from supm._errors import ParameterError, PublicationError
from supm.cli._files import check_target, write_bytes
from supm.cli._published import read_bytes
from supm.publication.bundle import Bundle, is_bundle
from supm.publication.proof import Proof

__all__ = ["bundle_of", "check_bundle", "write_bundle"]


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
    if not target.lower().endswith(".zip"):
        raise ParameterError("--bundle", "a name that ends in .zip", target)
    if Path(target).exists() and not is_bundle(read_bytes("--bundle", target)):
        wanted = "a new file, or one of the same kind, which is replaced"
        raise ParameterError("--bundle", wanted, target)


def bundle_of(content: bytes, proof: Proof) -> bytes:
    """Return a file and its proof in one.

    Parameters
    ----------
    content : bytes
        The file.
    proof : Proof
        Its proof, which tells what the file was called when it was published.

    Returns
    -------
    bytes

    Raises
    ------
    ParameterError
        If no reader would take what is so large.
    """
    bundle = Bundle(name=proof.entry.name, content=content, proof=proof.to_json() + "\n")
    try:
        return bundle.to_bytes()
    except PublicationError as error:
        hint = f"With its proof it is too large: {error} Leave --bundle out."
        raise ParameterError("FILE", "small enough for a bundle", len(content), hint) from None


def write_bundle(target: str, content: bytes, proof: Proof) -> None:
    """Write a file and its proof into one file.

    Parameters
    ----------
    target : str
        The name of the bundle.
    content : bytes
        The file.
    proof : Proof
        Its proof.
    """
    write_bytes("--bundle", bundle_of(content, proof), target)
