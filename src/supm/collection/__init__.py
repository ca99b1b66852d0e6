"""Many owners, one record each: study, aggregator, and the three phases."""

from __future__ import annotations

from supm.collection.account import Account, account, check_statement, make_statement
from supm.collection.counting import Counts, RowCounts, count
from supm.collection.crossvalidation import (
    NumberTrial,
    Trial,
    cross_validate,
    cross_validate_number,
)
from supm.collection.crowd import run_in_process
from supm.collection.forecasting import Forecast, forecast
from supm.collection.planning import plan
from supm.collection.reception import Reception
from supm.collection.reduction import associations, reduce_study
from supm.collection.simulation import (
    NumberSimulation,
    Simulation,
    simulate,
    simulate_number,
)
from supm.collection.testing import answer_on_device, answer_reports
from supm.collection.training import Trained, publish, train

__all__ = [
    "Account",
    "Counts",
    "Forecast",
    "NumberSimulation",
    "NumberTrial",
    "Reception",
    "RowCounts",
    "Simulation",
    "Trained",
    "Trial",
    "account",
    "answer_on_device",
    "answer_reports",
    "associations",
    "check_statement",
    "count",
    "cross_validate",
    "cross_validate_number",
    "forecast",
    "make_statement",
    "plan",
    "publish",
    "reduce_study",
    "run_in_process",
    "simulate",
    "simulate_number",
    "train",
]
