from __future__ import annotations

import dataclasses
import json
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supm._errors import ParameterError
from supm.privacy import (
    ApproximateDP,
    GaussianDP,
    Guarantee,
    Neighbours,
    NoGuarantee,
    PureDP,
    PureLDP,
)
from supm.privacy.promise_numbers import DELTA, EPSILON, MU

REPLACE = Neighbours.REPLACE_ONE
TABLES = st.sampled_from([Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE])
RELATIONS = st.sampled_from(Neighbours)
EPSILONS = st.floats(0.0, 1e12)
GUARANTEES = st.one_of(
    st.builds(PureLDP, EPSILONS),
    st.builds(PureDP, epsilon=EPSILONS, neighbours=TABLES),
    st.builds(
        ApproximateDP,
        epsilon=EPSILONS,
        delta=st.floats(0.0, 1.0, exclude_max=True),
        neighbours=RELATIONS,
    ),
    st.builds(GaussianDP, mu=st.floats(0.0, 1e6), neighbours=RELATIONS),
    st.builds(NoGuarantee, st.text(min_size=1).filter(str.strip).filter(str.isprintable)),
)
EXAMPLES: list[Guarantee] = [
    PureLDP(1.0),
    PureDP(epsilon=0.5, neighbours=REPLACE),
    ApproximateDP(epsilon=1.0, delta=1e-6, neighbours=Neighbours.ADD_REMOVE),
    GaussianDP(mu=0.25, neighbours=Neighbours.ANY_RECORDS),
    NoGuarantee("classes are sent as they are"),
]


@pytest.mark.parametrize("bad", [*EPSILON.violations(), -1, "0.5", Decimal(1), 10**400])
def test_epsilon_must_be_a_finite_number_that_is_not_negative(bad: Any) -> None:
    with pytest.raises(ParameterError, match=r"epsilon must be a number in \[0, 1e\+12\], got .*"):
        PureLDP(bad)
    with pytest.raises(ParameterError, match="epsilon"):
        PureDP(epsilon=bad, neighbours=REPLACE)
    with pytest.raises(ParameterError, match="epsilon"):
        ApproximateDP(epsilon=bad, delta=0.1, neighbours=REPLACE)
    with pytest.raises(ParameterError, match="epsilon"):
        GaussianDP(mu=1.0, neighbours=REPLACE).delta_at(bad)
    with pytest.raises(ParameterError, match="epsilon"):
        GaussianDP.for_approximate(epsilon=bad, delta=0.1, neighbours=REPLACE)


@pytest.mark.parametrize("bad", [*DELTA.violations(), 1, 1.5])
def test_delta_must_be_below_one_and_the_refusal_says_so(bad: Any) -> None:
    with pytest.raises(ParameterError, match=r"delta must be a number in \[0, 1\), got .*NoGuar"):
        ApproximateDP(epsilon=1.0, delta=bad, neighbours=REPLACE)


@pytest.mark.parametrize("bad", MU.violations())
def test_mu_must_be_a_finite_number_that_is_not_negative(bad: Any) -> None:
    with pytest.raises(ParameterError, match="mu must be"):
        GaussianDP(mu=bad, neighbours=REPLACE)


@pytest.mark.parametrize("bad", [0.0, -0.1, 1.0, math.nan, "small"])
def test_gaussian_noise_is_not_converted_at_an_inadmissible_delta(bad: Any) -> None:
    with pytest.raises(ParameterError, match="delta must be"):
        GaussianDP(mu=1.0, neighbours=REPLACE).to_approximate(bad)
    with pytest.raises(ParameterError, match="delta must be"):
        GaussianDP.for_approximate(epsilon=1.0, delta=bad, neighbours=REPLACE)


@pytest.mark.parametrize("bad", ["replace-one", None, 2])
def test_neighbours_must_be_a_relation(bad: Any) -> None:
    with pytest.raises(ParameterError, match=r"one of Neighbours\.REPLACE_ONE, "):
        PureDP(epsilon=1.0, neighbours=bad)
    with pytest.raises(ParameterError, match="neighbours"):
        ApproximateDP(epsilon=1.0, delta=0.0, neighbours=bad)
    with pytest.raises(ParameterError, match="neighbours"):
        GaussianDP(mu=1.0, neighbours=bad)


def test_pure_privacy_of_any_records_has_one_spelling() -> None:
    with pytest.raises(ParameterError, match=r"use PureLDP\(epsilon\)"):
        PureDP(epsilon=1.0, neighbours=Neighbours.ANY_RECORDS)


