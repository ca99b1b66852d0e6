from __future__ import annotations

import pytest

from supm import RecordError
from supm.owner import saying_what_is_allowed
from supm.owner.words import allowed
from supm.schema import Attribute, Categorical, Continuous, Ordinal

FLAG = Categorical("flag", values=(False, True))
AGE = Continuous("age", low=0, high=100, missing="class")


@pytest.mark.parametrize(
    ("attribute", "words"),
    [
        (FLAG, "allowed: false, true"),
        (Ordinal("n", values=tuple(range(12))), "allowed: 0, 1, 2, 3, 4, 5, 6, 7 and 4 more"),
        (Categorical("x", values=("a", "b" * 99)), f"allowed: a, {'b' * 39}…"),
        (AGE, "allowed: a number, or nothing; what is below 0 counts as 0, and what is above 100"),
    ],
)
def test_what_is_allowed_is_listed_and_shortened(attribute: Attribute, words: str) -> None:
    assert allowed(attribute).startswith(words)


@pytest.mark.parametrize(
    ("attribute", "value", "fact"),
    [
        (FLAG, "QX7731", "flag: 1 of 1 records holds a value that is not among the 2"),
        (FLAG, None, "flag: 1 of 1 records has no value"),
        (AGE, "QX7731", "age: the column holds text where numbers are expected"),
    ],
)
def test_an_owner_is_told_what_to_write_and_not_how_to_declare(
    attribute: Attribute, value: object, fact: str
) -> None:
    with pytest.raises(RecordError) as refused, saying_what_is_allowed([AGE, FLAG]):
        attribute.read([value])
    assert str(refused.value).startswith(fact)
    assert str(refused.value).endswith(f"; {allowed(attribute)}.")
    assert "declare the" not in str(refused.value)
    assert "QX7731" not in str(refused.value)


def test_another_refusal_stays_as_it_is() -> None:
    error = RecordError("the record could not be read.")
    with pytest.raises(RecordError) as refused, saying_what_is_allowed([AGE]):
        raise error
    assert refused.value is error
