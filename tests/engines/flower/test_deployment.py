"""A SuperLink with TLS and node keys on this machine, and parties that behave or do not."""

from __future__ import annotations

import os
import signal
import ssl
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from supm._errors import FederationError
from supm.engines import carry_in_process

if not os.environ.get("SUPM_REQUIRE_ALL"):
    pytest.importorskip("flwr", reason="pip install 'supm[federated]' to run the tests of Flower")

import httpx
from flwr.app import Message, RecordDict

from supm.engines.flower import SuperLink, coordinate, free_port, take_part, taking_part
from supm.engines.flower.coordinating import admit
from supm.engines.flower.taking_part import PartyNode, record_of

DYING = """
import os, sys
from pathlib import Path
from supm.engines.flower import NodeKey, take_part

class Dying:
    def answer(self, state, message):
        if state:
            os._exit(9)
        return b"+", message

take_part(Dying(), address=sys.argv[1], certificate=Path(sys.argv[2]),
          key=NodeKey.read(Path(sys.argv[3])))
"""
ORPHAN = """
import sys, time
from pathlib import Path
from supm.engines.flower import SuperLink, free_port
with SuperLink(Path(sys.argv[1]), host="127.0.0.1", port=free_port()) as link:
    print(link._process.pid, flush=True)
    time.sleep(600)
"""


class Refuser:
    """Answer once, then fail with an error that speaks of a record."""

    def answer(self, state: bytes, message: bytes) -> tuple[bytes, bytes]:
        if state:
            own = "the record of patient 17"
            raise RuntimeError(own)
        return b"+", message


def joining(link: SuperLink, key: Any, answerer: Any, **more: Any) -> Any:
    certificate = link.authority.certificate
    return lambda: take_part(
        answerer, address=link.address, certificate=certificate, key=key, **more
    )


def test_parties_on_flower_hear_what_they_hear_in_process(
    link: SuperLink, parties: Any, keys: Any, collector: Any, teller: Any
) -> None:
    private, public = keys(4)
    for number in range(3):
        parties.start(f"party {number}", joining(link, private[number], teller()))
    parties.start("stranger", joining(link, private[3], teller()))
    told: list[str] = []
    here, there = collector(3, 3), collector(3, 3)
    coordinate(there, link, public[:3], wait=60, patience=60, tell=told.append)
    carry_in_process(here, [teller()] * 3)
    assert there.heard == here.heard
    ended = parties.join()
    assert [ended[f"party {number}"] for number in range(3)] == [b"+++"] * 3
    assert isinstance(ended["stranger"], FederationError)
    assert "does not know this party's key" in str(ended["stranger"])
    assert told[-1] == "Turn 3: 3 of 3 parties answered."
    assert "3 of 3 parties are there." in told


def test_a_turn_is_told_of_how_many_where_that_is_known(
    link: SuperLink, parties: Any, keys: Any, collector: Any, teller: Any
) -> None:
    private, public = keys(1)
    parties.start("party", joining(link, private[0], teller()))
    told: list[str] = []
    asking = collector(1, 2)
    asking.turns = 2
    coordinate(asking, link, public, wait=60, patience=60, tell=told.append)
    parties.join()
    assert told[-1] == "Turn 2 of 2: 1 of 1 parties answered."


def test_nothing_of_a_message_is_in_a_file_of_the_server(
    link: SuperLink, parties: Any, keys: Any, collector: Any, teller: Any
) -> None:
    private, public = keys(1)
    parties.start("party", joining(link, private[0], teller()))
    heard = collector(1, 1)
    coordinate(heard, link, public, wait=60, patience=60)
    parties.join()
    files = [each for each in link.folder.rglob("*") if each.is_file()]
    assert b"nobody else" in heard.heard[0][0]
    assert link.folder / "superlink.log" in files
    assert not any(b"nobody else" in each.read_bytes() for each in files)
    for each in (link.folder, link.folder / "flower"):
        assert stat.S_IMODE(each.stat().st_mode) == 0o700
    assert stat.S_IMODE((link.folder / "superlink.log").stat().st_mode) == 0o600


def test_who_does_not_come_is_named_by_a_count(
    link: SuperLink, parties: Any, keys: Any, collector: Any, teller: Any
) -> None:
    private, public = keys(2)
    parties.start("party", joining(link, private[0], teller()))
    with pytest.raises(FederationError, match=r"1 of 2 parties are there after 2 seconds\."):
        coordinate(collector(2, 1), link, public, wait=2)
    # Whoever came is told that it is over, and has answered nothing.
    assert parties.join() == {"party": b""}


