from __future__ import annotations

import io
import json
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from supm._errors import SupmError
from supm.cli import main
from supm.service.security import hash_invitation, hash_token
from supm.service.store import DatabaseAddress, Store

pytestmark = pytest.mark.usefixtures("wdbc")
CREATE = ["study", "create", "--schema", "wdbc.json", "--epsilon", "4"]


def stored() -> Any:
    store = Store.open("sqlite:///supm.db")
    try:
        opened = store.studies()[-1]
        return opened, store.token_hash(opened.name)
    finally:
        store.close()


def test_a_study_is_created_and_its_token_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CREATE, "--purpose", "Which tumours?", "--minimum", "100"]) == 0
    words = capsys.readouterr().out
    opened, token_hash = stored()
    assert f"Page for owners: /studies/{opened.name} " in words
    [token] = re.findall(r"Analyst token, shown this once and stored hashed: (\S+)", words)
    assert hash_token(token) == token_hash
    assert token not in Path("supm.db").read_bytes().decode(errors="replace")
    assert opened.study.purpose == "Which tumours?"
    assert dict(opened.minimums) == {"reduce": 100, "train": 100}
    assert opened.invited is False


def test_secrets_go_to_files_that_only_their_owner_reads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("study.json").write_text("old")
    Path("study.json").chmod(0o644)
    wanted = ["--invitations", "3", "--invitations-file", "codes.txt", "--token-file", "token.txt"]
    assert main([*CREATE, *wanted, "--json", "study.json"]) == 0
    opened, token_hash = stored()
    for name in ("codes.txt", "token.txt", "study.json"):
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o600
    codes = Path("codes.txt").read_text().split()
    assert (len(set(codes)), opened.invited) == (3, True)
    held = Path("supm.db").read_bytes().decode(errors="replace")
    assert all(code not in held for code in codes)
    assert len({hash_invitation(code) for code in codes}) == 3
    token = Path("token.txt").read_text().strip()
    assert hash_token(token) == token_hash
    assert token not in capsys.readouterr().out
    form = json.loads(Path("study.json").read_text())
    assert (form["name"], form["invitations"], "token" in form) == (opened.name, 3, False)


