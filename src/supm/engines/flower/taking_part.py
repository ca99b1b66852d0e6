"""A party's side on Flower: a node that runs the program that was installed, and no other."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Final

import httpx
from flwr.app import Context, Error, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.common.constant import ErrorCode

from supm._errors import FederationError
from supm.engines.flower.carrying import ASK, END, bytes_of, record_of
from supm.engines.flower.certificates import NodeKey
from supm.engines.flower.node import PartyNode
from supm.engines.in_process import Answerer

__all__ = ["client_app", "take_part"]

_PAUSE: Final = 0.2
# Nothing of the party's own error: it goes to the server.
_REASON: Final = "the party did not answer"


def client_app(answerer: Answerer) -> ClientApp:
    """Return a party as a program of Flower.

    What it remembers is in the state that Flower keeps for the node.

    Parameters
    ----------
    answerer : Answerer
        The side that answers.

    Returns
    -------
    ClientApp
    """
    app = ClientApp()

    @app.query(ASK.partition(".")[2])
    def ask(message: Message, context: Context) -> Message:
        content = bytes_of(message.content)
        if content is None:
            wrong = "the server sent a message that holds no bytes."
            raise FederationError(wrong)
        state, reply = answerer.answer(bytes_of(context.state) or b"", content)
        context.state = record_of(state)
        return Message(record_of(reply), reply_to=message)

    @app.query(END.partition(".")[2])
    def end(message: Message, _: Context) -> Message:
        return Message(record_of(b""), reply_to=message)

    return app


def take_part(
    answerer: Answerer,
    *,
    address: str,
    certificate: Path,
    key: NodeKey,
    wait: float = 600.0,
    patience: float = 3600.0,
) -> bytes:
    """Connect to a SuperLink and answer until the server says that it is over.

    Parameters
    ----------
    answerer : Answerer
        The side that answers; an error that it raises ends the part, and is raised here. The server
        is told no more than that there is no answer.
    address : str
        Host and port.
    certificate : Path
        The certificate of the server's authority.
    key : NodeKey
        By which the server knows this party.
    wait : float, default 600
        How many seconds to try to connect.
    patience : float, default 3600
        How many seconds to wait for a message before giving up.

    Returns
    -------
    bytes
        What the answerer wanted to remember at the end.

    Raises
    ------
    FederationError
        If the server does not let the party in, or falls silent.
    """
    app = client_app(answerer)
    with PartyNode.connected(address, certificate, key, wait) as node:
        messages = _messages(node, patience)
        first = next(messages)
        context = _context(node, first.metadata.run_id)
        for message in chain([first], messages):
            # Whoever agreed to take part did so once: a second run gets no answer.
            if message.metadata.run_id == context.run_id:
                _answer(app, node, message, context)
                if message.metadata.message_type == END:
                    break
        return bytes_of(context.state) or b""


def _messages(node: PartyNode, patience: float) -> Iterator[Message]:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        message = node.receive()
        if message is None:
            time.sleep(_PAUSE)
            continue
        yield message
        end = time.monotonic() + patience
    silent = f"the server was silent for {patience:g} seconds; this party has left."
    raise FederationError(silent)


def _answer(app: ClientApp, node: PartyNode, message: Message, context: Context) -> None:
    try:
        reply = app(message, context)
    except BaseException:
        failed = Error(code=ErrorCode.CLIENT_APP_RAISED_EXCEPTION, reason=_REASON)
        # The party's own error is the one to be seen.
        with contextlib.suppress(httpx.HTTPError, FederationError):
            node.send(Message(failed, reply_to=message))
        raise
    node.send(reply)


def _context(node: PartyNode, run: int) -> Context:
    return Context(
        run_id=run, node_id=node.number, node_config={}, state=RecordDict(), run_config={}
    )
