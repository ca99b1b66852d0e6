from __future__ import annotations

import json
import math
from dataclasses import asdict
from fractions import Fraction
from typing import Any

import pytest
from tests.drawing import drawn

from supm._errors import ParameterError, PromiseError
from supm._random import RandomSource, simulation
from supm.audit import Entry, audit, audit_all, catalogue, entry, kinds
from supm.mechanisms import (
    GeneralizedRandomizedResponse,
    IndependentReports,
    LocalRandomizer,
    Piecewise,
    Reports,
)

ALL = catalogue()
LARGE_GRIDS = ("steps 256, epsilon 1", "steps 1024, epsilon 1")
EXACT_ONLY = [line for line in ALL if not line.sampled]


@pytest.mark.parametrize("name", drawn(list(kinds()), 4))
def test_every_shipped_mechanism_passes_every_check(name: str) -> None:
    line = entry(name, epsilon=1.0)
    found = audit(line.mechanism, simulation(11))
    assert [str(finding) for finding in found.findings if not finding.passed] == []
    assert found.verdict == "true"
    assert found.lower_bound is not None
    assert 0.9 < found.lower_bound <= found.claimed


@pytest.mark.parametrize(
    "line", drawn(EXACT_ONLY, 8), ids=lambda line: f"{line.name} {line.parameters}"
)
def test_every_shipped_mechanism_is_exact_at_extreme_epsilons(line: Entry) -> None:
    found = audit(line.mechanism, simulation(11), sampled=False)
    assert found.verdict == "true"
    assert found.lower_bound is None


@pytest.mark.parametrize("line", drawn([line for line in ALL if line.sampled], 16), ids=str)
def test_every_entry_of_the_catalogue_claims_what_its_channel_gives(line: Entry) -> None:
    found = audit(line.mechanism, simulation(11), sampled=False)
    assert found.verdict == ("not disproved" if found.exact is None else "true")
    skipped = {each.split(":")[0] for each in found.skipped}
    assert not skipped & {finding.check for finding in found.findings}
    assert ("check_epsilon" in skipped) == (found.exact is None)
    if found.exact is None:
        assert line.parameters in {"size 100, epsilon 1", "size 1000, epsilon 1", *LARGE_GRIDS}


class SecretlyThree(GeneralizedRandomizedResponse):
    """It claims 1 whatever it keeps."""

    @property
    def epsilon(self) -> float:
        return 1.0


class SecretlyThreeInWords(SecretlyThree):
    """It also states the probabilities of epsilon 1, and keeps those of 3."""

    @property
    def hit(self) -> Fraction:
        return GeneralizedRandomizedResponse.for_epsilon(size=self.size, epsilon=1.0).hit

    @property
    def miss(self) -> Fraction:
        return GeneralizedRandomizedResponse.for_epsilon(size=self.size, epsilon=1.0).miss


def test_a_false_promise_of_a_large_mechanism_is_disproved_by_its_own_probabilities() -> None:
    found = audit(SecretlyThree.for_epsilon(size=100_000, epsilon=3.0), simulation(1))
    (broken,) = [finding for finding in found.findings if not finding.passed]
    assert str(broken) == "check_support: BROKEN, claimed 1, at least 3"
    assert found.verdict == "broken"


def test_what_cannot_be_computed_is_never_called_true() -> None:
    found = audit(SecretlyThreeInWords.for_epsilon(size=100_000, epsilon=3.0), simulation(1))
    assert found.verdict in {"not disproved", "broken"}
    assert found.exact is None
    large = {
        f"{check}: the channel is too large to write down"
        for check in (
            *("check_inputs", "check_rows_sum_to_one", "check_epsilon", "check_channel"),
            *("check_unbiased", "check_variance"),
            *("check_sampler", "check_independence", "check_positions"),
        )
    }
    many = "check_standard_error: the symbols are too many to be counted"
    assert set(found.skipped) == {*large, many}


