"""Files that verbs write: none is one that the verb reads, and no two are one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Final

from supm._errors import ParameterError
from supm.cli._files import check_target

__all__ = ["check_targets"]

_ENDINGS: Final = {"-o": (".csv",), "--report": (".html", ".htm")}


def check_targets(inputs: Mapping[str, str], targets: Mapping[str, str | None]) -> None:
    """Refuse targets that would destroy an input or each other, before the work is done.

    Parameters
    ----------
    inputs : mapping of str to str
        Names of the files that are read, by the argument that names each.
    targets : mapping of str to str or None
        Names of the files to write, by option; None for nothing, "-" for the standard output.
    """
    wanted = {option: target for option, target in targets.items() if target is not None}
    for option, target in wanted.items():
        check_target(option, target)
        _check_ending(option, target)
        _check_beside_inputs(option, target, inputs)
    for first, second in combinations(wanted, 2):
        if _same(wanted[first], wanted[second]):
            raise ParameterError(second, f"another target than that of {first}", wanted[second])


def _check_ending(option: str, target: str) -> None:
    """Refuse a name of another format; a name without an ending, such as a device, may be any."""
    allowed, ending = _ENDINGS.get(option, ()), Path(target).suffix.lower()
    if allowed and ending and ending not in allowed:
        raise ParameterError(option, f"a file that ends in {' or '.join(allowed)}", target)


def _check_beside_inputs(option: str, target: str, inputs: Mapping[str, str]) -> None:
    for name, path in inputs.items():
        if target != "-" and _same(target, path):
            hint = "It would be overwritten."
            raise ParameterError(option, f"another file than {name}", target, hint)


def _same(first: str, second: str) -> bool:
    """Say whether two names are of one file, also where it is not there yet."""
    if "-" in (first, second):
        return first == second
    one, other = Path(first), Path(second)
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()
