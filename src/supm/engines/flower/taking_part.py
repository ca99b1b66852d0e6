"""A party's side on Flower: a node that runs the program that was installed, and no other."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Final, TypeVar

import httpx
from flwr.app import ConfigRecord, Context, Error, Message, RecordDict
from flwr.app.message import remove_content_from_message
from flwr.clientapp import ClientApp
from flwr.common.constant import HEARTBEAT_DEFAULT_INTERVAL, ErrorCode
from flwr.common.serde import message_to_proto
from flwr.proto.fleet_pb2 import (
    ActivateNodeRequest,
    DeactivateNodeRequest,
    PullMessagesRequest,
    PushMessagesRequest,
)
from flwr.proto.heartbeat_pb2 import SendNodeHeartbeatRequest
from flwr.proto.node_pb2 import Node as FlowerNode
from flwr.supercore.heartbeat import HeartbeatSender
from flwr.supercore.inflatable.inflatable_object import (
    get_all_nested_objects,
    get_object_tree,
    no_object_id_recompute,
)
from flwr.supercore.inflatable.inflatable_protobuf_utils import (
    make_confirm_message_received_fn_protobuf,
    make_pull_object_fn_protobuf,
    make_push_object_fn_protobuf,
)
from flwr.supercore.inflatable.inflatable_utils import (
    ObjectPullError,
    pull_and_inflate_object_from_tree,
    push_objects,
)
from flwr.supercore.interceptors import RuntimeVersionHttpInterceptor
from flwr.supercore.primitives.asymmetric import public_key_to_bytes
from flwr.supernode.fleet_http_client import FleetHttpClient
from flwr.supernode.node_auth_http_interceptor import NodeAuthHttpInterceptor

from supm._errors import FederationError, ParameterError
from supm.engines.flower.certificates import NodeKey
from supm.engines.in_process import Answerer

_PAUSE: Final = 0.2
_RETRY: Final = 0.5
_GONE_SECONDS: Final = 60.0
# A party may come a moment before its key is known.
_LET_IN_SECONDS: Final = 3.0
_REFUSED: Final = range(400, 500)
_Told = TypeVar("_Told")


class PartyNode:
    """A node that a SuperLink has let in.

    Parameters
    ----------
    client : FleetHttpClient
        The connection.
    number : int
        By which Flower knows the node.
    """

    def __init__(self, client: FleetHttpClient, number: int) -> None:
        self._client, self.number = client, number
        self._node = FlowerNode(node_id=number)

    @classmethod
    @contextlib.contextmanager
    def connected(
        cls, address: str, certificate: Path, key: NodeKey, wait: float
    ) -> Iterator[PartyNode]:
        """Connect, and say goodbye at the end."""
        with _client(address, certificate, key) as client:
            told = _activated(client, address, key, wait)
            node = cls(client, told)
            heart = HeartbeatSender(node._beat)
            heart.start()
            try:
                yield node
            except httpx.HTTPError as error:
                raise FederationError(
                    f"the server at {address} broke off: {type(error).__name__}."
                ) from None
            finally:
                if heart.is_running:
                    heart.stop()
                with contextlib.suppress(httpx.HTTPError):
                    client.DeactivateNode(DeactivateNodeRequest(node_id=told))

    def receive(self) -> Message | None:
        """Return a message of the server, or None where there is none."""
        request = PullMessagesRequest(node=self._node)
        told = _insisting(lambda: self._client.PullMessages(request))
        if not told.messages_list:
            return None
        run, tree = told.messages_list[0].metadata.run_id, told.message_object_trees[0]
        try:
            message = pull_and_inflate_object_from_tree(
                tree,
                make_pull_object_fn_protobuf(self._client.PullObject, self._node, run),
                make_confirm_message_received_fn_protobuf(
                    self._client.ConfirmMessageReceived, self._node, run
                ),
                return_type=Message,
            )
        except ObjectPullError:
            # It was taken back before it was here: the server has stopped waiting.
            return None
        # It does not know its own name, which is a hash of it.
        message.metadata.__dict__["_message_id"] = tree.object_id
        return message

    def send(self, reply: Message) -> None:
        """Send a reply."""
        reply.metadata.__dict__["_message_id"] = reply.object_id
        run = reply.metadata.run_id
        with no_object_id_recompute():
            request = PushMessagesRequest(
                node=self._node,
                messages_list=[message_to_proto(remove_content_from_message(reply))],
                message_object_trees=[get_object_tree(reply)],
                clientapp_runtime_list=[0.0],
            )
            told = _insisting(lambda: self._client.PushMessages(request))
            push = make_push_object_fn_protobuf(
                self._client.PushObject, self._node, run, told.session_id
            )
            wanted = set(told.objects_to_push)
            push_objects(get_all_nested_objects(reply), push, object_ids_to_push=wanted)

    def _beat(self) -> bool:
        request = SendNodeHeartbeatRequest(
            node=self._node, heartbeat_interval=HEARTBEAT_DEFAULT_INTERVAL
        )
        try:
            return bool(self._client.SendNodeHeartbeat(request).success)
        except httpx.HTTPError:
            return False


def _client(address: str, certificate: Path, key: NodeKey) -> FleetHttpClient:
    try:
        return FleetHttpClient.from_server_address(
            address,
            insecure=False,
            root_certificates=certificate.read_bytes(),
            interceptors=[
                RuntimeVersionHttpInterceptor(component_name="SuperNode"),
                NodeAuthHttpInterceptor(key.private, key.private.public_key()),
            ],
        )
    except (OSError, ValueError):
        hint = "It is the ca.pem of the server's folder."
        raise ParameterError(
            "certificate", "a file with a certificate", str(certificate), hint
        ) from None


def _activated(client: FleetHttpClient, address: str, key: NodeKey, wait: float) -> int:
    request = ActivateNodeRequest(
        public_key=public_key_to_bytes(key.private.public_key()),
        heartbeat_interval=HEARTBEAT_DEFAULT_INTERVAL,
    )
    try:
        return int(_insisting(lambda: client.ActivateNode(request), wait, _LET_IN_SECONDS).node_id)
    except httpx.HTTPStatusError:
        message = (
            f"the server at {address} does not know this party's key; give its owner the public "
            "half, the file that ends in .pub."
        )
    except httpx.TransportError as error:
        message = f"the server at {address} cannot be reached: {error}."
    raise FederationError(message)


def _insisting(
    call: Callable[[], _Told], seconds: float | None = None, refused: float = 0.0
) -> _Told:
    """Call again while there is no connection or the server is busy, and a while if it refuses."""
    start = time.monotonic()
    end = start + (_GONE_SECONDS if seconds is None else seconds)
    while True:
        try:
            return call()
        except httpx.HTTPStatusError as error:
            final = error.response.status_code in _REFUSED and time.monotonic() >= start + refused
            if final or time.monotonic() >= end:
                raise
        except httpx.TransportError:
            if time.monotonic() >= end:
                raise
        time.sleep(_RETRY)


# Names of messages, as Flower spells them: a category that it knows, and a name of ours.
ASK: Final = "query.ask"
END: Final = "query.end"
_RECORD: Final = "supm"
_KEY: Final = "content"


def record_of(content: bytes) -> RecordDict:
    """Return what a message of Flower may hold.

    Examples
    --------
    >>> record_of(b"hello")["supm"]["content"]
    b'hello'
    """
    return RecordDict({_RECORD: ConfigRecord({_KEY: content})})


def bytes_of(records: RecordDict) -> bytes | None:
    """Return what is carried, or None where it is not what `record_of` makes.

    Examples
    --------
    >>> bytes_of(record_of(b"hello")), bytes_of(RecordDict())
    (b'hello', None)
    """
    record = records.get(_RECORD)
    content = record.get(_KEY) if isinstance(record, ConfigRecord) else None
    return content if isinstance(content, bytes) else None


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
