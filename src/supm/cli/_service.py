"""What the verbs of the service share: where the token comes from, and what a step answers."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from supm._errors import ParameterError, SupmError
from supm.cli._files import read_text
from supm.cli._output import counted, emit, paragraph
from supm.cli._types import UsageError

__all__ = [
    "DATABASE",
    "StudyUrl",
    "TokenFile",
    "UsageError",
    "add_database",
    "check_database",
    "check_kind_of_database",
    "check_new",
    "is_absent",
    "needs_server_packages",
    "say_status",
    "shown_database",
    "take_steps",
    "write_private",
]

DATABASE: Final = "sqlite:///supm.db"
"""The database of `supm serve` and of `supm study`."""

StudyUrl = Annotated[str, Parameter(metavar="URL")]
TokenFile = Annotated[str | None, Parameter(metavar="FILE")]

_STEP_SECONDS: Final = 900.0
_VARIABLE: Final = "SUPM_TOKEN"
_DATABASE_VARIABLE: Final = "SUPM_DB"


def add_database(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the database."""
    parser.add_argument(
        "--db",
        default=os.environ.get(_DATABASE_VARIABLE, DATABASE),
        metavar="URL",
        help=f"the database: {DATABASE} (default) or postgresql://user@host/name; one with a "
        f"password is better named by the environment variable {_DATABASE_VARIABLE}",
    )


def check_kind_of_database(url: str) -> None:
    """Refuse what names no database; a password in it is not shown.

    Parameters
    ----------
    url : str
        What was given by ``--db``.
    """
    kind, database = _parsed(url)
    if kind.startswith("postgres") or (kind == "sqlite" and database not in ("", ":memory:")):
        return
    scheme, sign, _ = url.partition("://")
    got = f"{scheme}://…" if sign else url
    hint = "A file is written as sqlite:///studies.db."
    wanted = "sqlite:///FILE or postgresql://USER@HOST/NAME"
    raise ParameterError("--db", wanted, "an address" if "@" in got else got, hint)


def is_absent(url: str) -> bool:
    """Return whether a database is a file that is not there.

    Parameters
    ----------
    url : str
        The database.

    Returns
    -------
    bool
    """
    kind, database = _parsed(url)
    return kind == "sqlite" and bool(database) and not Path(database).is_file()


def _parsed(url: str) -> tuple[str, str]:
    """Return the kind of a database and its name; nothing of what cannot be read."""
    import sqlalchemy as sa  # noqa: PLC0415  loaded when the verb runs

    try:
        parsed = sa.make_url(url)
    except (sa.exc.SQLAlchemyError, ValueError):
        return "", ""
    return parsed.get_backend_name(), parsed.database or ""


def check_database(url: str) -> None:
    """Refuse a database file that is not there: to open it would make an empty one.

    Parameters
    ----------
    url : str
        The database; one that is no file is left to the driver.
    """
    if is_absent(url):
        message = (
            f"there is no database {shown_database(url)}; name the one of supm serve with --db, or "
            "make a study with supm study create."
        )
        raise SupmError(message)


def shown_database(url: str) -> str:
    """Return the address of a database without what may be secret in it.

    Parameters
    ----------
    url : str
        The address; one that can be parsed.

    Returns
    -------
    str
    """
    import sqlalchemy as sa  # noqa: PLC0415  loaded when the verb runs

    return sa.make_url(url).set(password="", query={}).render_as_string().replace(":***@", "@")


@contextmanager
def needs_server_packages() -> Iterator[None]:
    """Say what to install where a package of the service is absent."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "supm":
            raise
        message = f"this needs the package {error.name}; run pip install 'supm[server]'."
        raise SupmError(message) from None


def _token(token_file: str | None) -> str:
    """Return the analyst's token, which never stands on a command line."""
    if token_file is not None:
        token = read_text("--token-file", token_file).strip()
        message = f"the file {token_file} of --token-file holds no token."
    else:
        token = os.environ.get(_VARIABLE, "").strip()
        message = f"the study's token is needed: set {_VARIABLE}, or name a file by --token-file."
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(message)
    return token


def take_steps(
    study: str, token_file: str | None, steps: list[tuple[str, str]], json: str | None
) -> None:
    """Take steps of a study at an aggregator, one after the other, and print where it stands.

    Parameters
    ----------
    study : str
        Its address.
    token_file : str or None
        The file that holds the analyst's token.
    steps : list of tuple of str and str
        The name of each step, and the JSON that goes with it.
    json : str or None
        Where to write the study's state.
    """
    from supm.owner.http import Remote, answered, split_study_url  # noqa: PLC0415  loaded when it runs

    base, name = split_study_url(study)
    # A step is taken once: the answer to a second attempt would be that it is done.
    remote = Remote(base, token=_token(token_file), timeout=_STEP_SECONDS, attempts=1)
    form: dict[str, Any] = {}
    for step, body in steps:
        form = answered(remote.post_json(f"/api/v1/studies/{name}/{step}", body))
    _check_status(form)
    emit(form, map(paragraph, _standing(form)), json)


def _check_status(form: dict[str, Any]) -> None:
    """Refuse an answer that is not the status of a study."""
    texts = [form.get(each) for each in ("name", "purpose", "state", "guarantee")]
    texts += [form.get(each, "") for each in ("by", "contact")]
    counts = form.get("reports")
    whole = isinstance(counts, dict) and all(type(each) is int for each in counts.values())
    if not whole or not all(isinstance(each, str) for each in texts):
        message = "the aggregator took the step, and did not say where the study stands."
        raise SupmError(message)


def say_status(form: dict[str, Any]) -> None:
    """Print where a study stands."""
    for line in _standing(form):
        print(paragraph(line))


def _standing(form: dict[str, Any]) -> Iterator[str]:
    """Say where a study stands, by its status."""
    purpose = f": {form['purpose']}" if form["purpose"] else ""
    yield f"Study {form['name']}{purpose}"
    if form.get("by") or form.get("contact"):
        contact = f" (contact: {form['contact']})" if form["contact"] else ""
        yield f"It is run by {form['by'] or 'somebody who gave no name'}{contact}."
    reports = ", ".join(
        f"{counted(count, 'report')} to {phase}" for phase, count in form["reports"].items()
    )
    yield f"It is {form['state']} ({reports or 'no reports'})."
    yield form["guarantee"]


def check_new(option: str, path: str) -> None:
    """Refuse to write a secret over a file.

    Parameters
    ----------
    option : str
        The option that names the file.
    path : str
        The name of the file.
    """
    if os.path.lexists(path):
        message = f"{option}: {path} exists; it may be another study's only key; name another file."
        raise UsageError(message)


def write_private(option: str, path: str, text: str) -> None:
    """Write a new file that only its owner may read.

    Parameters
    ----------
    option : str
        The option that names the file.
    path : str
        The name of the file.
    text : str
        What to write.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        hint = f"{error.strerror}."
        raise ParameterError(option, "a file that can be written", path, hint) from None
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
