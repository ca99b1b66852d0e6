"""The verb study: create, list, show and close studies in the aggregator's database."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import App, Parameter

from supm._errors import ParameterError, SupmError
from supm.cli._frame import UsageError, reading
from supm.cli._output import Target, agreed, aloud, emit, say, table, write_json
from supm.cli._types import DATABASE, Database, Epsilon, Wishes, whole
from supm.reporting import counted, paragraph

if TYPE_CHECKING:
    from supm.service.actions import StudySecrets
    from supm.service.store import Opened, Store

_ABOUT: Final = """\
Create, list, show and close studies in the aggregator's database.

`supm serve` offers the studies of the same --db to owners.

Examples
--------
::

    supm study create --schema schema.json --owners 10000 --epsilon 2 --purpose "Who falls ill?"
    supm study create --schema schema.json --epsilon 4 --minimum 500 --deadline 2030-12-01 \\
        --token-file token.txt --invitations 100 --invitations-file codes.txt \\
        --by "St Mary's hospital" --contact study@hospital.example
    supm study list
    supm study show NAME
    supm study close NAME
"""
_FOR_GOOD: Final = (
    "A closed study stays closed: it takes no more reports, its model answers no more, and what "
    "waits to be counted is dropped."
)
_PHASES: Final = ("reduce", "train", "test")
_WIDEST: Final = 40


def _secret_file(text: str) -> str:
    if os.path.lexists(text):
        rule = f"a new file\n{text} exists; it may be another study's only key; name another file."
    elif not Path(text).parent.is_dir():
        rule = "a file in a folder that exists"
    else:
        return text
    raise ValueError(rule)


def _by_phase(name: str, given: Sequence[str] | None, read: Callable[[str], Any]) -> dict[str, Any]:
    """Return values by phase; one that names none is for reduce and train."""
    found: dict[str, Any] = {}
    for text in given or ():
        phase, sign, value = text.rpartition("=")
        if sign and phase not in _PHASES:
            raise ParameterError(name, f"about one of {', '.join(_PHASES)}", phase)
        try:
            found |= dict.fromkeys((phase,) if sign else _PHASES[:2], read(value))
        except ValueError as error:
            raise ParameterError(name, str(error), value) from None
    return found


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 12):
        rule = "a whole number, such as 500 or train=500"
        raise ValueError(rule)
    return int(text)


def _moment_to_come(text: str) -> float:
    """Return a moment that has not passed, in Unix seconds."""
    try:
        when = datetime.fromisoformat(text)
        # In UTC it is shown later on, where it may be out of what a calendar holds.
        when = when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        rule = "a date or time such as 2030-12-01 or train=2030-12-01T18:00+01:00"
        raise ValueError(rule) from None
    if when <= datetime.now(UTC):
        rule = "a time to come (UTC unless it says otherwise)"
        raise ValueError(rule)
    return when.timestamp()


SecretFile = Annotated[str | None, reading(_secret_file, "FILE")]
Limits = Annotated[list[str] | None, Parameter(metavar="[PHASE=]N")]
Times = Annotated[list[str] | None, Parameter(metavar="[PHASE=]TIME")]

verb = App(name="study", help=_ABOUT, help_flags=(), version_flags=())


@verb.command(name="create")
def _create(
    *,
    schema: Annotated[str, Parameter(metavar="FILE")],
    epsilon: Epsilon,
    owners: Annotated[int | None, whole(1, 1 << 40)] = None,
    wishes: Wishes = Wishes(),  # noqa: B008  it is frozen, and cyclopts reads its fields
    purpose: str = "",
    by: str = "",
    contact: str = "",
    minimum: Limits = None,
    deadline: Times = None,
    invitations: Annotated[int | None, whole(1, 1 << 20)] = None,
    invitations_file: SecretFile = None,
    token_file: SecretFile = None,
    db: Database = DATABASE,
    json: Target = None,
) -> None:
    r"""Make a study and its token.

    Parameters
    ----------
    schema : str
        What is public.
    epsilon : float
        What an owner may spend.
    owners : int, optional
        How many owners to expect.
    wishes : Wishes
        What the study is to be like.
    purpose : str
        What the study is for.
    by : str
        Who runs it; owners see it.
    contact : str
        How owners reach who runs it; owners see it.
    minimum : list of str, optional
        How many reports a step needs: for reduce and train, or for the phase that is named; may be
        repeated.
    deadline : list of str, optional
        Until when (UTC), such as 2030-12-01 or 2030-12-01T18:00+01:00: for reduce and train, or for
        the phase that is named; may be repeated.
    invitations : int, optional
        Make so many one-time codes.
    invitations_file : str, optional
        Write the codes; a new file that only you may read.
    token_file : str, optional
        Write the token, instead of printing; a new file that only you may read.
    db : str
        The database: sqlite:///supm.db (default) or postgresql://user@host/name; one with a
        password is better named by the environment variable SUPM_DB.
    json : str, optional
        Write name, page and token; - prints them.

    Examples
    --------
    ::

        supm study create --schema schema.json --epsilon 4 --minimum 500 --deadline 2030-12-01 \
            --token-file token.txt --invitations 100 --invitations-file codes.txt
    """
    from supm.collection import plan
    from supm.collection.words import limit_notes
    from supm.service.actions import StudySecrets
    from supm.service.store.values import check_who

    _check_files(invitations, invitations_file, token_file, json)
    check_who(by, contact)
    limits: dict[str, Any] = {
        "minimums": _by_phase("minimum", minimum, _count),
        "deadlines": _by_phase("deadline", deadline, _moment_to_come),
    }
    planned = plan(schema, epsilon=epsilon, owners=owners, purpose=purpose, **wishes.given())
    say(*limit_notes(planned))
    secrets = StudySecrets.draw(invitations=invitations or 0)
    files = {"invitations_file": invitations_file, "token_file": token_file}
    with _opened(db, new=True) as store, _written(secrets, files):
        opened = store.create(planned, by=by, contact=contact, **limits, **secrets.hashes)
    form = {
        "name": opened.name,
        "page": f"/studies/{opened.name}",
        "dashboard": f"/studies/{opened.name}/dashboard",
        "state": str(opened.state),
        "document": planned.hash,
        "invitations": len(secrets.invitations),
    }
    if token_file is None:
        form["token"] = secrets.token
    if json == "-":
        write_json(form, json)
        return
    for line in _told(form, db, files, json):
        print(line)
    if json is not None:
        _write_made(form, json)


@verb.command(name="list")
def _list(*, db: Database = DATABASE, json: Target = None) -> None:
    """List all studies.

    Parameters
    ----------
    db : str
        The database.
    json : str, optional
        Write them; - prints them.

    Examples
    --------
    ::

        supm study list --db postgresql://supm@db/supm --json -
    """
    with _opened(db) as store:
        from supm.service.status import status

        found = [status(store, each) for each in store.studies()]
    head = ["name", "state", "target", "purpose", "epsilon", "reports"]
    rows = [_row(each) for each in found]
    none = "There are no studies in this database."
    emit({"studies": found}, [table(head, rows, left=4) if rows else none], json)


@verb.command(name="show")
def _show(name: str, /, *, db: Database = DATABASE, json: Target = None) -> None:
    """Show one study.

    Parameters
    ----------
    name : str
        The study's name.
    db : str
        The database.
    json : str, optional
        Write its state; - prints it.

    Examples
    --------
    ::

        supm study show NAME
    """
    with _opened(db) as store:
        from supm.service.status import status

        opened = store.find(name)
        form = status(store, opened)
    emit(form, _words(form, opened), json)


@verb.command(name="close")
def _close(name: str, /, *, yes: bool = False, db: Database = DATABASE, json: Target = None) -> int:
    """Close one study for good.

    Parameters
    ----------
    name : str
        The study's name.
    yes : bool
        Close it without asking.
    db : str
        The database.
    json : str, optional
        Write its state; - prints it.

    Examples
    --------
    ::

        supm study close NAME
    """
    place = aloud(json)
    with _opened(db) as store:
        from supm.service.actions import close_study
        from supm.service.status import status
        from supm.service.store.values import State

        if store.find(name).state is not State.CLOSED:
            print(paragraph(_FOR_GOOD), file=place)
            if not agreed("Close the study?", place, yes=yes, otherwise="Nothing was closed."):
                return 1
        opened = close_study(store, name)
        form = status(store, opened)
    emit(form, _words(form, opened), json)
    return 0


@contextmanager
def _opened(db: str, *, new: bool = False) -> Iterator[Store]:
    from supm.service.errors import UnknownStudy
    from supm.service.store import DatabaseAddress, Store

    address = DatabaseAddress.parse(db)
    if address.is_absent and not new:
        # To open it would make an empty one.
        raise SupmError(
            f"there is no database {address.shown}; name the one of supm serve with --db, or make "
            "a study with supm study create."
        )
    store = Store.open(db)
    try:
        yield store
    except UnknownStudy:
        hint = "supm study list shows those that there are."
        raise SupmError(f"no study has this name in {address.shown}; {hint}") from None
    finally:
        store.close()


def _check_files(
    invitations: int | None, invitations_file: str | None, token_file: str | None, json: str | None
) -> None:
    if (invitations is None) != (invitations_file is None):
        raise UsageError(
            "--invitations must be given with --invitations-file: how many, and where to."
        )
    if token_file is None and json not in (None, "-") and os.path.lexists(str(json)):
        raise UsageError(
            f"--json: {json} exists; it may be another study's only key; name another file."
        )
    named = [each for each in (json, invitations_file, token_file) if each not in (None, "-")]
    if len({Path(str(each)).resolve() for each in named}) < len(named):
        raise UsageError("--json, --invitations-file and --token-file must name different files.")


@contextmanager
def _written(secrets: StudySecrets, files: dict[str, str | None]) -> Iterator[None]:
    """Write what nobody could use the study without, and take it back where it is not made."""
    made: list[str] = []
    try:
        for (option, path), lines in zip(
            files.items(), (secrets.invitations, [secrets.token]), strict=True
        ):
            if path is not None:
                _write_private(option, path, "".join(f"{line}\n" for line in lines))
                made.append(path)
        yield
    except BaseException:
        for path in made:
            Path(path).unlink(missing_ok=True)
        raise


def _write_private(name: str, path: str, text: str) -> None:
    """Write a new file that only its owner may read."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        hint = f"{error.strerror}."
        raise ParameterError(name, "a file that can be written", path, hint) from None
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)


