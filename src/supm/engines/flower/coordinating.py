"""The server's side on Flower: wait for the parties, carry the coordinator's messages, end.

Flower's own way is to send a program to the SuperLink, which starts it in yet another process. Here
the SuperLink is told of a run whose program is empty, and this process takes its place.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

import httpx
from flwr.app import Context, Message, RecordDict
from flwr.cli.build import build_fab_from_files
from flwr.common.constant import SubStatus
from flwr.common.serde import context_from_proto, fab_to_proto, run_from_proto
from flwr.proto.control_pb2 import RegisterNodeRequest, StartRunRequest
from flwr.proto.runtime_pb2 import AcquireTaskRequest, PullTaskInputRequest, PushTaskOutputRequest
from flwr.serverapp import Grid, ServerApp
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
from supm.engines.flower.taking_part import ASK, END, bytes_of, record_of
from supm.engines.in_process import Asker
from supm.engines.program import EMPTY_PROGRAM

_PAUSE: Final = 0.2
_START_SECONDS: Final = 30.0
_WHO: Final = "supm"
_Client = TypeVar("_Client", RuntimeHttpClient, ControlHttpClient)


def admit(link: SuperLink, keys: Sequence[bytes]) -> list[int]:
    """Let the nodes with these keys in, and return by which number Flower knows each."""
    if len({*keys}) < len(keys):
        raise FederationError(
            "two parties have the same node key; each must make a key of its own."
        )
    with _control(link) as control, _explained("take a node key"):
        requests = [RegisterNodeRequest(public_key=key) for key in keys]
        return [int(control.RegisterNode(request).node_id) for request in requests]


@contextlib.contextmanager
def started_run(link: SuperLink) -> Iterator[tuple[Grid, Context]]:
    """Start a run that this process coordinates, and end it with the context."""
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
        content, _ = build_fab_from_files(EMPTY_PROGRAM)
    program = Fab(hashlib.sha256(content).hexdigest(), content, {})
    with _control(link) as control:
        told = control.StartRun(StartRunRequest(fab=fab_to_proto(program)))
    if not told.HasField("run_id"):
        raise FederationError("the SuperLink did not start a run.")


def _acquired(link: SuperLink) -> str:
    """Return the token of the run's program, whose place is taken."""
    end = time.monotonic() + _START_SECONDS
    request = AcquireTaskRequest(supported_task_types=[TaskType.SERVER_APP])
    with contextlib.closing(_runtime(link, None)) as client:
        while time.monotonic() < end:
            if token := client.AcquireTask(request).token:
                return str(token)
            time.sleep(_PAUSE)
    raise FederationError("the SuperLink did not hand over the run.")


def _runtime(link: SuperLink, token: str | None) -> RuntimeHttpClient:
    known = [] if token is None else [RuntimeTokenHttpInterceptor(token)]
    return _client(RuntimeHttpClient, link, *known)


def _control(link: SuperLink) -> ControlHttpClient:
    return _client(ControlHttpClient, link)


