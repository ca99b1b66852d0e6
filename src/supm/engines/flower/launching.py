"""A SuperLink in a process of its own: started, guarded, and stopped with all that it started."""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import httpx
from flwr.supercore.protobuf.client import ProtobufCall, ProtobufRequestContext

from supm._errors import FederationError
from supm.engines.flower.certificates import Authority

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
    from flwr.supercore.app_utils import start_parent_process_monitor  # noqa: PLC0415  in the process of the SuperLink only
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


_START_SECONDS: Final = 90.0
_STOP_SECONDS: Final = 10.0
_PAUSE: Final = 0.1
_LOG: Final = "superlink.log"
_EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  to know it when it is asked for
# What nobody without the secret may reach.
_GUARDED: Final = ("/v1/control/list-nodes", "/v1/runtime/acquire-task", "/docs", "/openapi.json")
_FORBIDDEN: Final = 403


def free_port() -> int:
    """Return a port of this machine that nothing listens on.

    Returns
    -------
    int
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


class SuperLink:
    """A SuperLink that runs while its context is open.

    Parameters
    ----------
    folder : Path
        What it writes goes there: certificates, Flower's state, and a log. Only its owner may look
        into it.
    host : str
        The name or address by which parties reach it; it is in the certificate.
    port : int
        Where it listens.
    listen : str, default "127.0.0.1"
        On which address of this machine it listens.
    """

    def __init__(self, folder: Path, *, host: str, port: int, listen: str = "127.0.0.1") -> None:
        self.folder, self.port = folder, port
        self._listen = listen
        self.authority = Authority.made(folder, host)
        self._secret = secrets.token_hex(32)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where this machine reaches it."""
        host = _EVERYWHERE.get(self._listen, self._listen)
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"

    def intercept(self, context: ProtobufRequestContext, call_next: ProtobufCall) -> httpx.Response:
        """Add the secret of the run to a request of ours."""
        context.request.headers[SECRET_HEADER] = self._secret
        return call_next(context)

    def __enter__(self) -> Self:
        """Start it, and wait until it answers and its guard refuses."""
        self._process = self._started()
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it."""
        self.stop()

    def stop(self) -> None:
        """Stop the process and whatever it started."""
        process, self._process = self._process, None
        if process is None:
            return
        _signal_group(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)
        _signal_group(process.pid, signal.SIGKILL)
        process.wait()

    def _started(self) -> subprocess.Popen[bytes]:
        home = self.folder / "flower"
        home.mkdir(mode=0o700, exist_ok=True)
        environment = os.environ | {"FLWR_HOME": str(home), SECRET_VARIABLE: self._secret}
        handle = os.open(self.folder / _LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            return subprocess.Popen(  # noqa: S603  no word of the command comes from outside
                self._command(),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=handle,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        finally:
            os.close(handle)

    def _command(self) -> Sequence[str]:
        authority = self.authority
        program = (sys.executable, "-m", "supm.engines.flower.launching", str(os.getpid()))
        return (
            *program,
            *("--host", self._listen, "--port", str(self.port)),
            *("--ssl-ca-certfile", str(authority.certificate)),
            *("--ssl-certfile", str(authority.server_certificate)),
            *("--ssl-keyfile", str(authority.server_key)),
            # Nobody runs a program that comes with a message: not the SuperLink either.
            *("--enable-supernode-auth", "--isolation", "process"),
            "--disable-runtime-dependency-installation",
        )

    def _wait(self) -> None:
        end = time.monotonic() + _START_SECONDS
        context = ssl.create_default_context(cafile=str(self.authority.certificate))
        with httpx.Client(verify=context, trust_env=False, timeout=5.0) as client:
            while not self._answers(client):
                if self._process is None or self._process.poll() is not None:
                    raise FederationError(
                        f"the SuperLink did not start; {self.folder / _LOG} says why."
                    )
                if time.monotonic() > end:
                    raise FederationError(
                        f"the SuperLink did not answer in {_START_SECONDS:g} seconds."
                    )
                time.sleep(_PAUSE)
            self._check_guard(client)

    def _answers(self, client: httpx.Client) -> bool:
        try:
            told = client.get(self._url("/health"), headers={SECRET_HEADER: self._secret})
        except httpx.HTTPError:
            return False
        return told.is_success

    def _check_guard(self, client: httpx.Client) -> None:
        """Refuse to go on with a Flower whose SuperLink is not guarded as this one is."""
        for path in ("/health", *_GUARDED):
            if client.post(self._url(path)).status_code != _FORBIDDEN:
                raise FederationError(
                    f"the SuperLink of this Flower lets anybody reach {path}; do not use it."
                )

    def _url(self, path: str) -> str:
        return f"https://{self.address}{path}"


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)
