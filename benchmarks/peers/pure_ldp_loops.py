"""pure-ldp: one call per value; its randomness is not secure."""

from __future__ import annotations

from typing import Any

from pure_ldp.frequency_oracles.direct_encoding import DEClient  # type: ignore[import-not-found]  # not in our environment
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient  # type: ignore[import-not-found]  # not in our environment
from pure_ldp.frequency_oracles.local_hashing import LHClient  # type: ignore[import-not-found]  # not in our environment
from pure_ldp.frequency_oracles.unary_encoding import UEClient  # type: ignore[import-not-found]  # not in our environment

from peers.loop import Prepare, numbers, report


def _privatise(client: Any, size: int) -> Prepare:  # noqa: ANN401  the package ships no types
    def prepare(count: int) -> Any:  # noqa: ANN401  the same
        values = [symbol + 1 for symbol in numbers(count, size)]
        return lambda: [client.privatise(value) for value in values]

    return prepare


if __name__ == "__main__":
    report(
        "pure-ldp",
        {
            "randomized response": _privatise(DEClient(1.0, 5), 5),
            "symmetric unary encoding": _privatise(UEClient(1.0, 64), 64),
            "optimised unary encoding": _privatise(UEClient(1.0, 64, use_oue=True), 64),
            "local hashing": _privatise(LHClient(1.0, 64, use_olh=True), 64),
            "Hadamard response": _privatise(HadamardResponseClient(1.0, 64, None), 64),
        },
    )
