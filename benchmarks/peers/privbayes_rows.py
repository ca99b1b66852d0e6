"""dpmm: PrivBayes. From a table of classes, as many made-up rows under a budget."""

from __future__ import annotations

import json
import sys
import time
import warnings
from importlib.metadata import version

import numpy as np
import pandas as pd
from dpmm.pipelines.priv_bayes import PrivBayesPipeline  # type: ignore[import-not-found]  # it lives in an environment of its own

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asked = json.loads(sys.argv[1])
    names = [f"column {place}" for place in range(len(asked["sizes"]))]
    table = pd.DataFrame(np.load(asked["table"]), columns=names)
    start = time.process_time()
    pipeline = PrivBayesPipeline(
        epsilon=asked["epsilon"],
        delta=asked["delta"],
        gen_kwargs={"n_iters": asked["steps"]},
        n_jobs=1,
        disable_processing=True,
    )
    sizes = dict(zip(names, asked["sizes"], strict=True))
    pipeline.fit(table, domain=sizes, random_state=asked["seed"])
    rows = pipeline.generate(n_records=len(table), random_state=asked["seed"])
    np.save(asked["made_up"], rows[names].to_numpy(dtype=np.int64))
    seconds = time.process_time() - start
    print(json.dumps({"version": version("dpmm"), "seconds": seconds}))
