from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supm import MessageError, ParameterError
from supm.messages import Update

FIELDS = st.dictionaries(
    st.text(max_size=5), st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=5) | st.none()
)


@settings(deadline=None)
@given(kind=st.text("abc", max_size=8), fields=FIELDS, numbers=st.lists(st.integers(0, 2**64 - 1)))
def test_what_was_written_is_read(kind: str, fields: dict[str, object], numbers: list[int]) -> None:
    sent = Update(kind=kind, fields=fields, numbers=np.array(numbers, dtype=np.uint64))
    got = Update.from_bytes(sent.to_bytes())
    assert (got.kind, got.fields, got.numbers.tolist()) == (kind, fields, numbers)
    assert got.to_bytes() == sent.to_bytes()


def test_floats_keep_their_bits() -> None:
    told = np.array([0.1, -0.0, 1e-300, np.pi])
    got = Update.from_bytes(Update(kind="question", numbers=told.view(np.uint64)).to_bytes())
    assert got.floats.tobytes() == told.tobytes()


@settings(deadline=None)
@given(st.binary(max_size=80))
def test_other_bytes_are_refused(content: bytes) -> None:
    with pytest.raises(MessageError):
        Update.from_bytes(content)
    with pytest.raises(MessageError):
        Update.from_bytes(b"supm-update-2\n" + content)


def test_a_cut_message_is_refused() -> None:
    whole = Update(kind="masked", numbers=np.arange(4, dtype=np.uint64)).to_bytes()
    for end in range(len(whole)):
        if (len(whole) - end) % 8:
            with pytest.raises(MessageError):
                Update.from_bytes(whole[:end])


@pytest.mark.parametrize("numbers", [np.arange(3), np.zeros((2, 2), dtype=np.uint64), [1], None])
def test_numbers_are_a_vector_of_words(numbers: object) -> None:
    with pytest.raises(ParameterError, match="numbers must be a vector of uint64"):
        Update(kind="masked", numbers=numbers)  # type: ignore[arg-type]  # that is what is tested


def test_the_name_of_a_message_says_nothing_of_its_content() -> None:
    assert repr(Update(kind="masked", fields={"round": 3})) == "Update(kind='masked', numbers=0)"
