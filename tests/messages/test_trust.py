from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from supm import ParameterError
from supm.messages import PHASES, Trust

PLACES = ("untrusted", "trusted")


@pytest.mark.parametrize("words", list(product(PLACES, PLACES, (*PLACES, "device"))))
def test_letters_and_words_are_read_as_the_same_trust(words: tuple[str, str, str]) -> None:
    trust = Trust(reduce=words[0], train=words[1], test=words[2])
    assert trust.words == words
    assert Trust.parse(trust.letters) == Trust.parse(", ".join(words).upper()) == trust


def test_nobody_is_trusted_by_default() -> None:
    assert Trust().words == ("untrusted",) * len(PHASES)


@pytest.mark.parametrize("phase", ["reduce", "train"])
def test_only_records_to_be_classified_stay_on_the_device(phase: str) -> None:
    with pytest.raises(ParameterError, match=f"trust of the {phase} phase must be one of"):
        Trust(**{phase: "device"})


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("word", ["", "Trusted", "u", None, 1, True, ["trusted"], {}])
def test_another_word_is_refused(phase: str, word: Any) -> None:
    with pytest.raises(ParameterError, match=f"trust of the {phase} phase"):
        Trust(**{phase: word})


@pytest.mark.parametrize("text", ["", "u", "u,u", "u,u,u,u", "u u u", "x,u,u", "d,u,u", None, 3])
def test_what_is_not_three_places_is_refused(text: Any) -> None:
    with pytest.raises(ParameterError, match="trust"):
        Trust.parse(text)
