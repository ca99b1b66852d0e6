"""The aggregator over HTTP: api, store and pages.

What a name needs is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supm._lazy import names_on_demand

if TYPE_CHECKING:
    from supm.service.app import Settings, make_app
    from supm.service.serving import run, running
    from supm.service.store import Opened, Store
    from supm.service.store.values import State

__all__ = [
    "Opened",
    "Settings",
    "State",
    "Store",
    "make_app",
    "run",
    "running",
]

__getattr__ = names_on_demand(
    __name__,
    {
        "app": "Settings make_app",
        "serving": "run running",
        "store.values": "State",
        "store": "Opened Store",
    },
)
