"""The verb plan: what each owner would be asked, and what it would cost them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from supm._errors import ParameterError
from supm.cli._output import Target, emit, say, where, write_text
from supm.cli._types import Epsilon, Wishes, whole
from supm.reporting import counted, paragraph

if TYPE_CHECKING:
    from supm.collection import Forecast
    from supm.messages import Study

# A machine on cells or rows takes longer with people, a scorecard does not.
_MOST_MADE_UP, _FEWEST_MADE_UP = 2_000, 40
_LIKELY = 1 << 20
_MOST_FORECAST = 1_000


def verb(
    *,
    schema: Annotated[str, Parameter(metavar="FILE")],
    epsilon: Epsilon,
    owners: Annotated[int | None, whole(1, 1 << 40)] = None,
    wishes: Wishes = Wishes(),  # noqa: B008  it is frozen, and cyclopts reads its fields
    purpose: str = "",
    output: Annotated[Target, Parameter(alias="-o")] = None,
    json: Target = None,
) -> None:
    """Say what each owner would be asked, and what it would cost them.

    Make a study from a schema and a budget. No data are read: a plan that depended on private data
    would tell about them. With --owners the plan is tried on made-up people: a forecast from public
    things alone, to compare plans by. What real people would bring, `supm simulate` measures on
    public data.

    Parameters
    ----------
    schema : str
        What is public.
    epsilon : float
        What an owner may spend.
    owners : int, optional
        How many training owners to expect; for two labels, where they are many and the budget is
        below 3.47, a first group of them shows which classes belong together.
    wishes : Wishes
        What the study is to be like.
    purpose : str
        What the study is for.
    output : str, optional
        Write the study, which owners consent to; - prints it.
    json : str, optional
        Write plan and cost; - prints them.

    Examples
    --------
    ::

        supm plan --schema schema.json --owners 10000 --epsilon 2
        supm plan --schema schema.json --owners 10000 --epsilon 2 --trust u,u,d -o study.json
        supm plan --schema schema.json --epsilon 4 --attributes-per-report 2 --classes 3
        supm plan --schema schema.json --owners 500 --epsilon 9 --mode faithful --reduce pw --json -
    """
    from supm import collection
    from supm.collection.words import limit_notes

    if output == json == "-":
        raise ParameterError("--json", "another place than that of --output", "-")
    study = collection.plan(
        schema, epsilon=epsilon, owners=owners, purpose=purpose, **wishes.given()
    )
    say(*limit_notes(study))
    if output != "-" or json:
        expected = _forecast(study, owners)
        words = (
            []
            if output == "-"
            else _words(study, owners, expected, {"plan is": json, "study is": output})
        )
        emit(_for_machines(study, owners, expected), words, json)
    if output:
        write_text("--output", study.to_json() + "\n", output)


def _for_machines(study: Study, owners: int | None, expected: Forecast | None) -> dict[str, Any]:
    from supm.collection import account
    from supm.collection.words import account_form, study_form

    return {
        "owners": owners,
        "plan": study_form(study),
        "guarantee": account_form(account(study)),
        "made_up_people": None if expected is None else asdict(expected),
    }


def _words(
    study: Study, owners: int | None, expected: Forecast | None, written: dict[str, str | None]
) -> Iterator[str]:
    from supm.collection import account
    from supm.collection.simulation_text import COMBINATIONS, asked_table
    from supm.collection.words import cost_lines, opening_lines
    from supm.owner import explain

    yield from map(paragraph, opening_lines(study))
    yield f"\n{asked_table(study, owners)}\n"
    told = explain(study)
    meaning = [COMBINATIONS] if any(row.truth for row in told.rows) else []
    for line in (*meaning, f"Why: {told.sentence}", *cost_lines(account(study))):
        yield paragraph(line)
    if owners is not None:
        yield paragraph(_expected(study, expected, owners))
    yield from where(written)


def _forecast(study: Study, owners: int | None) -> Forecast | None:
    """Try the plan on made-up people, where there are enough and their target has labels."""
    from supm import simulation
    from supm.collection import forecast

    if owners is None or _no_forecast(study, owners):
        return None
    train = study.question("train")
    sampled = train is not None and train.form == "sample"
    people = min(owners, _LIKELY if sampled else _MOST_MADE_UP)
    # Nobody's secret is at stake, and the same plan gets the same forecast.
    return forecast(study, owners=people, source=simulation(0))


def _no_forecast(study: Study, owners: int) -> str:
    """Say why there is no forecast, or nothing where there is one."""
    if study.numeric:
        return "No forecast: there is none for a target that is a number."
    if owners < _FEWEST_MADE_UP:
        return f"No forecast: there is none for fewer than {_FEWEST_MADE_UP} people."
    # Hundreds of attributes would take minutes, and say nothing about the real ones.
    classes = len(study.schema.attributes) * study.classes
    if classes > _MOST_FORECAST:
        return (
            f"No forecast: all attributes together have up to {classes:,} classes, and there is "
            f"none for more than {_MOST_FORECAST:,}."
        )
    return ""


def _expected(study: Study, found: Forecast | None, owners: int) -> str:
    if found is None:
        return _no_forecast(study, owners)
    most = f" (at most {found.owners:,} are made up)" if found.owners < owners else ""
    return (
        f"Forecast on {found.owners} made-up people{most}, whose labels are equally common and go "
        f"with every second attribute: {found.answered:.0%} answered right, {found.on_device:.0%} "
        f"on the device, {found.majority:.0%} by always predicting the commonest class "
        f"({counted(found.repeats, 'repetition')}). Real people may be easier or harder to predict."
    )
