"""Masks that vanish in the sum: each pair shares one, added by the one and taken away by the other.

All arithmetic is modulo 2^64, in which a masked number is uniform whatever it hides.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm.federation.secure_sum.keys import stream

__all__ = ["as_signed", "as_unsigned", "mask_vector", "pair_masks", "unmask_total"]


def pair_masks(number: int, keys: Mapping[int, bytes], length: int) -> NDArray[np.uint64]:
    """Return the sum of the masks that a party shares with others.

    Parameters
    ----------
    number : int
        The party's own number.
    keys : mapping of int to bytes
        The key agreed with each of the others.
    length : int
        How many numbers are masked.

    Returns
    -------
    ndarray of uint64
        Masks with higher numbers are added, those with lower numbers taken away.

    Examples
    --------
    >>> key = bytes(range(32))
    >>> total = pair_masks(0, {1: key}, 3) + pair_masks(1, {0: key}, 3)
    >>> total.tolist()
    [0, 0, 0]
    """
    if number in keys:
        raise ParameterError("keys", "those agreed with others", number)
    total = np.zeros(length, dtype=np.uint64)
    for other, key in keys.items():
        change = np.add if other > number else np.subtract
        change(total, stream(key, length), out=total)
    return total


def mask_vector(
    vector: NDArray[np.int64], number: int, own: bytes, keys: Mapping[int, bytes]
) -> NDArray[np.uint64]:
    """Hide a vector under the party's own mask and those that it shares with others.

    Parameters
    ----------
    vector : ndarray of int64
        What only the sum shall tell.
    number : int
        The party's own number.
    own : bytes
        The key of the party's own mask.
    keys : mapping of int to bytes
        The key agreed with each of the others.

    Returns
    -------
    ndarray of uint64

    Examples
    --------
    >>> vector, own = np.array([-1, 2]), bytes(32)
    >>> unmask_total(mask_vector(vector, 0, own, {}), [own], {}).tolist()
    [-1, 2]
    """
    masked = pair_masks(number, keys, vector.size)
    np.add(masked, stream(own, vector.size), out=masked)
    return np.add(masked, as_unsigned(vector), out=masked)


def unmask_total(
    total: NDArray[np.uint64], own: list[bytes], left: Mapping[int, Mapping[int, bytes]]
) -> NDArray[np.int64]:
    """Take away what masks are left in a sum of masked vectors.

    Parameters
    ----------
    total : ndarray of uint64
        The sum over those who answered, modulo 2^64.
    own : list of bytes
        The keys of the own masks of all who answered.
    left : mapping of int to mapping of int to bytes
        For each who did not answer, the key agreed with each who did.

    Returns
    -------
    ndarray of int64
        The sum of the vectors.

    Examples
    --------
    >>> key, own = bytes(range(32)), bytes(32)
    >>> alone = mask_vector(np.array([7]), 0, own, {1: key})
    >>> unmask_total(alone, [own], {1: {0: key}}).tolist()
    [7]
    """
    opened = total.copy()
    for key in own:
        np.subtract(opened, stream(key, total.size), out=opened)
    for lost, keys in left.items():
        # What the lost one would have added is the negative of what the others left behind.
        np.add(opened, pair_masks(lost, keys, total.size), out=opened)
    return as_signed(opened)


def as_unsigned(vector: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return whole numbers modulo 2^64.

    Examples
    --------
    >>> int(as_unsigned(np.array([-1]))[0]) == 2**64 - 1
    True
    """
    return np.ascontiguousarray(vector).view(np.uint64)


def as_signed(total: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return numbers modulo 2^64 as those between -2^63 and 2^63 - 1.

    Examples
    --------
    >>> as_signed(np.array([2**64 - 1], dtype=np.uint64)).tolist()
    [-1]
    """
    return np.ascontiguousarray(total).view(np.int64)
