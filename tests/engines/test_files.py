from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from supm._errors import BudgetError, MessageError, ParameterError
from supm.engines import Spendings
from supm.federation import Circle, Components, Discriminant, FederatedStudy, Policy, VectorEncoding

FORM: dict[str, Any] = {
    "version": 1,
    "epsilon": 1,
    "delta": 1e-5,
    "total": {"epsilon": 1.5, "delta": 1e-4},
    "colluders": 1,
}


def made(name: str = "one", epsilon: float = 0.5, colluders: int = 1) -> FederatedStudy:
    protocol = Discriminant.for_budget(
        encoding=VectorEncoding(width=2, classes=2),
        epsilon=epsilon,
        delta=1e-6,
        circle=Circle(parties=3, colluders=colluders),
    )
    return FederatedStudy(name=name, protocol=protocol, delta=1e-6)


def spendings(folder: Path, **more: Any) -> Spendings:
    return Spendings(folder / "policy.json", Policy.from_json(json.dumps(FORM | more)))


def test_a_run_is_written_down_and_counts_from_then_on(tmp_path: Path) -> None:
    study = made()
    kept = spendings(tmp_path)
    kept.charge(study)
    kept.charge(study)
    assert stat.S_IMODE(kept.path.stat().st_mode) == 0o600
    assert kept.path == tmp_path / "policy.spent.json"
    with pytest.raises(BudgetError, match="epsilon = 1 for this study; 1 is spent"):
        kept.charge(study)
    # Another study has a cap of its own, and all together have one.
    spendings(tmp_path).charge(made("two"))
    with pytest.raises(BudgetError, match=r"epsilon = 1\.5 for all studies together"):
        spendings(tmp_path).charge(made("three"))
    spent = json.loads(kept.path.read_text())["spent"]
    assert [each["epsilon"] for each in spent] == [study.price[0]] * 3


def test_to_check_spends_nothing(tmp_path: Path) -> None:
    kept = spendings(tmp_path)
    for _ in range(5):
        kept.check(made())
    assert kept.path.read_text() == ""


def test_delta_has_caps_too(tmp_path: Path) -> None:
    with pytest.raises(BudgetError, match="delta = 1e-07 for this study"):
        spendings(tmp_path, delta=1e-7).check(made())
    with pytest.raises(BudgetError, match="delta = 1e-07 for all studies together"):
        spendings(tmp_path, total={"epsilon": 2, "delta": 1e-7}).check(made())


def test_a_study_that_trusts_more_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BudgetError, match="even if 1 parties work with the server"):
        spendings(tmp_path).check(made(colluders=0))
    spendings(tmp_path, colluders=0).check(made(colluders=0))


def test_where_a_partys_own_noise_is_enough_all_others_may_collude(tmp_path: Path) -> None:
    """Subspaces do, whatever the study says of colluders; sums of products do not."""
    for share in ("subspace", "covariance"):
        protocol = Components.for_budget(
            encoding=VectorEncoding(width=2, classes=1),
            epsilon=0.5,
            delta=1e-6,
            circle=Circle(parties=3, colluders=0),
            components=1,
            share=share,
        )
        study = FederatedStudy(name=share, protocol=protocol, delta=1e-6)
        kept = spendings(tmp_path, colluders=2)
        if share == "subspace":
            assert "whoever works with the server" in study.words
            kept.check(study)
            with pytest.raises(BudgetError, match="and this study's holds if 2 do"):
                spendings(tmp_path, colluders=3).check(study)
        else:
            with pytest.raises(BudgetError, match="and this study's holds if 0 do"):
                kept.check(study)


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "{}",
        '{"version": 1, "spent": 3}',
        '{"version": 2, "spent": []}',
        '{"version": 1, "spent": [{"study": "x"}]}',
        '{"version": 1, "spent": [{"study": "x", "epsilon": -1, "delta": 0}]}',
    ],
)
def test_a_damaged_record_of_what_is_spent_allows_nothing(tmp_path: Path, text: str) -> None:
    kept = spendings(tmp_path)
    kept.path.write_text(text)
    with pytest.raises((MessageError, ParameterError)):
        kept.charge(made())
    assert kept.path.read_text() == text


def test_where_nothing_can_be_written_nothing_is_allowed(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="policy must be in a folder that can be written"):
        spendings(tmp_path / "absent").check(made())


def test_deltas_add_up_too(tmp_path: Path) -> None:
    loose = {"epsilon": 100, "total": {"epsilon": 100, "delta": 1.5 * made().delta}}
    kept = spendings(tmp_path, **loose, delta=1.5 * made().delta)
    kept.charge(made())
    with pytest.raises(BudgetError, match="delta"):
        kept.charge(made())
