from __future__ import annotations

import json
from typing import Any

import pytest

from supm._errors import MessageError
from supm.federation import Policy

FORM: dict[str, Any] = {
    "version": 1,
    "epsilon": 1,
    "delta": 1e-5,
    "total": {"epsilon": 1.5, "delta": 1e-4},
    "colluders": 1,
}


WITHOUT_TOTAL = {name: value for name, value in FORM.items() if name != "total"}


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({}, "has no version"),
        ([], "must be a JSON object"),
        (FORM | {"version": 2}, "has another version"),
        (FORM | {"epsilon": "1"}, "^epsilon must be"),
        (FORM | {"epsilon": -1}, "^epsilon must be"),
        (FORM | {"delta": 2}, "^delta must be"),
        (FORM | {"total": 4}, "has a total of other fields"),
        (FORM | {"total": {"epsilon": 4}}, "has a total of other fields"),
        (FORM | {"total": {"epsilon": 1e9, "delta": 1e-5}}, "^total epsilon must be"),
        (FORM | {"total": {"epsilon": 1, "delta": 2}}, "^total delta must be"),
        (FORM | {"colluders": 1.5}, "^colluders must be"),
        (FORM | {"more": 1}, "more"),
        (WITHOUT_TOTAL, "has no total"),
    ],
)
def test_what_is_no_policy_allows_nothing_and_says_why(form: object, told: str) -> None:
    with pytest.raises(MessageError, match=told):
        Policy.from_json(json.dumps(form))
