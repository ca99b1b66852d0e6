"""What the verbs of the service share: where the token comes from, and what a step answers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Annotated, Any, Final

from cyclopts import Parameter

from supm._errors import SupmError
from supm.cli._frame import UsageError
from supm.cli._output import emit, read_text
from supm.reporting import counted, paragraph

DATABASE: Final = "sqlite:///supm.db"
"""The database of `supm serve` and of `supm study`."""

StudyUrl = Annotated[str, Parameter(metavar="URL")]
Database = Annotated[str, Parameter(metavar="URL", env_var="SUPM_DB"), "url"]
TokenFile = Annotated[str | None, Parameter(metavar="FILE")]

_STEP_SECONDS: Final = 900.0
_VARIABLE: Final = "SUPM_TOKEN"


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
    from supm.owner.http import Remote, answered, split_study_url

    base, name = split_study_url(study)
    # A step is taken once: the answer to a second attempt would be that it is done.
    remote = Remote(base, token=_token(token_file), timeout=_STEP_SECONDS, attempts=1)
    form: dict[str, Any] = {}
    for step, body in steps:
        form = answered(remote.post_json(f"/api/v1/studies/{name}/{step}", body))
    _check_status(form)
    emit(form, map(paragraph, standing(form)), json)


def _check_status(form: dict[str, Any]) -> None:
    """Refuse an answer that is not the status of a study."""
    texts = [form.get(each) for each in ("name", "purpose", "state", "guarantee")]
    texts += [form.get(each, "") for each in ("by", "contact")]
    counts = form.get("reports")
    whole = isinstance(counts, dict) and all(type(each) is int for each in counts.values())
    if not whole or not all(isinstance(each, str) for each in texts):
        message = "the aggregator took the step, and did not say where the study stands."
        raise SupmError(message)


def standing(form: dict[str, Any]) -> Iterator[str]:
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
