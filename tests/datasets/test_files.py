"""Downloads against a real HTTP server on the loopback interface."""

from __future__ import annotations

import hashlib
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from supm._errors import DatasetError
from supm.datasets import load_cifar10, load_ionosphere
from supm.datasets.files import (
    File,
    Source,
    about,
    cache_folder,
    compact_file,
    original_files,
    source_of,
)

CONTENT = b"1,2,3\n" * 1000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class _Handler(http.server.BaseHTTPRequestHandler):
    """Serves ``/whole``, half of what it announces at ``/half``, and nothing else."""

    def do_GET(self) -> None:
        if self.path not in {"/whole", "/half"}:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT if self.path == "/whole" else CONTENT[: len(CONTENT) // 2])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Keep the test's output clean."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    monkeypatch.delenv("SUPM_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def _source(address: str, sha256: str = DIGEST) -> Source:
    return Source(
        compact=File(address="some.csv.gz", sha256="0" * 64),
        originals=(File(address=address, sha256=sha256),),
    )


def _stored() -> list[Path]:
    return list(cache_folder().iterdir()) if cache_folder().exists() else []


def test_a_file_with_the_right_digest_is_returned_and_kept(server: str) -> None:
    assert original_files(_source(f"{server}/whole")) == (CONTENT,)
    (kept,) = _stored()
    assert kept.name == f"{DIGEST[:16]}-whole"
    assert kept.read_bytes() == CONTENT


def test_a_kept_file_is_not_downloaded_again(server: str) -> None:
    original_files(_source(f"{server}/whole"))
    assert original_files(_source("http://127.0.0.1:9/whole")) == (CONTENT,)


def test_a_file_with_another_digest_is_refused_and_not_kept(server: str) -> None:
    with pytest.raises(DatasetError, match=f"must have the SHA-256 {'f' * 64}, got {DIGEST}"):
        original_files(_source(f"{server}/whole", "f" * 64))
    assert _stored() == []


def test_a_file_that_ends_too_early_is_refused_and_not_kept(server: str) -> None:
    with pytest.raises(DatasetError, match=f"must have the SHA-256 {DIGEST}, got"):
        original_files(_source(f"{server}/half"))
    assert _stored() == []


def test_a_file_that_is_gone_is_an_error_that_says_what_to_set(server: str) -> None:
    with pytest.raises(DatasetError, match=r"HTTPError.* set SUPM_DATA .* some\.csv\.gz"):
        original_files(_source(f"{server}/gone"))
    assert _stored() == []


def test_a_server_that_is_not_there_is_an_error_that_says_what_to_set(server: str) -> None:
    assert server
    with pytest.raises(DatasetError, match=r"URLError.* set SUPM_DATA .* some\.csv\.gz"):
        original_files(_source("http://127.0.0.1:9/whole"))


def test_a_kept_file_that_was_damaged_is_refused(server: str) -> None:
    original_files(_source(f"{server}/whole"))
    (kept,) = _stored()
    kept.write_bytes(CONTENT[:-1])
    with pytest.raises(DatasetError, match="damaged or another version"):
        original_files(_source(f"{server}/whole"))


def test_a_cache_that_cannot_be_written_does_not_stop_a_download(
    server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert original_files(_source(f"{server}/whole")) == (CONTENT,)


def test_the_cache_is_in_the_home_folder_unless_the_user_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "supm"


def test_a_compact_file_with_another_digest_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SUPM_DATA", str(tmp_path))
    (tmp_path / "ionosphere.csv.gz").write_bytes(CONTENT)
    with pytest.raises(DatasetError, match=r"ionosphere\.csv\.gz must have the SHA-256 c1825287"):
        load_ionosphere()


def test_a_folder_without_the_compact_file_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SUPM_DATA", str(tmp_path))
    assert compact_file(source_of("adult")) is None


def test_a_folder_that_does_not_exist_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SUPM_DATA", str(tmp_path / "typo"))
    with pytest.raises(DatasetError, match="SUPM_DATA must name a folder"):
        load_ionosphere()


def test_a_set_without_a_public_original_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SUPM_DATA", str(tmp_path))
    with pytest.raises(DatasetError, match=r"cifar10\.npz was not found.* set SUPM_DATA"):
        load_cifar10()


def test_every_address_is_https_and_every_digest_is_one() -> None:
    sources = [source_of(name) for name, told in about().items() if "compact" in told]
    files = [file for source in sources for file in (source.compact, *source.originals)]
    originals = [file for source in sources for file in source.originals]
    assert len(sources) == 9
    assert all(file.address.startswith("https://") for file in originals)
    assert all(len(bytes.fromhex(file.sha256)) == 32 for file in files)
    assert len({file.sha256 for file in files}) == len(files)
