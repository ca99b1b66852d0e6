"""The verb statement: print the guarantee of a model, a release or a study."""

from __future__ import annotations

from supm._errors import MessageError
from supm.cli._output import Target, emit, read_text
from supm.reporting import paragraph


def verb(file: str, /, *, json: Target = None) -> None:
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
    from supm.publication import promise_of

    text = read_text("FILE", file)
    try:
        found = promise_of(text)
    except MessageError as error:
        raise MessageError(f"{file}: {error}") from None
    emit(found.to_form(), [f"{file} is a {found.noun}.", *map(paragraph, found.words())], json)
