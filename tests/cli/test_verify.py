"""The verb verify: bundles, and what it tells of the run behind a release."""

from __future__ import annotations

import csv
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from supm import secure
from supm.cli import main
from supm.datasets import load_wdbc
from supm.engines import carry_in_process
from supm.federation import FederatedStudy, RoundRecord, SchemaEncoding
from supm.messages import Release
from supm.publication.bundle import Bundle
from supm.publication.log import Log
from supm.publication.promise import told_of_the_run
from supm.publication.proof import make_proof
from supm.publication.publishing import enter_file
from supm.publication.signing import SigningKey

KEY = ["--key", "releases.pub"]
LOG = ["--log", "releases.db"]
NAMES = ("north", "east", "south")
TIME = "2026-01-02T03:04:05Z"


@pytest.fixture(autouse=True)
def study(wdbc: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put three parts of WDBC, a study of them that tolerates a loss, and a log into a folder."""
    for name in ("SUPM_LOG", "SUPM_LOG_KEY"):
        monkeypatch.delenv(name, raising=False)
    columns = load_wdbc().columns
    for start, name in enumerate(NAMES):
        with Path(f"{name}.csv").open("w", newline="") as file:
            rows = zip(*(column[start::3] for column in columns.values()), strict=True)
            csv.writer(file).writerows([columns, *rows])
    budget = ["--schema", "wdbc.json", "--epsilon", "1", "--delta", "1e-5", "--protocol", "lda"]
    circle = ["--parties", "3", "--colluders", "0", "--dropouts", "1"]
    assert main(["federate", "create", *budget, *circle, "-o", "study.json"]) == 0
    assert main(["log", "create", "releases.db", "--name", "log.example"]) == 0
    return wdbc.with_name("study.json")


def ran(*more: str) -> None:
    tables = [f"{name}.csv" for name in NAMES]
    assert main(["federate", "run", "study.json", *tables, "-o", "release.json", *more]) == 0


def said(capsys: pytest.CaptureFixture[str]) -> str:
    told = capsys.readouterr()
    return " ".join((told.out + told.err).split())


def told_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    main([*words, "--json", "-"])
    return json.loads(capsys.readouterr().out)


def test_a_bundle_is_all_that_a_reader_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran("--publish", "releases.db")
    assert main(["publish", "release.json", *LOG, "--bundle", "release.zip"]) == 0
    assert "release.zip holds it with the file: give that to readers." in said(capsys)
    reader = tmp_path / "reader"
    reader.mkdir()
    Path("release.zip").rename(reader / "release.zip")
    for more in ([], LOG):
        assert main(["verify", str(reader / "release.zip"), *KEY, *more]) == 0
        told = said(capsys)
        assert "ok: The bundle holds release.json and its proof, nothing else; release" in told
        assert "derived anew from the noise" in told
        assert "The entry holds 2 rounds of 3 parties, with a hash of what each sent." in told
    found = told_json(capsys, "verify", str(reader / "release.zip"), *KEY)
    assert (found["outcome"], found["member"]) == ("verified", "release.json")
    assert (found["parties"], found["rounds"], found["lost"]) == (3, 2, [])
    with zipfile.ZipFile(reader / "release.zip") as archive:
        archive.extractall(reader)
    for name in ("release.json", "release.json.proof"):
        assert (reader / name).read_bytes() == Path(name).read_bytes()
    assert main(["verify", str(reader / "release.json"), *KEY]) == 0


def test_a_bundle_is_replaced_and_nothing_else_is(capsys: pytest.CaptureFixture[str]) -> None:
    ran("--seed", "1")
    words = ["publish", "release.json", *LOG, "--bundle"]
    with zipfile.ZipFile("other.zip", "w") as archive:
        archive.writestr("table.csv", "a,b")
    for name in ("wdbc.csv", "release.json"):
        Path(f"{name}.zip").write_bytes(Path(name).read_bytes())
    for target in ("other.zip", "wdbc.csv.zip", "release.json.zip"):
        before = Path(target).read_bytes()
        assert main([*words, target]) == 2
        assert "--bundle must be a new file, or one of the same kind" in said(capsys)
        assert Path(target).read_bytes() == before
    assert main([*words, "release.tar"]) == 2
    assert "--bundle must be a name that ends in .zip, got 'release.tar'." in said(capsys)
    for target in ("-", "no/folder.zip"):
        assert main([*words, target]) == 2
        assert "--bundle must be a file" in said(capsys)
    with Log(Path("releases.db")) as log:
        assert log.size == 0
    for _ in range(2):
        assert main([*words, "release.zip"]) == 0
    found = told_json(capsys, *words, "release.zip")
    assert found["bundle"] == "release.zip"


def test_a_bundle_that_was_altered_is_not_verified(capsys: pytest.CaptureFixture[str]) -> None:
    ran("--seed", "1")
    assert main(["publish", "release.json", *LOG, "--bundle", "release.zip"]) == 0
    good = Path("release.zip").read_bytes()
    bundle = Bundle.from_bytes(good)
    changed = bundle.content.replace(b'"name":', b'"Name":', 1)
    altered = {
        "a member of the bundle is damaged": good.replace(b'"name":', b'"Name":', 1),
        "the file is not the one that was": Bundle(
            name=bundle.name, content=changed, proof=bundle.proof
        ).to_bytes(),
        "or headers that disagree": good + b"\n",
        "damaged, or was cut": good[:200],
        "There is no proof beside the file": b"x" + good,
    }
    for words, content in altered.items():
        Path("release.zip").write_bytes(content)
        assert main(["verify", "release.zip", *KEY]) > 0
        told = said(capsys)
        assert words in told
        assert "VERIFIED: release.zip" not in told


def test_a_bundle_that_was_published_is_verified_as_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran("--seed", "1")
    assert main(["publish", "release.json", *LOG, "--bundle", "pub.zip"]) == 0
    # The proof of its member is none of the bundle itself.
    assert main(["verify", "pub.zip", *KEY, "--proof", "release.json.proof"]) == 1
    assert "the file is not the one that was published" in said(capsys)
    assert main(["statement", "release.json", "--json", "statement.json"]) == 0
    words = ["publish", "pub.zip", "--statement", "statement.json", *LOG, "--yes"]
    assert main([*words, "--bundle", "outer.zip"]) == 0
    for each, member in (("pub.zip", None), ("outer.zip", "pub.zip")):
        found = told_json(capsys, "verify", each, *KEY)
        assert (found["outcome"], found["entry"]) == ("verified", 1)
        assert found.get("member") == member
    Path("pub.zip.proof").rename("away.proof")
    for more, entry in (([], 0), (["--proof", "away.proof"], 1)):
        found = told_json(capsys, "verify", "pub.zip", *KEY, *more)
        assert (found["outcome"], found["entry"]) == ("verified", entry)


def test_a_member_that_was_renamed_is_not_verified(capsys: pytest.CaptureFixture[str]) -> None:
    ran("--seed", "1")
    assert main(["publish", "release.json", *LOG, "--bundle", "release.zip"]) == 0
    bundle = Bundle.from_bytes(Path("release.zip").read_bytes())
    Path("release.zip").write_bytes(replace(bundle, name="phase3-result.csv").to_bytes())
    capsys.readouterr()
    assert main(["verify", "release.zip", *KEY]) == 1
    told = said(capsys)
    assert "calls its file phase3-result.csv, and its proof is of release.json" in told
    assert "is checked" not in told
    assert "VERIFIED: release.zip" not in told


def test_a_bundle_calls_its_file_as_the_log_does(capsys: pytest.CaptureFixture[str]) -> None:
    ran("--seed", "1")
    assert main(["publish", "release.json", *LOG]) == 0
    Path("copy.json").write_bytes(Path("release.json").read_bytes())
    assert main(["publish", "copy.json", *LOG, "--bundle", "copy.zip"]) == 0
    found = told_json(capsys, "verify", "copy.zip", *KEY)
    assert (found["outcome"], found["member"]) == ("verified", "release.json")


def test_a_zip_that_was_published_is_a_file_like_others(capsys: pytest.CaptureFixture[str]) -> None:
    ran("--seed", "1")
    with zipfile.ZipFile("tables.zip", "w") as archive:
        archive.writestr("table.csv", "a,b")
    assert main(["statement", "release.json", "--json", "statement.json"]) == 0
    words = ["publish", "tables.zip", "--statement", "statement.json", *LOG, "--yes"]
    assert main([*words, "--bundle", "bundle.zip"]) == 0
    for each in ("tables.zip", "bundle.zip"):
        capsys.readouterr()
        assert main(["verify", each, *KEY]) == 0
        told = said(capsys)
        assert "ok: The file is the one of the entry" in told
        assert ("The bundle holds tables.zip" in told) == (each == "bundle.zip")
        assert "parties" not in told.partition("Published")[0]
        assert "made this release together" not in told


def test_a_release_without_its_rounds_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    ran()
    assert main(["publish", "release.json", *LOG]) == 0
    assert main(["verify", "release.json", *KEY]) == 0
    told = said(capsys)
    assert "WARNING: 3 parties made this release together, and it was published without" in told
    assert "parties" not in told_json(capsys, "verify", "release.json", *KEY)


def lossy(lost_in: dict[int, int]) -> tuple[Release, list[RoundRecord]]:
    """Run the study; some parties are lost in a turn."""
    study = FederatedStudy.from_json(Path("study.json").read_text())
    wdbc = load_wdbc()
    rows = SchemaEncoding(schema=wdbc.schema).rows(wdbc.records())
    people = [study.participant(rows, lambda _: secure()) for _ in NAMES]
    rounds: list[RoundRecord] = []
    server = study.coordinator(record=rounds.append)
    carry_in_process(server, people, lost=lambda turn, party: lost_in.get(party, 99) <= turn)
    return study.release(server.outcome, simulation=False), rounds


@pytest.mark.parametrize(("turn", "words"), [(2, "party 1 in rounds 0, 1"), (5, "in round 1")])
def test_who_was_lost_is_told(turn: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    release, rounds = lossy({1: turn})
    entered(release, rounds, [each.commitments for each in rounds])
    assert main(["verify", "release.json", *KEY]) == 0
    told = said(capsys)
    assert "Lost, so not counted: party 1" in told
    assert words in told
    assert told_json(capsys, "verify", "release.json", *KEY)["lost"] == [1]


def entered(release: Release, rounds: list[RoundRecord], told: list[tuple[str, ...]]) -> None:
    Path("release.json").write_text(release.to_json())
    key = SigningKey.read(Path("releases.key"))
    with Log(Path("releases.db")) as log:
        enter_file(
            log,
            key,
            Path("release.json").read_bytes(),
            name="release.json",
            statement=release.statement,
            time=TIME,
            run=rounds[0].run,
            commitments=tuple(told),
        )
    assert main(["log", "prove", "release.json", *LOG]) == 0


OTHER_ROUNDS = "other rounds than the release's study has: 2 rounds of 3 parties"


def test_rounds_that_the_study_has_not_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    release, rounds = lossy({})
    whole = [each.commitments for each in rounds]
    wrong: list[tuple[list[tuple[str, ...]], str]] = [
        (whole[:1], OTHER_ROUNDS),
        ([each[:2] for each in whole], OTHER_ROUNDS),
        ([*whole, whole[0]], OTHER_ROUNDS),
        ([(each[0], "", "") for each in whole], "2 parties had left before the end of the run"),
    ]
    for number, (told, words) in enumerate(wrong):
        assert main(["log", "create", f"{number}.db", "--name", "log.example"]) == 0
        for ending in ("db", "key", "pub"):
            Path(f"{number}.{ending}").replace(f"releases.{ending}")
        entered(release, rounds, told)
        assert main(["verify", "release.json", *KEY]) == 1
        assert words in said(capsys)


def test_one_party_alone_is_told_nothing_of_rounds() -> None:
    budget = ["--schema", "wdbc.json", "--epsilon", "1", "--delta", "1e-5", "--protocol", "lda"]
    assert main(["federate", "create", *budget, "--parties", "1", "-o", "one.json"]) == 0
    run = ["federate", "run", "one.json", "wdbc.csv", "--seed", "1", "-o", "release.json"]
    assert main(run) == 0
    assert main(["publish", "release.json", *LOG]) == 0
    with Log(Path("releases.db")) as log:
        entry = make_proof(log, 0).entry
    facts: dict[str, Any] = {}
    assert list(told_of_the_run(Path("release.json").read_bytes(), entry, facts)) == []
    assert facts == {}
