from __future__ import annotations

from dataclasses import replace

import pytest

from supm._random import simulation
from supm.audit import Audit, AuditReport, Finding, audit_all, catalogue, entry
from supm.mechanisms import GeneralizedRandomizedResponse


@pytest.mark.parametrize(
    ("passed", "loose", "word"),
    [(True, False, "passed"), (True, True, "loose"), (False, False, "BROKEN")],
)
def test_a_finding_prints_as_one_line(passed: bool, loose: bool, word: str) -> None:  # noqa: FBT001  the cases
    finding = Finding(check="check_x", passed=passed, detail="3 of 4", loose=loose)
    assert str(finding) == f"check_x: {word}, 3 of 4"


class Braggart(GeneralizedRandomizedResponse):
    """It claims half of its epsilon."""

    @property
    def epsilon(self) -> float:
        return super().epsilon / 2


def test_a_broken_promise_is_shown_with_its_evidence() -> None:
    braggart = replace(entry("binary-response"), mechanism=Braggart.for_epsilon(size=2, epsilon=1))
    rows = list(audit_all(simulation(1), [entry("duchi"), braggart]))
    found = AuditReport(audits=rows, seconds=1.0)
    evidence, *_, summary = found.words()
    told = "binary-response, epsilon 1: check_epsilon: BROKEN, claimed 0.5, exact 1"
    assert evidence.startswith(told)
    assert summary == "1 promise kept exactly, 0 not disproved by samples, 1 broken, in 1 s."
    assert found.to_form()["broken"] == 1
    assert str(found.tables()[0]).splitlines()[-1].endswith("broken")
    assert list(found.to_frame()["verdict"]) == ["true", "broken"]


def _exactly(epsilon: float) -> tuple[Finding]:
    return (Finding(check="check_epsilon", passed=True, detail="", statistic=epsilon),)


def test_the_table_fits_a_hundred_columns() -> None:
    # Six digits in each figure, as wide as any that an audit finds.
    digits = 0.9876543
    rows = [
        Audit(
            mechanism=line.name,
            parameters=line.parameters,
            claimed=claimed * digits,
            lower_bound=0.0812862,
            findings=findings,
        )
        for line in catalogue()
        for claimed in (line.mechanism.epsilon,)
        for findings in (_exactly(claimed * digits), ())
    ]
    shown = str(AuditReport(audits=rows, seconds=65.0).tables()[0])
    assert max(len(line) for line in shown.splitlines()) <= 100
