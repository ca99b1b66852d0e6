"""What the OpenAPI document says: examples of what is sent and of what is answered."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from fastapi import Path

from supm.service.received_reports import ARROW, JSON, ManyReports, OneReport

StudyName = Annotated[str, Path(description="The study's name.", examples=["a1b2c3d4e5"])]

TOKEN: Final[dict[str, Any]] = {"security": [{"analyst": []}]}
"""What an endpoint of the analyst adds to its description."""

_HASH: Final = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_ID: Final = "00112233445566778899aabbccddeeff"
_REPORT: Final = {
    "version": 1,
    "study": _HASH,
    "phase": "train",
    "group": 0,
    "symbols": [3, 7, 1, 0, 1],
    "id": _ID,
}
_BATCH: Final = {
    "version": 1,
    "study": _HASH,
    "phase": "train",
    "group": 0,
    "reports": [{"id": _ID, "symbols": [3, 7, 1, 0, 1]}],
}
STATUS: Final = {
    "name": "a1b2c3d4e5",
    "state": "collecting to train",
    "purpose": "Which measurements tell a tumour's kind?",
    "by": "St Mary's hospital, department of statistics",
    "contact": "study@hospital.example",
    "target": "diagnosis",
    "mode": "strict",
    "trust": "u,u,u",
    "epsilon": 4.0,
    "open_phase": "train",
    "document": _HASH,
    "invited": False,
    "groups": [1],
    "group": 0,
    "reports": {"train": 12},
    "minimums": {"train": 100},
    "deadlines": {"train": "2030-12-01T00:00:00Z"},
    "guarantee": "Whatever anybody knows, a report changes the odds by a factor of at most 54.6.",
    "model_public": False,
    "created": "2030-11-01T00:00:00Z",
}
"""A study's status."""

PROGRESS: Final = {
    "state": "collecting to train",
    "open_phase": "train",
    "reports": {"train": 12},
    "minimums": {"train": 100},
    "series": {"train": [[32000000, 5], [32000001, 7]]},
}
"""How far a study is."""

_REASONS: Final = {
    304: "unchanged",
    400: "the body did not arrive",
    401: "a token or an invitation is needed",
    403: "the token or the invitation does not fit",
    404: "there is no such study",
    408: "the body did not arrive in time",
    409: "the study does not ask or allow this now",
    411: "the length of the body is not stated",
    413: "the body is too long",
    415: "the body is of another media type",
    422: "the body is not a message of this version",
    429: "too many requests; see Retry-After",
    503: "busy, or the database does not answer; see Retry-After",
}
_BODY_CODES: Final = (400, 404, 408, 409, 411, 413, 415, 422, 429, 503)
_ERROR: Final = {
    "type": "object",
    "properties": {"error": {"type": "string"}},
    "required": ["error"],
    "additionalProperties": False,
}


class Training(msgspec.Struct, forbid_unknown_fields=True):
    """How to train."""

    weights: Literal["balanced"] | None = None


(_ONE, _MANY, _TRAINING), SCHEMAS = msgspec.json.schema_components(
    (OneReport, ManyReports, Training), ref_template="#/components/schemas/{name}"
)
"""The shapes of what is sent, made from what reads it."""

_STREAM: Final = {
    "schema": {"type": "string", "format": "binary"},
    "examples": {
        "stream": {
            "summary": "schema metadata version, study, phase, group; columns id: "
            "fixed_size_binary[16], symbols: fixed_size_list<integer>[width]",
            "value": "an Arrow stream",
        }
    },
}
_NAME: Final = {
    "name": "name",
    "in": "path",
    "required": True,
    "schema": {"type": "string"},
    "description": "The study's name.",
    "example": "a1b2c3d4e5",
}
_INVITATION: Final = {
    "name": "X-Invitation",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "pattern": "^[a-z2-7-]{16,40}$"},
    "description": "Where the study needs one.",
}


def _body(content: dict[str, Any], *, required: bool = True) -> dict[str, Any]:
    return {"requestBody": {"required": required, "content": content}}


REPORT_BODY: Final = {
    **_body({JSON: {"schema": _ONE, "example": _REPORT}}),
    "parameters": [_NAME, _INVITATION],
}
"""One report."""

BATCH_BODY: Final = {
    **_body({JSON: {"schema": _MANY, "example": _BATCH}, ARROW: _STREAM}),
    "parameters": [_NAME],
}
"""Many reports."""

PREDICT_BODY: Final = _body(
    {
        JSON: {
            "schema": {"oneOf": [_ONE, _MANY]},
            "example": {**_BATCH, "phase": "test", "reports": [{"id": _ID, "symbols": [1]}]},
        },
        ARROW: _STREAM,
    }
) | {"parameters": [_NAME]}
"""One or many reports of the test phase."""

TRAIN_BODY: Final = {
    **_body({JSON: {"schema": _TRAINING, "example": {"weights": None}}}, required=False),
    **TOKEN,
}
"""How to train."""


def answers(
    example: Any,  # noqa: ANN401  whatever JSON can hold
    *codes: int,
    status: int = 200,
    media_type: str = JSON,
    body: bool = False,
) -> dict[int | str, dict[str, Any]]:
    """Return the responses of an endpoint with an example of each."""
    wrong = {"schema": _ERROR, "example": {"error": "Why not."}}
    good: dict[int | str, dict[str, Any]] = {
        status: {"description": "done", "content": {media_type: {"example": example}}}
    }
    refused = sorted({*codes, 429, 503} | ({*_BODY_CODES} if body else set()))
    for code in refused:
        content = {} if code == 304 else {"content": {JSON: wrong}}
        good[code] = {"description": _REASONS[code], **content}
    return good
