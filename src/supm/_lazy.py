"""Names of a package whose files are loaded when the names are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from supm._errors import PackageError

__all__ = ["names_on_demand", "package_error"]

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
        try:
            return getattr(import_module(f"{package}.{homes[name]}"), name)
        except ModuleNotFoundError as error:
            told = package_error(error)
        raise told

    return find


def package_error(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return an error that names the extra which brings a package; any other error as it is."""
    name = (error.name or "").partition(".")[0]
    for extra, packages in _EXTRAS.items():
        if name in packages.split() and not isinstance(error, PackageError):
            message = f"this needs the package {name}; run pip install 'supm[{extra}]'."
            return PackageError(message, name=name)
    return error
