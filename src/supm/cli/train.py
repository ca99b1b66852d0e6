"""The verb train: train a model on the reports of a study."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from supm.cli._output import File, Target
from supm.cli.reduce import StudyUrl, take_steps


def verb(
    *,
    study: StudyUrl,
    token_file: File = None,
    balanced: bool = False,
    serve: Annotated[bool, Parameter(negative="--no-serve")] = True,
    json: Target = None,
) -> None:
    """Train a model on the reports of a running study.

    Train on the reports of the train phase, and let the model answer.

    Parameters
    ----------
    study : str
        The study: https://host/studies/NAME.
    token_file : str, optional
        The analyst's token; the environment variable SUPM_TOKEN by default.
    balanced : bool
        Let rare labels count as much as common ones.
    serve : bool
        Let the model answer as well (default).
    json : str, optional
        Write the study's state; - prints it.

    Examples
    --------
    ::

        SUPM_TOKEN=… supm train --study https://host/studies/NAME
        supm train --study https://host/studies/NAME --token-file token.txt --balanced --no-serve
    """
    steps = ("train", "serve") if serve else ("train",)
    take_steps(study, token_file, steps, json, weights="balanced" if balanced else None)
