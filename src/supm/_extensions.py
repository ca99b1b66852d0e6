"""Randomizers, learners and reductions of one's own: objects, or names that lead to them.

A package offers them by entry points of the groups ``supm.randomizers``, ``supm.learners`` and
``supm.reductions``. What a user types may also be ``module:Name``. What a *message* names is looked
for among entry points and what was handed over in this process only: no stranger's text decides
what is imported on a device.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any, Final

from supm._errors import ParameterError

_HINT: Final = "Install the package that offers it, or name it as module:Name."
_given: Final[dict[tuple[str, str], Any]] = {}


def installed(kind: str) -> dict[str, Any]:
    """Return the entry points of a kind ("randomizers", "learners", "reductions") by name."""
    from importlib.metadata import entry_points  # noqa: PLC0415  few ever ask

    return {each.name: each for each in entry_points(group=f"supm.{kind}")}


def offered(kind: str, name: str) -> Any:  # noqa: ANN401  whatever a package offers
    """Return what an installed package offers by this name, or what this process was handed."""
    if (kind, name) in _given:
        return _given[kind, name]
    found = installed(kind).get(name)
    if found is None:
        hint = "Install the package that offers it before you go on."
        raise ParameterError(kind, "installed on this device", name, hint)
    return found.load()


def load(kind: str, wanted: Any) -> Any:  # noqa: ANN401  an object, or what leads to one
    """Return an object as it is, and for a name what it leads to.

    Examples
    --------
    >>> load("learners", "supm.learning:RadialSVM").__name__
    'RadialSVM'
    >>> load("learners", "forest")
    Traceback (most recent call last):
    supm._errors.ParameterError: learners must be installed, or module:Name, got 'forest'.
    Install the package that offers it, or name it as module:Name.
    """
    if not isinstance(wanted, str):
        return wanted
    if wanted in installed(kind):
        return installed(kind)[wanted].load()
    module, colon, name = wanted.partition(":")
    if not colon:
        raise ParameterError(kind, "installed, or module:Name", wanted, _HINT)
    here = os.getcwd()  # noqa: PTH109  the search path holds text
    sys.path.append(here)
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        rule = "module:Name that can be imported"
        raise ParameterError(kind, rule, wanted) from None
    finally:
        sys.path.remove(here)


def name_of(kind: str, thing: Any) -> str:  # noqa: ANN401  a class or a function
    """Return the name by which others find a thing, and remember it for this process."""
    for name, entry in installed(kind).items():
        if entry.load() is thing:
            return name
    name = f"{thing.__module__}:{thing.__qualname__}"
    _given[kind, name] = thing
    return name
