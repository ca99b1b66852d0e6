"""The log of releases over HTTP: what RemoteLog needs, and nothing that changes it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from tests.service.conftest import GUARD

from supm._errors import PublicationError
from supm.publication.entry import ReleaseEntry
from supm.publication.log import Log
from supm.publication.monitoring import check_log
from supm.publication.proof import Proof, verify_file, verify_log
from supm.publication.remote import RemoteLog
from supm.publication.signing import SignedCheckpoint, SigningKey, VerifierKey
from supm.service.api.log import safe_name
from supm.service.app import Settings, make_app
from supm.service.serving import running
from supm.service.store import Store

FILE = b'{"numbers":[1,2,3]}'
NASTY = '..";<script>alert(1)</script>\u00e4\u65e5$(reboot).html'.replace("/", "|")
HUGE = 1 << 64


@pytest.fixture
def client(folder: Store, publisher: Any) -> Iterator[httpx.Client]:
    with (
        running(make_app(folder, log=publisher.log)) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=GUARD) as opened,
    ):
        yield opened


def fill(publisher: Any) -> str:
    """Publish a few files and change the key; return the SHA-256 of one of the files."""
    for number in range(4):
        publisher.publish(f"old-{number}.json", bytes([number]))
    content: str = publisher.publish_together("release.json", FILE)
    publisher.change_keys()
    publisher.publish("new.json", b"later")
    return content


def test_a_reader_verifies_a_file_and_the_log_by_the_network_alone(
    client: httpx.Client, publisher: Any
) -> None:
    first = publisher.key.verifier
    content = fill(publisher)
    held = client.get(f"/log/files/{content}").content
    proof = Proof.from_json(client.get(f"/log/proof/{content}").text)
    assert len(list(verify_file(held, proof, first))) == 3
    publisher.publish("more.json", b"more")
    remote = RemoteLog(str(client.base_url))
    assert remote.first_key == first
    assert "now of 10 entries" in next(verify_log(remote, proof, first))
    told = " ".join(check_log(remote, first, known=proof.checkpoint))
    assert "Releases: 7, no file twice; rounds of parties: 2; changes of keys: 1" in told
    assert "begins with the 9 entries" in told


def test_a_reader_sees_that_a_file_or_a_key_is_another(
    client: httpx.Client, publisher: Any, tmp_path: Path
) -> None:
    content = fill(publisher)
    proof = Proof.from_json(client.get(f"/log/proof/{content}").text)
    with pytest.raises(PublicationError, match="not the one that was published"):
        list(verify_file(FILE + b" ", proof, publisher.log.first_key))
    other = SigningKey.made(publisher.log.name, tmp_path / "other.key").verifier
    with pytest.raises(PublicationError):
        list(check_log(RemoteLog(str(client.base_url)), other))


def test_a_remote_log_answers_as_the_log_itself(client: httpx.Client, publisher: Any) -> None:
    content, log, remote = fill(publisher), publisher.log, RemoteLog(str(client.base_url))
    assert remote.checkpoint() == log.checkpoint()
    assert remote.entries(0, 100) == log.entries(0, 100)
    assert remote.entries(3, 5) == log.entries(3, 5)
    assert remote.entries(9, 12) == []
    for kind in ("key", "chain"):
        assert remote.places(kind) == log.places(kind)
    assert remote.find(content) == log.find(content) == 6
    assert remote.find("0" * 64) is None
    for size in range(1, log.size + 1):
        assert remote.consistency(size, log.size) == log.consistency(size, log.size)
        for index in range(size):
            assert remote.inclusion(index, size) == log.inclusion(index, size)


def test_texts_are_plain_and_whole(client: httpx.Client, publisher: Any) -> None:
    key, note = client.get("/log/key"), client.get("/log/checkpoint")
    assert VerifierKey.parse(key.text) == publisher.key.verifier
    assert SignedCheckpoint.parse(note.text).size == 0
    for answer in (key, note):
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


def test_entries_come_in_pages(client: httpx.Client, publisher: Any, statements: Any) -> None:
    given = {"time": publisher.time, "size": 0, "statement": statements["owners"]}
    many = [ReleaseEntry(name="a", content=f"{each:064x}", **given) for each in range(1_200)]
    publisher.add(*many)
    page = client.get("/log/entries", params={"start": 100, "stop": 1_200}).json()
    assert page == [each.text for each in many[100:1_100]]
    assert len(RemoteLog(str(client.base_url)).entries(0, 1_200)) == 1_200


def test_a_page_of_long_entries_is_shorter(client: httpx.Client, publisher: Any) -> None:
    told = (("a" * 64,) * 4_000,)
    for number in range(6):
        publisher.publish("long", bytes([number]), run="0" * 64, commitments=told)
    page = client.get("/log/entries", params={"start": 0, "stop": 6}).json()
    assert len(page) == 4
    assert RemoteLog(str(client.base_url)).entries(0, 6) == publisher.log.entries(0, 6)


BAD = [
    "/log/entries",
    "/log/entries?start=0",
    "/log/entries?start=-1&stop=2",
    "/log/entries?start=2&stop=1",
    f"/log/entries?start=0&stop={HUGE}",
    "/log/entries?start=0&stop=1.5",
    "/log/entries?start=a&stop=b",
    "/log/places",
    "/log/places?kind=secret",
    "/log/find",
    "/log/find?content=abc",
    f"/log/find?content={'A' * 64}",
    f"/log/find?content={'a' * 64}%0A",
    "/log/inclusion?index=0&size=0",
    "/log/inclusion?index=1&size=1",
    "/log/inclusion?index=-1&size=1",
    f"/log/inclusion?index=0&size={HUGE}",
    "/log/inclusion?index=0&size=10",
    "/log/consistency?first=2&second=1",
    "/log/consistency?first=-1&second=1",
    "/log/consistency?first=1&second=10",
    f"/log/consistency?first={HUGE}&second={HUGE}",
    "/log/proof/abc",
    f"/log/proof/{'0' * 64}",
    f"/log/proof/{'z' * 64}",
    f"/log/files/{'0' * 64}",
    "/log/files/..%2f..%2fetc%2fpasswd",
    "/log/nothing",
    "/log/",
]


def test_a_bad_question_is_refused_in_one_sentence(client: httpx.Client, publisher: Any) -> None:
    fill(publisher)
    for path in BAD:
        answer = client.get(path)
        assert answer.status_code in (404, 422), path
        [(name, sentence)] = answer.json().items()
        assert (name, sentence[-1]) == ("error", "."), path
        assert str(HUGE) not in sentence


def test_the_log_is_only_read(client: httpx.Client, publisher: Any) -> None:
    content = fill(publisher)
    for path in ("/log/entries", "/log/checkpoint", f"/log/files/{content}"):
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            assert client.request(method, path, content=b"{}").status_code == 405
    assert publisher.log.size == 9


def test_where_no_log_is_served_there_is_none(service: Any) -> None:
    for path in ("/log/key", "/log/checkpoint", "/log/places?kind=key", "/releases"):
        assert service.client.get(path).status_code == 404
    assert not [
        each for each in service.client.get("/api/v1/openapi.json").json()["paths"] if "log" in each
    ]


def test_a_file_is_stored_under_a_safe_name_and_never_shown(
    client: httpx.Client, publisher: Any
) -> None:
    content = publisher.publish(NASTY, b"<script>alert(1)</script>")
    answer = client.get(f"/log/files/{content}")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
    kind, plain, coded = answer.headers["content-disposition"].split("; ")
    assert kind == "attachment"
    assert plain == 'filename="script_alert(1)__script____(reboot).html"'
    assert unquote(coded.removeprefix("filename*=UTF-8''")) == safe_name(NASTY)
    assert coded.isascii()


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("release.json", "release.json"),
        ("..", "release"),
        (".bashrc", "bashrc"),
        ("--output=x", "output=x"),
        ('a"; filename="b.exe', "a__ filename=_b.exe"),
        ("con:stream|pipe?*", "con_stream_pipe__"),
        ("\u65e5" * 200, "\u65e5" * 60),
        ("a b. ", "a b"),
    ],
)
def test_names_are_made_safe(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_a_file_of_which_no_copy_is_kept_is_not_there(client: httpx.Client, publisher: Any) -> None:
    content = publisher.publish("away.json", b"away", keep=False)
    answer = client.get(f"/log/files/{content}")
    assert answer.status_code == 404
    assert "keeps no copy" in answer.json()["error"]
    assert client.get(f"/log/proof/{content}").status_code == 200


def test_a_log_that_cannot_be_read_is_no_fault_of_the_reader(
    client: httpx.Client, publisher: Any, tmp_path: Path
) -> None:
    content = fill(publisher)
    publisher.log.close()
    for path in ("/log/checkpoint", "/log/entries?start=0&stop=1", f"/log/files/{content}"):
        answer = client.get(path)
        assert answer.status_code == 503
        assert str(tmp_path) not in answer.text
    shown = client.get("/releases")
    assert shown.status_code == 503
    assert str(tmp_path) not in shown.text


def test_every_endpoint_is_described_with_an_example(client: httpx.Client) -> None:
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    found = {path: held["get"] for path, held in paths.items() if path.startswith("/log/")}
    assert len(found) == 9
    for path, operation in found.items():
        assert list(paths[path]) == ["get"]
        [held] = operation["responses"]["200"]["content"].values()
        assert held["example"]
        assert "422" not in operation["responses"] or operation["parameters"]


def command(tmp_path: Path, log: Path) -> list[str]:
    database = f"sqlite:///{tmp_path}/served.db"
    words = ["serve", "--port", "0", "--db", database, "--log", str(log)]
    return [sys.executable, "-m", "supm", *words]


def test_the_command_line_serves_a_log_and_says_where(tmp_path: Path, publisher: Any) -> None:
    content, words = publisher.publish("release.json", FILE), command(tmp_path, publisher.path)
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  the tests' own words
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        answer = httpx.get(f"{lines[-1].split()[-1]}/{content}", trust_env=False, timeout=GUARD)
        process.terminate()
    assert lines[-1].startswith(f"It shows the releases of {publisher.path}: http://127.0.0.1:")
    assert answer.status_code == 200
    assert process.returncode == 0


def test_a_log_that_is_not_there_is_not_served(tmp_path: Path) -> None:
    words = command(tmp_path, tmp_path / "none.db")
    found = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603  the same
    assert found.returncode != 0
    assert "--log must be a file that is there" in found.stderr
    assert "Traceback" not in found.stderr
    assert not (tmp_path / "none.db").exists()


def test_requests_are_counted_as_all_others(folder: Store, publisher: Any) -> None:
    limits = Settings(rate=0.1, burst=2.0)
    with running(make_app(folder, settings=limits, log=publisher.log)) as url:
        codes = [
            httpx.get(f"{url}/log/key", trust_env=False, timeout=GUARD).status_code
            for _ in range(3)
        ]
    assert codes == [200, 200, 429]


def test_what_another_program_publishes_is_seen_at_once(
    client: httpx.Client, publisher: Any
) -> None:
    fill(publisher)
    with Log(publisher.path) as other:
        publisher.log, before = other, publisher.log
        content = publisher.publish("elsewhere.json", b"elsewhere")
        publisher.log = before
    assert client.get("/log/find", params={"content": content}).json() == [9]