@pytest.mark.parametrize("bad", ["", "  ", None, 3, "\x1b[2J", "\ud800", "two\nlines"])
def test_no_guarantee_needs_a_reason(bad: Any) -> None:
    with pytest.raises(ParameterError, match="reason must be"):
        NoGuarantee(bad)


def test_an_exact_number_is_never_claimed_to_be_smaller() -> None:
    assert Fraction(repr(PureLDP(Fraction(1, 3)).epsilon)) > Fraction(1, 3)  # type: ignore[arg-type]  # any rational is admissible
    assert PureLDP(1) == PureLDP(1.0)
    assert repr(PureLDP(-0.0)) == "PureLDP(epsilon=0.0)"


@pytest.mark.parametrize("guarantee", EXAMPLES, ids=lambda one: one.kind)
def test_a_promise_is_frozen_hashable_and_travels_between_processes(guarantee: Any) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        guarantee.reason = "another"
    assert pickle.loads(pickle.dumps(guarantee)) == guarantee  # noqa: S301  our own bytes
    assert len({guarantee, pickle.loads(pickle.dumps(guarantee))}) == 1  # noqa: S301  the same


@pytest.mark.parametrize("guarantee", EXAMPLES, ids=lambda one: one.kind)
def test_a_promise_prints_as_one_sentence_with_its_numbers(guarantee: Guarantee) -> None:
    text = str(guarantee)
    assert text == guarantee.sentence
    assert text[0].isupper()
    assert text.endswith(").")
    numbers = [v for v in dataclasses.asdict(guarantee).values() if isinstance(v, float)]  # type: ignore[call-overload]  # every kind is a dataclass
    assert all(str(number) in text for number in numbers)


@pytest.mark.parametrize(
    ("epsilon", "factor"),
    [(0.0, "1 "), (1e-9, "1.01 "), (0.5, "1.65 "), (3.0, "20.1 "), (50.0, "e^50.0 ")],
)
def test_the_factor_in_the_sentence_is_rounded_up(epsilon: float, factor: str) -> None:
    assert f"a factor of at most {factor}" in str(PureLDP(epsilon))


@given(GUARANTEES)
@settings(deadline=None)
def test_a_promise_survives_json(guarantee: Guarantee) -> None:
    text = json.dumps(guarantee.to_form(), allow_nan=False)
    assert Guarantee.from_form(json.loads(text)) == guarantee


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        "pure-ldp",
        {},
        {"epsilon": 1.0},
        {"type": "renyi-dp", "alpha": 2.0},
        {"type": ["pure-ldp"], "epsilon": 1.0},
        {"type": "pure-ldp"},
        {"type": "pure-ldp", "epsilon": 1.0, "delta": 0.0},
        {"type": "pure-ldp", "epsilon": "1.0"},
        {"type": "pure-ldp", "epsilon": math.inf},
        {"type": "pure-dp", "epsilon": 1.0, "neighbours": "swap"},
        {"type": "pure-dp", "epsilon": 1.0, "neighbours": ["replace-one"]},
        {"type": "pure-dp", "epsilon": 1.0, "neighbours": "any-records"},
        {"type": "none", "reason": ""},
    ],
)
def test_a_document_with_anything_unknown_or_missing_is_refused(document: Any) -> None:
    with pytest.raises(ParameterError):
        Guarantee.from_form(document)


@given(st.floats(1e-6, 50.0), st.floats(-12, -1))
@settings(deadline=None)
def test_conversions_between_mu_and_epsilon_do_not_gain(mu: float, log_delta: float) -> None:
    delta = 10.0**log_delta
    start = GaussianDP(mu=mu, neighbours=REPLACE)
    claimed = start.to_approximate(delta)
    assert start <= claimed
    assert start.delta_at(claimed.epsilon) <= delta
    back = GaussianDP.for_approximate(epsilon=claimed.epsilon, delta=delta, neighbours=REPLACE)
    assert back <= claimed
    assert claimed.epsilon == 0.0 or back.mu == pytest.approx(mu, rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "shown"),
    [
        (0.9999999891597571, "1.0"),
        (0.1234561, "0.123457"),
        (4.0, "4.0"),
        (1e-06, "1e-06"),
        (44.3614195558365, "44.3615"),
    ],
)
def test_an_epsilon_is_shown_with_six_digits_and_never_understated(
    epsilon: float, shown: str
) -> None:
    assert f"epsilon = {shown})." in PureLDP(epsilon).sentence
    assert float(shown) >= epsilon
    assert PureLDP(epsilon).to_form()["epsilon"] == epsilon
