"""multi-freq-ldpy: one compiled call per value; its randomness is not secure."""

from __future__ import annotations

from collections.abc import Callable

from multi_freq_ldpy.mdim_freq_est.SPL_solution import SPL_GRR_Client  # type: ignore[import-not-found]  # not in our environment
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client  # type: ignore[import-not-found]  # not in our environment
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client  # type: ignore[import-not-found]  # not in our environment
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client  # type: ignore[import-not-found]  # not in our environment
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client  # type: ignore[import-not-found]  # not in our environment

from peers.loop import Prepare, numbers, report

_ATTRIBUTES, _CLASSES = 8, 4


def _call(client: Callable[..., object], size: int, *optimal: bool) -> Prepare:
    def prepare(count: int) -> Callable[[], object]:
        values = numbers(count, size)
        return lambda: [client(value, size, 1.0, *optimal) for value in values]

    return prepare


def _split(count: int) -> Callable[[], object]:
    sizes = [_CLASSES] * _ATTRIBUTES
    records = [
        tuple(number >> 2 * place & 3 for place in range(_ATTRIBUTES))
        for number in numbers(count, _CLASSES**_ATTRIBUTES)
    ]
    return lambda: [SPL_GRR_Client(record, sizes, _ATTRIBUTES, 4.0) for record in records]


if __name__ == "__main__":
    report(
        "multi-freq-ldpy",
        {
            "randomized response": _call(GRR_Client, 5),
            "subset selection": _call(SS_Client, 64),
            "symmetric unary encoding": _call(UE_Client, 64, False),
            "optimised unary encoding": _call(UE_Client, 64, True),
            "local hashing": _call(LH_Client, 64, True),
            "independent reports": _split,
        },
    )
