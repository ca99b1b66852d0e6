"""The sentences that promises are printed with."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal
from typing import Final

from supm.privacy._order import Shape

__all__ = ["factor_sentence", "gaussian_sentence", "greatest_factor"]

_THREE_DIGITS_UP: Final = Context(prec=3, rounding=ROUND_CEILING)
_SIX_DIGITS_UP: Final = Context(prec=6, rounding=ROUND_CEILING)


def factor_sentence(name: str, shape: Shape) -> str:
    """Say what a factor part (epsilon, delta) promises."""
    figures, addition = f"epsilon = {_six_digits(shape.epsilon)}", ""
    if shape.delta > 0.0:
        figures, addition = f"{figures}, delta = {shape.delta}", f", plus {shape.delta}"
    return (
        f"{shape.neighbours.clause}, the probability of anything that the output can show would "
        f"change by a factor of at most {greatest_factor(shape.epsilon)}{addition} "
        f"({name}, {figures})."
    )


def gaussian_sentence(shape: Shape) -> str:
    """Say what a Gaussian part mu promises."""
    return (
        f"{shape.neighbours.clause}, that would be at least as hard to tell from the output as a "
        f"normal variable of mean 0 from one of mean {shape.mu}, both of variance 1 "
        f"(Gaussian differential privacy, mu = {shape.mu})."
    )


def greatest_factor(epsilon: float) -> str:
    """Return e^epsilon to three digits, rounded up, or as a power where it is large."""
    if epsilon > 10.0:
        return f"e^{_six_digits(epsilon)}"
    if epsilon == 0.0:
        return "1"
    above = math.nextafter(math.exp(epsilon), math.inf)
    exact = Decimal.from_float(above)  # noqa: FURB164  Decimal(…) obeys the caller's traps
    return f"{_THREE_DIGITS_UP.plus(exact):f}"


def _six_digits(epsilon: float) -> float:
    """Return a number of at most six digits that is no less: to say more than is spent is true."""
    return float(_SIX_DIGITS_UP.create_decimal(repr(epsilon)))
