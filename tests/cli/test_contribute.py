from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import HEAD, SCHEMA, Address, stored

from supm.cli import contribute, main
from supm.collection import plan
from supm.messages import Report
from supm.service.actions import close_study
from supm.service.security import hash_token
from supm.service.store import Store

pytestmark = pytest.mark.usefixtures("own_folder")


def spent(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["wallet", "show", "--json", "-"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_an_owner_takes_part_once_however_often(
    store: Store, address: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    url = address()
    assert main(["contribute", "mine.csv", "--study", url, "--yes"]) == 0
    said = capsys.readouterr().out
    assert "Purpose: Who is ill?" in said
    assert "factor of at most 2.72" in said
    assert "It costs epsilon = 1, once; so far you have spent 0 in total" in said
    assert "The aggregator has it (accepted). Thank you." in said
    [line] = re.findall(r"^\{.*\}$", said, re.MULTILINE)
    report = Report.from_json(line)
    assert main(["contribute", "mine.csv", "--study", url, "--yes", "--json", "-"]) == 0
    again = capsys.readouterr()
    form = json.loads(again.out)
    assert form["verdict"] == "sent before"
    assert form["report"]["id"] == report.id
    assert form["spent"] == form["epsilon"]
    assert "the same report is sent again, at no further cost" in " ".join(again.err.split())
    assert stored(store, url) == {"train": 1}
    assert [word for word in ("61.5", "88.7", "Lovelace") if word in said + again.out] == []


def test_a_dry_run_sends_spends_and_keeps_nothing(
    store: Store, address: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    url = address()
    arguments = ["contribute", "mine.csv", "--study", url, "--dry-run"]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "A report such as this, drawn anew when it is sent, would leave" in said
    assert "Nothing was sent or spent." in said
    assert main([*arguments, "--json", "-"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert form["dry_run"] is True
    assert Report.from_json(json.dumps(form["report"])).phase == "train"
    assert stored(store, url) == {}
    assert spent(capsys)["answers"] == []


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("yes\n", 0), ("n\n", 1), ("", 1)])
def test_nothing_is_sent_without_consent(
    store: Store,
    address: Address,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    code: int,
) -> None:
    url = address()
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert main(["contribute", "mine.csv", "--study", url]) == code
    said = capsys.readouterr().out
    assert "Send one report? [y/N]" in said
    assert ("Nothing was sent, and nothing was spent." in said) == bool(code)
    assert stored(store, url) == ({} if code else {"train": 1})
    assert len(spent(capsys)["answers"]) == 1 - code


def test_one_of_many_rows_must_be_chosen(
    store: Store, address: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    url = address()
    # The first row is somebody else's, and not in order: it is not looked at.
    Path("many.csv").write_text(f"{HEAD}Byron,secret,1,no\nLovelace,61.5,88.7,yes\n")
    arguments = ["contribute", "many.csv", "--study", url, "--yes"]
    assert main(arguments) == 2
    complaint = capsys.readouterr().err
    assert "DATA must be a file with one record, and holds 2." in complaint
    assert "--each-row-is-an-owner" in complaint
    assert main([*arguments, "--row", "3"]) == 2
    assert "--row must be at most 2" in capsys.readouterr().err
    assert main([*arguments, "--row", "1"]) == 1
    complaint = capsys.readouterr().err
    assert "age: the column holds text where numbers are expected" in complaint
    assert "secret" not in complaint
    assert main([*arguments, "--row", "2"]) == 0
    assert stored(store, url) == {"train": 1}


def test_a_gateway_answers_for_each_row_and_only_once(
    store: Store, address: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    url = address()
    lines = [
        f"owner{place},{place % 100},60,{'yes' if place % 3 else 'no'}" for place in range(300)
    ]
    Path("many.csv").write_text(HEAD + "\n".join(lines))
    arguments = ["contribute", "many.csv", "--study", url, "--yes", "--each-row-is-an-owner"]
    named = [*arguments, "--owner-column", "name", "--json", "-"]
    assert main([*named, "--dry-run"]) == 0
    assert json.loads(capsys.readouterr().out)["owners"] == {"would leave": 300}
    assert main(named) == 0
    assert json.loads(capsys.readouterr().out)["owners"] == {"accepted": 300}
    Path("many.csv").write_text(HEAD + "\n".join(reversed(lines)) + "\nnew,5,60,yes\n")
    assert main(named) == 0
    assert json.loads(capsys.readouterr().out)["owners"] == {"accepted": 1, "sent before": 300}
    assert stored(store, url) == {"train": 301}
    told = spent(capsys)
    assert told["owners"] == 301
    assert 0.99 < told["spent"] <= 1.0
    assert b"owner17" not in Path("wallet.db").read_bytes()
    assert main(["wallet", "show"]) == 0
    assert "301 owners, each of whom has spent epsilon = 1 in total" in capsys.readouterr().out


def test_a_gateway_goes_by_rows_and_leaves_out_who_cannot(
    store: Store, address: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    url = address()
    Path("many.csv").write_text(f"{HEAD}a,1,1,no\nb,2,2,perhaps\nc,3,3,yes\n")
    arguments = ["contribute", "many.csv", "--study", url, "--yes", "--each-row-is-an-owner"]
    for verdict in ("accepted", "sent before"):
        assert main([*arguments, "--json", "found.json"]) == 1
        form = json.loads(Path("found.json").read_text())
        assert form["owners"] == {verdict: 2, "refused": 1}
        assert list(form["reasons"].values()) == [1]
        said = capsys.readouterr().out
        assert "Refused for 1 owner: ill: 1 of 1 records holds a value" in said
        assert "perhaps" not in said
    assert stored(store, url) == {"train": 2}
    assert main(["wallet", "limit", "--total", "0.5"]) == 0
    Path("many.csv").write_text(f"{HEAD}a,1,1,no\nb,2,2,no\nc,3,3,yes\n")
    assert main(arguments) == 1
    assert "Refused for 1 owner: an answer costs epsilon = 1" in capsys.readouterr().out
    assert stored(store, url) == {"train": 2}


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ("a,1,1,no\na,2,2,no\n", "name: line 3 of many.csv names an owner who was named before"),
        ("a,1,1,no\n,2,2,no\n", "name: line 3 of many.csv names no owner"),
    ],
)
def test_a_gateway_needs_a_name_of_its_own_for_each_owner(
    address: Address, capsys: pytest.CaptureFixture[str], rows: str, complaint: str
) -> None:
    Path("many.csv").write_text(HEAD + rows)
    arguments = ["contribute", "many.csv", "--study", address(), "--owner-column", "name"]
    assert main([*arguments, "--each-row-is-an-owner", "--yes"]) == 1
    assert complaint in capsys.readouterr().err
    assert main([*arguments, "--row", "1"]) == 2
    assert "--owner-column must be given with --each-row-is-an-owner" in capsys.readouterr().err


def test_invitations_come_from_a_file(
    store: Store, address: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    url = address(codes=("abcd-efgh", "ijkl-mnop", "qrst-uvwx"))
    arguments = ["contribute", "mine.csv", "--study", url, "--yes"]
    assert main(arguments) == 1
    assert "asks by invitation" in capsys.readouterr().err
    Path("code.txt").write_text("\n")
    assert main([*arguments, "--invitation-file", "code.txt"]) == 2
    Path("code.txt").write_text("ABCD EFGH\n")
    for _ in range(2):
        assert main([*arguments, "--invitation-file", "code.txt"]) == 0
    other = [*arguments, "--invitation-file", "code.txt", "--wallet", "other.db"]
    assert main(other) == 1
    complaint = capsys.readouterr().err
    assert "invitation" in complaint
    assert "ABCD" not in complaint
    assert "to send it again with a good code costs nothing more" in complaint
    Path("code.txt").write_text("abcd-efgh\nijkl-mnop\n")
    assert main([*arguments, "--invitation-file", "code.txt"]) == 2
    assert "must be a file with one code, your own, and holds 2." in capsys.readouterr().err
    Path("code.txt").write_text("abcd-efgh\n")
    Path("many.csv").write_text(f"{HEAD}a,1,1,no\nb,2,2,yes\n")
    many = ["contribute", "many.csv", "--study", url, "--yes", "--each-row-is-an-owner"]
    assert main([*many, "--wallet", "many.db"]) == 2
    assert "must hold a code for each of 2 records, one in each line, and was not given" in (
        capsys.readouterr().err
    )
    assert main([*many, "--wallet", "many.db", "--dry-run"]) == 0
    assert main([*many, "--wallet", "many.db", "--invitation-file", "code.txt"]) == 2
    assert "one in each line, and holds 1." in capsys.readouterr().err
    assert main(["wallet", "show", "--wallet", "many.db"]) == 0
    assert "nothing was spent yet" in capsys.readouterr().out
    Path("code.txt").write_text("ijkl-mnop\nqrst-uvwx\n")
    assert main([*many, "--invitation-file", "code.txt"]) == 0
    assert stored(store, url) == {"train": 3}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("age,pulse\n1,2\n", "has no column 'ill'; its first line must name the columns"),
        ("61.523437,88.7,yes\n1,2,no\n", "has no column 'age'"),
        ("age,pulse,ill\n61.523437,88.7,maybe-Lovelace\n", "declared ones; allowed: no, yes."),
        ("age,pulse,ill\n61.523437,,yes\n", "pulse: 1 of 1 records has no value; allowed: a num"),
        ("age,pulse,ill\nx,1,yes\n", "line 2 of mine.csv; allowed: a number; what is below 0"),
        ("age,pulse,ill\n", "a header and no records"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_and_not_shown(
    store: Store, address: Address, capsys: pytest.CaptureFixture[str], content: str, complaint: str
) -> None:
    url = address()
    Path("mine.csv").write_text(content)
    # Nobody is asked, who would have to agree for nothing.
    assert main(["contribute", "mine.csv", "--study", url]) == 1
    said = capsys.readouterr()
    assert "[y/N]" not in said.out
    assert complaint in said.err
    assert len(said.err.splitlines()) == 1
    assert [word for word in ("61.5", "88.7", "Lovelace") if word in said.err + said.out] == []
    assert stored(store, url) == {}
    assert spent(capsys)["answers"] == []


@pytest.mark.parametrize("study", ["nowhere", "ftp://host/studies/a", "https://host/study/a"])
def test_an_address_of_no_study_is_refused(study: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["contribute", "mine.csv", "--study", study, "--yes"]) == 2
    assert "--study must be the address of a study" in capsys.readouterr().err


def test_an_unknown_study_is_refused(address: Address, capsys: pytest.CaptureFixture[str]) -> None:
    url = address().rpartition("/")[0] + "/aaaaaaaaaa"
    assert main(["contribute", "mine.csv", "--study", url, "--yes"]) == 1
    assert "did not show the study (404)" in capsys.readouterr().err


def test_a_study_without_a_model_or_closed_says_so(
    store: Store, address: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    url = address()
    assert main(["predict", "mine.csv", "--study", url]) == 1
    said = capsys.readouterr().err
    assert said == "supm: error: the study has no model yet: it is collecting to train.\n"
    close_study(store, url.rpartition("/")[2])
    assert main(["contribute", "mine.csv", "--study", url, "--yes"]) == 1
    assert "the study is closed; nothing was spent or sent." in capsys.readouterr().err
    assert main(["predict", "mine.csv", "--study", url]) == 1
    assert "the study is closed" in capsys.readouterr().err


def test_a_limit_refuses(
    store: Store, address: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    url = address()
    assert main(["wallet", "limit", "--per-study", "0.9"]) == 0
    assert main(["contribute", "mine.csv", "--study", url, "--yes"]) == 1
    assert "of the 0.9 that this owner allows for one study" in capsys.readouterr().err
    assert stored(store, url) == {}


@pytest.mark.parametrize(
    ("url", "noticed"),
    [
        ("http://host/studies/a", True),
        ("https://host/studies/a", False),
        ("http://127.0.0.1:8000/studies/a", False),
    ],
)
def test_an_address_without_tls_is_noticed(
    url: str, capsys: pytest.CaptureFixture[str], *, noticed: bool
) -> None:
    contribute._notice_clear(url)
    assert ("the address is not https" in capsys.readouterr().err) == noticed


def test_a_deadline_that_has_passed_costs_nothing(
    store: Store, address: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    base = address().rpartition("/")[0]
    study = plan(SCHEMA, epsilon=1.0, attributes=["age"])
    late = store.create(
        study, token_hash=hash_token("token"), minimums={}, deadlines={"train": 1e9}
    )
    assert main(["contribute", "mine.csv", "--study", f"{base}/{late.name}", "--yes"]) == 1
    assert "the deadline of the train phase has passed" in capsys.readouterr().err
    assert spent(capsys)["answers"] == []
