from __future__ import annotations

import os
import sqlite3
import stat
import threading
from pathlib import Path

import pytest

from supm import BudgetError, ParameterError, simulation
from supm.messages import Study
from supm.owner import Limits, Owner, Wallet, WalletError, default_path


def answered(wallet: Wallet, study: Study, *, seed: int = 1) -> str:
    """Answer as a client does, and return the id of the report."""
    record = {"age": 61, "pulse": 80, "ill": "yes"}
    with wallet.step():
        owner = Owner(source=simulation(seed), memory=wallet)
        report = owner.answer(study, "train", record)
        wallet.note(report, study, epsilon=1.0, server="https://host/studies/a")
    return report.id


def test_a_wallet_is_a_mapping_that_survives(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "wallet.db"
    with Wallet(path) as wallet:
        wallet["b"] = [1, 2]
        wallet["a"] = "text"
        wallet["a"] = None
        del wallet["b"]
        wallet["c"] = {"x": 0.1}
    with Wallet(path) as wallet:
        assert dict(wallet) == {"a": None, "c": {"x": 0.1}}
        assert len(wallet) == 2
        assert "b" not in wallet
        with pytest.raises(KeyError):
            wallet["b"]
        with pytest.raises(KeyError):
            del wallet["b"]
        assert repr(wallet) == "Wallet()"


def test_nobody_else_may_read_a_wallet(tmp_path: Path) -> None:
    path = tmp_path / "own" / "wallet.db"
    before = os.umask(0)
    try:
        with Wallet(path) as wallet:
            wallet["a"] = 1
            modes = {stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
            assert len(list(path.parent.iterdir())) == 3
        assert modes == {0o600}
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        path.chmod(0o644)
        with Wallet(path) as wallet:
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_a_wallet_is_flushed_to_the_disk_at_every_step(wallet: Wallet) -> None:
    assert wallet._file.run("PRAGMA journal_mode") == [("wal",)]
    assert wallet._file.run("PRAGMA synchronous") == [(2,)]


def test_the_default_place_follows_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUPM_WALLET", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert default_path() == Path("/data/supm/wallet.db")
    monkeypatch.delenv("XDG_DATA_HOME")
    assert default_path() == Path.home() / ".local/share/supm/wallet.db"
    monkeypatch.setenv("SUPM_WALLET", "mine.db")
    assert default_path() == Path("mine.db")


def test_a_step_is_whole_or_nothing(wallet: Wallet, study: Study) -> None:
    class Accident(Exception):  # noqa: N818  an event and no error of ours
        pass

    def fail() -> None:
        with wallet.step():
            answered(wallet, study)
            raise Accident

    with pytest.raises(Accident):
        fail()
    assert (list(wallet), wallet.answers(), wallet.spent()) == ([], (), 0.0)
    answered(wallet, study)
    assert wallet.spent() == 1.0


def test_a_step_within_a_step_is_undone_alone(wallet: Wallet) -> None:
    def fail() -> None:
        with wallet.step():
            wallet["b"] = 2
            with wallet.step():
                wallet["c"] = 3
            raise KeyError

    with wallet.step():
        wallet["a"] = 1
        with pytest.raises(KeyError):
            fail()
        wallet["d"] = 4
    assert dict(wallet) == {"a": 1, "d": 4}


def test_limits_are_kept_and_checked(wallet: Wallet, tmp_path: Path, study: Study) -> None:
    assert wallet.limits == Limits(total=None, per_study=None)
    assert wallet.left(study) is None
    wallet.limit(total=0.3, per_study=2)
    with Wallet(tmp_path / "wallet.db") as other:
        assert other.limits == Limits(total=0.3, per_study=2.0)
    wallet.check(0.3, study)
    assert wallet.left(study) == 0.3
    with pytest.raises(BudgetError, match=r"of the 0\.3 that this owner allows in total, 0 is"):
        wallet.check(0.3000001, study)
    wallet.limit(total=None)
    assert wallet.limits == Limits(per_study=2.0)
    with pytest.raises(BudgetError, match="of the 2 that this owner allows for one study"):
        wallet.check(2.1, study)


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf"), "1", True])
def test_a_limit_that_is_none_is_refused(wallet: Wallet, bad: float) -> None:
    with pytest.raises(ParameterError, match="total must be a number"):
        wallet.limit(total=bad)
    with pytest.raises(ParameterError, match="limits must be total or per_study"):
        wallet.limit(totl=1.0)
    assert wallet.limits == Limits()


def test_tenths_add_up_exactly(wallet: Wallet, study: Study) -> None:
    wallet.limit(total=0.3)
    report = Owner(source=simulation(1)).answer(study, "train", {"age": 1, "pulse": 2, "ill": "no"})
    for place in range(3):
        wallet.check(0.1, study)
        wallet.note(report, study, epsilon=0.1, server=f"https://host/studies/{place}")
    assert wallet.spent() == wallet.spent(study) == 0.3
    assert wallet.left(study) == 0.0
    with pytest.raises(BudgetError):
        wallet.check(1e-6, study)


def test_sections_are_owners_of_their_own(wallet: Wallet, study: Study) -> None:
    first, second = wallet.section("Ada"), wallet.section("Grace")
    assert answered(first, study, seed=1) != answered(second, study, seed=2)
    assert len(wallet) == 0
    assert len(wallet.answers()) == 0
    assert len(wallet.answers(everybody=True)) == 2
    assert first.spent() == second.spent() == 1.0
    assert dict(wallet.section("Ada")) == dict(first)
    assert len(wallet.sections()) == 2
    held = b"".join(each.read_bytes() for each in wallet.path.parent.iterdir())
    assert b"Ada" not in held


def test_to_forget_leads_to_another_answer_and_refunds_nothing(
    wallet: Wallet, study: Study
) -> None:
    first = answered(wallet, study, seed=1)
    role = {name: wallet[name] for name in wallet if name.startswith(("role", "group"))}
    assert role
    with pytest.raises(ParameterError, match="STUDY must be the first digits"):
        wallet.forget("zz")
    with pytest.raises(ParameterError, match="STUDY must be the first digits"):
        wallet.forget("")
    assert wallet.forget(study.hash[:8]) == 1
    assert dict(wallet) == role
    assert wallet.spent() == 1.0
    assert answered(wallet, study, seed=2) != first
    assert wallet.spent() == 2.0


def test_what_is_forgotten_is_not_in_the_file_any_more(tmp_path: Path, study: Study) -> None:
    path = tmp_path / "wallet.db"
    with Wallet(path) as wallet:
        told = answered(wallet, study).encode()
        wallet["report elsewhere"] = "a secret of mine" * 2000
    assert told in path.read_bytes()
    with Wallet(path) as wallet:
        wallet.forget(study.hash[:8])
        del wallet["report elsewhere"]
    # The id stays: what was spent, and on what, is not forgotten.
    assert b"a secret of mine" not in path.read_bytes()
    assert [each.name for each in tmp_path.iterdir()] == ["wallet.db"]


def test_what_is_acknowledged_stays_so(tmp_path: Path, study: Study) -> None:
    clock = iter(range(100, 200))
    with Wallet(tmp_path / "wallet.db", clock=lambda: float(next(clock))) as wallet:
        answered(wallet, study)
        report = Owner(memory=wallet).answer(study, "train", {})
        wallet.acknowledge(report, server="https://elsewhere")
        assert wallet.answers()[0].acknowledged is None
        for _ in range(2):
            wallet.acknowledge(report, server="https://host/studies/a")
        [kept] = wallet.answers()
        assert (kept.answered, kept.acknowledged) == (100.0, 102.0)


def test_threads_share_a_wallet(wallet: Wallet, study: Study) -> None:
    found: list[str] = []

    def answer(seed: int) -> None:
        found.append(answered(wallet, study, seed=seed))

    threads = [threading.Thread(target=answer, args=(seed,)) for seed in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 8
    assert len(set(found)) == len(wallet.answers()) == 1


def damage_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for place in range(4096, len(data), 64):
        data[place : place + 8] = b"\xff" * 8
    path.write_bytes(data)


def damage_version(path: Path) -> None:
    with sqlite3.connect(path) as link:
        link.execute("PRAGMA user_version = 99")
    link.close()


def replace_by_text(path: Path) -> None:
    path.write_text("this is a letter to somebody" * 200)


def replace_by_other(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as link:
        link.execute("CREATE TABLE songs (name TEXT)")
    link.close()


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (damage_middle, "is damaged or is no wallet; nothing was sent"),
        (damage_version, "no wallet that this release reads"),
        (replace_by_text, "is damaged or is no wallet"),
        (replace_by_other, "no wallet that this release reads"),
        (replace_by_folder, "cannot be used|cannot be opened"),
    ],
)
def test_what_is_no_sound_wallet_is_not_used(
    tmp_path: Path, study: Study, damage: object, complaint: str
) -> None:
    path = tmp_path / "own" / "wallet.db"
    with Wallet(path) as wallet:
        answered(wallet, study)
    assert callable(damage)
    damage(path)
    kept = path.read_bytes() if path.is_file() else b""
    with pytest.raises(WalletError, match=complaint) as refused:
        Wallet(path)
    assert refused.value.__cause__ is None
    assert kept == (path.read_bytes() if path.is_file() else b"")


def test_a_value_that_no_wallet_writes_is_not_shown(wallet: Wallet) -> None:
    wallet._file.run("INSERT INTO memory VALUES ('', 'a', '{half')")
    with pytest.raises(WalletError, match="holds what no wallet writes") as refused:
        wallet["a"]
    assert "half" not in str(refused.value)
    assert refused.value.__context__ is None


def test_a_wallet_is_not_carried_into_a_fork(tmp_path: Path) -> None:
    with Wallet(tmp_path / "wallet.db") as wallet:
        wallet._file._process += 1
        with pytest.raises(WalletError, match="cannot be carried into another process"):
            wallet["a"] = 1
        wallet._file._process -= 1
        wallet["a"] = 1
        assert wallet["a"] == 1


def test_a_wallet_that_another_program_holds_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "wallet.db"
    with Wallet(path) as wallet, Wallet(path) as other:
        other._file.run("PRAGMA busy_timeout = 1")
        with wallet.step(), pytest.raises(WalletError, match="another program holds it"):
            other["a"] = 1
        other["a"] = 1
        assert wallet["a"] == 1


def test_a_full_disk_refuses_and_the_wallet_goes_on(wallet: Wallet, study: Study) -> None:
    pages = wallet._file.run("PRAGMA page_count")[0][0]
    wallet._file.run(f"PRAGMA max_page_count = {pages}")

    def fill() -> None:
        with wallet.step():
            wallet.update({str(name): "x" * 4000 for name in range(40)})

    for _ in range(2):
        with pytest.raises(WalletError, match="the disk is full"):
            fill()
    assert list(wallet) == []
    wallet._file.run("PRAGMA max_page_count = 1073741823")
    answered(wallet, study)
    assert wallet.spent() == 1.0
