"""The options that shape a study, which `supm plan` and `supm simulate` share."""

from __future__ import annotations

import argparse

from supm._errors import ParameterError
from supm.collection import plan
from supm.messages import Study, Trust
from supm.schema import Schema

__all__ = ["planned"]


def planned(
    schema: Schema,
    budget: float,
    arguments: argparse.Namespace,
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
    arguments : Namespace
        What `add_study_options` reads.
    owners : int or None
        How many owners are expected.
    purpose : str, default ""
        What the study is for.

    Returns
    -------
    Study
    """
    most = len(schema.attributes)
    if arguments.attributes is not None and not 1 <= arguments.attributes <= most:
        rule = f"a whole number from 1 to the number of attributes, {most}"
        raise ParameterError("--attributes", rule, arguments.attributes)
    return plan(
        schema,
        epsilon=budget,
        trust=Trust.parse(arguments.trust),
        mode=arguments.mode,
        owners=owners,
        attributes=arguments.known,
        keep=arguments.attributes,
        classes=arguments.classes,
        reduce=arguments.reduce,
        train=arguments.train,
        test=arguments.test,
        purpose=purpose,
    )
