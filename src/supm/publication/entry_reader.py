"""Reading many entries, most of which say the same in the same words."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from supm._errors import ParameterError
from supm._json import canonical
from supm.messages import ReleaseStatement, Statement
from supm.publication.entry import Entry, ReleaseEntry, read_entry

__all__ = ["EntryReader"]

# The ends of a release of no run, as `canonical` writes it. What is between is compared.
_HEAD: Final = re.compile(
    r'\{"commitments":\[\],"content":"([0-9a-f]{64})","kind":"release","name":"([^"\\]+)",'
    r'"promised":(\{.*\})',
    re.DOTALL,
)
_SIZE: Final = re.compile("0|[1-9][0-9]{0,18}")
_TAIL: Final = re.compile(r'([0-9a-f]{64})","time":"([^"\\]+)","version":1\}')
_MOST_KNOWN: Final = 1_000
_LONGEST_KNOWN: Final = 1 << 14


class EntryReader:
    """Reads many entries as `read_entry` does; a statement that was read is not read anew.

    Most releases of a log state the same, but for the hash of their study, in the same words. A
    text whose promise and statement are, sign by sign, those of an entry that was accepted can
    differ from it only in name, content, size, time and study, and those are checked each time.

    Examples
    --------
    >>> EntryReader().read("{}")
    Traceback (most recent call last):
    supm._errors.PublicationError: an entry of the log has version 1 and a kind that is known.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Statement | ReleaseStatement] = {}

    def read(self, text: str) -> Entry:
        """Return the entry of a text, or raise what `read_entry` raises."""
        like = self._like_another(text)
        if like is not None:
            return like
        entry = read_entry(text)
        self._remember(entry)
        return entry

    def _like_another(self, text: str) -> ReleaseEntry | None:
        start, _, rest = text.partition(',"run":"","size":')
        size, _, rest = rest.partition(',"statement":')
        statement, _, end = rest.rpartition(',"study":"')
        head, tail = _HEAD.fullmatch(start), _TAIL.fullmatch(end)
        if head is None or tail is None or _SIZE.fullmatch(size) is None:
            return None
        (content, name, promised), (study, time) = head.groups(), tail.groups()
        known = self._known.get((promised, _without(study, statement)))
        if known is None:
            return None
        if known.study != study:
            known = replace(known, study=study)
        try:
            return ReleaseEntry(
                time=time, name=name, content=content, size=int(size), statement=known
            )
        except ParameterError:
            return None  # for read_entry to say what is wrong

    def _remember(self, entry: Entry) -> None:
        if not isinstance(entry, ReleaseEntry) or entry.run or len(self._known) >= _MOST_KNOWN:
            return
        statement = canonical(entry.statement.to_form())
        if len(statement) <= _LONGEST_KNOWN and (text := _without(entry.study, statement)):
            promised = {whom: each.to_json() for whom, each in entry.guarantees.items()}
            self._known[canonical(promised), text] = entry.statement


def _without(study: str, statement: str) -> str:
    """Return a statement with a hole for the hash of its study; nothing where it has not one.

    In canonical text a quotation mark within a text has a backslash before it, so that what is
    looked for is the field itself, which a statement has once.
    """
    before, mark, after = statement.partition(f'"study":"{study}"')
    return f'{before}"study":""{after}' if mark else ""
