"""What the analyst does with people's reports: plan, count, reduce, train, evaluate, simulate.

What a name needs is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supm._lazy import names_on_demand

if TYPE_CHECKING:
    from supm.collection.baseline import Baseline
    from supm.collection.comparing import Comparison, Measured, compare
    from supm.collection.counting import Counts, RowCounts, count
    from supm.collection.crowd import run_in_process
    from supm.collection.evaluation import Evaluation, Trial, cross_validate, evaluate
    from supm.collection.forecasting import Forecast, forecast
    from supm.collection.planning import plan
    from supm.collection.reduction import Reduction, associations, reduce_study
    from supm.collection.simulation import Simulation, simulate, simulate_studies
    from supm.collection.spending import Account, account, check_statement, make_statement
    from supm.collection.testing import answer_on_device, answer_reports
    from supm.collection.training import Trained, make_model, train

__all__ = [
    "Account",
    "Baseline",
    "Comparison",
    "Counts",
    "Evaluation",
    "Forecast",
    "Measured",
    "Reduction",
    "RowCounts",
    "Simulation",
    "Trained",
    "Trial",
    "account",
    "answer_on_device",
    "answer_reports",
    "associations",
    "check_statement",
    "compare",
    "count",
    "cross_validate",
    "evaluate",
    "forecast",
    "make_model",
    "make_statement",
    "plan",
    "reduce_study",
    "run_in_process",
    "simulate",
    "simulate_studies",
    "train",
]

__getattr__ = names_on_demand(
    __name__,
    {
        "baseline": "Baseline",
        "comparing": "Comparison Measured compare",
        "counting": "Counts RowCounts count",
        "crowd": "run_in_process",
        "evaluation": "Evaluation Trial cross_validate evaluate",
        "forecasting": "Forecast forecast",
        "planning": "plan",
        "reduction": "Reduction associations reduce_study",
        "simulation": "Simulation simulate simulate_studies",
        "spending": "Account account check_statement make_statement",
        "testing": "answer_on_device answer_reports",
        "training": "Trained make_model train",
    },
)
