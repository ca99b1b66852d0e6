"""A key is read from a safe file only, and shown nowhere."""

from __future__ import annotations

import os
import pickle
import stat
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest

from supm.publication.chain import ChainAccount, ChainError, make_account, read_account

if not os.environ.get("SUPM_REQUIRE_ALL"):
    pytest.importorskip("supm.publication.chain.node", reason="pip install 'supm[chain]'")

KEY = bytes(range(1, 33))
# The order of the curve: the least number that is too large to be a key.
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


def written(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_made_account_is_read_back(tmp_path: Path) -> None:
    made = make_account(tmp_path / "key")
    assert read_account(str(tmp_path / "key")) == made
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert make_account(tmp_path / "other") != made


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    made = make_account(tmp_path / "key")
    with pytest.raises(ChainError, match="cannot be made: File exists"):
        make_account(tmp_path / "key")
    assert read_account(tmp_path / "key") == made


@pytest.mark.parametrize("text", [KEY.hex(), f"0x{KEY.hex()}", f"0x{KEY.hex().upper()}\n"])
def test_a_key_may_be_written_in_the_usual_ways(tmp_path: Path, text: str) -> None:
    assert read_account(written(tmp_path / "key", text)) == ChainAccount(KEY)


def test_an_address_is_the_one_that_others_find() -> None:
    # Key 1, whose address is in many texts.
    assert ChainAccount((1).to_bytes(32)).address == "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf"


def test_what_is_absent_is_named_with_what_to_install() -> None:
    program = (
        "import sys; sys.modules |= {'web3': None, 'eth_account': None}\n"
        "from supm.publication import chain\n"
        "for name in ('ChainAccount', 'Chain', 'deploy'):\n"
        "    try: getattr(chain, name)\n"
        "    except ImportError as error: print(error)\n"
    )
    done = subprocess.run(  # noqa: S603  the words are above
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    told = "this needs the package eth_account; run pip install 'supm[chain]'."
    assert done.stdout.splitlines() == [told] * 3


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644])
def test_a_file_that_others_may_read_or_write_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(ChainError, match=r"others may read or write .*chmod 600"):
        read_account(written(tmp_path / "key", KEY.hex(), mode))


@pytest.mark.parametrize(
    "text",
    ["", "hello", KEY.hex()[:-1], KEY.hex() + "00", "zz" * 32, "0" * 64, f"{ORDER:064x}", "é" * 64],
)
def test_what_is_no_key_is_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    with pytest.raises(ChainError, match="private key") as refused:
        read_account(written(tmp_path / "key", text))
    assert text == "" or text not in str(refused.value)


def test_a_folder_or_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ChainError, match="cannot be read: Is a directory"):
        read_account(tmp_path)
    with pytest.raises(ChainError, match="cannot be read: No such file"):
        read_account(tmp_path / "none")
    with pytest.raises(ChainError, match="cannot be made: No such file"):
        make_account(tmp_path / "none" / "key")


def test_a_pipe_is_no_key_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    writer = os.open(tmp_path / "pipe", os.O_RDWR)
    with pytest.raises(ChainError, match="is not a file"):
        read_account(tmp_path / "pipe")
    os.close(writer)


@pytest.mark.parametrize("key", [b"", KEY[:31], KEY + b"1", KEY.hex(), None, 7, ORDER.to_bytes(32)])
def test_an_account_is_made_of_a_key_alone(key: Any) -> None:
    with pytest.raises(ChainError, match="a private key must be 32 bytes") as refused:
        ChainAccount(key)
    assert KEY.hex()[:20] not in "".join(traceback.format_exception(refused.value))


def test_no_text_of_an_account_shows_its_key() -> None:
    account = ChainAccount(KEY)
    for text in (repr(account), str(account), f"{account}", f"{[account]}"):
        assert account.address in text
        assert KEY.hex()[:8] not in text
        assert repr(KEY)[2:10] not in text


def test_a_copy_in_another_process_signs_the_same() -> None:
    account = ChainAccount(KEY)
    fields = {"nonce": 0, "gas": 21000, "gasPrice": 1, "value": 0, "data": b"", "chainId": 1}
    copy = pickle.loads(pickle.dumps(account))  # noqa: S301  our own bytes, made in this line
    assert copy.sign(fields) == account.sign(fields)
