"""What one client may ask for: not without end, and not all that there is."""

from __future__ import annotations

import hashlib
import ipaddress
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from supm._random import secure
from supm.service.answers import Refused, refusal

__all__ = ["TURNED_AWAY", "Buckets", "ConnectionLimit", "RateLimit", "Shares"]

TURNED_AWAY: Final = "supm.turned_away"
"""Where a scope has the refusal, if there is no room for its connection."""

_MOST_CLIENTS: Final = 1 << 16
_HEALTH: Final = "/api/v1/health"
_AGAIN_SECONDS: Final = 10.0


class _Names:
    """What a client is called here: a keyed hash, with a key that is drawn anew at every start."""

    def __init__(self) -> None:
        self._key = secure().words(4).tobytes()

    def of(self, host: str) -> bytes:
        return hashlib.blake2b(_network(host), key=self._key, digest_size=16).digest()


class Buckets:
    """One bucket of requests for each client, which fills again with time.

    Where a client is on the network is not kept: only a keyed hash of it, in memory, with a key
    that is drawn anew at every start.

    Parameters
    ----------
    rate : float
        How many requests a second one client may send in the long run.
    burst : float
        How many at once.
    clock : callable, optional
        Seconds that only grow; `time.monotonic` by default.
    """

    def __init__(
        self, *, rate: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._names = _Names()
        self._held: dict[bytes, tuple[float, float]] = {}

    def __len__(self) -> int:
        """Return how many clients are remembered."""
        return len(self._held)

    def take(self, host: str) -> float:
        """Take a request out of a client's bucket.

        Parameters
        ----------
        host : str
            The client's address.

        Returns
        -------
        float
            0 where it may go on, else the seconds that it must wait.
        """
        who = self._names.of(host)
        now = self._clock()
        left, since = self._held.get(who, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        allowed = left >= 1.0
        if who not in self._held and len(self._held) >= _MOST_CLIENTS:
            self._forget(now)
        self._held[who] = (left - 1.0 if allowed else left, now)
        return 0.0 if allowed else (1.0 - left) / self._rate

    def _forget(self, now: float) -> None:
        """Forget those whose buckets are full again, and all where nobody's is."""
        full = self._burst / self._rate
        self._held = {who: held for who, held in self._held.items() if now - held[1] < full}
        if len(self._held) >= _MOST_CLIENTS:
            self._held = {}


class Shares:
    """Something of which there is so much: for all together, and for each client.

    Parameters
    ----------
    what : str
        What there is too much of where somebody is refused, in words.
    most : int
        How much all may hold.
    each : int
        How much one client may hold.
    """

    def __init__(self, what: str, *, most: int, each: int) -> None:
        self._what, self._most, self._each = what, most, each
        self._names, self._held, self._all = _Names(), Counter[bytes](), 0

    @property
    def held(self) -> int:
        """How much is held now."""
        return self._all

    def take(self, host: str, amount: int = 1) -> None:
        """Take some, or raise Refused.

        Parameters
        ----------
        host : str
            The client's address.
        amount : int, default 1
            How much.
        """
        who = self._names.of(host)
        if self._all + amount > self._most:
            raise Refused(503, f"{self._what}; try again.", retry_after=_AGAIN_SECONDS)
        if self._held[who] + amount > self._each:
            sentence = f"{self._what} from one place; try again."
            raise Refused(429, sentence, retry_after=_AGAIN_SECONDS)
        self._held[who] += amount
        self._all += amount

    def give_back(self, host: str, amount: int = 1) -> None:
        """Give back what was taken.

        Parameters
        ----------
        host : str
            The client's address.
        amount : int, default 1
            How much.
        """
        who = self._names.of(host)
        self._held[who] -= amount
        self._all -= amount
        if not self._held[who]:
            del self._held[who]


class ConnectionLimit:
    """Answers on a connection for which there is no room, and lets it be closed.

    Parameters
    ----------
    app : ASGI application
        What answers the others.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        refused: Refused | None = scope.get(TURNED_AWAY)
        if refused is None:
            await self._app(scope, receive, send)
            return
        answer = refusal(refused)
        answer.headers["Connection"] = "close"
        await answer(scope, receive, send)


class RateLimit:
    """Answers 429 to a client that sends without end.

    Parameters
    ----------
    app : ASGI application
        What answers the others.
    buckets : Buckets
        What each client has left.
    """

    def __init__(self, app: ASGIApp, *, buckets: Buckets) -> None:
        self._app, self._buckets = app, buckets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        client = scope.get("client")
        wait = self._buckets.take(client[0]) if client and _is_counted(scope) else 0.0
        if wait:
            sentence = "too many requests from one place; wait, or send batches."
            answer = refusal(Refused(429, sentence, retry_after=wait))
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _is_counted(scope: Scope) -> bool:
    if scope["type"] != "http":
        return False
    # What costs nothing: files, and an answer that is kept for a second.
    return scope["path"] != _HEALTH and not scope["path"].startswith("/static/")


def _network(host: str) -> bytes:
    """Return what is one client: an address, or the network of a house (IPv6)."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host.encode()
    if address.version == 4:
        return address.packed
    mapped = address.ipv4_mapped
    return address.packed[:8] if mapped is None else mapped.packed
