"""What verbs of a federation share where they run on Flower, which may not be installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from supm._errors import SupmError

__all__ = ["fingerprint", "made_key", "needs_flower"]


def made_key(path: Path) -> None:
    """Make a node key, and write it with its public half beside it.

    Parameters
    ----------
    path : Path
        A new file.
    """
    with needs_flower():
        from supm.engines.flower import NodeKey  # noqa: PLC0415  where it is installed

    NodeKey.made(path)


def fingerprint(text: str) -> str:
    """Say how parties make sure that they had no stranger between them.

    Parameters
    ----------
    text : str
        The fingerprint of the roster.

    Returns
    -------
    str
    """
    return (
        f"Fingerprint of all parties' keys: {text[:32]}. Parties who see the same one had no "
        "stranger between them."
    )


@contextmanager
def needs_flower() -> Iterator[None]:
    """Say what to install where Flower is absent."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "supm":
            raise
        message = f"this needs the package {error.name}; run pip install 'supm[federated]'."
        raise SupmError(message) from None
