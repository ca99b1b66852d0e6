"""A node over HTTP: one request, one answer, within a time limit, and no other address.

All that is used of web3 and its parts is imported here; nothing else in this package imports them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar, cast
from urllib.parse import SplitResult, unquote, urlsplit

from supm.publication.chain.contract import ChainError, UnreachableNodeError, one_line
from supm.publication.remote import within

# One of web3's parts, py_ecc, raises Python's limit on recursion to 100,000 for the whole process
# when it is imported. A message of many opening brackets would then end the process instead of
# being refused, so the limit is put back.
_LIMIT: Final = sys.getrecursionlimit()

import requests  # noqa: E402  after the limit was read
from eth_account import Account as Keys  # noqa: E402, F401  the same
from eth_typing import ChecksumAddress, HexStr  # noqa: E402, F401  the same
from web3 import Web3  # noqa: E402  the same
from web3.contract import Contract  # noqa: E402, F401  the same
from web3.exceptions import ContractLogicError, TimeExhausted, Web3RPCError  # noqa: E402, F401  the same
from web3.middleware import ExtraDataToPOAMiddleware  # noqa: E402  the same
from web3.providers import BaseProvider, JSONBaseProvider  # noqa: E402  the same
from web3.types import RPCEndpoint, RPCResponse, TxParams, TxReceipt  # noqa: E402, F401  the same

sys.setrecursionlimit(_LIMIT)


ANSWER_SECONDS: Final = 20.0
_CONNECT_SECONDS: Final = 10.0
_LARGEST_ANSWER: Final = 1 << 25
_SHORTEST_SECRET: Final = 4
_HEADERS: Final = {"Content-Type": "application/json", "User-Agent": "supm"}
_Answer = TypeVar("_Answer")


class EthereumNode(JSONBaseProvider):
    """A node that speaks JSON-RPC over HTTP.

    Unlike the provider of web3 it follows no redirection, tries nothing twice, bounds the time and
    the length of an answer, and shows its URL nowhere, because URLs of nodes contain passwords.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        self._secrets = _secrets(urlsplit(url))

    def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:  # noqa: ANN401  web3's own words
        """Return the answer to one call."""
        body = self.encode_rpc_request(method, params)
        status, content = _within(ANSWER_SECONDS, lambda: _post(self._url, body))
        answer = _read(status, content)
        if isinstance(answer.get("error"), dict):
            answer["error"]["message"] = self._without_secrets(answer["error"].get("message"))
        return cast("RPCResponse", answer)

    def _without_secrets(self, text: object) -> str:
        told = str(text)
        for secret in self._secrets:
            told = told.replace(secret, "…")
        return told


def connect(where: str | BaseProvider) -> Web3:
    """Return web3 on a node, or on a chain in this process."""
    if isinstance(where, str):
        check_url(where)
        where = EthereumNode(where)
    web3 = Web3(where)
    # Some chains write more into a block's header than Ethereum does.
    web3.middleware_onion.inject(ExtraDataToPOAMiddleware, layer=0)
    return web3


def check_url(url: str) -> None:
    """Raise ChainError, which does not show it, for what is no URL of a node."""
    try:
        parts = urlsplit(url)
        named = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or 1)
    except ValueError:
        named = False
    if not named:
        raise ChainError("the node's URL must begin with http:// or https:// and name a host.")


@contextmanager
def explained(doing: str) -> Iterator[None]:
    """Say in one sentence what went wrong, without a word of what the library would show."""
    try:
        yield
    except ChainError:
        raise
    except ContractLogicError as error:
        message = f"the contract refused {doing}: {_reason(error)}."
    except Web3RPCError as error:
        message = f"the node refused {doing}: {_complaint(error)}."
    except Exception as error:  # noqa: BLE001  a stranger's answer can break the library anywhere
        message = (
            f"the answer about {doing} is not one of an Ethereum node or not one of this contract "
            f"({type(error).__name__}); check the URL and the contract's address."
        )
    else:
        return
    raise ChainError(message) from None


def _reason(error: ContractLogicError) -> str:
    told = one_line(error.message or "").removeprefix("execution reverted").lstrip(": ")
    return told or "it gave no reason"


def _complaint(error: Web3RPCError) -> str:
    form = (error.rpc_response or {}).get("error")
    told = form.get("message") if isinstance(form, dict) else None
    return one_line(told or "it gave no reason")


def _secrets(parts: SplitResult) -> list[str]:
    """Return what of a URL a node could repeat in an error; the longest first."""
    words = [parts.username, parts.password, *parts.path.split("/"), parts.query]
    words += [each.partition("=")[2] for each in parts.query.split("&")]
    found = {form for word in words if word for form in (word, unquote(word))}
    return sorted((each for each in found if len(each) >= _SHORTEST_SECRET), key=len, reverse=True)


def _post(url: str, body: bytes) -> tuple[int, bytes]:
    with requests.post(
        url,
        data=body,
        headers=_HEADERS,
        timeout=(_CONNECT_SECONDS, ANSWER_SECONDS),
        allow_redirects=False,
        stream=True,
    ) as answer:
        return answer.status_code, answer.raw.read(_LARGEST_ANSWER + 1, decode_content=True)


def _read(status: int, content: bytes) -> dict[str, Any]:
    """Return the answer's object; what else a host sends is told by its status alone."""
    if len(content) > _LARGEST_ANSWER:
        raise ChainError("the node's answer is too long to be one; nothing of it was used.")
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        answer = None
    if isinstance(answer, dict) and ("result" in answer or "error" in answer):
        return answer
    raise ChainError(
        f"what listens at the URL is no Ethereum node: it answered with HTTP status {status}."
    )


def _within(seconds: float, call: Callable[[], _Answer]) -> _Answer:
    """Return what a call returns, or say why the node could not be asked."""
    try:
        return within(seconds, call)
    except Exception as error:  # noqa: BLE001  of many kinds, and shown in our words
        found = requests.Timeout() if isinstance(error, TimeoutError) else error
        raise UnreachableNodeError(_unreachable(found, seconds)) from None


def _unreachable(error: Exception, seconds: float) -> str:
    if isinstance(error, requests.exceptions.SSLError):
        return "the node's certificate is not one that this machine trusts; nothing was sent."
    if isinstance(error, requests.Timeout):
        return f"the node did not answer within {seconds:g} seconds; is its URL right?"
    return "the node cannot be reached; is its URL right, and is it running?"
