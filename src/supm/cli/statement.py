"""The verb statement: print the guarantee of a model, a release or a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from supm._errors import MessageError
from supm._json import read_object
from supm.cli._files import read_text
from supm.cli._output import emit, paragraph
from supm.cli._types import Target

if TYPE_CHECKING:
    from supm.messages import ReleaseStatement, Statement

__all__ = ["statement", "statement_of"]


def statement(file: str, /, *, json: Target = None) -> None:
    """Print the guarantee of a model, a release or a study.

    Say in plain words what was promised to whom.

    Parameters
    ----------
    file : str
        A model, a statement, a study or a release of a federation, as JSON.
    json : str, optional
        Write the statement; - prints it.

    Examples
    --------
    ::

        supm statement model.json            what was promised to those whose data made this model
        supm statement study.json            what would be promised to those who answer this study
        supm statement release.json          what was promised to the records of a federation
        supm statement model.json --json -   for machines
    """
    text = read_text("FILE", file)
    try:
        noun, stated, lines = statement_of(text)
    except MessageError as error:
        message = f"{file}: {error}"
        raise MessageError(message) from None
    emit(stated.to_form(), [f"{file} is a {noun}.", *map(paragraph, lines)], json)


def statement_of(text: str) -> tuple[str, Statement | ReleaseStatement, list[str]]:
    """Return what a text of SUPM is, its statement, and that in words.

    Parameters
    ----------
    text : str
        A model, a synthesizer, a statement, a study or a release, as JSON.

    Returns
    -------
    tuple of str, Statement or ReleaseStatement, and list of str

    Raises
    ------
    MessageError
        If it is none of them, or promises something else than its noise keeps.
    """
    from supm.collection import account, make_statement  # noqa: PLC0415  the same
    from supm.collection.words import (  # noqa: PLC0415  loaded when the verb runs
        cost_lines,
        plan_lines,
        statement_lines,
    )
    from supm.messages import (  # noqa: PLC0415  the same
        Release,
        ReleaseStatement,
        Statement,
        Study,
    )

    form = read_object(text, "file", MessageError)
    if "content" in form:
        from supm.federation import open_release  # noqa: PLC0415  the same

        release = Release.from_json(text)
        # What is promised is derived from the noise that the study names, not believed.
        open_release(release)
        return "release", release.statement, [release.statement.words]
    if "protocol" in form:
        from supm.federation import FederatedStudy  # noqa: PLC0415  the same

        federated = FederatedStudy.from_json(text)
        return "federated study", federated.statement(simulation=False), [federated.words]
    if "statement" in form:
        return _synthesizer(text) if "settings" in form else _model(text)
    if "phases" in form:
        held = Statement.from_json(text)
        return "statement", held, statement_lines(held)
    if "parts" in form:
        told = ReleaseStatement.from_form(form)
        return "statement of a release", told, [told.words]
    if "questions" in form:
        study = Study.from_json(text)
        lines = [*plan_lines(study), *cost_lines(account(study))]
        return "study", make_statement(study, simulation=False), lines
    message = "the file is no model, statement, study or release of SUPM; their fields are others."
    raise MessageError(message)


def _model(text: str) -> tuple[str, Statement, list[str]]:
    from supm.collection import check_statement  # noqa: PLC0415  the same
    from supm.collection.words import statement_lines  # noqa: PLC0415  loaded when the verb runs
    from supm.messages import Model  # noqa: PLC0415  the same

    model = Model.from_json(text)
    check_statement(model)
    return "model", model.statement, statement_lines(model.statement)


def _synthesizer(text: str) -> tuple[str, ReleaseStatement, list[str]]:
    from supm.estimators import CopulaSynthesizer  # noqa: PLC0415  loaded when the verb runs

    statement = CopulaSynthesizer.from_json(text).statement_
    return "synthesizer", statement, [statement.words]
