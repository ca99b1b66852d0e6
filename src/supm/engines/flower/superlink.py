"""The program of the server's process: Flower's SuperLink, behind a guard.

Run as ``python -m supm.engines.flower.superlink PARENT ARGUMENTS``, with the secret of the run in
the environment. A SuperLink serves three things on one port: what nodes need, which asks for a node
key; and control and run time, by which anybody could start programs and admit nodes. The guard lets
in to these two who knows the secret, and nobody else.
"""

from __future__ import annotations

import hmac
import os
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

__all__ = ["SECRET_HEADER", "SECRET_VARIABLE", "Guard", "run_superlink"]

SECRET_HEADER: Final = "x-supm-run"  # noqa: S105  the name of it
SECRET_VARIABLE: Final = "SUPM_FLOWER_SECRET"  # noqa: S105  the name of it
_FOR_NODES: Final = "/v1/fleet/"
_Application = Callable[..., Awaitable[None]]


class Guard:
    """Refuse every request that is neither a node's nor ours.

    Parameters
    ----------
    app : callable
        What is guarded, as ASGI.
    secret : str
        What our requests say.
    """

    def __init__(self, app: _Application, secret: str) -> None:
        self._app, self._secret = app, secret.encode()

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[Any], Awaitable[None]],
    ) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan" or self._passes(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await send({"type": "http.response.start", "status": 403, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    def _passes(self, scope: MutableMapping[str, Any]) -> bool:
        if scope["type"] != "http":
            return False
        if scope["path"].startswith(_FOR_NODES):
            return True
        name = SECRET_HEADER.encode()
        told = [value for each, value in scope["headers"] if each == name]
        return len(told) == 1 and hmac.compare_digest(told[0], self._secret)


def run_superlink() -> None:
    """Run a guarded SuperLink until it is told to stop, or until its parent is gone."""
    # What Flower reads when it is imported is set by the package.
    from flwr.supercore.app_utils import (  # noqa: PLC0415  in the process of the SuperLink only
        start_parent_process_monitor,
    )
    from flwr.superlink import extensions  # noqa: PLC0415  the same
    from flwr.superlink.cli.flower_superlink import flower_superlink  # noqa: PLC0415  the same
    from starlette.middleware import Middleware  # noqa: PLC0415  the same

    # Out of the environment, so that nothing that is started from here has it.
    secret = os.environ.pop(SECRET_VARIABLE)
    start_parent_process_monitor(int(sys.argv.pop(1)))
    extensions.get_middleware = lambda: (Middleware(Guard, secret=secret),)
    flower_superlink()


if __name__ == "__main__":
    run_superlink()
