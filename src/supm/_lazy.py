"""Names of a package whose files are loaded when the names are first used."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from supm._errors import PackageError

_LISTED: Final = re.compile(r"^from (\S+) import \(?\s*(\w+) as", re.MULTILINE)
_EXTRAS: Final = {
    "accounting": "dp_accounting",
    "analyst": "matplotlib narwhals scipy sklearn threadpoolctl",
    "chain": "eth_abi eth_account eth_typing eth_utils hexbytes requests web3",
    "federated": "flwr httpx",
    "server": (
        "alembic fastapi jinja2 msgspec plotly psycopg pyarrow pydantic "
        "sqlalchemy starlette uvicorn"
    ),
}
_ALONE: Final = ("pandas", "polars")


class NamesOnDemand(NamedTuple):
    """What a package says of itself: its names, how one is found, and what completion offers."""

    names: list[str]
    find: Callable[[str], Any]
    offered: Callable[[], list[str]]


def names_on_demand(package: str, file: str) -> NamesOnDemand:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package, by its stub.

    A name stands once, in the stub, where type checkers read it too; what it needs is loaded when
    the name is first used. A module that the stub lists is found, and is no part of ``__all__``.

    Examples
    --------
    >>> import supm
    >>> found = names_on_demand("supm", supm.__file__)
    >>> found.find("secure").__name__, "secure" in found.offered()
    ('secure', True)
    """
    homes = {name: home for home, name in _LISTED.findall(_stub(package, file))}

    def find(name: str) -> Any:  # noqa: ANN401  whatever has the name
        if name not in homes:
            message = f"module {package!r} has no attribute {name!r}"
            # With both, Python says which name was meant.
            raise AttributeError(message, name=name, obj=sys.modules[package])
        try:
            if homes[name] == package:
                return import_module(f"{package}.{name}")
            return getattr(import_module(homes[name]), name)
        except ModuleNotFoundError as error:
            told = package_error(error)
        raise told

    def offered() -> list[str]:
        own = (name for name in vars(sys.modules[package]) if name.startswith("__"))
        return sorted({*homes, *own})

    names = sorted(name for name, home in homes.items() if home != package)
    return NamesOnDemand(names, find, offered)


def _stub(package: str, file: str) -> str:
    """Return the stub's text; the loader finds it in an archive too."""
    loader = getattr(sys.modules[package].__spec__, "loader", None)
    path = str(Path(file).with_suffix(".pyi"))
    return str(loader.get_data(path), "utf-8") if loader else Path(path).read_text("utf-8")


def package_error(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return an error that names the extra which brings a package; any other error as it is."""
    name = (error.name or "").partition(".")[0]
    for extra, packages in _EXTRAS.items():
        if name in packages.split() and not isinstance(error, PackageError):
            message = f"this needs the package {name}; run pip install 'supm[{extra}]'."
            return PackageError(message, name=name)
    if name in _ALONE:
        return PackageError(f"this needs the package {name}; run pip install {name}.", name=name)
    return error
