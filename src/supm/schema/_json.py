"""The JSON form of a schema: strict to read, and written in one way only."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from typing import Any, Final

from supm._errors import SchemaError
from supm._json import check_fields, read_object
from supm.schema.attributes import Attribute, Categorical, Continuous, Ordinal
from supm.schema.fields import FieldError

__all__ = ["attributes_from_json", "attributes_to_json"]

_VERSION: Final = 1
_KINDS: Final[dict[str, type[Continuous | Ordinal | Categorical]]] = {
    "continuous": Continuous,
    "ordinal": Ordinal,
    "categorical": Categorical,
}
_FIELDS: Final = ("version", "attributes", "target")


def attributes_from_json(text: str) -> tuple[tuple[Attribute, ...], Attribute]:
    """Return the attributes and the target that a text describes."""
    form = read_object(text, "schema", SchemaError)
    check_fields(form, _FIELDS, "a schema", SchemaError)
    for field in _FIELDS:
        if field not in form:
            message = f"{field} is missing; a schema has the fields {', '.join(_FIELDS)}."
            raise SchemaError(message)
    if type(form["version"]) is not int or form["version"] != _VERSION:
        message = f"version must be {_VERSION}; this release reads no other."
        raise SchemaError(message)
    if not isinstance(form["attributes"], list):
        message = "attributes must be a list of objects."
        raise SchemaError(message)
    attributes = tuple(
        _attribute(each, f"attributes[{place}]") for place, each in enumerate(form["attributes"])
    )
    return attributes, _attribute(form["target"], "target")


def attributes_to_json(attributes: tuple[Attribute, ...], target: Attribute) -> str:
    """Write one line for each attribute. Equal schemas have equal text."""
    lines = ",\n    ".join(_line(attribute) for attribute in attributes)
    return (
        f'{{\n  "version": {_VERSION},\n  "attributes": [\n    {lines}\n  ],\n'
        f'  "target": {_line(target)}\n}}\n'
    )


def _attribute(form: object, path: str) -> Attribute:
    given = dict(_object(form, path))
    kind = given.pop("type", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        message = f"{path}.type must be one of {', '.join(_KINDS)}."
        raise SchemaError(message)
    known = {field.name: field for field in fields(_KINDS[kind])}
    check_fields(given, ("type", *known), f"type {kind}", SchemaError, path=f"{path}.")
    for name, field in known.items():
        if name not in given and field.default is MISSING:
            message = f"{path}.{name} is missing; type {kind} needs it."
            raise SchemaError(message)
    try:
        return _KINDS[kind](**given)
    except FieldError as error:
        message = f"{path}.{error.field} {error.problem}"
        raise SchemaError(message) from None


def _object(form: object, path: str) -> dict[str, Any]:
    if not isinstance(form, dict):
        message = f"{path} must be a JSON object."
        raise SchemaError(message)
    return form


def _line(attribute: Attribute) -> str:
    kind = next(word for word, known in _KINDS.items() if type(attribute) is known)
    form: dict[str, object] = {"name": attribute.name, "type": kind}
    if isinstance(attribute, Continuous):
        form |= {"low": _plain(attribute.low), "high": _plain(attribute.high)}
    else:
        form |= {"values": list(attribute.values)}
    if attribute.missing != "refuse":
        form |= {"missing": attribute.missing}
    return json.dumps(form, ensure_ascii=False, allow_nan=False)


def _plain(bound: float) -> float:
    """Write a whole bound as a person would: 120, not 120.0."""
    return int(bound) if bound.is_integer() and abs(bound) < 1 << 53 else bound
