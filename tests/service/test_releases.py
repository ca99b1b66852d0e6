"""The pages of releases over HTTP: what they show, in which order, and nothing unescaped."""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.service.conftest import GUARD

from supm._json import canonical
from supm.publication.entry import ChainEntry
from supm.publication.merkle import hash_pair
from supm.publication.proof import Proof, make_proof
from supm.service.app import make_app
from supm.service.pages.releases import Picture, picture_of
from supm.service.serving import running
from supm.service.store import Store

NASTY = """<img src=x onerror=alert(1)>'";$(reboot) {{ 7*7 }}"""


@pytest.fixture
def client(tmp_path: Path, publisher: Any) -> Iterator[httpx.Client]:
    store = Store.open(f"sqlite:///{tmp_path}/pages.db")
    with (
        running(make_app(store, log=publisher.log)) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=GUARD) as opened,
    ):
        yield opened
    store.close()


def test_an_empty_log_says_so_and_shows_its_key(client: httpx.Client, publisher: Any) -> None:
    shown = client.get("/releases").text
    assert "No release yet" in shown
    assert "0 entries" in shown
    assert str(publisher.key.verifier) in html.unescape(shown)


def test_the_list_has_the_newest_first_with_what_is_promised(
    client: httpx.Client, publisher: Any, statements: Any
) -> None:
    publisher.publish("first.json", b"1", statement=statements["owners"])
    publisher.publish("second.json", b"2", statement=statements["simulation"])
    content = publisher.publish_together("third.json", b"3")
    shown = client.get("/releases").text
    assert re.findall("(first|second|third).json", shown) == ["third", "second", "first"]
    assert f'href="/releases/{content}"' in shown
    assert "5 entries, 3 of them releases" in shown
    third, second, first = shown.split('<h3 class="break">')[1:]
    assert 'each record</span> <strong class="number">μ = 0.25' in third
    assert "from parties together" in third
    assert ("simulation" in third, "simulation" in second, "simulation" in first) == (
        False,
        True,
        False,
    )
    assert "ε = 2" in first
    assert "nothing leaves" in first
    assert "from a study of owners" in first
    assert "2026-11-18" in first


def test_the_list_is_paged(client: httpx.Client, publisher: Any) -> None:
    for number in range(53):
        publisher.publish(f"file-{number}.json", bytes([number]))
    first, second = client.get("/releases").text, client.get("/releases?page=2").text
    assert re.findall(r"file-(\d+)", first)[:1] == ["52"]
    assert len(re.findall("<li>", first)) == 50
    assert re.findall(r"file-(\d+)", second) == ["2", "1", "0"]
    assert 'rel="next" href="/releases?page=2"' in first
    assert 'rel="prev" href="/releases?page=1"' in second
    assert ("Newer" in first, "Older" in second) == (False, False)
    for page in ("0", "3", "-1", "x", "", "1" * 40, "1.0", "٣"):
        answer = client.get("/releases", params={"page": page})
        assert answer.status_code == 404, page
        assert "There is no such page" in answer.text


def test_a_release_shows_all_of_its_entry(client: httpx.Client, publisher: Any) -> None:
    publisher.publish("other.json", b"other")
    content = publisher.publish_together("release.json", b"held")
    shown = html.unescape(client.get(f"/releases/{content}").text)
    entry = Proof.from_json(client.get(f"/log/proof/{content}").text).entry
    for text in (
        entry.statement.words,
        entry.guarantees["each record"].sentence,
        content,
        "4 bytes",
    ):
        assert text in shown
    assert "2026-11-18 14:00:00 UTC" in shown
    assert "entry 3, under the root of 4 entries" in shown
    assert f'href="/log/files/{content}" download="release.json"' in shown
    assert f'href="/log/proof/{content}" download="release.json.proof"' in shown
    assert 'title="' + "e" * 64 + '">eeeeeeee…<' in shown
    assert shown.count(">lost<") == 1
    assert "Round 1" in shown
    assert "Round 2" not in shown


def test_the_command_checks_this_file_under_this_key(client: httpx.Client, publisher: Any) -> None:
    content = publisher.publish(NASTY, b"nasty")
    shown = client.get(f"/releases/{content}").text
    [command] = re.findall('aria-label="Command">(.*?)</pre>', shown)
    file = "_img src=x onerror=alert(1)_____(reboot) __ 7_7 __"[1:]
    assert shlex.split(html.unescape(re.sub("<[^>]*>", "", command))) == [
        *("supm", "verify", file, "--proof", f"{file}.proof"),
        *("--key", str(publisher.key.verifier)),
    ]


def test_a_name_is_shown_and_never_obeyed(client: httpx.Client, publisher: Any) -> None:
    content = publisher.publish(NASTY, b"nasty")
    for path in ("/releases", f"/releases/{content}"):
        answer = client.get(path)
        assert "<img" not in answer.text
        assert (
            html.escape(NASTY).replace("&#x27;", "&#39;").replace("&quot;", "&#34;") in answer.text
        )
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert "style=" not in answer.text


