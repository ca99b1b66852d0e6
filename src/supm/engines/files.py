"""Files that a party and a server name, and a party's record of what it spent."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from supm._errors import MessageError, ParameterError
from supm.federation import FederatedStudy, Policy, Rows, Spent
from supm.messages.codec import Message
from supm.schema import Schema, read_csv
from supm.schema.text_table import Progress


def text_of_file(name: str, path: Path) -> str:
    """Return the text of a small file, or raise ParameterError about the argument that named it."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        hint = f"{error.strerror}."
    except UnicodeDecodeError:
        hint = "It is not UTF-8 text."
    raise ParameterError(name, "a file that can be read", str(path), hint)


def write_file(name: str, path: Path, text: str) -> None:
    """Put a text in the place of a file; where that fails, the one that was there stays."""
    fresh = path.with_name(f".supm-{os.getpid()}-{path.name}")
    try:
        with fresh.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        hint = f"{error.strerror}."
        raise ParameterError(name, "a file that can be written", str(path), hint) from None


def load_study(path: Path) -> FederatedStudy:
    """Return the study in a file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    FederatedStudy
    """
    with _reading_of(path):
        return FederatedStudy.from_json(text_of_file("study", path))


@contextmanager
def _reading_of(path: Path) -> Iterator[None]:
    """Say in which file the message was that cannot be read."""
    try:
        yield
    except MessageError as error:
        raise MessageError(f"{path}: {error}") from None


def check_writable(name: str, path: Path) -> None:
    """Refuse a file that cannot be written before the work is done."""
    if path.is_dir() or not path.parent.is_dir():
        raise ParameterError(name, "a file in a folder that exists", str(path))
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ParameterError(name, "a file that may be written", str(path))


def read_tables(
    study: FederatedStudy,
    paths: Sequence[str],
    *,
    schema: Schema | None = None,
    progress: Progress = iter,
) -> dict[str, Rows]:
    """Return the tables of all parties, each from a CSV file, as `run_study` takes them.

    Parameters
    ----------
    study : FederatedStudy
        What the parties would consent to.
    paths : sequence of str
        One file for each party. A table that is there twice is refused: the promise is for a record
        in one of the tables.
    schema : Schema, optional
        What the study is expected to have.
    progress : callable, optional
        Goes through a file in pieces of many lines and may show how far it is.

    Returns
    -------
    dict of str to Rows
    """
    parties = study.protocol.circle.parties
    if len(paths) != parties:
        raise ParameterError("data", f"{parties} tables, one for each party", len(paths))
    _check_apart(paths)
    return {
        f"party {number}": study.read_rows(read_csv(path, progress=progress), schema)
        for number, path in enumerate(paths)
    }


def _check_apart(paths: Sequence[str]) -> None:
    seen: dict[bytes, str] = {}
    # A pipe can be read once only, and what cannot be read is said when the tables are.
    for path in (each for each in paths if Path(each).is_file() and os.access(each, os.R_OK)):
        with Path(path).open("rb") as file:
            content = hashlib.file_digest(file, "sha256").digest()
        if content in seen:
            hint = (
                f"{seen[content]} and {path} are one table, whose records would count twice, and "
                "the promise is for records that count once."
            )
            raise ParameterError("data", "a table of its own for each party", path, hint)
        seen[content] = path


@dataclass(frozen=True, kw_only=True)
class _Record(Message):
    """What a party spent on each run so far."""

    noun = "a record of what is spent"
    version = 1
    spent: tuple[Spent, ...] = ()


class Spendings:
    """A party's record of what it spent, beside the policy that says how much it may be.

    Parameters
    ----------
    policy_path : Path
        The file of the policy; that of the spendings ends in ``.spent.json``.
    policy : Policy
        What is allowed.
    """

    def __init__(self, policy_path: Path, policy: Policy) -> None:
        self.path = policy_path.with_suffix(".spent.json")
        self._policy = policy

    @classmethod
    def of(cls, policy_path: Path) -> Spendings:
        """Return what was spent under the policy of a file."""
        with _reading_of(policy_path):
            return cls(policy_path, Policy.from_json(text_of_file("policy", policy_path)))

    def check(self, study: FederatedStudy) -> None:
        """Refuse a study that the policy does not allow; nothing is spent."""
        with self._opened() as file:
            self._policy.check(study, self._read(file))

    def charge(self, study: FederatedStudy) -> None:
        """Refuse a study that the policy does not allow, or write down what it costs."""
        with self._opened() as file:
            before = self._read(file)
            record = _Record(spent=(*before, self._policy.check(study, before)))
            content = (json.dumps(record.to_form(), indent=2) + "\n").encode()
            # The text only grows. Cut off by a crash it cannot be read, and is not taken for empty.
            os.pwrite(file, content, 0)
            os.ftruncate(file, len(content))
            # On the disk before anything leaves.
            os.fsync(file)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        try:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            hint = f"{error.strerror}; what is spent is kept beside the policy."
            wanted = "in a folder that can be written"
            raise ParameterError("policy", wanted, str(self.path), hint) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
        finally:
            os.close(file)

    def _read(self, file: int) -> tuple[Spent, ...]:
        text = os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")
        try:
            return _Record.from_json(text).spent if text else ()
        except MessageError:
            raise MessageError(
                f"{self.path} is no record of what is spent; without it nothing can be allowed."
            ) from None
