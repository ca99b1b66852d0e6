"""The verb simulate: measure what accuracy a budget would buy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from supm.cli._frame import UsageError
from supm.cli._output import Data, File, Picture, Target, emit, folds_bar, lines_read, say, where
from supm.cli._types import Epsilons, Seed, Weights, Wishes, real, whole

if TYPE_CHECKING:
    from supm.schema import Schema
    from supm.schema.text_table import TextTable

_NO_TARGET = "--target must be given where there is no --schema."
_DERIVED = (
    "no --schema was given, so bounds (two standard deviations around the mean) and values come "
    "from {}, which must be public or synthetic; in a study they come from public knowledge, and "
    "accuracy will differ."
)


def verb(
    data: Data,
    /,
    *,
    target: Annotated[str | None, Parameter(metavar="COL")] = None,
    epsilon: Epsilons = [1.0, 2.0, 4.0, 8.0],  # noqa: B006  nobody changes it
    schema: File = None,
    wishes: Wishes = Wishes(),  # noqa: B008  it is frozen
    weights: Weights = None,
    learner: Annotated[str | None, Parameter(metavar="NAME"), "learners"] = None,
    penalty: Annotated[float, real(1e-6, 1e9, "C")] = 1.0,
    folds: Annotated[int, whole(2, 10_000, "F")] = 10,
    repeats: Annotated[int, whole(1, 10_000, "R")] = 3,
    seed: Seed = None,
    json: Target = None,
    plot: Picture = None,
) -> None:
    """Measure on PUBLIC data what accuracy a budget would buy.

    Let every line of a CSV file stand for an owner, run the whole protocol with them, and
    cross-validate: everybody's report is drawn once for each repetition and used in all folds.
    Accuracy is shown beside that of always predicting the commonest class, and the error of a
    number beside that of always predicting the mean.

    The file is read as it is: it must be PUBLIC or synthetic data, such as a survey that was
    published, that resembles the private data of the study to come.

    Parameters
    ----------
    data : str
        PUBLIC or synthetic data.
    target : str, optional
        The column to be predicted; that of --schema by default.
    epsilon : list of float
        The budgets of an owner; 1,2,4,8 by default.
    schema : str, optional
        Bounds and values from public knowledge.
    wishes : Wishes
        What the study is to be like.
    weights : str, optional
        How much each class counts in training: balanced, or numbers, such as yes=3,no=1; all alike
        by default.
    learner : str, optional
        What trains on cells, and without privacy: a name that is installed, or module:Name; a
        support vector machine by default.
    penalty : float
        The constant of the support vector machine, where one trains; 1 by default.
    folds : int
        Into how many parts people are split; 10 by default.
    repeats : int
        How often everything is drawn anew; 3 by default.
    seed : int, optional
        Repeat a run: a simulation, not private.
    json : str, optional
        Write the figures; - prints them.
    plot : str, optional
        Draw them (.png, .pdf, .svg).

    Examples
    --------
    ::

        supm simulate public.csv --target diagnosis --epsilon 1,2,4,8
        supm simulate public.csv --target diagnosis --schema schema.json --plot out.png
        supm simulate public.csv --target diagnosis --epsilon 9 --mode faithful --reduce pw --json -
        supm simulate public.csv --target diagnosis --epsilon 2 --trust u,u,d --seed 7
        supm simulate public.csv --target diagnosis --weights malignant=3,benign=1
        supm simulate public.csv --target price --epsilon 2,8          a number: mean squared errors
        supm simulate public.csv --target diagnosis --learner my_package:MyLearner
    """
    from supm.collection import simulate
    from supm.learning import RadialSVM
    from supm.schema.text_table import read_csv

    if not (schema or target):
        raise UsageError(_NO_TARGET)
    _check(epsilon, wishes)
    table = read_csv(data, target=target, progress=lines_read)
    with folds_bar() as shown:
        found = simulate(
            table,
            target=target,
            schema=schema or derived_schema(table, target, data),
            epsilon=epsilon,
            folds=folds,
            repeats=repeats,
            seed=seed,
            learner=learner or RadialSVM(penalty=penalty),
            weights=weights,
            name=Path(data).name,
            progress=shown,
            **wishes.given(),
        )
    say(*found.notes)
    if plot:
        found.plot(plot)
    emit(found.to_form(), [str(found), *where({"figures are": json, "picture is": plot})], json)


def _check(epsilon: list[float], wishes: Wishes) -> None:
    """Refuse options that contradict each other before any data are read."""
    from supm.collection import plan
    from supm.schema import Categorical, Ordinal, Schema

    attributes = tuple(Ordinal(name, values=(0, 1)) for name in "ab")
    any_schema = Schema(attributes=attributes, target=Categorical("c", values=(0, 1)))
    known = None if wishes.attributes is None else ("a",)
    # What depends on the schema, and what is the user's own, is held against the data themselves.
    unknown = dict.fromkeys(("keep", "classes", "sampled", "told"))
    own = {name: None for name in ("reduce", "train") if ":" in (getattr(wishes, name) or "")}
    for each in epsilon:
        plan(any_schema, epsilon=each, **(wishes.given() | unknown | own | {"attributes": known}))


def derived_schema(table: TextTable, target: str | None, data: str) -> Schema:
    """Derive a schema from the data, and say so."""
    from supm.schema.deriving import derive

    if target is None:
        raise UsageError(_NO_TARGET)
    say(_DERIVED.format(data))
    derived = derive(table, target)
    say(*derived.notes)
    return derived.schema
