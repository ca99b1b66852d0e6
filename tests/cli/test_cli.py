"""The real command, run as a process of its own, and its errors."""

from __future__ import annotations

import _thread
import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Timer

import pytest

import supm
from supm.cli import main

COMMAND = [sys.executable, "-m", "supm"]


def run(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  no word of the command comes from outside
        [*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def test_the_installed_command_and_the_module_are_the_same() -> None:
    script = Path(sys.executable).with_name("supm")
    for command in ([str(script)], COMMAND):
        shown = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)  # noqa: S603  the same
        assert shown.stdout == f"supm {supm.__version__}\n"


VERBS = ["audit", "demo", "plan", "schema", "simulate", "statement"]


@pytest.mark.parametrize("verb", [[], *([verb] for verb in VERBS)])
def test_help_shows_examples(verb: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*verb, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "examples:\n  supm " in shown
    assert max(len(line) for line in shown.splitlines()) <= 100


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; from supm.cli import main; main(['--help']); "
        "heavy = {'cyclopts', 'matplotlib', 'numpy', 'rich', 'scipy', 'sklearn'}; "
        "print(sorted(heavy & {*sys.modules}))"
    )
    shown = subprocess.run(  # noqa: S603  no word of the command comes from outside
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert shown.stdout.endswith("[]\n")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "VERB must be given"),
        (["pray"], "VERB must be one of demo, simulate,"),
        (["audit"], "NAME or --all must be given"),
        (["audit", "duchi", "--all"], "cannot go with"),
        (["audit", "--all", "--size", "3"], "--epsilon and --size go with NAME, not with --all."),
        (["audit", "nosuch"], "NAME must be one of"),
        (["audit", "duchi", "--size", "3"], "--size must be left out"),
        (["audit", "randomized-response", "--size", "1"], "--size must be a whole number in [2"),
        (["audit", "lplace"], "Did you mean laplace?"),
        (["audit", "laplace", "--json", "."], "--json must be a file in a folder"),
        (["audit", "laplace", "--json", ""], "--json must be a file in a folder"),
        (
            ["audit", "laplace", "--json", "no/such/folder.json"],
            "--json must be a file in a folder",
        ),
        (["demo", "--epsilon", "1,2,1.0"], "--epsilon must be different numbers"),
        (["demo", "--seed", "-1"], "--seed must be a whole number"),
        (["demo", "--output", "picture.doc"], "--output must be a file that ends in"),
        (["demo", "--output", "no/such/x.png"], "--output must be a file in a folder that exists"),
    ],
)
def test_wrong_usage_is_one_sentence_and_code_2(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert complaint in said.err
    assert said.err.startswith("supm: error: ")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("verb", [["audit", "laplace"], ["demo"], ["simulate", "x.csv"]])
@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "one", "1,two", ""])
def test_a_bad_epsilon_has_one_message(
    verb: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*verb, "--epsilon", text]) == 2
    said = capsys.readouterr().err
    assert said.startswith("supm: error: --epsilon must be a number in [1e-06, 10000], got '")
    assert said.count("\n") == 1


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")
def test_an_output_that_cannot_be_written_is_one_sentence_and_code_2() -> None:
    ended = run("audit", "duchi", "--json", str(FULL))
    assert ended.returncode == 2
    assert ended.stderr == (
        "supm: error: --json must be a file that can be written, got '/dev/full'. "
        "No space left on device.\n"
    )
    with FULL.open("w") as full:
        ended = subprocess.run(  # noqa: S603  no word of the command comes from outside
            [*COMMAND, "audit", "duchi"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 2
    assert ended.stderr == ("supm: error: the output cannot be written: No space left on device.\n")


def test_a_reader_that_leaves_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone:
        ended = subprocess.run(  # noqa: S603  no word of the command comes from outside
            [*COMMAND, "audit", "duchi", "--json", "-"],
            stdout=gone,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.stderr == ""
    assert ended.returncode == 141


def test_an_interrupt_ends_quietly_with_code_130(capsys: pytest.CaptureFixture[str]) -> None:
    # A job in the background of a shell ignores interrupts; here they must arrive.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        # The whole audit takes far longer than a second.
        Timer(1.0, _thread.interrupt_main).start()
        assert main(["audit", "--all"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == "supm: error: interrupted.\n"
