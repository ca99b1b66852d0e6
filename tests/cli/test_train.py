from __future__ import annotations

from typing import Any

import pytest

from supm.cli import main
from supm.owner.http import Remote

STATUS = {
    "name": "abc",
    "purpose": "",
    "by": "",
    "contact": "",
    "state": "trained",
    "reports": {"train": 3},
    "guarantee": "A promise.",
}


def train(monkeypatch: pytest.MonkeyPatch, code: int, form: dict[str, Any]) -> int:
    monkeypatch.setenv("SUPM_TOKEN", "token")
    monkeypatch.setattr(Remote, "post_json", lambda *_: (code, form))
    return main(["train", "--study", "http://127.0.0.1:1/studies/abc"])


@pytest.mark.parametrize(
    "wrong",
    [{"reports": None}, {"reports": {"train": "3"}}, {"guarantee": 1}, {"state": None}, {"by": 3}],
)
def test_a_status_that_is_none_is_said_in_a_sentence(
    wrong: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(monkeypatch, 200, {**STATUS, **wrong}) == 1
    said = capsys.readouterr().err
    assert said == (
        "supm: error: the aggregator took the step, and did not say where the study stands.\n"
    )


def test_a_status_does_not_steer_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steering = "\x1b]0;a\x07\x9b2J\u202e"
    texts = dict.fromkeys(("name", "purpose", "by", "contact", "state", "guarantee"), steering)
    assert train(monkeypatch, 200, STATUS | texts | {"reports": {steering: 1}}) == 0
    assert train(monkeypatch, 409, {"error": steering}) == 1
    said = capsys.readouterr()
    assert all(each.isprintable() or each == "\n" for each in said.out + said.err)


@pytest.mark.parametrize("error", [None, 3, "", "x" * 5000])
def test_an_error_without_words_is_told_by_its_number(
    error: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(monkeypatch, 500, {"error": error}) == 1
    assert capsys.readouterr().err == "supm: error: the aggregator answered 500.\n"