def _client(kind: type[_Client], link: SuperLink, *known: RuntimeTokenHttpInterceptor) -> _Client:
    return kind.from_server_address(
        link.address,
        insecure=False,
        root_certificates=link.authority.certificate.read_bytes(),
        interceptors=[link, RuntimeVersionHttpInterceptor(component_name=_WHO), *known],
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
        raise FederationError(f"the SuperLink did not {what}: {type(error).__name__}.") from None


_FAREWELL_SECONDS: Final = 5.0
_Tell = Callable[[str], None]


def coordinate(
    coordinator: Asker,
    link: SuperLink,
    keys: Sequence[bytes],
    *,
    wait: float = 600.0,
    patience: float = 300.0,
    tell: _Tell | None = None,
) -> None:
    """Run a coordinator with the parties that connect to a SuperLink.

    Parameters
    ----------
    coordinator : Asker
        The side that asks.
    link : SuperLink
        It runs.
    keys : sequence of bytes
        The public node keys of the parties as PEM, in the order of their numbers; nobody else is
        let in.
    wait : float, default 600
        How many seconds to wait until all parties are there.
    patience : float, default 300
        How many seconds to wait for the answers of one round. Who is late is counted as lost.
    tell : callable, optional
        Called with a sentence when something happens; none of them holds anything private.

    Raises
    ------
    FederationError
        If a party does not come.
    """
    nodes = admit(link, keys)
    app = server_app(coordinator, nodes, wait=wait, patience=patience, tell=tell)
    with started_run(link) as (grid, context):
        app(grid, context)


def server_app(
    coordinator: Asker,
    nodes: Sequence[int],
    *,
    wait: float = 600.0,
    patience: float = 300.0,
    tell: _Tell | None = None,
) -> ServerApp:
    """Return a coordinator as a program of Flower.

    Parameters
    ----------
    coordinator : Asker
        The side that asks.
    nodes : sequence of int
        The node of each party, in the order of their numbers.
    wait, patience : float
        Seconds, as in `coordinate`.
    tell : callable, optional
        As in `coordinate`.

    Returns
    -------
    ServerApp
    """
    app = ServerApp()
    say = tell or _say_nothing

    @app.main()
    def main(grid: Grid, _: Context) -> None:
        try:
            _assemble(grid, nodes, wait, say)
            _carry(coordinator, grid, nodes, patience, say)
        finally:
            _dismiss(grid, nodes)

    return app


def _say_nothing(_: str) -> None:
    pass


def _assemble(grid: Grid, nodes: Sequence[int], wait: float, tell: _Tell) -> None:
    """Wait until every node is there."""
    end, shown = time.monotonic() + wait, -1
    while shown < len(nodes):
        there = len(set(nodes) & set(grid.get_node_ids()))
        if there != shown:
            shown = there
            tell(f"{there} of {len(nodes)} parties are there.")
        elif time.monotonic() >= end:
            raise FederationError(
                f"{there} of {len(nodes)} parties are there after {wait:g} seconds."
            )
        else:
            time.sleep(_PAUSE)


def _carry(
    coordinator: Asker, grid: Grid, nodes: Sequence[int], patience: float, tell: _Tell
) -> None:
    messages: dict[int, bytes] | None = coordinator.begin()
    turn, turns = 0, getattr(coordinator, "turns", None)
    of_all = "" if turns is None else f" of {turns}"
    while messages is not None:
        turn += 1
        asked = {number: record_of(content) for number, content in messages.items()}
        replies = _answers(grid, nodes, asked, ASK, patience)
        tell(f"Turn {turn}{of_all}: {len(replies)} of {len(messages)} parties answered.")
        messages = coordinator.receive(replies)


def _answers(
    grid: Grid, nodes: Sequence[int], messages: Mapping[int, RecordDict], kind: str, patience: float
) -> dict[int, bytes]:
    """Send each party its message, and return what came back in time, one reply for each."""
    end = time.monotonic() + patience
    sent = [
        Message(content, dst_node_id=nodes[number], message_type=kind, ttl=patience)
        for number, content in messages.items()
    ]
    # There are no names where Flower could not take the messages: then nobody answers.
    names = grid.push_messages(sent)
    waiting = {name: number for name, number in zip(names, messages, strict=False) if name}
    replies: dict[int, bytes] = {}
    while waiting and time.monotonic() < end:
        for reply in grid.pull_messages(list(waiting)):
            # Whoever answers twice is heard once: after the first reply nobody waits for another.
            number = waiting.pop(reply.metadata.reply_to_message_id, None)
            content = None if number is None else _content(reply, nodes[number])
            if number is not None and content is not None:
                replies[number] = content
        if waiting:
            time.sleep(_PAUSE)
    return dict(sorted(replies.items()))


def _content(reply: Message, node: int) -> bytes | None:
    """Return what a node said, and None where it, or somebody else, said something else."""
    told = reply.has_content() and reply.metadata.src_node_id == node
    return bytes_of(reply.content) if told else None


def _dismiss(grid: Grid, nodes: Sequence[int]) -> None:
    """Tell the parties that it is over, so that their programs end."""
    # However the run ended, its own error is the one to be seen.
    with contextlib.suppress(Exception):
        there = set(grid.get_node_ids())
        messages = {n: record_of(b"") for n, node in enumerate(nodes) if node in there}
        _answers(grid, nodes, messages, END, _FAREWELL_SECONDS)
