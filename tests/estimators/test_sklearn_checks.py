"""scikit-learn's own checks, with a sentence for each that cannot hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from supm.estimators import (
    LocalRandomizer,
    NoiseAwareClassifier,
    NoiseAwareRegressor,
    PrivateLDA,
    PrivateLogisticRegression,
    PrivatePCA,
    PrivateSVC,
    SUPMClassifier,
    SUPMRegressor,
)

_BY_ROW = (
    "each row is reported with noise of its own, drawn in the order of the rows, so a part of a "
    "table, or the table in another order, is reported with other noise"
)
_EACH_ROW = {
    "check_methods_sample_order_invariance": _BY_ROW,
    "check_methods_subset_invariance": _BY_ROW,
}
# A study of the few people of these checks answers every test report about labels alike, so there
# the two checks hold. On the device, and where all is trusted, the row itself is answered, which
# has no noise.
# Some checks set no seed, and 20 people may then leave a group empty: all have one from the start.
ESTIMATORS: list[tuple[Any, dict[str, str]]] = [
    (LocalRandomizer(random_state=0), _EACH_ROW),
    (SUPMClassifier(random_state=0), {}),
    (SUPMClassifier(random_state=0, mode="faithful"), {}),
    (SUPMClassifier(random_state=0, trust="u,u,d"), {}),
    (SUPMClassifier(random_state=0, trust="t,t,t", classifier=LogisticRegression()), {}),
    (SUPMRegressor(random_state=0), _EACH_ROW),
    (SUPMRegressor(random_state=0, trust="u,u,d"), {}),
    (PrivateLDA(random_state=0), {}),
    (PrivateLDA(random_state=0, histogram=False), {}),
    (PrivatePCA(random_state=0), {}),
    (PrivateSVC(random_state=0), {}),
    (PrivateSVC(random_state=0, bounds=None), {}),
    (PrivateLogisticRegression(random_state=0), {}),
    (NoiseAwareClassifier(), {}),
    (NoiseAwareClassifier(epsilon=20.0, label_epsilon=4.0), {}),
    (NoiseAwareRegressor(), {}),
    (NoiseAwareRegressor(epsilon=20.0, bounds=(-5.0, 5.0), form="linear"), {}),
]
# scikit-learn runs these on its own estimators and leaves them out of the list for others.
FURTHER = [
    (LocalRandomizer(), "check_dataframe_column_names_consistency"),
    (LocalRandomizer(), "check_get_feature_names_out_error"),
    (LocalRandomizer(), "check_global_output_transform_pandas"),
    (LocalRandomizer(), "check_global_set_output_transform_polars"),
    (LocalRandomizer(), "check_set_output_transform"),
    (LocalRandomizer(), "check_set_output_transform_pandas"),
    (LocalRandomizer(), "check_set_output_transform_polars"),
    (LocalRandomizer(), "check_transformer_get_feature_names_out"),
    (LocalRandomizer(), "check_transformer_get_feature_names_out_pandas"),
    (PrivatePCA(), "check_dataframe_column_names_consistency"),
    (PrivatePCA(), "check_get_feature_names_out_error"),
    (PrivatePCA(), "check_global_output_transform_pandas"),
    (PrivatePCA(), "check_set_output_transform"),
    (PrivatePCA(), "check_set_output_transform_pandas"),
    (PrivatePCA(), "check_transformer_get_feature_names_out"),
    (PrivatePCA(), "check_transformer_get_feature_names_out_pandas"),
    (PrivateLDA(), "check_dataframe_column_names_consistency"),
    (PrivateSVC(), "check_dataframe_column_names_consistency"),
    (NoiseAwareClassifier(), "check_dataframe_column_names_consistency"),
    (NoiseAwareRegressor(), "check_dataframe_column_names_consistency"),
    (SUPMClassifier(), "check_dataframe_column_names_consistency"),
    (SUPMRegressor(), "check_dataframe_column_names_consistency"),
]


def expected_failures(estimator: object) -> dict[str, str]:
    return next(expected for each, expected in ESTIMATORS if each is estimator)


@pytest.mark.filterwarnings(
    "ignore:(most (values of|targets)|(column .*|the target) cannot be)"
)  # its tables are not made for our bounds, nor noised
@parametrize_with_checks(  # type: ignore[untyped-decorator]  # scikit-learn has no types
    [each for each, _ in ESTIMATORS], expected_failed_checks=expected_failures
)
def test_scikit_learns_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


# They fit with names and then without, and without a schema.
@pytest.mark.filterwarnings("ignore:(X .* feature names|the labels that occur)")
@pytest.mark.parametrize(("estimator", "check"), FURTHER, ids=str)
def test_a_further_check(estimator: Any, check: str) -> None:
    getattr(estimator_checks, check)(type(estimator).__name__, estimator)
