"""The only place where randomness is made.

One generator serves both uses: AES-256 in counter mode. ``secure()`` keys it from the operating
system; ``simulation(seed)`` keys it from a public seed, and everything made from it is marked as a
simulation, because whoever knows the seed can undo the noise.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import threading
import weakref
from typing import Final, NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._validation import Integers

_BUFFER_WORDS: Final = 1 << 13
_ZEROS: Final = bytes(1 << 19)
_COUNT: Final = Integers("count", 0, 1 << 48)
_SEED: Final = Integers("seed", 0, 1 << 128)
_BOUND: Final = Integers("bound", 1, 1 << 63)
_LIVE: Final[weakref.WeakSet[RandomSource]] = weakref.WeakSet()


class RandomSource:
    """Uniform 64-bit words from an AES-256-CTR keystream, safe in threads and after a fork.

    Use `secure` or `simulation` to make one. A secure source takes a new key in a forked child, so
    parent and child never draw the same words; a simulation goes on with the stream that its seed
    fixes.

    Parameters
    ----------
    public_key : bytes, optional
        32 bytes that fix the stream of a simulation. Without them the operating system gives a
        secret key: whoever could choose the key of a secure source would know its noise.
    """

    __slots__ = ("__weakref__", "_buffer", "_encrypt", "_key", "_lock", "_next", "_simulation")

    def __init__(self, public_key: bytes | None = None) -> None:
        self._simulation = public_key is not None
        self._start(secrets.token_bytes(32) if public_key is None else public_key)
        _LIVE.add(self)

    @property
    def simulation(self) -> bool:
        """Whether the key is public, so that nothing made from the stream is private."""
        return self._simulation

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` independent uniform 64-bit words.

        Examples
        --------
        >>> simulation(7).words(2).tolist() == simulation(7).words(2).tolist()
        True
        """
        count = _COUNT.check(count)
        with self._lock:
            return self._take(count) if count <= _BUFFER_WORDS else self._stream(count)

    def below(self, bound: int, count: int) -> NDArray[np.uint64]:
        """Return ``count`` independent integers, exactly uniform on 0 … bound - 1.

        Words are cut into ``bound`` equal runs; the few words left over are drawn again, so that no
        integer is favoured.

        Examples
        --------
        >>> bool((simulation(7).below(6, 1000) < 6).all())
        True
        """
        bound = _BOUND.check(bound)
        if bound == 1:
            return np.zeros(_COUNT.check(count), dtype=np.uint64)
        run = np.uint64((1 << 64) // bound)
        drawn = self.words(count)
        np.floor_divide(drawn, run, out=drawn)
        left_over = np.flatnonzero(drawn >= np.uint64(bound))
        while left_over.size:
            drawn[left_over] = self.words(left_over.size) // run
            left_over = left_over[drawn[left_over] >= np.uint64(bound)]
        return drawn

    def permutation(self, count: int) -> NDArray[np.int64]:
        """Return the numbers 0 … count - 1 in an order that is exactly uniform among all orders.

        Examples
        --------
        >>> sorted(simulation(7).permutation(5).tolist())
        [0, 1, 2, 3, 4]
        """
        while True:
            keys = self.words(count)
            order = np.argsort(keys)
            # Distinct keys are in uniform order; with a tie the order would depend on the sort.
            if (np.diff(keys[order]) > 0).all():
                return order

    def child(self, label: str) -> RandomSource:
        """Return an independent source, for a worker or a sub-task.

        The child of a simulation is fixed by the parent's seed and the label; the child of a secure
        source is keyed anew by the operating system.
        """
        if not isinstance(label, str):
            raise ParameterError("label", "a text", label)
        if not self.simulation:
            return secure()
        key = hashlib.sha256(self._key + label.encode()).digest()
        return RandomSource(key)

    def __repr__(self) -> str:
        """Say which kind it is, never the key."""
        return "RandomSource(simulation)" if self.simulation else "RandomSource(secure)"

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied: two holders of one key would draw the same noise."""
        raise TypeError(
            "a RandomSource cannot be copied or pickled; use child(label) for each worker."
        )

    def _start(self, key: bytes) -> None:
        # A lock that another thread held at the moment of a fork would stay locked in the child.
        self._lock = threading.Lock()
        self._key = key
        self._encrypt = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
        self._buffer = np.empty(0, dtype=np.uint64)
        self._next = 0

    def _after_fork(self) -> None:
        if self.simulation:
            self._lock = threading.Lock()
        else:
            self._start(secrets.token_bytes(32))

    def _take(self, count: int) -> NDArray[np.uint64]:
        if self._next + count > self._buffer.size:
            self._buffer = self._stream(_BUFFER_WORDS)
            self._next = 0
        taken = self._buffer[self._next : self._next + count].copy()
        # A word that was handed out must not be readable here later.
        self._buffer[self._next : self._next + count] = 0
        self._next += count
        return taken

    def _stream(self, count: int) -> NDArray[np.uint64]:
        # update_into wants room for one more block than it writes.
        out = np.empty(count + 2, dtype="<u8")
        room = out.data.cast("B")
        done, total = 0, 8 * count
        while done < total:
            piece = min(len(_ZEROS), total - done)
            done += self._encrypt.update_into(memoryview(_ZEROS)[:piece], room[done:])
        return out[:count].astype(np.uint64, copy=False)


def secure() -> RandomSource:
    """Return a source keyed by the operating system.

    Examples
    --------
    >>> secure().simulation
    False
    """
    return RandomSource()


def simulation(seed: int) -> RandomSource:
    """Return a reproducible source. What is made from it is a simulation, not a private release.

    Parameters
    ----------
    seed : int
        Which stream, 0 to 2^128. It is public.

    Returns
    -------
    RandomSource
        The stream from its beginning.

    Examples
    --------
    >>> simulation(1)
    RandomSource(simulation)
    """
    key = hashlib.sha256(b"supm simulation %d" % _SEED.check(seed)).digest()
    return RandomSource(key)


def check_source(source: object) -> RandomSource:
    """Return the source, or raise ParameterError where something else was given.

    Examples
    --------
    >>> check_source(7)
    Traceback (most recent call last):
    supm._errors.ParameterError: source must be supm.secure() or supm.simulation(seed), got 7.
    """
    if isinstance(source, RandomSource):
        return source
    got = source if isinstance(source, int | str | None) else type(source).__name__
    raise ParameterError("source", "supm.secure() or supm.simulation(seed)", got)


def uniforms(count: int, source: RandomSource) -> NDArray[np.float64]:
    """Return odd multiples of 2^-53 between 0 and 1: never 0, never 1, and symmetric.

    Floats follow a density as closely as they can. That is enough for a simulation and for the
    papers' own mechanisms, but floats are not exactly private: see `GaussianNoise`.

    Examples
    --------
    >>> drawn = uniforms(1000, simulation(1))
    >>> bool((drawn > 0).all() and (drawn < 1).all())
    True
    """
    words = check_source(source).words(count) >> np.uint64(12)
    drawn: NDArray[np.float64] = words.astype(np.float64)
    drawn += 0.5
    drawn *= 2.0**-52
    return drawn


def normals(count: int, source: RandomSource) -> NDArray[np.float64]:
    """Return standard normal numbers by the inverse of their distribution function.

    Examples
    --------
    >>> bool(np.abs(normals(1000, simulation(1))).max() < 8.3)
    True
    """
    from scipy.special import ndtri  # noqa: PLC0415  an owner has no SciPy

    return np.asarray(ndtri(uniforms(count, source)))


def _after_fork_in_child() -> None:
    for source in list(_LIVE):
        source._after_fork()  # noqa: SLF001  the hook belongs to the class; there is no other caller


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_after_fork_in_child)
