"""The server's side on Flower: wait for the parties, carry the coordinator's messages, end."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from flwr.app import Context, Message, RecordDict
from flwr.serverapp import Grid, ServerApp

from supm._errors import FederationError
from supm.engines.flower.carrying import ASK, END, record_of, reply_bytes
from supm.engines.flower.launching import SuperLink
from supm.engines.flower.running import admit, started_run
from supm.engines.in_process import Asker

__all__ = ["coordinate", "server_app"]

_PAUSE: Final = 0.2
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
            message = f"{there} of {len(nodes)} parties are there after {wait:g} seconds."
            raise FederationError(message)
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
    grid: Grid,
    nodes: Sequence[int],
    messages: Mapping[int, RecordDict],
    kind: str,
    patience: float,
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
    return reply_bytes(reply) if reply.metadata.src_node_id == node else None


def _dismiss(grid: Grid, nodes: Sequence[int]) -> None:
    """Tell the parties that it is over, so that their programs end."""
    # However the run ended, its own error is the one to be seen.
    with contextlib.suppress(Exception):
        there = set(grid.get_node_ids())
        messages = {n: record_of(b"") for n, node in enumerate(nodes) if node in there}
        _answers(grid, nodes, messages, END, _FAREWELL_SECONDS)