def test_minimums_and_deadlines_are_read_by_phase(capsys: pytest.CaptureFixture[str]) -> None:
    limits = ["--minimum", "train=7", "--deadline", "train=2030-12-01", "--deadline"]
    assert main([*CREATE, *limits, "test=2031-01-01T02:00+02:00", "--json", "-"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert len(made["token"]) == 43
    opened, _ = stored()
    assert dict(opened.minimums) == {"train": 7}
    assert main(["study", "show", opened.name]) == 0
    words = capsys.readouterr().out
    assert "To train, 7 reports or more are needed." in words
    assert "Reports to train are taken until 2030-12-01T00:00:00Z." in words
    assert "Reports to test are taken until 2031-01-01T00:00:00Z." in words


def test_only_limits_that_still_matter_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    limits = ["--minimum", "100", "--deadline", "2999-12-01"]
    assert main([*CREATE, *limits, "--json", "-"]) == 0
    name = json.loads(capsys.readouterr().out)["name"]
    assert main(["study", "show", name]) == 0
    words = capsys.readouterr().out
    assert "To train, 100 reports or more are needed." in words
    assert "Reports to train are taken until 2999" in words
    assert "reduce" not in words
    assert main(["study", "close", name, "--yes"]) == 0
    assert not re.search("are needed|are taken until", capsys.readouterr().out)
    assert main([*CREATE, *limits, "--reduce", "rank", "--keep", "2", "--json", "-"]) == 0
    name = json.loads(capsys.readouterr().out)["name"]
    assert main(["study", "show", name]) == 0
    words = capsys.readouterr().out
    assert "To reduce, 100 reports or more are needed." in words
    assert "To train, 100 reports or more are needed." in words


def test_a_study_is_closed_only_where_that_was_agreed_to(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([*CREATE, "--json", "-"]) == 0
    name = json.loads(capsys.readouterr().out)["name"]
    for typed, code, state in (
        ("", 1, "collecting"),
        ("n\n", 1, "collecting"),
        ("y\n", 0, "closed"),
    ):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        assert main(["study", "close", name]) == code
        words = capsys.readouterr().out
        assert "A closed study stays closed" in words
        assert "Close the study? [y/N]" in words
        assert ("Nothing was closed." in words) == bool(code)
        assert stored()[0].state.startswith(state)


def test_who_runs_a_study_and_what_it_is_for_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    who = ["--by", "St <Mary's>", "--contact", "ask@example.org", "--purpose", "Who is ill? " * 9]
    assert main([*CREATE, *who]) == 0
    opened, _ = stored()
    assert (opened.by, opened.contact) == ("St <Mary's>", "ask@example.org")
    words = capsys.readouterr().out
    assert f"Run supm serve, then open http://127.0.0.1:8000/studies/{opened.name}\n" in words
    assert main(["study", "show", opened.name]) == 0
    assert "It is run by St <Mary's> (contact: ask@example.org)." in capsys.readouterr().out
    assert main(["study", "list"]) == 0
    assert re.search(
        r"diagnosis +Who is ill\? Who is ill\?[^\n]*… +4 +0\n", capsys.readouterr().out
    )


def test_a_factor_that_protects_nobody_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CREATE[:-1], "5000"]) == 0
    words = capsys.readouterr().err
    assert "64-bit words cannot hold more than epsilon 44" in words
    assert "a factor as large as that protects nobody by itself." in words
    assert main(CREATE) == 0
    assert capsys.readouterr().err == ""


def test_studies_are_listed_shown_and_closed(capsys: pytest.CaptureFixture[str]) -> None:
    Store.open("sqlite:///supm.db").close()
    assert main(["study", "list"]) == 0
    assert capsys.readouterr().out == "There are no studies in this database.\n"
    assert main([*CREATE, "--json", "-"]) == 0
    name = json.loads(capsys.readouterr().out)["name"]
    assert main(["study", "list"]) == 0
    line = rf"{name} +collecting to train +diagnosis +- +4 +0\n"
    assert re.search(line, capsys.readouterr().out)
    assert main(["study", "close", name, "--yes"]) == 0
    assert "It is closed (0 reports to train)." in capsys.readouterr().out
    assert main(["study", "close", name]) == 0
    assert "[y/N]" not in capsys.readouterr().out
    assert main(["study", "list", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["studies"][0]["state"] == "closed"


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        (["study", "list"], "there is no database sqlite:///supm.db;", 1),
        (["study", "show", "none"], "there is no database sqlite:///supm.db;", 1),
        (["study", "close", "none", "--db", "sqlite:///a/b.db"], "no database sqlite:///a/b", 1),
        ([*CREATE, "--minimum", "many"], "--minimum must be a whole number", 2),
        ([*CREATE, "--minimum", "play=3"], "--minimum must be about one of reduce", 2),
        ([*CREATE, "--deadline", "soon"], "--deadline must be a date or time", 2),
        ([*CREATE, "--deadline", "9999-12-31T23:59-05:00"], "--deadline must be a date or time", 2),
        ([*CREATE, "--deadline", "0001-01-01T00:00+05:00"], "--deadline must be a date or time", 2),
        ([*CREATE, "--deadline", "train=2001-01-01"], "--deadline must be a time to come", 2),
        ([*CREATE, "--invitations", "3"], "--invitations must be given with", 2),
        ([*CREATE, "--db", "mysql://x"], "NAME, got 'mysql://…'. A file is written as", 2),
        (["study", "list", "--db", "people.csv"], "--db must be sqlite:///FILE or postgresql", 2),
        (["study", "list", "--db", "people.csv"], "got 'people.csv'. A file is written as", 2),
        (["study", "list", "--db", "mysql://me:secret@host/x"], "got 'mysql://…'.", 2),
        (["study", "list", "--db", "me:secret@host/x"], "got 'an address'.", 2),
        ([*CREATE, "--by", "x" * 2001], "--by must be a text of at most 2000 characters", 2),
        ([*CREATE, "--contact", "\x1b[31m"], "--contact must be a text without control", 2),
        (["reduce", "--study", "http://127.0.0.1:9/studies/abc"], "token is needed", 2),
        (["reduce", "--study", "abc"], "--study must be the address of a study", 2),
        (["predict", "wdbc.csv", "--study", "abc"], "--study must be the address", 2),
        (["serve", "--certificate", "x.pem"], "--certificate must be given together", 2),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    arguments: list[str],
    words: str,
    code: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SUPM_TOKEN", raising=False)
    assert main(arguments) == code
    said = capsys.readouterr().err
    assert words in said
    assert "of them'" not in said
    assert said.count("\n") == 1
    assert not Path("supm.db").exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--token-file", "key.txt"],
        ["--invitations", "2", "--invitations-file", "key.txt"],
        ["--json", "key.txt"],
    ],
)
def test_a_file_that_may_be_another_study_s_key_is_not_written_over(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("key.txt").write_text("the only one")
    assert main([*CREATE, *options]) == 2
    said = capsys.readouterr().err
    assert "key.txt exists; it may be another study's only key; name another file." in said
    assert said.count("\n") == 1
    assert Path("key.txt").read_text() == "the only one"
    assert not Path("supm.db").exists()


def test_secrets_do_not_share_a_file_and_are_gone_where_no_study_is_made(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ["--invitations", "2", "--invitations-file", "codes.txt", "--token-file"]
    assert main([*CREATE, *files, "./codes.txt"]) == 2
    assert "must name different files" in capsys.readouterr().err
    assert main([*CREATE, *files, "key.txt", "--db", "sqlite:///none/x.db"]) == 1
    there: list[str] = []

    def refuse(*_: object, **__: object) -> None:
        there.extend(each for each in ("codes.txt", "key.txt") if Path(each).exists())
        message = "the disk is full."
        raise SupmError(message)

    monkeypatch.setattr(Store, "create", refuse)
    assert main([*CREATE, *files, "key.txt"]) == 1
    assert there == ["codes.txt", "key.txt"], "without them nobody could use the study"
    assert not [each for each in there if Path(each).exists()]


def test_an_unknown_name_is_said_with_the_database(capsys: pytest.CaptureFixture[str]) -> None:
    Store.open("sqlite:///supm.db").close()
    for act in ("show", "close"):
        assert main(["study", act, "none"]) == 1
        said = capsys.readouterr().err
        assert "no study has this name in sqlite:///supm.db; supm study list shows" in said


def test_a_password_is_not_shown_with_the_database() -> None:
    given = DatabaseAddress.parse("postgresql://me:secret@host:5/supm?password=secret")
    assert given.shown == "postgresql://me@host:5/supm"
    assert "secret" not in repr(given)


def test_a_file_without_a_token_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty.txt").write_text("\n")
    address = "http://127.0.0.1:9/studies/abc"
    assert main(["train", "--study", address, "--token-file", "empty.txt"]) == 2
    assert "the file empty.txt of --token-file holds no token" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["serve", "study", "study create", "reduce", "train", "predict"])
def test_every_verb_has_help_with_examples(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*verb.split(), "--help"]) == 0
    assert "examples:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("package", "verb"),
    [
        ("sqlalchemy", ["study", "list"]),
        ("sqlalchemy", ["study", "show", "x"]),
        ("uvicorn", ["serve"]),
    ],
)
def test_without_the_server_packages_it_says_what_to_install(package: str, verb: list[str]) -> None:
    program = f"import sys; sys.modules[{package!r}] = None; from supm.cli import main; "
    found = subprocess.run(  # noqa: S603  the tests' own words
        [sys.executable, "-c", f"{program} sys.exit(main({verb!r}))"],
        capture_output=True,
        check=False,
    )
    assert found.returncode == 1
    said = found.stderr.decode()
    assert (
        said == f"supm: error: this needs the package {package}; run pip install 'supm[server]'.\n"
    )
