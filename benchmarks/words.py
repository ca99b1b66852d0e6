"""Random 64-bit words: our secure stream beside the operating system's and NumPy's."""

from __future__ import annotations

import os
from functools import partial

import numpy as np
from peers import numpy_vectorised
from tables import Row, Table
from timing import Step, Work, best_seconds, silent

from supm._random import secure

__all__ = ["words"]


def words(count: int, repeats: int, step: Step = silent) -> Table:
    """Measure how many bytes a second each source gives."""
    step("random words")
    fast = partial(numpy_vectorised.random_words, count, numpy_vectorised.generator())
    kinds: dict[str, tuple[str, Work]] = {
        "SUPM": ("secure", partial(secure().words, count)),
        "os.urandom": ("secure", partial(os.urandom, 8 * count)),
        f"NumPy {np.__version__} PCG64": ("not secure", fast),
    }
    best = best_seconds({name: work for name, (_, work) in kinds.items()}, repeats)
    own = best["SUPM"]
    rows: list[Row] = [
        {
            "source": name,
            "randomness": kinds[name][0],
            "GB_per_second": 8e-9 * count / seconds,
            "times_our_time": seconds / own,
        }
        for name, seconds in best.items()
    ]
    return Table(f"Random words, {count:,} at a time", rows)
