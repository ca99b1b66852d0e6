"""The real command, run as a process of its own, and its errors."""

from __future__ import annotations

import _thread
import os
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


@pytest.mark.parametrize("verb", [[], ["audit"], ["demo"]])
def test_help_shows_examples(verb: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*verb, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "examples:\n  supm " in shown
    assert max(len(line) for line in shown.splitlines()) <= 100


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; from supm.cli import main; main(['--help']); "
        "print([name for name in ('matplotlib', 'scipy', 'sklearn') if name in sys.modules])"
    )
    shown = subprocess.run(  # noqa: S603  no word of the command comes from outside
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert shown.stdout.endswith("[]\n")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "VERB"),
        (["pray"], "invalid choice: 'pray'"),
        (["audit"], "NAME --all"),
        (["audit", "duchi", "--all"], "not allowed with"),
        (["audit", "--all", "--size", "3"], "go with a NAME"),
        (["audit", "nosuch"], "mechanism must be one of"),
        (["audit", "duchi", "--size", "3"], "size must be left out"),
        (["audit", "laplace", "--epsilon", "0"], "epsilon must be a number in"),
        (["audit", "laplace", "--epsilon", "inf"], "epsilon must be a number in"),
        (["audit", "laplace", "--epsilon", "one"], "invalid float value: 'one'"),
        (
            ["audit", "laplace", "--json", "no/such/folder.json"],
            "--json must be a file in a folder",
        ),
        (["demo", "--epsilon", "1,two"], "must be 1 to 6 numbers"),
        (["demo", "--epsilon", "1,1,1,1,1,1,1"], "must be 1 to 6 numbers"),
        (["demo", "--epsilon", "nan"], "epsilon must be a number in"),
        (["demo", "--seed", "-1"], "seed must be a whole number"),
        (["demo", "--output", "picture.doc"], "--output must be a file that ends in"),
    ],
)
def test_wrong_usage_is_one_sentence_and_code_2(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert complaint in said.err
    assert "error: " in said.err.splitlines()[-1]
    assert "Traceback" not in said.err


def test_a_file_that_cannot_be_written_is_one_sentence_and_code_1(tmp_path: Path) -> None:
    ended = run("demo", "--output", str(tmp_path / "nowhere" / "picture.png"))
    assert ended.returncode == 1
    assert ended.stderr.endswith("picture.png: No such file or directory.\n")
    assert ended.stderr.startswith("supm: error: ")


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
    assert ended.returncode == 1


def test_an_interrupt_ends_quietly_with_code_130(capsys: pytest.CaptureFixture[str]) -> None:
    # The whole audit takes far longer than a second.
    Timer(1.0, _thread.interrupt_main).start()
    assert main(["audit", "--all"]) == 130
    assert capsys.readouterr().err == "supm: error: interrupted.\n"
