"""From the options of the command line to a study."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from supm._errors import ParameterError, SchemaError
from supm._validation import suggestion
from supm.cli._files import read_text
from supm.cli._output import counted, say
from supm.cli._types import Wishes
from supm.collection import plan
from supm.collection.words import limit_notes
from supm.messages import Study, Trust
from supm.schema import Categorical, Continuous, Ordinal, Schema

__all__ = ["check_wishes", "notice_limits", "planned", "read_schema", "weights_of"]

# A joint report of K attributes has at least 2^K cells, and at most 2^20.
_MOST_JOINT: Final = 20
_ANY: Final = Schema(
    attributes=(Ordinal("a", values=(0, 1)), Ordinal("b", values=(0, 1))),
    target=Categorical("c", values=(0, 1)),
)


def read_schema(path: str) -> Schema:
    """Read a schema from the file that --schema names.

    Parameters
    ----------
    path : str
        The name of the file.

    Returns
    -------
    Schema
    """
    text = read_text("--schema", path)
    try:
        schema = Schema.from_json(text)
    except SchemaError as error:
        message = f"{path}: {error}"
        raise SchemaError(message) from None
    return schema


def check_wishes(arguments: Any, budgets: list[float]) -> None:  # noqa: ANN401  the same
    """Refuse options that contradict each other before any data are read.

    Parameters
    ----------
    arguments : Wishes
        What was asked for.
    budgets : list of float
        What an owner may spend.
    """
    known = None if arguments.attributes is None else ("a",)
    for budget in budgets:
        plan(_ANY, epsilon=budget, attributes=known, **_wishes(arguments))


def notice_limits(study: Study) -> None:
    """Say where a mechanism cannot spend what its question allows, or a promise is worth little.

    Parameters
    ----------
    study : Study
        The study; of a phase whose attributes are still to be chosen nothing is known.
    """
    for note in limit_notes(study):
        say(note)


def planned(
    schema: Schema,
    budget: float,
    arguments: Any,  # noqa: ANN401  Wishes, or what argparse reads
    *,
    owners: int | None,
    purpose: str = "",
) -> Study:
    """Return the study that the options ask for.

    Parameters
    ----------
    schema : Schema
        What is public about a record.
    budget : float
        What an owner may spend in total.
    arguments : Wishes
        What was asked for.
    owners : int or None
        How many owners are expected.
    purpose : str, default ""
        What the study is for.

    Returns
    -------
    Study
    """
    _check_target(schema, arguments)
    _check_names(schema, arguments)

    def made(keep: int | None, known: list[str] | None) -> Study:
        return plan(
            schema,
            epsilon=budget,
            owners=owners,
            keep=keep,
            attributes=known,
            classes=arguments.classes,
            sampled=arguments.sampled,
            told=arguments.told,
            purpose=purpose,
            **_wishes(arguments),
        )

    try:
        return made(arguments.keep, arguments.attributes)
    except ParameterError as error:
        if not str(error).startswith("cells of a joint answer"):
            raise
        _refuse_cells(made, arguments)
        raise


def weights_of(
    given: str | dict[str, float] | None, schema: Schema
) -> str | tuple[float, ...] | None:
    """Return how much each label counts, in their order; 1 for those that are not named.

    Parameters
    ----------
    given : str, dict or None
        What was typed, read.
    schema : Schema
        Its target has the labels.

    Returns
    -------
    str, tuple of float or None
        What `supm.collection.simulate` takes.
    """
    if given is None:
        return None
    if isinstance(schema.target, Continuous):
        raise ParameterError("--weights", "left out where the target is a number", given)
    if isinstance(given, str):
        return given
    labels = [str(value) for value in schema.target.values]
    for name in given:
        if name not in labels:
            hint = suggestion(name, labels)
            raise ParameterError("--weights", "about classes of the target", name, hint)
    return tuple(given.get(label, 1.0) for label in labels)


def _refuse_cells(made: Callable[[int | None, list[str] | None], Study], arguments: Wishes) -> None:
    """Say how many attributes fit a joint report, if that is what was asked for."""
    known = arguments.attributes
    asked = len(known) if known else arguments.keep or 0
    for fewer in range(min(asked - 1, _MOST_JOINT), 0, -1):
        try:
            made(None, known[:fewer]) if known else made(fewer, None)
        except ParameterError:
            continue
        rule = f"at most {counted(fewer, 'attribute')}, since a joint report has at most 2^20 cells"
        hint = "Or choose fewer --classes, or another --train."
        raise ParameterError("--known" if known else "--keep", rule, asked, hint) from None


def _wishes(arguments: Wishes) -> dict[str, Any]:
    test, trust = arguments.test, arguments.trust
    if trust is None:
        trust = "u,u,d" if test == "device" else "u,u,u"
    return {
        "trust": Trust.parse(trust),
        "mode": arguments.mode,
        "reduce": arguments.reduce,
        "train": arguments.train,
        "test": test,
    }


def _check_target(schema: Schema, arguments: Wishes) -> None:
    if schema.task == "continuous" and arguments.mode == "faithful":
        rule = f"strict where the target is a number, as {schema.target.name!r} is"
        raise ParameterError("--mode", rule, arguments.mode)


def _check_names(schema: Schema, arguments: Wishes) -> None:
    """Refuse what the schema does not have, in the words of the command line."""
    most = len(schema.attributes)
    if arguments.keep is not None and arguments.keep > most:
        raise ParameterError("--keep", f"at most the number of attributes, {most}", arguments.keep)
    if arguments.attributes is None:
        return
    if arguments.keep not in (None, len(arguments.attributes)):
        rule = f"left out, or {len(arguments.attributes)} as --known says"
        raise ParameterError("--keep", rule, arguments.keep)
    for place, name in enumerate(arguments.attributes):
        if name not in schema.names:
            hint = suggestion(name, schema.names)
            raise ParameterError("--known", "the name of an attribute", name, hint)
        if name in arguments.attributes[:place]:
            raise ParameterError("--known", "another name each time", name)
