"""The aggregator over HTTP: api, store, pages; and the owner's side of it.

What a name needs is imported when it is first used: an owner needs none of the server's packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from supm.service.app import Settings, make_app
    from supm.service.http import Remote, RemoteError
    from supm.service.owners import Contribution, Wallet, contribute
    from supm.service.serving import run, running
    from supm.service.states import State
    from supm.service.store import Opened, Store

__all__ = [
    "Contribution",
    "Opened",
    "Remote",
    "RemoteError",
    "Settings",
    "State",
    "Store",
    "Wallet",
    "contribute",
    "make_app",
    "run",
    "running",
]

_HOMES: Final = {
    "Contribution": "owners",
    "Opened": "store",
    "Remote": "http",
    "RemoteError": "http",
    "Settings": "app",
    "State": "states",
    "Store": "store",
    "Wallet": "owners",
    "contribute": "owners",
    "make_app": "app",
    "run": "serving",
    "running": "serving",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  whatever has the name
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
