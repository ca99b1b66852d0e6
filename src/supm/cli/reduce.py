"""The verb reduce: choose what the rest of a study is about."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from supm.cli._output import Target
from supm.cli._service import StudyUrl, TokenFile, take_steps


def verb(
    *,
    study: StudyUrl,
    token_file: TokenFile = None,
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
    take_steps(study, token_file, [("reduce", "{}"), ("open", "{}")][: 1 + goes_on], json)
