from __future__ import annotations

import pytest

from supm import ParameterError
from supm.federation.protocol import Circle


def test_by_default_nobody_relies_on_anothers_noise() -> None:
    circle = Circle(parties=5)
    assert (circle.colluders, circle.holders, circle.threshold) == (4, 1, 5)


@pytest.mark.parametrize(
    ("parties", "colluders", "dropouts"),
    [(3, 3, 0), (3, 2, 1), (1, 1, 0), (1, 0, 1), (0, 0, 0), (3, -1, 0), (3, 0, -1), (2001, 0, 0)],
)
def test_nobody_left_to_hide_anyone(parties: int, colluders: int, dropouts: int) -> None:
    with pytest.raises(ParameterError):
        Circle(parties=parties, colluders=colluders, dropouts=dropouts)


def test_as_many_may_be_lost_as_a_lying_server_cannot_use() -> None:
    # A secret opens with t shares; the colluders give both kinds, an honest party one of them.
    for parties in range(2, 12):
        for colluders in range(parties):
            for lost in range(1, parties - colluders):
                honest, opens = parties - colluders, parties - lost
                both_open = 2 * max(opens - colluders, 0) <= honest
                if both_open:
                    with pytest.raises(ParameterError, match="dropouts"):
                        Circle(parties=parties, colluders=colluders, dropouts=lost)
                else:
                    assert Circle(parties=parties, colluders=colluders, dropouts=lost).holders >= 1


def test_the_trust_in_words() -> None:
    assert Circle(parties=3, colluders=1).sentence == (
        "3 parties add noise. It is enough even if one of them works with the server."
    )
    assert "even if 4 of them work with" in Circle(parties=5).sentence
    assert Circle(parties=3, colluders=0, dropouts=1).sentence == (
        "3 parties add noise. It is enough against the server alone and against readers who took "
        "no part; a party that takes its own noise off what is published sees that much less "
        "noise. Up to 1 of them may be lost on the way."
    )
    assert Circle(parties=1).sentence.startswith("One party holds all records")
