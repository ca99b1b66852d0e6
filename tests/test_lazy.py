"""Names that a package finds on demand, and what is said where a package is missing."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import supm
import supm.mechanisms
from supm._lazy import _ALONE, _EXTRAS, package_error

SOURCE = Path(supm.__file__).parent
PROJECT = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text())["project"]


def imported_from_elsewhere() -> set[str]:
    """Return the packages that any file imports, by the name that an import has."""
    found = set[str]()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {each.name.partition(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(str(node.module).partition(".")[0])
    return found - {"supm", "__future__", *sys.stdlib_module_names}


def test_every_package_that_may_be_missing_is_known_with_what_brings_it() -> None:
    always = {each.partition(">")[0] for each in PROJECT["dependencies"]}
    known = {name for packages in _EXTRAS.values() for name in packages.split()}
    assert imported_from_elsewhere() - always - known - {*_ALONE} == set()


@pytest.mark.parametrize(
    ("package", "remedy"),
    [
        ("requests", "'supm[chain]'"),
        ("httpx", "'supm[federated]'"),
        ("scipy.stats", "'supm[analyst]'"),
        ("pandas", "pip install pandas."),
    ],
)
def test_a_missing_package_is_told_with_its_remedy(package: str, remedy: str) -> None:
    told = package_error(ModuleNotFoundError(name=package))
    assert remedy in str(told)


def test_completion_offers_what_can_be_found() -> None:
    assert {"plan", "simulate", "Schema", "audit", "__version__"} <= {*dir(supm)}
    assert {"GeneralizedRandomizedResponse", "DiscreteGaussian"} <= {*dir(supm.mechanisms)}
    assert all(hasattr(supm, name) for name in dir(supm))


def test_a_module_that_the_stub_lists_needs_no_import_of_its_own() -> None:
    words = "import supm; print(supm.audit.epsilon_lower_bound.__name__)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, check=True, text=True)  # noqa: S603  the words are ours
    assert done.stdout.split() == ["epsilon_lower_bound"]


def test_a_misspelt_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(AttributeError) as caught:
        _ = supm.simulat  # type: ignore[attr-defined]  # misspelt on purpose
    # From these two Python itself says which name was meant.
    assert (caught.value.name, caught.value.obj) == ("simulat", supm)


def test_names_are_found_in_an_archive_too(tmp_path: Path) -> None:
    archive = tmp_path / "supm.zip"
    with zipfile.ZipFile(archive, "w") as held:
        for path in SOURCE.rglob("*.py*"):
            if path.suffix in {".py", ".pyi"}:
                held.write(path, path.relative_to(SOURCE.parent))
    words = f"import sys; sys.path.insert(0, {str(archive)!r})\n"
    words += "import supm\nprint(supm.__file__, supm.secure)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, check=True, text=True)  # noqa: S603  the words are ours
    assert "supm.zip" in done.stdout
    assert "secure" in done.stdout
