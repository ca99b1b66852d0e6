"""copulas: a Gaussian copula of a clean table, without privacy; fit, then 100,000 rows."""

from __future__ import annotations

import json
import sys
import time
import warnings
from importlib.metadata import version

import pandas as pd
from copulas.multivariate import GaussianMultivariate  # type: ignore[import-not-found]  # it lives in an environment of its own

from peers.made_table import clean_table

_SAMPLES = 100_000
_DISTRIBUTIONS = {
    "every shape is a normal": "copulas.univariate.gaussian.GaussianUnivariate",
    "every shape is chosen": "copulas.univariate.base.Univariate",
}


def _seconds(distribution: str, rows: int) -> float:
    table = pd.DataFrame(clean_table(rows))
    start = time.perf_counter()
    model = GaussianMultivariate(distribution=distribution)
    model.fit(table)
    model.sample(_SAMPLES)
    return time.perf_counter() - start


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asked: dict[str, int] = json.loads(sys.argv[1])
    seconds = {name: _seconds(_DISTRIBUTIONS[name], rows) for name, rows in asked.items()}
    print(json.dumps({"package": "copulas", "version": version("copulas"), "seconds": seconds}))
