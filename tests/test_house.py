"""The rules of the repository, as tests: what no linter checks and every review would have to."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tokenize
import tomllib
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

import supm

ROOT = Path(__file__).resolve().parents[1]
LONGEST_FILE = 400
LARGEST_FILE = 300_000
# What a run of the whole suite finds at least; a suite that is half collected passes otherwise.
FLOORS = {"tests": 3000, "src": 80, "docs": 1, "README.md": 1}
FORBIDDEN = re.compile(
    r"(?<![\w.~-])/(?:work|root|home|Users)/|(?:pypi|pythonhosted|npmjs|anaconda)[.](?:org|com)"
)
NAMED_PATH = re.compile(r"(?<![\w/.<-])(?:benchmarks|docs|src|tests)/[\w./-]*\w/?(?![\w<*{])")
PYTHON_BLOCK = re.compile(r"^```(?:python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
REASON = re.compile(r"noqa: [A-Z]+\d+(?:, [A-Z]+\d+)*  \S+|type: ignore\[[a-z, -]+\]  # \S+")


@cache
def files() -> tuple[Path, ...]:
    """Every file of the project: what git tracks, and what it would track."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("the list of files comes from git, and this is no checkout")
    command = [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)  # noqa: S603  no word of the command comes from outside
    names = sorted(set(listed.stdout.decode().split("\0")) - {""})
    return tuple(ROOT / name for name in names if (ROOT / name).is_file())


def ending_in(*suffixes: str) -> list[Path]:
    return [path for path in files() if path.suffix in suffixes]


def brief(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_no_program_is_too_long_to_be_read() -> None:
    lengths = {brief(p): p.read_text().count("\n") for p in ending_in(".py")}
    assert {name: n for name, n in lengths.items() if n > LONGEST_FILE} == {}


def test_no_file_is_large() -> None:
    sizes = {brief(p): p.stat().st_size for p in files()}
    assert {name: size for name, size in sizes.items() if size > LARGEST_FILE} == {}


def test_no_file_names_a_machine_or_a_package_registry() -> None:
    found = {
        brief(path): hit.group()
        for path in files()
        if (hit := FORBIDDEN.search(path.read_bytes().decode(errors="replace")))
    }
    assert found == {}


@pytest.mark.parametrize("named", ["/{}/main/x.py", "see /{}/x", '"/{}/user"'])
def test_the_rule_about_machines_catches_a_path(named: str) -> None:
    assert all(FORBIDDEN.search(named.format(top)) for top in ("work", "root", "home"))
    assert not any(FORBIDDEN.search(f"team/{top}/net") for top in ("work", "root", "home"))


def explained(comment: str, path: Path) -> bool:
    # A test hands over a wrong argument, or assigns to a frozen field, on purpose.
    on_purpose = "tests" in path.parts and re.search(r"ignore\[(arg-type|misc)\]", comment)
    return bool(on_purpose or REASON.search(comment))


def test_every_exemption_from_a_linter_states_its_reason() -> None:
    bare = [
        f"{brief(path)}:{token.start[0]}"
        for path in ending_in(".py")
        for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
        if token.type == tokenize.COMMENT
        and re.search(r"#\s*(noqa|type: ignore)", token.string)
        and not explained(token.string, path)
    ]
    assert bare == []


def test_every_path_that_a_text_names_exists() -> None:
    missing = [
        f"{brief(path)}: {name}"
        for path in ending_in(".md", ".py")
        for name in NAMED_PATH.findall(path.read_text())
        if "_build" not in name and not (ROOT / name).exists()
    ]
    assert missing == []


def test_every_python_block_in_a_document_is_executed() -> None:
    for path in ending_in(".md"):
        for block in PYTHON_BLOCK.findall(path.read_text()):
            assert block.startswith(">>> "), f"{brief(path)}: a block without prompts is not run"
            assert block.endswith("\n\n"), f"{brief(path)}: leave an empty line before the fence"


def test_every_dependency_has_a_stated_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = chain.from_iterable(project["optional-dependencies"].values())
    wanted = [*project["dependencies"], *extras]
    names = {re.split(r"[\[<>=~!; ]", requirement)[0] for requirement in wanted} - {"supm"}
    text = (ROOT / "docs/design/dependencies.md").read_text()
    rows = set(re.findall(r"^\| ([a-z][\w-]*) \|", text, re.MULTILINE)) - {"package"}
    assert rows == names


def test_the_constraints_name_versions_and_nothing_else() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.!+]+", pin) for pin in pins)
    assert not {"pip", "setuptools", "supm"} & {pin.split("==")[0] for pin in pins}


def test_the_changelog_is_about_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## \[([^]]+)\]", text, re.MULTILINE)
    assert versions[0] == "Unreleased"
    if ".dev" in supm.__version__:
        assert supm.__version__.split(".dev")[0] not in versions
    else:
        assert versions[1] == supm.__version__


def test_the_whole_suite_is_collected(request: pytest.FixtureRequest) -> None:
    asked_for = {Path(argument).name for argument in request.config.args}
    selected = request.config.getoption("keyword") or request.config.getoption("lf", default=False)
    if selected or asked_for != set(FLOORS):
        pytest.skip("only a run of the whole suite can be counted")
    found = dict.fromkeys(FLOORS, 0)
    for item in request.session.items:
        found[item.path.relative_to(ROOT).parts[0]] += 1
    assert {part: n for part, n in found.items() if n < FLOORS[part]} == {}
