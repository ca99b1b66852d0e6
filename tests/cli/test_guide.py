"""The page about the command line shows what the command line says."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from supm.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs/guide/simulate.md"
BLOCK = re.compile(r"^```console\n\$ (.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    """Return each command of the page with the output that it shows."""
    parts = [block.partition("\n") for block in BLOCK.findall(PAGE.read_text())]
    return [(command, shown) for command, _, shown in parts]


def test_every_command_of_the_page_says_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (maker, program), *commands = blocks()
    assert maker == "python - <<'END'"
    subprocess.run([sys.executable, "-c", program.removesuffix("END\n")], check=True)  # noqa: S603  the page is ours
    assert len(Path("wdbc.csv").read_text().splitlines()) == 570
    verbs = [command.split()[1] for command, _ in commands]
    assert verbs == ["schema", "simulate", "compare", "plan"]
    for command, shown in commands:
        assert main(shlex.split(command)[1:]) == 0
        said = capsys.readouterr()
        assert said.err + said.out == shown


def test_the_page_explains_every_option_of_simulate(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--help"]) == 0
    options = set(re.findall(r"--[a-z]+", capsys.readouterr().out)) - {"--help"}
    assert {option for option in options if f"`{option}" not in PAGE.read_text()} == {
        "--epsilon",
        "--target",
    }
