"""The verb compare: which randomizer errs least."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from supm.cli._output import Data, File, Picture, Target, emit, lines_read, where
from supm.cli._types import Epsilons, Names, Seed, whole
from supm.cli.simulate import derived_schema
from supm.reporting import bar


def verb(
    data: Data,
    /,
    *,
    mechanisms: Annotated[Names, "randomizers"] = None,
    epsilon: Epsilons = [1.0, 2.0, 4.0],  # noqa: B006  nobody changes it
    columns: Annotated[list[str] | None, Parameter(name="--column", metavar="COL")] = None,
    schema: File = None,
    classes: Annotated[int, whole(2, 1 << 16, "L")] = 8,
    repeats: Annotated[int, whole(1, 10_000, "R")] = 20,
    seed: Seed = None,
    json: Target = None,
    plot: Picture = None,
) -> None:
    """Measure on PUBLIC data how far randomizers are off.

    Let every line of a CSV file stand for an owner who spends the whole budget on one column, and
    estimate from the reports the share of each class, and the mean where the column holds numbers.
    The file is read as it is: it must be PUBLIC or synthetic data.

    Parameters
    ----------
    data : str
        PUBLIC or synthetic data.
    mechanisms : list of str, optional
        Names with commas between; all by default. For shares: randomized-response,
        subset-selection, symmetric-unary, optimised-unary, local-hashing, hadamard-response. For
        means: duchi, piecewise, hybrid, square-wave, laplace. One of your own: a name that is
        installed, or module:Name.
    epsilon : list of float
        The budgets of an owner; 1,2,4 by default.
    columns : list of str, optional
        Only this column; repeat it for more.
    schema : str, optional
        Bounds and values from public knowledge; from the data by default.
    classes : int
        Into how many classes numbers are cut for their shares; 8 by default.
    repeats : int
        How often everybody reports anew; 20 by default.
    seed : int, optional
        Repeat a run: a simulation, not private.
    json : str, optional
        Write the figures; - prints them.
    plot : str, optional
        Draw them (.png, .pdf, .svg).

    Examples
    --------
    ::

        supm compare public.csv --epsilon 1,2,4
        supm compare public.csv --mechanisms randomized-response,subset-selection --column ward
        supm compare public.csv --mechanisms hybrid,square-wave --column age --plot errors.png
        supm compare public.csv --schema schema.json --seed 7 --json -
    """
    from supm import collection
    from supm.schema.text_table import read_csv

    table = read_csv(data, progress=lines_read)
    with bar(total=None, unit="comparisons", label="compare") as shown:
        found = collection.compare(
            table,
            mechanisms=mechanisms,
            epsilon=epsilon,
            columns=columns,
            schema=schema or derived_schema(table, table.names[-1], data),
            classes=classes,
            repeats=repeats,
            seed=seed,
            name=Path(data).name,
            progress=shown.step,
        )
    if plot:
        found.plot(plot)
    emit(found.to_form(), [str(found), *where({"figures are": json, "picture is": plot})], json)
