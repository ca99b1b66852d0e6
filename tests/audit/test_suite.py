from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from supm._errors import PromiseError
from supm._random import RandomSource, simulation
from supm.audit import Entry, audit, audit_all, catalogue, entry, kinds
from supm.mechanisms import GeneralizedRandomizedResponse, Reports

ALL = catalogue()
EXACT_ONLY = [line for line in ALL if not line.sampled]


@pytest.mark.parametrize("name", kinds())
def test_every_shipped_mechanism_passes_every_check(name: str) -> None:
    line = entry(name, epsilon=1.0)
    found = audit(line.mechanism, simulation(11))
    assert [str(finding) for finding in found.findings if not finding.passed] == []
    assert found.verdict == "true"
    assert found.lower_bound is not None
    assert 0.9 < found.lower_bound <= found.claimed


@pytest.mark.parametrize("line", EXACT_ONLY, ids=lambda line: f"{line.name} {line.parameters}")
def test_every_shipped_mechanism_is_exact_at_extreme_epsilons(line: Entry) -> None:
    found = audit(line.mechanism, simulation(11), sampled=False)
    assert found.verdict == "true"
    assert found.lower_bound is None


@pytest.mark.parametrize("line", [line for line in ALL if line.sampled], ids=str)
def test_every_entry_of_the_catalogue_claims_what_its_channel_gives(line: Entry) -> None:
    assert audit(line.mechanism, simulation(11), sampled=False).verdict == "true"


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
