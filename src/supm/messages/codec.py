"""One way from a message to plain values of JSON and back: the fields of a class are its form.

A class that inherits `Message` declares its fields, and perhaps a version or a kind. Its form has
these and no others. Reading is strict: what is unknown, absent or of another shape is refused in
one sentence with the path to it, and what a value means is checked where the value is made.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, ClassVar, Final, Self, Union, get_args, get_origin, get_type_hints

import numpy as np

from supm._errors import MessageError, ParameterError, SchemaError
from supm._json import canonical, check_fields, read_object
from supm._validation import check_kind

_UNIONS: Final = (Union, types.UnionType)
_HINTS: Final[dict[type, dict[str, Any]]] = {}
_PLAIN: Final = (str, int, float, bool)
# Nothing of ours has more; who nests deeper wants to exhaust the reader.
_DEEPEST: Final = 8
_HEXADECIMAL: Final = re.compile("(?:[0-9a-f]{2})*")


class Message:
    """What can be written as plain values of JSON, and read again.

    A class may have a ``noun`` for sentences ("a study"), a ``version`` and a ``kind``.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Note(Message):
    ...     noun = "a note"
    ...     version = 1
    ...     words: tuple[str, ...]
    >>> Note(words=("one", "two")).to_json()
    '{"version":1,"words":["one","two"]}'
    >>> Note.from_json('{"version": 1, "words": "one"}')
    Traceback (most recent call last):
    supm._errors.MessageError: words of a note must be a list.
    """

    noun: ClassVar[str]
    version: ClassVar[int]
    kind: ClassVar[str]
    refusal: ClassVar[type[Exception]] = MessageError

    def to_form(self) -> dict[str, Any]:
        """Return the message as plain values of JSON."""
        return self._head() | {name: as_form(getattr(self, name)) for name in _hints(type(self))}

    def to_json(self) -> str:
        """Return the canonical text: equal messages have equal bytes."""
        return canonical(self.to_form())

    @classmethod
    def from_json(cls, text: object) -> Self:
        """Read what `to_json` wrote, in any spacing and order of keys.

        Raises
        ------
        MessageError
            If the version or a field is unknown, absent or wrong.
        """
        return cls.from_form(read_object(text, _bare(cls), cls.refusal))

    @classmethod
    def from_form(cls, form: object) -> Self:
        """Read what `to_form` wrote; an unknown version or field is refused."""
        held = cls._checked(form)
        made = {name: from_value(hint, held[name], name, cls) for name, hint in _hints(cls).items()}
        try:
            return cls(**made)
        except (ParameterError, SchemaError) as error:
            raise cls.refusal(str(error)) from None

    def check_kinds(self) -> None:
        """Raise ParameterError where a field is of another kind than its type says.

        Numbers are left to their own rules, and so is what may be absent.
        """
        for name, hint in _hints(type(self)).items():
            given, kind = getattr(self, name), get_origin(hint) or hint
            if isinstance(kind, type) and kind not in (int, float, types.UnionType):
                check_kind(name, given, kind)
            for each in given if kind is tuple else ():
                check_kind(f"each of {name}", each, get_args(hint)[0])

    @classmethod
    def names(cls) -> set[str]:
        """Return the fields of a form."""
        return {*cls._head(), *_hints(cls)}

    @classmethod
    def _head(cls) -> dict[str, Any]:
        """Return what each message of the class begins with."""
        # A message may have a field of such a name instead, which is no attribute of its class.
        return {name: getattr(cls, name) for name in ("kind", "version") if hasattr(cls, name)}

    @classmethod
    def _checked(cls, form: object) -> dict[str, Any]:
        """Return a form of which the fields are known to be those of the class."""
        if not isinstance(form, dict):
            raise cls.refusal(f"{cls.noun} must be a JSON object.")
        head = cls._head()
        if "version" in head:
            check_version(form, head["version"], _bare(cls), cls.refusal)
        known = (*head, *_hints(cls))
        check_fields(form, known, cls.noun, cls.refusal)
        if set(form) != set(known):
            raise cls.refusal(f"{cls.noun} has the fields {', '.join(known)}.")
        if "kind" in head and form["kind"] != head["kind"]:
            raise cls.refusal(f"the kind of {cls.noun} must be {head['kind']}.")
        return form


def check_version(
    form: dict[str, Any], version: int, noun: str, refusal: type[Exception] = MessageError
) -> None:
    """Refuse a message of a version that this release does not read."""
    if type(form.get("version")) is not int or form["version"] != version:
        raise refusal(f"the version of a {noun} must be {version}; this release reads no other.")


def as_form(value: Any) -> Any:  # noqa: ANN401  any value of a field
    """Return a value as plain values of JSON."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return [as_form(each) for each in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.to_form() if hasattr(value, "to_form") else value


