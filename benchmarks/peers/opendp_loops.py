"""OpenDP: one call per value, but for Laplace, which takes a vector; its randomness is secure."""

from __future__ import annotations

import math
from collections.abc import Callable

import opendp.prelude as dp

from peers.loop import numbers, report

dp.enable_features("contrib")


def _response(count: int) -> Callable[[], object]:
    keep = math.e / (math.e + 4)
    mechanism = dp.m.make_randomized_response(categories=list(range(5)), prob=keep)
    values = numbers(count, 5)
    return lambda: [mechanism(value) for value in values]


def _bits(count: int) -> Callable[[], object]:
    space = dp.bitvector_domain(max_weight=1), dp.discrete_distance()
    mechanism = dp.m.make_randomized_response_bitvec(*space, f=2 / (1 + math.exp(0.5)))
    values = [(1 << symbol).to_bytes(8, "little") for symbol in numbers(count, 64)]
    return lambda: [mechanism(value) for value in values]


def _laplace(count: int) -> Callable[[], object]:
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    mechanism = dp.m.make_laplace(*space, scale=2.0)
    values = [symbol / 512 - 1 for symbol in numbers(count, 1025)]
    return lambda: mechanism(values)


if __name__ == "__main__":
    report(
        "opendp",
        {"randomized response": _response, "symmetric unary encoding": _bits, "Laplace": _laplace},
    )
