"""A statement whose total promises more than a part of it is refused, and no other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from supm import ParameterError
from supm.messages import Part, PhaseStatement, ReleaseStatement, Statement
from supm.privacy import ApproximateDP, GaussianDP, Guarantee, Neighbours, NoGuarantee, PureLDP

ONE = Neighbours.REPLACE_ONE
NONE = NoGuarantee("as they are")


def released(part: Guarantee, total: Guarantee) -> ReleaseStatement:
    return ReleaseStatement(
        study="0" * 64,
        parts=(Part(name="sums", method="noise", guarantee=part),),
        total=total,
        trust="",
        simulation=False,
        software="supm",
    )


def approximate(epsilon: float, delta: float = 1e-5) -> Guarantee:
    return ApproximateDP(epsilon=epsilon, delta=delta, neighbours=ONE)


@pytest.mark.parametrize(
    ("part", "total", "good"),
    [
        (GaussianDP(mu=1.0, neighbours=ONE), GaussianDP(mu=1.0, neighbours=ONE), True),
        (GaussianDP(mu=1.0, neighbours=ONE), GaussianDP(mu=0.5, neighbours=ONE), False),
        (approximate(1.0), approximate(2.0), True),
        (approximate(2.0), approximate(1.0), False),
        (approximate(2.0, 1e-6), approximate(1.0, 1e-5), True),
        (GaussianDP(mu=50.0, neighbours=ONE), approximate(0.1), True),
        (NONE, approximate(0.1), True),
        (approximate(0.1), NONE, True),
        (NONE, NONE, True),
    ],
)
def test_a_release_cannot_promise_more_than_its_part(
    part: Guarantee, total: Guarantee, *, good: bool
) -> None:
    if good:
        assert released(part, total).total == total
        return
    with pytest.raises(ParameterError, match="total must be no stronger than the promise of each"):
        released(part, total)


@pytest.mark.parametrize("phase", ["reduce", "train", "test"])
def test_each_phase_belongs_to_its_total(phase: str) -> None:
    told = PhaseStatement(phase=phase, method="ODP", guarantee=PureLDP(2.0))
    good = Statement(
        study="0" * 64,
        phases=(told,),
        training=PureLDP(2.0),
        testing=PureLDP(2.0),
        simulation=False,
        software="supm",
    )
    name, other = ("testing", "training") if phase == "test" else ("training", "testing")
    assert replace(good, **{other: PureLDP(0.0)}) != good  # type: ignore[arg-type]  # a promise
    with pytest.raises(ParameterError, match=f"{name} must be no stronger"):
        replace(good, **{name: PureLDP(1.0)})  # type: ignore[arg-type]  # a promise