def test_a_party_that_fails_dies_or_babbles_is_missing_and_the_run_goes_on(
    link: SuperLink, parties: Any, keys: Any, collector: Any, teller: Any, tmp_path: Path
) -> None:
    private, public = keys(4)
    parties.start("good", joining(link, private[0], teller()))
    parties.start("refuser", joining(link, private[1], Refuser()))
    parties.start("babbler", lambda: babble(link, private[3]))
    certificate = str(link.authority.certificate)
    words = [link.address, certificate, str(tmp_path / "party2")]
    dying = subprocess.Popen([sys.executable, "-c", DYING, *words])  # noqa: S603  the test's own words
    try:
        heard = collector(4, 2)
        coordinate(heard, link, public, wait=60, patience=10)
    finally:
        dying.kill()
        dying.wait()
    assert [sorted(each) for each in heard.heard] == [[0, 1, 2, 3], [0]]
    # Of its two answers the first counts.
    assert heard.heard[0][3] == b"first"
    ended = parties.join()
    assert ended["good"] == b"++"
    # The party sees its own error; the server's log does not.
    assert str(ended["refuser"]) == "the record of patient 17"
    assert "patient" not in (link.folder / "superlink.log").read_text()


def babble(link: SuperLink, key: Any) -> None:
    """Answer twice, then with something else."""
    with PartyNode.connected(link.address, link.authority.certificate, key, 10) as there:
        for replies in ([record_of(b"first"), record_of(b"second")], [RecordDict()]):
            while (message := there.receive()) is None:
                time.sleep(0.1)
            for each in replies:
                there.send(Message(each, reply_to=message))


def test_a_superlink_that_dies_hangs_nobody(
    parties: Any, keys: Any, teller: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking_part, "_GONE_SECONDS", 1.0)
    private, public = keys(1)
    with SuperLink(tmp_path / "run", host="127.0.0.1", port=free_port()) as link:

        class Killer:
            def begin(self) -> dict[int, bytes]:
                return {0: b"hello"}

            def receive(self, _: Any) -> dict[int, bytes]:
                assert link._process is not None
                link._process.kill()
                link._process.wait()
                return {0: b"anybody there?"}

        parties.start("party", joining(link, private[0], teller()))
        with pytest.raises(FederationError, match="the SuperLink did not go on with the run"):
            coordinate(Killer(), link, public, wait=60, patience=60)
    assert "broke off" in str(parties.join()["party"])


def test_two_parties_do_not_share_a_key(link: SuperLink, keys: Any) -> None:
    _, public = keys(1)
    with pytest.raises(FederationError, match="two parties have the same node key"):
        admit(link, [public[0], public[0]])


def test_only_what_nodes_need_is_open_to_strangers(link: SuperLink) -> None:
    context = ssl.create_default_context(cafile=str(link.authority.certificate))
    with httpx.Client(verify=context, trust_env=False) as client:
        for path in ("/v1/control/start-run", "/v1/control/register-node", "/v1/runtime", "/docs"):
            for headers in ({}, {"x-supm-run": "0" * 64}):
                answer = client.post(f"https://{link.address}{path}", headers=headers)
                assert answer.status_code == 403
        assert client.post(f"https://{link.address}/v1/fleet/pull-messages").status_code != 200


def test_flower_reports_to_nobody(link: SuperLink) -> None:
    assert link._process is not None
    environment = Path(f"/proc/{link._process.pid}/environ")
    if not environment.exists():
        pytest.skip("this system does not show the environment of a process")
    variables = environment.read_bytes().split(b"\0")
    assert {b"FLWR_TELEMETRY_ENABLED=0", b"FLWR_DISABLE_UPDATE_CHECK=1"} <= {*variables}


def test_a_superlink_that_cannot_start_says_where_the_reason_is(
    link: SuperLink, tmp_path: Path
) -> None:
    busy = SuperLink(tmp_path / "run", host="127.0.0.1", port=link.port)
    with pytest.raises(FederationError, match="the SuperLink did not start"), busy:
        pass
    assert busy._process is None


def test_nothing_is_left_over_when_the_program_ends_or_is_killed(tmp_path: Path) -> None:
    words = [sys.executable, "-c", ORPHAN, str(tmp_path / "run")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as parent:  # noqa: S603  the test's own words
        assert parent.stdout is not None
        group = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    end = time.monotonic() + 30
    while exists(group) and time.monotonic() < end:
        time.sleep(0.1)
    assert not exists(group)


def test_stopping_leaves_no_process(tmp_path: Path) -> None:
    with SuperLink(tmp_path / "run", host="127.0.0.1", port=free_port()) as started:
        assert started._process is not None
        group = started._process.pid
        assert exists(group)
    assert not exists(group)


def exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
