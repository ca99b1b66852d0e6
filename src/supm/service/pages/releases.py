"""What was published: the releases of a log, and each with its proof and how to check it."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from supm.messages import ReleaseStatement
from supm.privacy import Guarantee, NoGuarantee, PureLDP
from supm.publication.entry import ReleaseEntry
from supm.publication.log import Log
from supm.publication.merkle import hash_leaf, hash_pair
from supm.publication.proof import Proof
from supm.service.api.log import log_of, reading_log, release_at, safe_name
from supm.service.pages.dashboard import day
from supm.service.pages.frame import render

_A_PAGE: Final = 50
_NUMBER: Final = re.compile("[1-9][0-9]{0,8}")
_HASH: Final = re.compile("[0-9a-f]{64}")
_SIGNS: Final = {"epsilon": "ε", "delta": "δ", "mu": "μ"}
_MOST_PARTIES: Final = 100
_MOST_ROUNDS: Final = 12


def releases_page(request: Request) -> Response:
    """Return the page of all releases, the newest first."""
    log, asked = log_of(request), request.query_params.get("page", "1")
    if _NUMBER.fullmatch(asked) is None:
        raise HTTPException(404)
    with reading_log():
        return render(request, "releases.html", _list_context(log, int(asked)))


def _list_context(log: Log, page: int) -> dict[str, Any]:
    count = log.count_releases()
    shown = log.releases(_A_PAGE, skip=_A_PAGE * (page - 1))
    if not shown and page > 1:
        raise HTTPException(404)
    return {
        "log": log.name,
        "key": str(log.history().current),
        "entries": log.size,
        "releases": [_row(place, release_at(log, place)) for place in shown],
        "count": count,
        "page": page,
        "pages": max(1, -(-count // _A_PAGE)),
    }


def _row(place: int, entry: ReleaseEntry) -> dict[str, Any]:
    return {
        "place": place,
        "name": entry.name,
        "content": entry.content,
        "day": entry.time[:10],
        "time": entry.time.replace("T", " ").replace("Z", " UTC"),
        "kind": _kind(entry),
        "promised": [(_whom(whom), _brief(each)) for whom, each in entry.guarantees.items()],
        "simulation": entry.statement.simulation,
    }


def _kind(entry: ReleaseEntry) -> str:
    together = isinstance(entry.statement, ReleaseStatement)
    return "from parties together" if together else "from a study of owners"


def _whom(whom: str) -> str:
    return f"an owner {whom}" if whom.startswith("who ") else whom


def _brief(guarantee: Guarantee) -> str:
    """Return the numbers of a promise, or that there is none."""
    if isinstance(guarantee, NoGuarantee):
        return "nothing is promised"
    if guarantee == PureLDP(0.0):
        return "nothing leaves"
    numbers = [(name, getattr(guarantee, name, None)) for name in _SIGNS]
    told = [(name, value) for name, value in numbers if value is not None]
    return ", ".join(
        f"{_SIGNS[name]} = {value:.4g}" for name, value in told if (name, value) != ("delta", 0.0)
    )


def release_page(request: Request, content: str) -> Response:
    """Return the page of one release: what is promised, where it is in the log, how to check it."""
    log = log_of(request)
    with reading_log():
        place = log.find(content) if _HASH.fullmatch(content) else None
        if place is None:
            raise HTTPException(404)
        proof = log.proof_at(place)
        proof.release.check(proof.checkpoint)
        kept = log.keeps(content)
        return render(request, "release.html", _context(log, proof, kept=kept))


def _context(log: Log, proof: Proof, *, kept: bool) -> dict[str, Any]:
    entry, signed = proof.entry, proof.checkpoint
    file = safe_name(entry.name)
    return {
        **_row(proof.release.index, entry),
        "log": log.name,
        "size": entry.size,
        "study": entry.study,
        "software": entry.statement.software,
        "words": entry.statement.words,
        "sentences": [(_whom(whom), _sentence(each)) for whom, each in entry.guarantees.items()],
        "under": signed.size,
        "root": signed.root.hex(),
        "contract": proof.contract,
        "anchor": _anchor(log, signed.size),
        "picture": picture_of(proof),
        "path": [each.hex() for each in proof.release.path],
        "rounds": _rounds(entry),
        "file": file,
        "kept": kept,
        "command": _command(file, str(log.history().check(proof.checkpoint))),
    }


def _anchor(log: Log, size: int) -> dict[str, Any]:
    """Return where on the chain the root of a size is, as far as the log was told."""
    told = json.loads(log.anchor_note(size) or "{}")
    return {
        "block": told.get("block"),
        "transaction": told.get("transaction"),
        "time": day(told.get("time")),
    }


def _sentence(guarantee: Guarantee) -> str:
    return "Nothing leaves the device." if guarantee == PureLDP(0.0) else guarantee.sentence


def _command(file: str, key: str) -> list[str]:
    words = ["supm", "verify", file, "--proof", f"{file}.proof", "--key", key]
    return [shlex.quote(each) for each in words]


def _rounds(entry: ReleaseEntry) -> dict[str, Any]:
    """Return the commitments as a table with a row for each party, as far as a page has room."""
    told = entry.commitments
    parties = max((len(each) for each in told), default=0)
    held = told[:_MOST_ROUNDS]
    rows = [
        [each[party] if party < len(each) else "" for each in held]
        for party in range(min(parties, _MOST_PARTIES))
    ]
    return {"parties": parties, "rounds": len(told), "shown": len(held), "rows": rows}


_WIDTH: Final = 400.0
_BOX: Final = (116.0, 30.0)
_STEP: Final = 58.0
_EDGE: Final = 26.0
_SIDES: Final = {"left": 0.19, "right": 0.81}


@dataclass(frozen=True, kw_only=True)
class Box:
    """One hash of the picture."""

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
    """The boxes, the lines between them, and the size of it all."""

    width: float
    height: float
    box: tuple[float, float]
    boxes: tuple[Box, ...]
    lines: tuple[tuple[float, float, float, float], ...]


def picture_of(proof: Proof) -> Picture:
    """Return the picture of a proof: the entry below, the hashes beside its way, the root above."""
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
    place, last = proof.release.index, proof.checkpoint.size - 1
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
