"""What verbs read and write: files, checked before the work; results, notes and progress."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Final, TextIO

from cyclopts import Parameter

from supm._errors import ParameterError
from supm.cli._frame import reading
from supm.reporting import Table, bar, json_text, printable

_ENDINGS: Final = {"-o": (".csv",), "--report": (".html", ".htm")}
_FORMATS: Final = (".png", ".pdf", ".svg")


def _target(text: str) -> str:
    rule = _fault(text)
    if rule:
        raise ValueError(rule)
    return text


def _picture(text: str) -> str:
    if not text.lower().endswith(_FORMATS):
        rule = f"a file that ends in {', '.join(_FORMATS)}"
        raise ValueError(rule)
    return _target(text)


def _new_file(text: str) -> str:
    if os.path.lexists(text):
        rule = "a file that does not exist yet\nNothing is overwritten; name another file."
        raise ValueError(rule)
    return _target(text)


Target = Annotated[str | None, reading(_target, "FILE")]
"""A file to write, or a dash for the standard output."""
NewFile = Annotated[str | None, reading(_new_file, "FILE")]
"""A file to write that must not be there."""
Picture = Annotated[str | None, reading(_picture, "FILE")]
Data = Annotated[str, Parameter(name="DATA.csv")]
"""A table to read."""
File = Annotated[str | None, Parameter(metavar="FILE")]
"""A file to read."""


def _fault(target: str) -> str:
    """Return what a file to write must be, where this is not one, before the work is done."""
    path = Path(target)
    if target == "-":
        return ""
    if target.startswith("--"):
        return f"followed by a file, and one of that name is written ./{target}"
    if not target or path.is_dir() or not path.parent.is_dir():
        return "a file in a folder that exists"
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        return "a file that may be written"
    return ""


def check_target(option: str, target: str | None) -> None:
    """Refuse a file that cannot be written before the work is done."""
    rule = "" if target is None else _fault(target)
    if rule:
        raise ParameterError(option, rule, target)


def read_text(name: str, path: str) -> str:
    """Read a small file of text; a mark of its encoding, as Windows writes it, is left out."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        hint = f"{error.strerror}."
    except UnicodeDecodeError:
        hint = "It is not UTF-8 text."
    raise ParameterError(name, "a file that can be read", path, hint)


def write_json(value: Any, target: str) -> None:  # noqa: ANN401  whatever JSON can hold
    """Write JSON to a file, or to the standard output if the target is a dash."""
    write_text("--json", json_text(value), target)


def write_text(option: str, text: str, target: str) -> None:
    """Write text to a file, or to the standard output if the target is a dash."""
    if target == "-":
        sys.stdout.write(text)
        return
    write_bytes(option, text.encode(), target)


def write_bytes(option: str, content: bytes, target: str) -> None:
    """Write a file that is no text."""
    try:
        _replace(Path(target).resolve(), content)
    except OSError as error:
        hint = f"{error.strerror}."
        raise ParameterError(option, "a file that can be written", target, hint) from None


def _replace(path: Path, content: bytes) -> None:
    """Write a file as a whole or not at all: a full disk leaves the one that was there."""
    if not os.access(path.parent, os.W_OK) or (path.exists() and not path.is_file()):
        path.write_bytes(content)  # into a device, or where no file can be made beside it
        return
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    fresh = path.with_name(f".supm-{os.getpid()}-{time.monotonic_ns()}")
    try:
        with fresh.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            fresh.chmod(mode)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def check_targets(inputs: Mapping[str, str], targets: Mapping[str, str | None]) -> None:
    """Refuse targets that would destroy an input or each other, before the work is done."""
    wanted = {option: target for option, target in targets.items() if target is not None}
    for option, target in wanted.items():
        check_target(option, target)
        _check_ending(option, target)
        _check_beside_inputs(option, target, inputs)
    for first, second in combinations(wanted, 2):
        if _same(wanted[first], wanted[second]):
            raise ParameterError(second, f"another target than that of {first}", wanted[second])


def _check_ending(option: str, target: str) -> None:
    """Refuse a name of another format; a name without an ending, such as a device, may be any."""
    allowed, ending = _ENDINGS.get(option, ()), Path(target).suffix.lower()
    if allowed and ending and ending not in allowed:
        raise ParameterError(option, f"a file that ends in {' or '.join(allowed)}", target)


def _check_beside_inputs(option: str, target: str, inputs: Mapping[str, str]) -> None:
    for name, path in inputs.items():
        if target != "-" and _same(target, path):
            hint = "It would be overwritten."
            raise ParameterError(option, f"another file than {name}", target, hint)


def _same(first: str, second: str) -> bool:
    """Say whether two names are of one file, also where it is not there yet."""
    if "-" in (first, second):
        return first == second
    one, other = Path(first), Path(second)
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


def emit(form: Any, words: Iterable[str], json: str | None) -> None:  # noqa: ANN401  whatever JSON can hold
    """Write plain values where --json says, and print words where they do not mix with them."""
    if json:
        write_json(form, json)
    if json != "-":
        for block in words:
            print(block)


def where(written: Mapping[str, str | None]) -> Iterator[str]:
    """Say where each file is that was written."""
    for what, name in written.items():
        if name and name != "-":
            yield f"The {what} in {name}."


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1, widest: int | None = None
) -> str:
    """Align columns: the first ``left`` ones at the left, the others at the right."""
    return str(Table(head=head, rows=rows, words=left, widest=widest))


def say(*notes: str) -> None:
    """Say something beside the result, on the standard error."""
    for note in notes:
        print(f"supm: note: {printable(note)}", file=sys.stderr)


def aloud(*targets: str | None) -> TextIO:
    """Return where to speak, so that it does not mix with a result."""
    return sys.stderr if "-" in targets else sys.stdout


def agreed(
    question: str,
    place: TextIO,
    *,
    yes: bool,
    otherwise: str = "Nothing was sent, and nothing was spent.",
) -> bool:
    """Ask for consent, unless that was answered on the command line."""
    if yes:
        return True
    print(f"{question} [y/N] ", end="", file=place, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    print(otherwise, file=place)
    return False


@contextmanager
def folds_bar() -> Iterator[Callable[[int, int, str], None]]:
    """Show folds as `supm.collection.simulate` tells them, after two seconds."""
    with bar(total=None, unit="folds", label="simulation") as shown:
        yield shown.reach


def lines_read(pieces: Iterable[list[bytes]]) -> Iterator[list[bytes]]:
    """Go through a file in pieces of many lines."""
    with bar(total=None, unit="lines", label="") as shown:
        for lines in pieces:
            yield lines
            shown.step(len(lines))
