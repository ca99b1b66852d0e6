"""The verb synthesize: rows without noise from records that were noised long ago."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from supm._errors import ParameterError, SchemaError
from supm.cli._output import (
    Target,
    aloud,
    check_targets,
    lines_read,
    read_text,
    say,
    write_json,
    write_text,
)
from supm.cli._types import Seed, whole
from supm.reporting import bar, counted, paragraph

if TYPE_CHECKING:
    from supm.synthesis import Archive, Synthesis

Rows = Annotated[int | None, whole(1, 10**8)]


def verb(
    data: Annotated[str, Parameter(name="DATA")],
    /,
    *,
    schema: Annotated[str, Parameter(metavar="FILE")],
    output: Annotated[Target, Parameter(name=("--output", "-o"), required=True)],
    rows: Rows = None,
    report: Target = None,
    mode: Literal["strict", "faithful"] = "strict",
    seed: Seed = None,
    json: Target = None,
) -> None:
    """Make rows without noise from an archive of noised records.

    Estimate the distribution behind records that were noised under local privacy, and draw new rows
    from it. They are of nobody, cost nobody any budget, and are as right as the noise allows; what
    it does not allow is said.

    archive.json says how each column was noised. Bounds and epsilon are public; they were fixed
    when the records were collected:

      {"version": 1, "target": "weight", "columns": [
        {"name": "age", "kind": "number", "low": 0, "high": 100, "mechanism": "laplace",
         "epsilon": 2},
        {"name": "weight", "kind": "number", "low": 20, "high": 140, "mechanism": "piecewise",
         "epsilon": 2},
        {"name": "sex", "kind": "class", "values": ["f", "m"], "mechanism": "randomized_response",
         "epsilon": 1}]}

    Mechanisms of numbers are laplace, gaussian (with a delta), piecewise and square_wave. A column
    whose mechanism or epsilon is not given is refused.

    Parameters
    ----------
    data : str
        The noised records, a CSV file.
    schema : str
        How each column was noised; see above.
    output : str
        Write the rows (.csv); - prints them.
    rows : int, optional
        How many rows to make; as many as records by default.
    report : str, optional
        Write a page about their quality (.html).
    mode : {"strict", "faithful"}
        The best we know (default), or what paper 004 printed, corrected.
    seed : int, optional
        Repeat a run.
    json : str, optional
        Write the figures; - prints them.

    Examples
    --------
    ::

        supm synthesize noisy.csv --schema archive.json -o rows.csv
        supm synthesize noisy.csv --schema archive.json -o rows.csv --rows 100000 --report page.html
        supm synthesize noisy.csv --schema archive.json -o rows.csv --mode faithful --json -
    """
    from supm.synthesis import synthesize

    written = {"-o": output, "--report": report, "--json": json}
    check_targets({"DATA": data, "--schema": schema}, written)
    archive = _archive(data, schema)
    with bar(total=3, unit="steps", label="") as shown:

        def reach(what: str) -> None:
            shown.step()
            shown.label(what)

        name = Path(data).name
        made = synthesize(archive, rows=rows, mode=mode, seed=seed, name=name, progress=reach)
    _write_rows(made, output or "-")
    if report:
        write_text("--report", made.page(), report)
    if json:
        write_json(made.to_form(), json)
    _tell(made, written)


def _archive(data: str, path: str) -> Archive:
    from supm.synthesis import ArchiveSchema, read_archive

    text = read_text("--schema", path)
    try:
        schema = ArchiveSchema.from_json(text)
    except (SchemaError, ParameterError) as error:
        raise SchemaError(f"{path}: {error}") from None
    return read_archive(data, schema, described=path, progress=lines_read)


def _write_rows(made: Synthesis, target: str) -> None:
    if target == "-":
        made.write_rows(sys.stdout)
        return
    try:
        with Path(target).open("w", encoding="utf-8", newline="") as file:
            made.write_rows(file)
    except OSError as error:
        hint = f"{error.strerror}."
        raise ParameterError("-o", "a file that can be written", target, hint) from None


def _tell(made: Synthesis, written: dict[str, str | None]) -> None:
    """Say what was spent and what can be known, where it does not mix with what is printed."""
    place = aloud(*written.values())
    print(f"{made.headline}.", *map(paragraph, made.spent), sep="\n", file=place)
    for each in made.quality.doubts.values():
        say(each)
    known = [paragraph(each, indent="  ") for each in made.quality.sentences]
    print("\nWhat can and cannot be known:", *known, "", sep="\n", file=place)
    rows = counted(made.quality.synthetic_rows, "synthetic row")
    for what, option in (
        (f"{rows} written to", "-o"),
        ("The figures are in", "--json"),
        ("The report is in", "--report"),
    ):
        if written[option] not in (None, "-"):
            print(f"{what} {written[option]}.", file=place)
