"""Load in a process of its own: reports to one study, over a few connections that stay open.

Usage: python load.py WHAT, with a JSON object on standard input; prints one JSON line. Bodies are
made before the clock starts, except where so many are sent that memory would not hold them.

WHAT is batches (how many a second), one (single reports, how many a second), paced (single reports
at a given rate: how long an answer takes) or fill (batches of the largest size, until enough are
stored).
"""

from __future__ import annotations

import asyncio
import gc
import io
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from supm import secure, simulation
from supm.messages import Study
from supm.owner import interview

__all__ = ["Crowd", "main"]

_ARROW, _JSON = "application/vnd.apache.arrow.stream", "application/json"
_POOL = 50_000
_LARGEST = 10_000


class Crowd:
    """Reports to the open question of a study: fresh ids, and symbols out of a pool."""

    def __init__(self, document: str, phase: str) -> None:
        study = Study.from_json(document)
        question = study.question(phase)
        if question is None:
            raise ValueError(f"the study has no question in the {phase} phase.")
        self._head = {"version": 1, "study": study.hash, "phase": phase, "group": question.group}
        asked, source = interview(study, phase), simulation(1)
        told = asked.randomize(asked.encode(study.schema.read(_people(study, source))), source)
        symbols = told.symbols.astype(np.int64)
        small = np.uint16 if symbols.max() <= np.iinfo(np.uint16).max else np.int64
        self._pool = symbols.astype(small)

    def arrow(self, count: int) -> bytes:
        """Return a batch as an Arrow stream."""
        ids, rows = self._draw(count)
        width = rows.shape[1]
        told = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), width)
        numbers = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(16), count, [None, pa.py_buffer(ids.tobytes())]
        )
        batch = pa.record_batch([numbers, told], names=["id", "symbols"])
        head = {name: str(value) for name, value in self._head.items()}
        file = io.BytesIO()
        with pa.ipc.new_stream(file, batch.schema.with_metadata(head)) as writer:
            writer.write_batch(batch.replace_schema_metadata(head))
        return file.getvalue()

    def json(self, count: int) -> bytes:
        """Return a batch as JSON."""
        pairs = zip(*self._draw(count), strict=True)
        reports = [{"id": one.tobytes().hex(), "symbols": row.tolist()} for one, row in pairs]
        return json.dumps(self._head | {"reports": reports}, separators=(",", ":")).encode()

    def one(self) -> bytes:
        """Return one report."""
        ids, rows = self._draw(1)
        mine = {"symbols": rows[0].tolist(), "id": ids.tobytes().hex()}
        return json.dumps(self._head | mine, separators=(",", ":")).encode()

    def _draw(self, count: int) -> tuple[NDArray[np.uint8], NDArray[Any]]:
        ids = secure().words(2 * count).view(np.uint8).reshape(count, 16)
        start = int(secure().below(len(self._pool), 1)[0])
        places = np.arange(start, start + count) % len(self._pool)
        return ids, self._pool[places]


def _people(study: Study, source: Any) -> dict[str, NDArray[Any]]:  # noqa: ANN401  a random source
    """Return made-up records whose label follows three of the numbers, four times in five."""
    names = study.schema.names
    numbers = {name: source.below(1000, _POOL) / 1000.0 for name in names}
    leaning = sum(numbers[name] for name in names[:3]) > 1.5
    label = leaning ^ (source.below(5, _POOL) == 0)
    values = np.array(study.schema.target.values)  # type: ignore[union-attr]  # it is a class
    return {**numbers, study.schema.target.name: values[label.astype(int)]}


class _Line:
    """One connection that stays open."""

    def __init__(self, url: str, path: str, media_type: str) -> None:
        self._host, self._port = urlsplit(url).hostname, urlsplit(url).port
        self._start = (
            f"POST {path} HTTP/1.1\r\nHost: here\r\nContent-Type: {media_type}\r\nContent-Length: "
        )

    async def open(self) -> _Line:
        self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        return self

    async def send(self, body: bytes) -> dict[str, Any]:
        self._writer.write(f"{self._start}{len(body)}\r\n\r\n".encode() + body)
        head = await self._reader.readuntil(b"\r\n\r\n")
        lines = dict(line.split(b": ", 1) for line in head.lower().split(b"\r\n")[1:-2])
        told = await self._reader.readexactly(int(lines[b"content-length"]))
        if head.split(b" ", 2)[1] not in (b"200", b"201"):
            raise RuntimeError(f"{head.splitlines()[0].decode()}: {told.decode()}")
        answer: dict[str, Any] = json.loads(told)
        return answer

    def close(self) -> None:
        self._writer.close()


async def _at_once(lines: list[_Line], bodies: Iterator[bytes]) -> int:
    """Send all, each connection one after the other; return how many reports were new."""

    async def work(line: _Line) -> int:
        new = 0
        for body in bodies:
            answer = await line.send(body)
            new += answer.get("accepted", 1)
        return new

    return sum(await asyncio.gather(*map(work, lines)))


async def _paced(lines: list[_Line], bodies: list[bytes], rate: float) -> list[float]:
    """Send at a rate, whether or not answers are there; return seconds since each was due."""
    free: asyncio.Queue[_Line] = asyncio.Queue()
    for line in lines:
        free.put_nowait(line)
    seconds: list[float] = []
    loop = asyncio.get_running_loop()
    start = loop.time()

    async def work(body: bytes, due: float) -> None:
        line = await free.get()
        await line.send(body)
        seconds.append(loop.time() - due)
        free.put_nowait(line)

    tasks = []
    for number, body in enumerate(bodies):
        due = start + number / rate
        if (wait := due - loop.time()) > 0:
            await asyncio.sleep(wait)
        tasks.append(asyncio.create_task(work(body, due)))
    await asyncio.gather(*tasks)
    return seconds


async def _run(what: str, wish: dict[str, Any]) -> dict[str, float]:
    crowd = Crowd(wish["document"], wish["phase"])
    media_type = _ARROW if wish.get("arrow") else _JSON
    lines = [_Line(wish["url"], wish["path"], media_type) for _ in range(wish["lines"])]
    for line in lines:
        await line.open()
    count = wish["count"]
    try:
        if what == "paced":
            bodies = [crowd.one() for _ in range(count)]
            # A collection over all that is imported would stop this process, not the server.
            gc.freeze()
            seconds = np.array(await _paced(lines, bodies, wish["rate"]))
            return {f"p{level}": float(np.percentile(seconds, level)) for level in (50, 99)}
        bodies = _bodies(what, crowd, wish)
        begun = time.perf_counter()
        new = await _at_once(lines, iter(bodies))
        return {"reports": new, "seconds": time.perf_counter() - begun}
    finally:
        for line in lines:
            line.close()


def _bodies(what: str, crowd: Crowd, wish: dict[str, Any]) -> Any:  # noqa: ANN401  made, or to be made
    count, size = wish["count"], wish.get("size", _LARGEST)
    if what == "fill":
        return (crowd.arrow(size) for _ in range(count))
    make: Callable[[int], bytes] = crowd.arrow if wish.get("arrow") else crowd.json
    return [crowd.one() if what == "one" else make(size) for _ in range(count)]


def main() -> None:
    """Send what standard input wishes."""
    print(json.dumps(asyncio.run(_run(sys.argv[1], json.load(sys.stdin)))))


if __name__ == "__main__":
    main()
