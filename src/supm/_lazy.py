"""Names of a package whose files are loaded when the names are first used."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from supm._errors import PackageError

_LISTED: Final = re.compile(r"^from (\S+) import \(?\s*(\w+) as", re.MULTILINE)
_EXTRAS: Final = {
    "accounting": "dp_accounting",
    "analyst": "matplotlib narwhals scipy sklearn threadpoolctl",
    "chain": "eth_abi eth_account eth_typing eth_utils hexbytes web3",
    "federated": "flwr",
    "server": (
        "alembic fastapi jinja2 msgspec plotly psycopg pyarrow pydantic "
        "sqlalchemy starlette uvicorn"
    ),
}


def names_on_demand(package: str, file: str) -> tuple[list[str], Callable[[str], Any]]:
    """Return ``__all__`` and ``__getattr__`` of a package, as the stub beside its file lists them.

    A name stands once, in the stub, where type checkers read it too; what it needs is loaded when
    the name is first used.

    Examples
    --------
    >>> import supm
    >>> names, find = names_on_demand("supm", supm.__file__)
    >>> find("secure").__name__
    'secure'
    """
    homes = {
        name: home for home, name in _LISTED.findall(Path(file).with_suffix(".pyi").read_text())
    }

    def find(name: str) -> Any:  # noqa: ANN401  whatever has the name
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            return getattr(import_module(homes[name]), name)
        except ModuleNotFoundError as error:
            told = package_error(error)
        raise told

    return sorted(homes), find


def package_error(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return an error that names the extra which brings a package; any other error as it is."""
    name = (error.name or "").partition(".")[0]
    for extra, packages in _EXTRAS.items():
        if name in packages.split() and not isinstance(error, PackageError):
            message = f"this needs the package {name}; run pip install 'supm[{extra}]'."
            return PackageError(message, name=name)
    return error
