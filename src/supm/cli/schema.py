"""The verb schema: describe the columns of PUBLIC data."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Parameter

from supm._errors import ParameterError
from supm.cli._output import Data, Target, lines_read, say, write_text
from supm.reporting import counted, paragraph

if TYPE_CHECKING:
    from supm.schema import Schema

_BOUNDS: Final = {
    "spread": "Numbers end two standard deviations from their mean, or at the last value before, "
    "and are clipped there (--bounds range: at the smallest and the largest value).",
    "range": "Numbers end just outside of the smallest and the largest value (--bounds spread: two "
    "standard deviations from their mean).",
}


def verb(
    data: Data,
    /,
    *,
    target: Annotated[str, Parameter(metavar="COL")],
    output: Annotated[Target, Parameter(alias="-o", required=True)],
    bounds: Literal["spread", "range"] = "spread",
) -> None:
    """Write a schema from PUBLIC data.

    Write down what the columns of a CSV file seem to be: bounds of numbers, scales of whole
    numbers, lists of texts. It reads the data, so they must be PUBLIC or synthetic: bounds that
    come from private data are a leak.

    Parameters
    ----------
    data : str
        Public data; the first line has names.
    target : str
        The column to be predicted.
    output : str
        Where to write it; - prints it.
    bounds : {"spread", "range"}
        Where numbers end: two standard deviations from the mean, which serves strict studies best
        (default), or at the smallest and the largest value.

    Examples
    --------
    ::

        supm schema public.csv --target diagnosis -o schema.json   to be read and corrected
        supm schema public.csv --target diagnosis -o -             to the screen
        supm schema public.csv --target diagnosis -o - --bounds range
                                                         from the smallest to the largest value
    """
    from supm.schema import derive, read_csv

    say(
        f"bounds and values come from {data}, so it must be public or synthetic: from private data "
        "they would be a leak."
    )
    derived = derive(read_csv(data, target=target, progress=lines_read), target, bounds=bounds)
    say(*derived.notes)
    _write(derived.schema, str(output), _BOUNDS[bounds])


def _write(made: Schema, output: str, bounds: str) -> None:
    text = made.to_json()
    path = Path(output)
    # Somebody may have corrected a schema that is there, or it is none.
    if output != "-" and path.is_file() and path.read_bytes() != text.encode():
        hint = "It holds something else, perhaps corrected by hand; name another file."
        raise ParameterError("--output", "a new file", output, hint)
    write_text("--output", text, output)
    if output != "-":
        kinds = Counter(type(attribute).__name__.lower() for attribute in made.attributes)
        parts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        number = counted(len(made.attributes), "attribute")
        print(f"{number} ({parts}), target {made.target.name!r}.\n{paragraph(bounds)}")
        print(f"The schema is in {output}: read it, and correct it where you know better.")
