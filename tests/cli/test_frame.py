"""What is typed is read, or refused in one sentence that names the help of the verb."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from supm.cli import main

pytestmark = pytest.mark.usefixtures("wdbc")
PLAN = ["plan", "--schema", "wdbc.json", "--epsilon", "4"]


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith("supm: error: ")
    return said.err.removeprefix("supm: error: ").rstrip()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["plan"], "--schema must be given. See supm plan --help."),
        ([*PLAN, "--keep"], "--keep must be followed by a value. See supm plan --help."),
        ([*PLAN, "--keep", "x"], "--keep must be a whole number, got 'x'. See supm plan --help."),
        ([*PLAN, "--keep", "2.5"], "--keep must be a whole number, got '2.5'."),
        ([*PLAN, "--keep", "0"], "--keep must be a whole number in [1, 2^20], got '0'."),
        ([*PLAN, "--epsilon", "0"], "--epsilon must be a number in [1e-06, 10000], got '0'."),
        ([*PLAN, "--mode", "strikt"], "--mode must be one of strict, faithful, got 'strikt'. Did"),
        ([*PLAN, "--kep", "3"], "no such argument: --kep. Did you mean --keep? See supm plan"),
        (["plan", "--epsilom", "4", "--schema", "x"], "no such argument: --epsilom. Did you mean"),
        ([*PLAN, "more"], "no such argument: more. See supm plan --help."),
        ([*PLAN, "--json", "--keep"], "--json must be followed by a file, and one of that name"),
        (["statement"], "FILE must be given. See supm statement --help."),
        (["pray"], "VERB must be one of demo, simulate,"),
        (["plam"], "synthesize, got 'plam'. Did you mean plan? See supm --help."),
        (["audit", "duchi", "--all"], "--all cannot go with NAME. See supm audit --help."),
        (["audit"], "NAME or --all must be given. See supm audit --help."),
        (["wallet"], "ACT must be given, one of show, limit, forget. See supm wallet --help."),
        (["log"], "ACT must be given, one of "),
        (["study", "creat"], "got 'creat'. Did you mean create? See supm study --help."),
    ],
)
def test_every_refusal_is_one_sentence_with_a_hint(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sentence in refused(arguments, capsys)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1,1.0", "must be different numbers, got '1,1.0'"),
        ("1,,2", "must be numbers with single commas between, got '1,,2'"),
        ("1,", "must be numbers with single commas between, got '1,'"),
        (",".join(map(str, range(1, 102))), "must be at most 100 numbers"),
    ],
)
def test_budgets_are_refused_for_their_own_reason(
    text: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"--epsilon {complaint}" in refused(["demo", "--epsilon", text], capsys)


@pytest.mark.parametrize("text", ["u,u,u", "t,u,d", "U, T, D", "untrusted,trusted,device"])
def test_three_letters_or_words_are_a_trust(text: str) -> None:
    assert main([*PLAN, "--trust", text, "--json", "-"]) == 0


@pytest.mark.parametrize("text", ["u,u", "x,y,z", "d,u,u", "u,d,u", "", "u,u,u,u"])
def test_a_wrong_trust_is_told_the_letters(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = refused([*PLAN, "--trust", text], capsys)
    assert "u (untrusted), t (trusted), and for test also d (the owner's device)" in told


def test_what_is_given_again_replaces_what_was_given_before(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*PLAN, "--epsilon", "1", "--mode", "faithful", "--mode", "strict", "-o", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["epsilon"], found["mode"]) == (1.0, "strict")


def test_a_file_is_checked_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for target in ("", str(tmp_path), str(tmp_path / "no" / "x.json")):
        told = refused([*PLAN, "--json", target], capsys)
        assert told.startswith("--json must be a file in a folder that exists, got ")


def test_a_file_that_cannot_be_read_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert "FILE must be a file that can be read, got 'x'." in refused(["statement", "x"], capsys)
    Path("x").write_bytes(b"\xff")
    assert "It is not UTF-8 text." in refused(["statement", "x"], capsys)


def test_a_full_disk_leaves_the_file_that_was_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = Path("kept.json")
    path.write_text("kept")
    path.chmod(0o640)
    before = sorted(each.name for each in Path().iterdir())
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        assert main([*PLAN, "--json", "kept.json"]) == 2
    assert "No space left on device." in capsys.readouterr().err
    assert sorted(each.name for each in Path().iterdir()) == before
    assert path.read_text() == "kept"
    assert main([*PLAN, "--json", "kept.json"]) == 0
    assert (json.loads(path.read_text())["owners"], path.stat().st_mode & 0o777) == (None, 0o640)
    assert sorted(each.name for each in Path().iterdir()) == before


def test_a_link_or_a_device_is_written_into() -> None:
    Path("link").symlink_to(Path("kept.json"))
    Path("kept.json").write_text("kept")
    assert main([*PLAN, "--json", "link"]) == 0
    assert Path("link").is_symlink()
    assert json.loads(Path("kept.json").read_text())["owners"] is None
    assert main([*PLAN, "--json", "/dev/null"]) == 0
    assert Path("/dev/null").is_char_device()
