"""A call that is given up after a time: a limit for each byte is none for all of them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["within"]

Result = TypeVar("Result")


def within(seconds: float, call: Callable[[], Result]) -> Result:
    """Return what a call returns, or raise what it raises.

    Parameters
    ----------
    seconds : float
        How long it may take.
    call : callable
        Is run in a thread of its own, which is left alone where it takes longer.

    Returns
    -------
    object

    Raises
    ------
    TimeoutError
        If it takes longer.

    Examples
    --------
    >>> within(1.0, lambda: 7)
    7
    """
    outcome: queue.SimpleQueue[Result | Exception] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put(call())
        except Exception as error:  # noqa: BLE001  told by the thread that waits
            outcome.put(error)

    # A daemon, so that who never answers does not keep the process from ending.
    threading.Thread(target=run, daemon=True).start()
    try:
        found = outcome.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(found, Exception):
        try:
            raise found
        finally:
            del found  # else the error and this frame hold each other, and what is open in it
    return found
