"""How much each class counts, as it is typed."""

from __future__ import annotations

import argparse
from typing import Final

from supm._errors import ParameterError
from supm._validation import Reals
from supm.cli._arguments import suggestion
from supm.schema import Continuous, Schema

__all__ = ["weight_texts", "weights_of"]

_WEIGHT: Final = Reals("", 1e-6, 1e6)


def weight_texts(text: str) -> str | dict[str, float]:
    """Read weights as argparse wants it done.

    Parameters
    ----------
    text : str
        What was typed: "balanced", or classes with their numbers and commas between.

    Returns
    -------
    str or dict of str to float

    Examples
    --------
    >>> weight_texts("yes=3,no=1")
    {'yes': 3.0, 'no': 1.0}
    """
    if text == "balanced":
        return text
    found: dict[str, float] = {}
    for part in text.split(","):
        name, sign, number = part.rpartition("=")
        try:
            weight = _WEIGHT.check(float(number))
        except ValueError:
            weight = 0.0
        if not sign or not weight or name.strip() in found:
            message = (
                "must be balanced, or different classes with numbers in [1e-06, 1e+06], such as "
                f"yes=3,no=1, got {text!r}"
            )
            raise argparse.ArgumentTypeError(message)
        found[name.strip()] = weight
    return found


def weights_of(
    given: str | dict[str, float] | None, schema: Schema
) -> str | tuple[float, ...] | None:
    """Return weights in the order of the labels; 1 for those that are not named.

    Parameters
    ----------
    given : str, dict or None
        What `weight_texts` returned.
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
        rule = "left out where the target is a number"
        raise ParameterError("--weights", rule, given if isinstance(given, str) else list(given)[0])
    if isinstance(given, str):
        return given
    labels = [str(value) for value in schema.target.values]
    for name in given:
        if name not in labels:
            hint = suggestion(name, labels)
            raise ParameterError("--weights", "about classes of the target", name, hint)
    return tuple(given.get(label, 1.0) for label in labels)