def _write_made(form: dict[str, Any], json: str) -> None:
    from supm.reporting import json_text

    if "token" not in form:
        Path(json).unlink(missing_ok=True)
    _write_private("json", json, json_text(form))
    print(f"All of this is in {json}.")


def _told(
    form: dict[str, Any], db: str, files: dict[str, str | None], json: str | None
) -> Iterator[str]:
    yield f"Study {form['name']} is {form['state']}."
    yield f"Page for owners: {form['page']} (dashboard: {form['dashboard']})"
    serve = "supm serve" if db == DATABASE else "supm serve with the same --db"
    yield f"Run {serve}, then open http://127.0.0.1:8000{form['page']}"
    if files["invitations_file"]:
        codes = counted(form["invitations"], "invitation")
        yield f"{codes} in {files['invitations_file']}; give one to each owner."
    if files["token_file"]:
        yield f"The analyst's token is in {files['token_file']}; only its hash is stored."
    elif json is None:
        yield f"Analyst token, shown this once and stored hashed: {form['token']}"


def _words(form: dict[str, Any], opened: Opened) -> Iterator[str]:
    from supm.service.remote import standing
    from supm.service.status import limit_words

    return map(paragraph, (*standing(form), *limit_words(form, opened)))


def _row(form: dict[str, Any]) -> list[str]:
    purpose = shorten(form["purpose"], _WIDEST, placeholder="…") or "-"
    numbers = f"{form['epsilon']:g}", f"{sum(form['reports'].values()):,}"
    return [form["name"], form["state"], form["target"], purpose, *numbers]
