from __future__ import annotations

import pytest

from supm.audit import Finding


@pytest.mark.parametrize(
    ("passed", "loose", "word"),
    [(True, False, "passed"), (True, True, "loose"), (False, False, "BROKEN")],
)
def test_a_finding_prints_as_one_line(passed: bool, loose: bool, word: str) -> None:  # noqa: FBT001  the cases
    finding = Finding(check="check_x", passed=passed, detail="3 of 4", loose=loose)
    assert str(finding) == f"check_x: {word}, 3 of 4"
