"""The verb reduce: choose what the rest of a study is about."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, Final

from cyclopts import Parameter

from supm.cli._frame import UsageError
from supm.cli._output import File, Target, emit, read_text
from supm.reporting import paragraph

StudyUrl = Annotated[str, Parameter(metavar="URL")]
_VARIABLE: Final = "SUPM_TOKEN"


def verb(
    *,
    study: StudyUrl,
    token_file: File = None,
    goes_on: Annotated[bool, Parameter(name="--open", negative="--no-open")] = True,
    json: Target = None,
) -> None:
    """Choose what a running study goes on with.

    Choose attributes or merge classes from the reports of the reduce phase, and open the train
    phase.

    Parameters
    ----------
    study : str
        The study: https://host/studies/NAME.
    token_file : str, optional
        The analyst's token; the environment variable SUPM_TOKEN by default.
    goes_on : bool
        Open the train phase as well (default).
    json : str, optional
        Write the study's state; - prints it.

    Examples
    --------
    ::

        SUPM_TOKEN=… supm reduce --study https://host/studies/NAME
        supm reduce --study https://host/studies/NAME --token-file token.txt --no-open --json -
    """
    take_steps(study, token_file, ("reduce", "open") if goes_on else ("reduce",), json)


def take_steps(
    study: str,
    token_file: str | None,
    steps: Sequence[str],
    json: str | None,
    *,
    weights: str | None = None,
) -> None:
    """Take steps of a study at an aggregator, one after the other, and print where it stands."""
    from supm.owner.http import split_study_url
    from supm.service.remote import RemoteStudy, standing

    # First, so that whoever has mistyped the address need not look for a token.
    split_study_url(study)
    form = RemoteStudy(study, token=_token(token_file)).step(*steps, weights=weights)
    emit(form, map(paragraph, standing(form)), json)


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
