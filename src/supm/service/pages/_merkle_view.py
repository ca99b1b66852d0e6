"""The way from an entry to the root of its log, as places in a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from supm.publication.merkle import hash_leaf, hash_pair
from supm.publication.proof import Proof

__all__ = ["Box", "Picture", "picture_of"]

_WIDTH: Final = 400.0
_BOX: Final = (116.0, 30.0)
_STEP: Final = 58.0
_EDGE: Final = 26.0
_SIDES: Final = {"left": 0.19, "right": 0.81}


@dataclass(frozen=True, kw_only=True)
class Box:
    """One hash of the picture.

    Parameters
    ----------
    x, y : float
        The middle of its box.
    role : {"entry", "beside", "between", "root"}
        What it is the hash of.
    hash : str
        All its digits.
    """

    x: float
    y: float
    role: str
    hash: str

    @property
    def short(self) -> str:
        """As many digits as the box has room for."""
        return f"{self.hash[:6]}…{self.hash[-4:]}"


@dataclass(frozen=True, kw_only=True)
class Picture:
    """The boxes, the lines between them, and the size of it all.

    Parameters
    ----------
    width, height : float
        Of the picture.
    box : tuple of float
        Width and height of each box.
    boxes : tuple of Box
        From the entry up.
    lines : tuple of tuple of float
        From x and y to x and y, upwards.
    """

    width: float
    height: float
    box: tuple[float, float]
    boxes: tuple[Box, ...]
    lines: tuple[tuple[float, float, float, float], ...]


def picture_of(proof: Proof) -> Picture:
    """Return the picture of a proof: the entry below, the hashes beside its way, the root above.

    Parameters
    ----------
    proof : Proof
        Whose path leads to the root; that was checked.

    Returns
    -------
    Picture
    """
    ways = _ways(proof)
    height = 2 * _EDGE + _STEP * len(ways)
    boxes, lines = [_first(proof, height - _EDGE)], list[tuple[float, float, float, float]]()
    for level, (side, beside, found) in enumerate(ways, start=1):
        at, below = boxes[-1], _WIDTH * _SIDES[side]
        last = level == len(ways)
        above = _WIDTH / 2 if last else _WIDTH * _SIDES[_other(ways[level][0])]
        top = height - _EDGE - _STEP * level
        boxes.append(Box(x=below, y=at.y, role="beside", hash=beside.hex()))
        lines += [(at.x, at.y, above, top), (below, at.y, above, top)]
        boxes.append(Box(x=above, y=top, role="root" if last else "between", hash=found.hex()))
    return Picture(width=_WIDTH, height=height, box=_BOX, boxes=tuple(boxes), lines=tuple(lines))


def _first(proof: Proof, y: float) -> Box:
    ways, leaf = _ways(proof), hash_leaf(proof.release.text.encode())
    x = _SIDES[_other(ways[0][0])] if ways else 0.5
    return Box(x=_WIDTH * x, y=y, role="entry" if ways else "root", hash=leaf.hex())


def _ways(proof: Proof) -> list[tuple[str, bytes, bytes]]:
    """Return for each step up: where the other hash is, that hash, and the one of both."""
    place, last = proof.release.index, proof.checkpoint.checkpoint.size - 1
    found, rest, ways = hash_leaf(proof.release.text.encode()), list(proof.release.path), []
    while last:
        if place % 2 or place < last:
            other, side = rest.pop(0), "left" if place % 2 else "right"
            found = hash_pair(other, found) if place % 2 else hash_pair(found, other)
            ways.append((side, other, found))
        place, last = place // 2, last // 2
    return ways


def _other(side: str) -> str:
    return "right" if side == "left" else "left"
