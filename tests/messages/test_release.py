from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from supm import MessageError, ParameterError
from supm.messages import Part, Release, ReleaseStatement
from supm.privacy import ApproximateDP, GaussianDP, Neighbours

TABLE = Neighbours.REPLACE_ONE


@pytest.fixture
def release() -> Release:
    sums = Part(
        name="moments", method="noise on sums", guarantee=GaussianDP(mu=0.1, neighbours=TABLE)
    )
    statement = ReleaseStatement(
        study=hashlib.sha256(b'{"name":"x"}').hexdigest(),
        parts=(sums,),
        total=ApproximateDP(epsilon=0.3, delta=1e-5, neighbours=TABLE),
        trust="Three parties add noise.",
        simulation=True,
        software="supm",
    )
    return Release(
        kind="discriminant",
        study='{"name":"x"}',
        content={"directions": [[1.0]]},
        statement=statement,
    )


def test_what_was_written_is_read(release: Release) -> None:
    assert Release.from_json(release.to_json()) == release


def test_words_tell_parts_trust_and_that_it_was_a_simulation(release: Release) -> None:
    words = release.statement.words
    assert words.startswith("Moments: noise on sums. For each record, in total: ")
    assert "epsilon = 0.3" in words
    assert "Three parties add noise." in words
    assert words.endswith("so it is not private.")


def leaves(form: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = form.items() if isinstance(form, dict) else enumerate(form)
    found = [(*path, name) for name, _ in inner] if isinstance(form, dict | list) else []
    inner = form.items() if isinstance(form, dict) else enumerate(form)
    for name, value in inner:
        if isinstance(value, dict | list) and name != "content":
            found += leaves(value, (*path, name))
    return found


@pytest.mark.parametrize("strange", [None, [], 7, {"x": 1}])
def test_each_leaf_is_checked(release: Release, strange: object) -> None:
    whole = json.loads(release.to_json())
    for path in leaves(whole):
        form = json.loads(release.to_json())
        holder = form
        for step in path[:-1]:
            holder = holder[step]
        if holder[path[-1]] == strange or path == ("content",):
            continue
        if strange == 7 and path[-1] in {"mu", "epsilon"}:
            continue  # another promise is a promise
        holder[path[-1]] = strange
        with pytest.raises(MessageError):
            Release.from_json(json.dumps(form))


def test_a_statement_about_another_study_is_refused(release: Release) -> None:
    form = json.loads(release.to_json()) | {"study": {"name": "y"}}
    with pytest.raises(MessageError, match="about another"):
        Release.from_json(json.dumps(form))


def test_a_part_needs_a_guarantee() -> None:
    with pytest.raises(ParameterError, match="guarantee"):
        Part(name="x", method="y", guarantee=0.5)  # type: ignore[arg-type]  # that is what is tested