def from_value(hint: Any, value: Any, name: str, owner: type[Message]) -> Any:  # noqa: ANN401  any value of a field
    """Read a value as the type of its field says; plain values are checked by the constructor."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in _UNIONS:
        return _one_of(parts, value, name, owner)
    if origin is tuple:
        if not isinstance(value, list):
            raise owner.refusal(f"{name} of {owner.noun} must be a list.")
        if parts[0] in _PLAIN:
            return tuple(value)
        pairs = enumerate(value)
        return tuple(from_value(parts[0], each, f"{name}[{n}]", owner) for n, each in pairs)
    if hint is bytes:
        if not isinstance(value, str) or _HEXADECIMAL.fullmatch(value) is None:
            raise owner.refusal(
                f"{name} of {owner.noun} must be hexadecimal digits, two for each byte."
            )
        return bytes.fromhex(value)
    if origin is np.ndarray:
        if not _numeric(value):
            raise owner.refusal(f"{name} of {owner.noun} must be a table of numbers.")
        return value
    return _nested(hint, value, name, owner) if hasattr(hint, "from_form") else value


def _one_of(parts: Iterable[Any], value: Any, name: str, owner: type[Message]) -> Any:  # noqa: ANN401  see above
    if value is None and types.NoneType in parts:
        return None
    kinds = {each.kind: each for each in parts if getattr(each, "kind", None)}
    if kinds:
        kind = value.get("kind") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in kinds:
            raise owner.refusal(f"{name} of {owner.noun} must be of the kind {' or '.join(kinds)}.")
        return _nested(kinds[kind], value, name, owner)
    found = [each for each in parts if each is not types.NoneType]
    if len(found) > 1 and isinstance(value, dict):
        # Without kinds, it is the one whose fields it has.
        found = [each for each in found if hasattr(each, "names") and each.names() == {*value}]
    elif len(found) > 1:
        # What is no object is the one that is written otherwise.
        found = [each for each in found if not hasattr(each, "names")]
    return from_value(found[0], value, name, owner) if len(found) == 1 else value


def _nested(kind: Any, value: Any, name: str, owner: type[Message]) -> Any:  # noqa: ANN401  see above
    try:
        return kind.from_form(value)
    except (MessageError, ParameterError, SchemaError) as error:
        raise owner.refusal(f"{name} of {owner.noun}: {error}") from None


def _numeric(value: object, depth: int = _DEEPEST) -> bool:
    if isinstance(value, list):
        return depth > 0 and all(_numeric(each, depth - 1) for each in value)
    return type(value) in (int, float)


def _hints(kind: type) -> dict[str, Any]:
    """Return the type of each field, worked out once for each class."""
    if kind not in _HINTS:
        hints = get_type_hints(kind)
        _HINTS[kind] = {each.name: hints[each.name] for each in fields(kind) if each.init}
    return _HINTS[kind]


def _bare(kind: type[Message]) -> str:
    return kind.noun.partition(" ")[2]
