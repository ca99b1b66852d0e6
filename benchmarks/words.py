"""Random 64-bit words: our secure stream beside the operating system's and NumPy's."""

from __future__ import annotations

import os
from functools import partial

import numpy as np
from peers import numpy_vectorised
from tables import Row, Table
from timing import Race, Step

from supm._random import secure

__all__ = ["Words"]

_NUMPY = f"NumPy {np.__version__} PCG64"
_RANDOMNESS = {"SUPM": "secure", "os.urandom": "secure", _NUMPY: "not secure"}


class Words:
    """How many bytes a second each source gives."""

    def __init__(self, count: int) -> None:
        self._count = count
        fast = numpy_vectorised.generator()
        self._race = Race[str](
            {
                "SUPM": partial(secure().words, count),
                "os.urandom": partial(os.urandom, 8 * count),
                _NUMPY: partial(numpy_vectorised.random_words, count, fast),
            }
        )

    def measure(self, repeats: int, step: Step) -> None:
        """Take some turns."""
        step("random words")
        self._race.take_turns(repeats)

    def table(self) -> Table:
        """Return the rates."""
        best = self._race.seconds
        rows: list[Row] = [
            {
                "source": name,
                "randomness": _RANDOMNESS[name],
                "GB_per_second": 8e-9 * self._count / seconds,
                "times_our_time": seconds / best["SUPM"],
            }
            for name, seconds in best.items()
        ]
        return Table(f"Random words, {self._count:,} at a time", rows)
