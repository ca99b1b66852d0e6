from __future__ import annotations

import argparse

import pytest

from supm.cli import main
from supm.cli._arguments import Parser, epsilons, real, trust, whole


def test_budgets_are_different_numbers() -> None:
    assert epsilons("1,0.5") == [1.0, 0.5]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1,1.0", "must be different numbers, got '1,1.0'"),
        ("0", r"must be a number in \[1e-06, 10000\], got '0'"),
        ("1,,2", "must be numbers with single commas between, got '1,,2'"),
        ("1,", "must be numbers with single commas between, got '1,'"),
        (",".join(map(str, range(1, 102))), "must be at most 100 numbers, got '101 of them'"),
    ],
)
def test_other_budgets_are_refused_for_their_own_reason(text: str, complaint: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=complaint):
        epsilons(text)


@pytest.mark.parametrize("text", ["1", "11", "2.5", "x", "", "1e400"])
def test_a_number_outside_its_interval_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="must be a whole number"):
        whole(2, 10)(text)
    with pytest.raises(argparse.ArgumentTypeError, match=r"must be a number in \[3, 4\]"):
        real(3.0, 4.0)(text)


@pytest.mark.parametrize("text", ["u,u,u", "t,u,d", "U, T, D", "untrusted,trusted,device"])
def test_three_letters_or_words_are_a_trust(text: str) -> None:
    assert trust(text) == text


@pytest.mark.parametrize("text", ["u,u", "x,y,z", "d,u,u", "u,d,u", "", "u,u,u,u"])
def test_a_wrong_trust_is_told_the_letters(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"u \(untrusted\), t .* also d \("):
        trust(text)


def test_where_no_act_is_given_the_acts_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    for verb, sentence in (
        ("study", "ACT must be given, one of create, list, show, "),
        ("log", "ACT must be given, one of "),
        ("wallet", "ACT must be given, one of show, limit, forget. See supm wallet --help."),
    ):
        assert main([verb]) == 2
        assert f"supm: error: {sentence}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "--size must be given."),
        (["--size"], "--size must be followed by a value."),
        (["--size", "x"], "--size must be a whole number, got 'x'."),
        (["--size", "1"], "--size must be a whole number in [2, 9], got 1."),
        (["--size", "3", "--kind", "c"], "--kind must be one of a, b, got 'c'."),
        (["--size", "3", "--what"], "no such argument: --what."),
        (["--size", "3", "--one", "--two"], "--two cannot go with --one."),
    ],
)
def test_every_refusal_is_one_sentence_with_a_hint(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = Parser(prog="supm try")
    parser.add_argument("--size", type=whole(2, 9), required=True)
    parser.add_argument("--kind", choices=("a", "b"))
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--one", action="store_true")
    either.add_argument("--two", action="store_true")
    with pytest.raises(SystemExit) as left:
        parser.parse_args(arguments)
    assert left.value.code == 2
    assert capsys.readouterr().err == f"supm: error: {sentence} See supm try --help.\n"


def test_the_help_that_is_named_is_that_of_the_verb(capsys: pytest.CaptureFixture[str]) -> None:
    parser = Parser(prog="supm")
    verb = parser.add_subparsers().add_parser("try")
    verb.add_argument("--size")
    one = verb.add_mutually_exclusive_group(required=True)
    for name in ("--one", "--two", "--three"):
        one.add_argument(name, action="store_true")
    for typed, sentence in (
        (["try", "--one", "--what"], "no such argument: --what."),
        (["try"], "--one, --two or --three must be given."),
    ):
        with pytest.raises(SystemExit):
            parser.parse_args(typed)
        assert capsys.readouterr().err == f"supm: error: {sentence} See supm try --help.\n"
