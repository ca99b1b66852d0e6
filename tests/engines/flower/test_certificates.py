from __future__ import annotations

import os
import ssl
import stat
from pathlib import Path

import pytest

from supm._errors import FederationError, ParameterError

if not os.environ.get("SUPM_REQUIRE_ALL"):
    pytest.importorskip("flwr", reason="pip install 'supm[federated]' to run the tests of Flower")

from supm.engines.flower import Authority, NodeKey
from supm.engines.flower.certificates import read_public_key


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_an_authority_is_made_once_and_its_secrets_are_its_owners(tmp_path: Path) -> None:
    made = Authority.made(tmp_path / "run", "federation.example")
    before = made.certificate.read_bytes(), made.server_key.read_bytes()
    again = Authority.made(tmp_path / "run", "federation.example")
    assert (again.certificate.read_bytes(), again.server_key.read_bytes()) == before
    assert mode(tmp_path / "run") == 0o700
    assert mode(made.server_key) == 0o600
    assert sorted(each.name for each in (tmp_path / "run").iterdir()) == [
        "ca.pem",
        "server.key",
        "server.pem",
    ]


@pytest.mark.parametrize("host", ["10.1.2.3", "federation.example", "::1"])
def test_the_certificate_is_good_for_its_host_and_no_other(tmp_path: Path, host: str) -> None:
    made = Authority.made(tmp_path / "run", host)
    assert handshake(made, host)
    assert handshake(made, "127.0.0.1")
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(made, "other.example")
    with pytest.raises(FederationError, match="is for another host than other"):
        Authority.made(tmp_path / "run", "other.example")


def handshake(authority: Authority, host: str) -> bool:
    """Shake hands in memory, with all checks that a client makes."""
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(authority.server_certificate, authority.server_key)
    asking = ssl.create_default_context(cafile=str(authority.certificate))
    # What newer Pythons check by default.
    asking.verify_flags |= ssl.VERIFY_X509_STRICT
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = asking.wrap_bio(back, there, server_hostname=host)
    server = serving.wrap_bio(there, back, server_side=True)
    for _ in range(4):
        done = [shaken(each) for each in (client, server)]
    return all(done)


def shaken(side: ssl.SSLObject) -> bool:
    try:
        side.do_handshake()
    except ssl.SSLWantReadError:
        return False
    return True


def test_a_host_that_is_no_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="host must be a name in ASCII or an address"):
        Authority.made(tmp_path / "run", "bücher.example")


def test_a_key_is_a_new_file_with_its_public_half_beside_it(tmp_path: Path) -> None:
    made = NodeKey.made(tmp_path / "north")
    assert mode(tmp_path / "north") == 0o600
    again = NodeKey.read(tmp_path / "north")
    assert again.private.private_numbers() == made.private.private_numbers()
    assert read_public_key(tmp_path / "north.pub").startswith(b"-----BEGIN PUBLIC KEY-----")
    with pytest.raises(ParameterError, match="key must be a new file that can be written"):
        NodeKey.made(tmp_path / "north")


def test_what_is_no_key_is_refused(tmp_path: Path) -> None:
    NodeKey.made(tmp_path / "north")
    (tmp_path / "text").write_text("hello")
    for path in ("text", "north.pub", "absent"):
        with pytest.raises(ParameterError, match="key must be a file with a node key"):
            NodeKey.read(tmp_path / path)
    for path in ("text", "north", "absent"):
        with pytest.raises(ParameterError, match="party-key must be a file with a public node key"):
            read_public_key(tmp_path / path)


def test_a_key_does_not_show_itself(tmp_path: Path) -> None:
    made = NodeKey.made(tmp_path / "north")
    assert str(made.private.private_numbers().private_value) not in repr(made)