def test_an_audit_prints_as_one_line() -> None:
    coin = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=1.0)
    line = str(audit(coin, simulation(1), sampled=False))
    assert line.startswith("GeneralizedRandomizedResponse (size=2, keep_words=")
    assert line.endswith("): claimed 1, exact 1, lower bound -, true")


@pytest.mark.parametrize("mechanism", [lambda value, _: value, 3, None, LocalRandomizer])
def test_what_is_no_randomizer_is_refused(mechanism: Any) -> None:
    with pytest.raises(ParameterError, match=r"LocalRandomizer.*use epsilon_lower_bound"):
        audit(mechanism, simulation(1))


def test_a_randomizer_without_a_channel_is_told_what_is_missing() -> None:
    class Bare(LocalRandomizer):
        epsilon = 1.0
        report_bits = 1

        def randomize(self, values: Any, source: RandomSource) -> Reports:
            return Reports(symbols=values, simulation=source.simulation)

    bare: Any = Bare()
    with pytest.raises(ParameterError, match=r"FiniteChannel and add .*exact_channel"):
        audit(bare, simulation(1))


def test_the_catalogue_holds_every_kind_at_several_epsilons() -> None:
    assert len(kinds()) == 16
    for name in kinds():
        assert sum(line.name == name and line.sampled for line in ALL) >= 4
        assert sum(line.name == name and not line.sampled for line in ALL) == 2


def test_audit_all_names_its_rows_and_keeps_their_order() -> None:
    lines = [entry("duchi", epsilon=2.0), entry("binary-response")]
    rows = list(audit_all(simulation(1), lines))
    assert [row.mechanism for row in rows] == ["duchi", "binary-response"]
    assert rows[0].parameters == "epsilon 2"


def test_an_audit_can_be_stored_as_json() -> None:
    coin = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=1.0)
    text = json.dumps(asdict(audit(coin, simulation(1), sampled=False)), allow_nan=False)
    assert json.loads(text)["claimed"] == coin.epsilon


def test_a_broken_promise_is_raised_with_its_evidence() -> None:
    coin = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=1.0)
    audit(coin, simulation(1), sampled=False).require()
    with pytest.raises(PromiseError, match=r"check_epsilon: BROKEN, claimed 0.5, exact 1"):
        audit(coin, simulation(1), claimed=0.5, sampled=False).require()


def test_a_loose_claim_is_called_loose() -> None:
    coin = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=1.0)
    assert audit(coin, simulation(1), claimed=2.0, sampled=False).verdict == "loose"


def test_a_mechanism_that_crashes_is_broken_and_does_not_stop_the_audit() -> None:
    class Crashing(GeneralizedRandomizedResponse):
        def randomize(self, values: object, source: RandomSource) -> Reports:  # noqa: ARG002  it crashes before
            message = "no randomness today"
            raise OSError(message)

    found = audit(Crashing.for_epsilon(size=2, epsilon=1.0), simulation(1))
    failed = {each.check: each.detail for each in found.findings if not each.passed}
    assert failed["check_sampler"] == "raised OSError: no randomness today"
    assert failed["check_attack"] == "raised OSError: no randomness today"
    assert found.exact == found.claimed


@pytest.mark.parametrize("claimed", [math.inf, math.nan, -1.0, "1", True])
def test_a_claim_that_is_no_epsilon_is_refused(claimed: Any) -> None:
    coin = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=1.0)
    with pytest.raises(ParameterError, match="claimed must be a number in"):
        audit(coin, simulation(1), claimed=claimed)


@pytest.mark.parametrize(
    "mechanism",
    [
        IndependentReports.for_epsilon(sizes=(4,) * 20, epsilon=4.0),
        Piecewise.for_epsilon(low=0.0, high=1.0, epsilon=1.0, steps=4096),
        GeneralizedRandomizedResponse.for_epsilon(size=2**40, epsilon=1.0),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_large_mechanism_is_not_called_broken_because_of_its_size(mechanism: Any) -> None:
    found = audit(mechanism, simulation(4))
    assert found.verdict == "not disproved"
    assert len(str(found)) < 400
