"""Bytes in Flower's messages, and out of them."""

from __future__ import annotations

from typing import Final

from flwr.app import ConfigRecord, Message, RecordDict

# Names of messages, as Flower spells them: a category that it knows, and a name of ours.
ASK: Final = "query.ask"
END: Final = "query.end"
_RECORD: Final = "supm"
_KEY: Final = "content"


def record_of(content: bytes) -> RecordDict:
    """Return what a message of Flower may hold.

    Parameters
    ----------
    content : bytes
        What is to be carried.

    Returns
    -------
    RecordDict

    Examples
    --------
    >>> record_of(b"hello")["supm"]["content"]
    b'hello'
    """
    return RecordDict({_RECORD: ConfigRecord({_KEY: content})})


def bytes_of(records: RecordDict) -> bytes | None:
    """Return what is carried, or None where it is not what `record_of` makes.

    Parameters
    ----------
    records : RecordDict
        What a message holds, or what a node remembers.

    Returns
    -------
    bytes or None

    Examples
    --------
    >>> bytes_of(record_of(b"hello")), bytes_of(RecordDict())
    (b'hello', None)
    """
    record = records.get(_RECORD)
    content = record.get(_KEY) if isinstance(record, ConfigRecord) else None
    return content if isinstance(content, bytes) else None


def reply_bytes(message: Message) -> bytes | None:
    """Return what a reply carries, or None where it is an error or something else.

    Parameters
    ----------
    message : Message
        The reply.

    Returns
    -------
    bytes or None
    """
    return bytes_of(message.content) if message.has_content() else None
