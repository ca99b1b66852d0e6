"""Names of a package whose files are loaded when the names are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["names_on_demand"]


def names_on_demand(package: str, files: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package, by the names that each of its files has.

    Examples
    --------
    >>> find = names_on_demand("supm", {"_random": "secure simulation"})
    >>> find("secure").__name__
    'secure'
    """
    homes = {name: file for file, names in files.items() for name in names.split()}

    def find(name: str) -> Any:  # noqa: ANN401  whatever has the name
        if name not in homes:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return find
