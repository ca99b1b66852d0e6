"""An owner needs what `pip install supm` brings, and whoever needs more is told what to install."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.owner.conftest import FarEnd

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
class Absent:
    names = set(sys.argv.pop(1).split(","))
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from supm.cli import main
sys.exit(main(sys.argv[1:]))
"""
INSTALLERS = {"pip", "setuptools", "supm", "wheel"}


def bare_installation() -> set[str]:
    """Return what `pip install supm` brings, without any extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found, waiting = set[str](), [Requirement(each).name for each in project["dependencies"]]
    while waiting:
        each = canonicalize_name(waiting.pop())
        if each not in found:
            found.add(each)
            needed = map(Requirement, requires(each) or ())
            bare = {"extra": ""}
            waiting += [one.name for one in needed if not one.marker or one.marker.evaluate(bare)]
    return found


def absent() -> str:
    """Return the packages that are here and that a bare installation does not have."""
    core = bare_installation() | INSTALLERS
    return ",".join(
        package
        for package, owners in packages_distributions().items()
        if not {canonicalize_name(each) for each in owners} & core
    )


def run(folder: Path, *words: str) -> tuple[int, str, str]:
    """Run the command line where everything else is not installed."""
    here = os.environ | {"SUPM_WALLET": str(folder / "wallet.db")}
    command = [sys.executable, "-c", PROGRAM, absent(), *words]
    done = subprocess.run(  # noqa: S603  our own program
        command, capture_output=True, check=False, env=here, cwd=folder, text=True
    )
    return done.returncode, done.stdout, done.stderr


def test_a_study_is_answered_in_a_bare_environment(far_end: FarEnd, tmp_path: Path) -> None:
    assert {"scipy", "sklearn", "matplotlib", "narwhals", "msgspec"} <= set(absent().split(","))
    (tmp_path / "mine.csv").write_text("age,pulse,ill\n61.5,88.75,yes\n")
    words = ("contribute", "mine.csv", "--study", far_end.url, "--yes")
    code, said, complaint = run(tmp_path, *words)
    assert (code, complaint) == (0, "")
    assert "The aggregator has it (accepted). Thank you." in said
    assert len(far_end.reports) == 1
    code, said, complaint = run(tmp_path, "wallet", "show")
    assert (code, complaint) == (0, "")
    assert "epsilon = 1 was spent in total" in said


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("simulate", "mine.csv", "--target", "ill", "--epsilon", "1"), "analyst"),
        (("serve", "--db", "sqlite:///store.db"), "server"),
    ],
)
def test_what_is_not_installed_is_said_with_its_extra(
    tmp_path: Path, words: tuple[str, ...], extra: str
) -> None:
    lines = "".join(f"{age},{'yes' if age % 3 else 'no'}\n" for age in range(40))
    (tmp_path / "mine.csv").write_text(f"age,ill\n{lines}")
    code, _, complaint = run(tmp_path, *words)
    assert code == 1
    assert complaint.splitlines()[-1].endswith(f"run pip install 'supm[{extra}]'.")
    assert "Traceback" not in complaint