def test_a_release_without_a_copy_or_parties_offers_neither(
    client: httpx.Client, publisher: Any, statements: Any
) -> None:
    content = publisher.publish("a.json", b"a", keep=False, statement=statements["simulation"])
    shown = client.get(f"/releases/{content}").text
    assert "/log/files/" not in shown
    assert "keeps no copy" in shown
    assert "What the parties sent" not in shown
    assert "This is a simulation" in shown
    assert "under the root of 1 entry<" in shown


def test_many_parties_and_rounds_are_shown_in_part(client: httpx.Client, publisher: Any) -> None:
    told = tuple(("a" * 64,) * 1_001 for _ in range(20))
    content = publisher.publish("many.json", b"many", run="0" * 64, commitments=told)
    shown = client.get(f"/releases/{content}").text
    assert "100 of 1,001 parties, 12 of 20 rounds; the proof has all." in shown
    assert len(shown) < 300_000


def test_a_contract_that_the_log_names_is_shown(client: httpx.Client, publisher: Any) -> None:
    address = "0x" + "1234567890" * 4
    log = publisher.key.verifier.identity.hex()
    more = {"chain": 11155111, "contract": address, "publisher": address, "log": log}
    publisher.add(ChainEntry(time=publisher.time, **more))
    content = publisher.publish("a.json", b"a")
    shown = client.get(f"/releases/{content}").text
    assert f"{address}</span> on chain 11155111" in shown
    assert ("Anchored" in shown, "Transaction" in shown) == (False, False)


def test_an_anchored_release_shows_block_time_and_transaction(
    client: httpx.Client, publisher: Any
) -> None:
    content = publisher.publish("a.json", b"a")
    told = {"block": 77, "chain": 1, "contract": "0x…", "time": 1_800_000_000}
    publisher.log.note_anchor(1, canonical(told))
    publisher.publish("b.json", b"b")
    shown = html.unescape(client.get(f"/releases/{content}").text)
    assert "the root of 1 entry, in block 77 of 2027-01-15 08:00 UTC;" in shown
    assert "Transaction" not in shown
    transaction = "0x" + "0123456789abcdef" * 4
    publisher.log.note_anchor(1, canonical({"block": 77, "transaction": transaction}))
    shown = client.get(f"/releases/{content}").text
    assert "in block 77;" in shown
    assert f'<dt>Transaction</dt><dd class="mono">{transaction}</dd>' in shown


def test_what_was_not_published_has_no_page(client: httpx.Client, publisher: Any) -> None:
    content = publisher.publish("a.json", b"a")
    others = ("0" * 64, content.upper(), f"{content}/", f"{content}/x", "x", "..%2fetc", "%00")
    for each in others:
        answer = client.get(f"/releases/{each}")
        assert answer.status_code == 404, each
        assert "There is no such page" in answer.text


def test_the_first_page_leads_to_the_releases(client: httpx.Client) -> None:
    assert client.get("/").text.count('href="/releases"') == 2


def test_the_first_page_leads_nowhere_where_there_is_no_log(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/pages.db")
    with running(make_app(store)) as url:
        assert "/releases" not in httpx.get(url, trust_env=False, timeout=GUARD).text
        lost = httpx.get(f"{url}/releases/{'0' * 64}", trust_env=False, timeout=GUARD)
    store.close()
    assert lost.status_code == 404
    assert "There is no such page" in lost.text


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13])
def test_the_picture_is_that_of_the_proof(publisher: Any, size: int) -> None:
    for number in range(size):
        publisher.publish(f"{number}.json", bytes([number]))
    for place in range(size):
        proof = make_proof(publisher.log, place)
        picture = picture_of(proof)
        beside = [each.hash for each in picture.boxes if each.role == "beside"]
        assert beside == [each.hex() for each in proof.release.path]
        check_pairs(picture)
        top = min(picture.boxes, key=lambda each: each.y)
        assert (top.role, top.hash) == ("root", proof.checkpoint.root.hex())
        assert len(picture.lines) == 2 * len(beside)
        half = picture.box[0] / 2
        assert all(half <= each.x <= picture.width - half for each in picture.boxes)
        places = [(each.x, each.y) for each in picture.boxes]
        assert len(set(places)) == len(places), "no box covers another"


def check_pairs(picture: Picture) -> None:
    """Two boxes side by side, from left to right, give the one above that both lines lead to."""
    levels = sorted({each.y for each in picture.boxes})
    for above, level in pairwise(levels):
        left, right = sorted((each.x, each.hash) for each in picture.boxes if each.y == level)
        found = hash_pair(bytes.fromhex(left[1]), bytes.fromhex(right[1])).hex()
        [x] = [each.x for each in picture.boxes if (each.y, each.hash) == (above, found)]
        for at in (left[0], right[0]):
            assert (at, level, x, above) in picture.lines
