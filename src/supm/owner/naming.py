"""What a report says, for the owner whose report it is: classes by name in place of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from supm.messages import Report, Study
from supm.owner.answering import AnswerInterview
from supm.owner.columns import Classes, Column, Labels
from supm.owner.offer import Offer
from supm.owner.sampled import SampledInterview
from supm.owner.separate import SeparateInterview
from supm.schema import Categorical, Ordinal

__all__ = ["reading"]


def reading(offer: Offer, report: Report) -> tuple[tuple[str, str], ...]:
    """Say what a report tells, which may be true or not.

    Parameters
    ----------
    offer : Offer
        What was asked.
    report : Report
        The randomised answer.

    Returns
    -------
    tuple of (str, str)
        What it is about, and which class it names; empty where it names no single class.
    """
    asked, study = offer.interview, offer.study
    if isinstance(asked, AnswerInterview):
        return () if study.numeric else ((study.schema.target.name, _label(study, report.symbols)),)
    if isinstance(asked, SampledInterview):
        named = [(each.attribute.name, each.labels) for each in asked.discretizers]
        told = _drawn(named, report.symbols, asked.sampled)
        label = [] if asked.labels is None else [_target(study, report.symbols)]
        return (*told, *label)
    if isinstance(asked, SeparateInterview) and all(map(_is_class, asked.all_columns)):
        named = [
            (each.discretizer.attribute.name, each.discretizer.labels)
            for each in asked.columns
            if isinstance(each, Classes)
        ]
        told = _drawn(named, report.symbols, asked.sampled)
        label = [] if asked.label is None else [_target(study, report.symbols)]
        return (*told, *label)
    return ()


def _drawn(
    named: Sequence[tuple[str, Sequence[str]]], symbols: Sequence[int], sampled: int | None
) -> list[tuple[str, str]]:
    """Name the classes that are told: those of the places that come first, or all in order."""
    places = range(len(named)) if sampled is None else symbols[:sampled]
    classes = symbols if sampled is None else symbols[sampled:]
    return [
        (named[place][0], named[place][1][symbol])
        for place, symbol in zip(places, classes, strict=False)
    ]


def _target(study: Study, symbols: Sequence[int]) -> tuple[str, str]:
    return study.schema.target.name, _label(study, symbols)


def _label(study: Study, symbols: Sequence[int]) -> str:
    target = study.schema.target
    if isinstance(target, Ordinal | Categorical):
        return str(target.values[symbols[-1]])
    return f"level {symbols[-1] + 1} of {study.labels}"


def _is_class(column: Column) -> bool:
    return isinstance(column, Classes | Labels)
