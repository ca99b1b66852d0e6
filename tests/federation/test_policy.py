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


@pytest.mark.parametrize(
    "form",
    [
        {},
        [],
        FORM | {"version": 2},
        FORM | {"epsilon": "1"},
        FORM | {"epsilon": -1},
        FORM | {"delta": 2},
        FORM | {"total": 4},
        FORM | {"total": {"epsilon": 4}},
        FORM | {"colluders": 1.5},
        FORM | {"more": 1},
        {name: value for name, value in FORM.items() if name != "total"},
    ],
)
def test_what_is_no_policy_allows_nothing(form: object) -> None:
    with pytest.raises(MessageError):
        Policy.from_json(json.dumps(form))
