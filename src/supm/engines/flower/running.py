"""A run on a SuperLink that this process coordinates itself, without a program that is sent.

Flower's own way is to send a program to the SuperLink, which starts it in yet another process. Here
the SuperLink is told of a run whose program is empty, and this process takes its place.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Final

import httpx
from flwr.app import Context
from flwr.cli.build import build_fab_from_files
from flwr.common.constant import SubStatus
from flwr.common.serde import context_from_proto, fab_to_proto, run_from_proto
from flwr.proto.control_pb2 import RegisterNodeRequest, StartRunRequest
from flwr.proto.runtime_pb2 import AcquireTaskRequest, PullTaskInputRequest, PushTaskOutputRequest
from flwr.serverapp import Grid
from flwr.supercore.constant import TaskType
from flwr.supercore.control import ControlHttpClient
from flwr.supercore.fab import Fab
from flwr.supercore.heartbeat import HeartbeatSender, make_task_heartbeat_fn_http
from flwr.supercore.interceptors import RuntimeTokenHttpInterceptor, RuntimeVersionHttpInterceptor
from flwr.supercore.runtime import RuntimeHttpClient
from flwr.supercore.task_identity import TaskIdentity
from flwr.superlink.grid.http_grid import HttpGrid

from supm._errors import FederationError
from supm.engines.flower.launching import SuperLink

__all__ = ["admit", "started_run"]

_PAUSE: Final = 0.1
_START_SECONDS: Final = 30.0
_WHO: Final = "supm"
# What Flower wants to be told of a program. No node fetches it, and nothing runs it.
_EMPTY_PROGRAM: Final = {
    "pyproject.toml": b"""\
[project]
name = "supm-federation"
version = "1.0.0"
license = "Apache-2.0"
dependencies = []

[tool.flwr.app]
publisher = "supm"

[tool.flwr.app.components]
serverapp = "supm_federation:app"
clientapp = "supm_federation:app"
""",
    "supm_federation.py": b"",
}


def admit(link: SuperLink, keys: Sequence[bytes]) -> list[int]:
    """Let the nodes with these keys in, and return by which number Flower knows each.

    Parameters
    ----------
    link : SuperLink
        It runs.
    keys : sequence of bytes
        Public node keys as PEM; each must be another.

    Returns
    -------
    list of int

    Raises
    ------
    FederationError
        If a key is there twice, or the SuperLink does not take it.
    """
    if len({*keys}) < len(keys):
        message = "two parties have the same node key; each must make a key of its own."
        raise FederationError(message)
    with _control(link) as control, _explained("take a node key"):
        requests = [RegisterNodeRequest(public_key=key) for key in keys]
        return [int(control.RegisterNode(request).node_id) for request in requests]


@contextlib.contextmanager
def started_run(link: SuperLink) -> Iterator[tuple[Grid, Context]]:
    """Start a run that this process coordinates, and end it with the context.

    Parameters
    ----------
    link : SuperLink
        It runs.

    Yields
    ------
    tuple of Grid and Context
        What a ServerApp is called with.
    """
    with _explained("start a run"):
        _start(link)
        token = _acquired(link)
        grid = _OurGrid(link, token)
    try:
        with _explained("go on with the run"):
            context = grid.begun()
            with _beating(grid.client):
                yield grid, context
        grid.end(SubStatus.COMPLETED)
    except BaseException:
        grid.end(SubStatus.FAILED)
        raise
    finally:
        grid.close()


class _OurGrid(HttpGrid):
    """Flower's own, with the secret of the run in its requests."""

    def __init__(self, link: SuperLink, token: str) -> None:
        super().__init__(link.address, token=token)
        self.client = _runtime(link, token)
        self._client = self.client

    def begun(self) -> Context:
        """Take the place of the program that Flower would start."""
        told = self.client.PullTaskInput(PullTaskInputRequest())
        TaskIdentity.task_id = told.task_id
        TaskIdentity.run_id = told.run.run_id
        TaskIdentity.node_id = told.context.node_id
        self.set_run(run_from_proto(told.run))
        return context_from_proto(told.context)

    def end(self, status: str) -> None:
        """Say that the run is over."""
        # The SuperLink is stopped after this; where it is gone already, nothing is lost.
        with contextlib.suppress(httpx.HTTPError):
            self.client.PushTaskOutput(PushTaskOutputRequest(sub_status=status, details=""))


def _start(link: SuperLink) -> None:
    with warnings.catch_warnings():
        # This version of Flower calls a helper by its old name.
        warnings.simplefilter("ignore", DeprecationWarning)
        content, _ = build_fab_from_files(_EMPTY_PROGRAM)
    program = Fab(hashlib.sha256(content).hexdigest(), content, {})
    with _control(link) as control:
        told = control.StartRun(StartRunRequest(fab=fab_to_proto(program)))
    if not told.HasField("run_id"):
        message = "the SuperLink did not start a run."
        raise FederationError(message)


def _acquired(link: SuperLink) -> str:
    """Return the token of the run's program, whose place is taken."""
    end = time.monotonic() + _START_SECONDS
    request = AcquireTaskRequest(supported_task_types=[TaskType.SERVER_APP])
    with contextlib.closing(_runtime(link, None)) as client:
        while time.monotonic() < end:
            if token := client.AcquireTask(request).token:
                return str(token)
            time.sleep(_PAUSE)
    message = "the SuperLink did not hand over the run."
    raise FederationError(message)


def _runtime(link: SuperLink, token: str | None) -> RuntimeHttpClient:
    version = RuntimeVersionHttpInterceptor(component_name=_WHO)
    known = [] if token is None else [RuntimeTokenHttpInterceptor(token)]
    return RuntimeHttpClient.from_server_address(
        link.address,
        insecure=False,
        root_certificates=link.authority.certificate.read_bytes(),
        interceptors=[link, version, *known],
    )


def _control(link: SuperLink) -> ControlHttpClient:
    return ControlHttpClient.from_server_address(
        link.address,
        insecure=False,
        root_certificates=link.authority.certificate.read_bytes(),
        interceptors=[link, RuntimeVersionHttpInterceptor(component_name=_WHO)],
    )


@contextlib.contextmanager
def _beating(client: RuntimeHttpClient) -> Iterator[None]:
    """Tell the SuperLink from time to time that this process lives."""
    heart = HeartbeatSender(make_task_heartbeat_fn_http(client))
    heart.start()
    try:
        yield
    finally:
        if heart.is_running:
            heart.stop()


@contextlib.contextmanager
def _explained(what: str) -> Iterator[None]:
    try:
        yield
    except httpx.HTTPError as error:
        message = f"the SuperLink did not {what}: {type(error).__name__}."
        raise FederationError(message) from None
