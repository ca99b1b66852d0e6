"""What the package shows: every public name is real, documented as it is called, and listed."""

from __future__ import annotations

import ast
import dataclasses
import enum
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from numpydoc.validate import validate  # type: ignore[import-untyped]  # numpydoc ships no types

import supm
import supm.mechanisms

DOCS = Path(__file__).resolve().parents[1] / "docs"
SOURCE = Path(supm.__file__).parents[1]
STUBS = list(SOURCE.rglob("__init__.pyi"))
ROOMS = sorted(
    f"supm.{m.name}" for m in pkgutil.iter_modules(supm.__path__) if m.name[0] != "_" and m.ispkg
)

# Codes of numpydoc: parameters are missing, unknown, out of order, without a type, without a
# description, or their colon is not set off.
PARAMETERS = {"PR01", "PR02", "PR03", "PR04", "PR07", "PR10"}


def exported(room: ModuleType) -> list[tuple[str, Any]]:
    names = getattr(room, "__all__", [])
    return [(f"{room.__name__}.{name}", getattr(room, name)) for name in names]


def public_objects(room: str) -> Iterator[tuple[str, Any]]:
    for name, value in exported(importlib.import_module(room)):
        if inspect.isclass(value) or inspect.isfunction(value):
            yield name, value


def public_methods(room: str) -> Iterator[tuple[str, Any]]:
    classes = [(name, value) for name, value in public_objects(room) if inspect.isclass(value)]
    for name, value in classes:
        for attribute, member in inspect.getmembers(value):
            function = inspect.unwrap(getattr(member, "fget", None) or member)
            ours = str(getattr(function, "__module__", "")).startswith("supm.")
            if ours and not attribute.startswith("_") and not isinstance(member, enum.Enum):
                yield f"{name}.{attribute}", member


def mechanisms() -> list[Any]:
    return [
        value
        for _, value in exported(supm.mechanisms)
        if inspect.isclass(value) and dataclasses.is_dataclass(value) and hasattr(value, "epsilon")
        # A base promises nothing by itself.
        if not inspect.isabstract(value)
    ]


def faults(name: str) -> list[str]:
    return [f"{code} {text}" for code, text in validate(name)["errors"] if code in PARAMETERS]


def is_protocol(value: type) -> bool:
    return bool(getattr(value, "_is_protocol", False))


@pytest.mark.parametrize("stub", sorted(STUBS), ids=lambda stub: stub.parent.name)
def test_what_a_stub_lists_is_there(stub: Path) -> None:
    """What a type checker reads in the stub and what a program finds are the same names."""
    module = importlib.import_module(".".join(stub.relative_to(SOURCE).parts[:-1]))
    imports = [
        each for each in ast.walk(ast.parse(stub.read_text())) if isinstance(each, ast.ImportFrom)
    ]
    listed = {name.asname: f"{each.module}.{name.name}" for each in imports for name in each.names}
    # A module that is listed too is found, and is no part of what a star imports.
    names = [str(name) for name, home in listed.items() if home != f"{module.__name__}.{name}"]
    assert sorted(names) == vars(module)["__all__"]
    assert [name for name in listed if not hasattr(module, str(name))] == []
    assert [home for name, home in listed.items() if not home.endswith(f".{name}")] == []
    # The file would take the place of the name as soon as somebody imports it.
    files = {each.name for each in pkgutil.iter_modules(module.__path__)}
    assert files & set(vars(module)["__all__"]) == set()


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_what_it_is_and_what_it_exports(room: str) -> None:
    module = importlib.import_module(room)
    assert module.__doc__
    assert module.__all__


def test_the_reference_lists_every_room() -> None:
    """Its pages are generated from each room's ``__all__``, so that no name can be forgotten."""
    listed = re.findall(r"^   (supm[.\w]*)$", (DOCS / "api/index.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted({"supm", *ROOMS} - {"supm.cli"})


@pytest.mark.parametrize("room", ["supm", *ROOMS])
def test_public_objects_document_the_parameters_that_they_take(room: str) -> None:
    wrong = []
    for name, value in public_objects(room):
        # Nobody makes an enumeration or a protocol by calling it.
        kind = inspect.isclass(value)
        called = not (kind and (issubclass(value, enum.Enum) or is_protocol(value)))
        told = faults(name) if called and value.__doc__ else []
        wrong += [f"{name}: {each}" for each in (told if value.__doc__ else ["no docstring"])]
    assert wrong == []


@pytest.mark.parametrize("room", ["supm", *ROOMS])
def test_public_methods_are_documented_and_what_they_list_is_right(room: str) -> None:
    """A short one may say all in one sentence, and one that overrides may inherit its text."""
    wrong = []
    for name, value in public_methods(room):
        told = faults(name) if "Parameters\n" in str(value.__doc__) else []
        wrong += [f"{name}: {each}" for each in (told if inspect.getdoc(value) else ["no text"])]
    assert wrong == []


@pytest.mark.parametrize("mechanism", mechanisms(), ids=lambda m: m.__name__)
def test_a_mechanism_states_its_guarantee_utility_cost_and_source(mechanism: Any) -> None:
    text = str(inspect.getdoc(mechanism))
    stated = ["**Guarantee.**", "**Utility.**", "**Cost.**", "References\n---", "Examples\n---"]
    assert [part for part in stated if part not in text] == []
    assert "docs/proofs/" in text
