"""Pages that work when they are pasted, block by block, and show what is said."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs/guide"
BLOCK = re.compile(r"^```shell\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
BETWEEN = "==== next block ===="
# What chance decides: how many drew which group, what a report was answered (and its padding).
VARIES = re.compile(
    r"\b\d+(?= reports? to)|(?<=^accepted) +\d+|(?<=is asked) +\d+"
    r"|(?<![.\d])\d+%|(?:benign|malignant) *",
    re.MULTILINE,
)


def test_the_page_about_the_service(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        missing = "install curl (Debian: apt-get install curl) to run the commands of the page"
        (pytest.fail if os.environ.get("SUPM_REQUIRE_ALL") else pytest.skip)(missing)
    blocks = BLOCK.findall(page("service", ":8000", f":{free_port()}"))
    start = [command for command, _ in blocks].index("supm serve\n")
    check(tmp_path, blocks[:start])
    with serving(tmp_path, blocks[start][1]):
        check(tmp_path, blocks[start + 1 :])
    assert {"token.txt", "second.txt", "codes.txt"} <= {each.name for each in tmp_path.iterdir()}
    log = (tmp_path / "log").read_text()
    assert "/api/v1/studies/{name}/predict 200" in log
    assert (tmp_path / "token.txt").read_text().strip() not in log


def test_the_page_about_federations(tmp_path: Path) -> None:
    if not os.environ.get("SUPM_REQUIRE_ALL"):
        pytest.importorskip("flwr", reason="pip install 'supm[federated]' to run the commands")
    check(tmp_path, BLOCK.findall(page("federate", "8443", str(free_port()))))
    made = {each.name for each in tmp_path.iterdir()}
    assert {"release.json", "shared.json", "north-release.json", "north.spent.json"} <= made
    assert not json.loads((tmp_path / "shared.json").read_text())["statement"]["simulation"]
    assert len(json.loads((tmp_path / "answers.json").read_text())["answers"]) == 29


def test_the_page_about_publication(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = "install anvil (make anvil, which needs npm) and curl to run the commands of the page"
    installed = ROOT.glob(".anvil/node_modules/@foundry-rs/anvil-*/bin")
    folders = [os.environ["PATH"], *map(str, installed)]
    monkeypatch.setenv("PATH", os.pathsep.join(folders))
    if shutil.which("anvil") is None or shutil.which("curl") is None:
        (pytest.fail if os.environ.get("SUPM_REQUIRE_ALL") else pytest.skip)(missing)
    check(tmp_path, BLOCK.findall(page("publish", "8545", str(free_port()))))
    made = {each.name for each in tmp_path.iterdir()}
    assert {"release.json.proof", "releases.pub", "second.pub", "checkpoint.txt"} <= made


def test_the_page_about_archives(tmp_path: Path) -> None:
    check(tmp_path, BLOCK.findall((GUIDE / "synthesize.md").read_text()))
    told = json.loads((tmp_path / "quality.json").read_text())
    assert (told["rows"], told["synthetic_rows"], len(told["pairs"])) == (442, 10_000, 6)
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 10_001
    assert "not known" in (tmp_path / "quality.html").read_text()


def page(name: str, port: str, free: str) -> str:
    """Return a page of the guide, with a port that nobody uses."""
    return (GUIDE / f"{name}.md").read_text().replace(port, free)


def check(folder: Path, blocks: list[tuple[str, str]]) -> None:
    """Run blocks in one shell, and compare what each says with what the page shows."""
    # What a page leaves in the background would hold the output open if a command fails.
    ending = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"
    script = ending + f"echo '{BETWEEN}'\n".join(command for command, _ in blocks)
    done = subprocess.run(  # noqa: S603  the page is ours
        ["bash", "-e", "-c", script],  # noqa: S607  any bash will do
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    said = done.stdout.split(f"{BETWEEN}\n")
    for (command, shown), heard in zip(blocks, said, strict=True):
        if shown:
            assert re.fullmatch(pattern(shown), VARIES.sub("~", heard)), f"{command}\n{heard}"


def pattern(shown: str) -> str:
    """Return what fits the shown output: a line … is any lines, and … in a line any letters."""
    lines = VARIES.sub("~", shown).splitlines(keepends=True)
    return "".join(
        r"(?:.*\n)*" if line == "…\n" else re.escape(line).replace("…", ".*") for line in lines
    )


@contextmanager
def serving(folder: Path, shown: str) -> Iterator[None]:
    """Run the aggregator in the first terminal, until the second one is done."""
    port = re.findall(r":(\d+)", shown)[0]
    command = [sys.executable, "-m", "supm", "serve", "--port", port]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603  the tests' own words
            command,
            cwd=folder,
            env=environment(folder),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        assert process.stdout is not None
        heard = "".join(process.stdout.readline() for _ in shown.splitlines())
        assert re.fullmatch(pattern(shown), VARIES.sub("~", heard)), heard
        yield
    finally:
        process.terminate()
        process.communicate()
    assert process.returncode == 0


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of a user who has none of ours, and whose programs are these."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("SUPM_") and not name.lower().endswith("_proxy")
    }
    programs = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    return {**kept, "PATH": programs, "SUPM_WALLET": str(folder / "wallet.db")}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
    return port
