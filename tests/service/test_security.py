from __future__ import annotations

import re
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from supm import simulation
from supm.service.security import (
    SecurityHeaders,
    cookie_name,
    fits,
    given_token,
    hash_invitation,
    hash_token,
    may_act,
    new_invitation,
    new_token,
    sign_in,
)


def request(scheme: str = "http", **headers: str) -> Request:
    given = {"host": "here.example", **headers}
    raw = [(name.replace("_", "-").encode(), text.encode()) for name, text in given.items()]
    scope = {"type": "http", "scheme": scheme, "method": "POST", "path": "/", "headers": raw}
    return Request(scope | {"query_string": b"", "server": ("here.example", 80)})


def test_a_token_has_256_bits_and_only_its_hash_is_compared() -> None:
    token = new_token()
    assert re.fullmatch(r"[\w-]{43}", token)
    assert new_token() != token
    assert fits(token, hash_token(token))
    assert not fits(token[:-1], hash_token(token))
    assert not fits("", hash_token(token))
    assert not fits("x" * 10_000_000, hash_token(token))
    assert not fits("é", hash_token(token))
    assert token not in hash_token(token)


def test_secrets_come_from_the_source_that_is_given() -> None:
    assert new_token(simulation(1)) == new_token(simulation(1))
    assert new_invitation(simulation(1)) == new_invitation(simulation(1))


def test_an_invitation_is_read_however_it_is_typed() -> None:
    code = new_invitation()
    assert re.fullmatch(r"(?:[a-z2-7]{4}-){3}[a-z2-7]{4}", code)
    spaced = f" {code.upper().replace('-', ' ')} "
    assert hash_invitation(spaced) == hash_invitation(code)
    assert hash_invitation(code) != hash_invitation(new_invitation())


@pytest.mark.parametrize(
    ("headers", "token"),
    [
        ({"authorization": "Bearer abc"}, "abc"),
        ({"authorization": "bearer  abc "}, "abc"),
        ({"cookie": f"{cookie_name('one')}=abc"}, "abc"),
        ({"cookie": f"{cookie_name('two')}=abc"}, None),
        ({"authorization": "Basic abc"}, None),
        ({"authorization": "Bearer "}, None),
        ({}, None),
    ],
)
def test_a_token_comes_by_header_or_by_the_cookie_of_the_study(
    headers: dict[str, str], token: str | None
) -> None:
    assert given_token(request(**headers), "one") == token


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, False),
        ({"x_supm": "1"}, True),
        ({"x_supm": "0"}, False),
        ({"authorization": "Bearer abc"}, True),
        ({"x_supm": "1", "origin": "http://here.example"}, True),
        ({"x_supm": "1", "origin": "http://elsewhere.example"}, False),
        ({"x_supm": "1", "origin": "null"}, False),
        ({"authorization": "Bearer abc", "origin": "http://elsewhere.example"}, False),
    ],
)
def test_another_site_cannot_act(headers: dict[str, str], *, allowed: bool) -> None:
    assert may_act(request(**headers)) is allowed


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(scheme: str) -> None:
    response = Response()
    sign_in(request(scheme), response, "one", "abc")
    cookie = response.headers["set-cookie"].lower()
    assert cookie.startswith("supm-one=abc;")
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert ("secure" in cookie) is (scheme == "https")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_headers_are_added_where_an_answer_has_none_of_its_own(scheme: str) -> None:
    headers = answered(Response(headers={"Cache-Control": "no-cache"}), scheme)
    assert headers["cache-control"] == "no-cache"
    assert "'unsafe-inline'" not in headers["content-security-policy"]
    assert headers["x-frame-options"] == "DENY"
    assert ("strict-transport-security" in headers) is (scheme == "https")


def answered(response: Response, scheme: str) -> dict[str, str]:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "scheme": scheme}
    running: Any = SecurityHeaders(response)(scope, receive, send).__await__()
    with pytest.raises(StopIteration):
        next(running)
    return {name.decode(): value.decode() for name, value in sent[0]["headers"]}


def test_an_origin_that_is_no_address_is_not_our_own() -> None:
    for origin in ("http://[", "null", "https://other"):
        headers = [(b"origin", origin.encode()), (b"host", b"here"), (b"x-supm", b"1")]
        assert not may_act(Request({"type": "http", "headers": headers}))
