"""The shape of the package: limits that may only fall, printed by `make house`."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts.house import House

# None may rise: who needs more finds another way, and who needs less writes the lower number here.
MOST_IMPORTED_ONCE = 59
MOST_DEFINED_TWICE = 7


@pytest.fixture(scope="module")
def house() -> House:
    return House()


def test_no_room_reaches_into_the_private_files_of_another(house: House) -> None:
    assert house.private_imports() == []


def test_few_files_have_a_single_importer(house: House) -> None:
    found = house.imported_once()
    assert len(found) <= MOST_IMPORTED_ONCE, found


def test_few_names_are_defined_in_several_files(house: House) -> None:
    found = house.defined_twice()
    assert len(found) <= MOST_DEFINED_TWICE, found


def test_what_breaks_the_shape_is_found(tmp_path: Path) -> None:
    files = {
        "supm/__init__.py": "",
        "supm/first/__init__.py": '"""Words."""\n\nfrom supm.first._own import one\n',
        "supm/first/_own.py": "def one() -> None:\n    '''Words.'''\n    # why\n    return None\n",
        "supm/second/__init__.py": "def one() -> None: ...\n\n\ndef two() -> None:\n"
        "    from supm.first._own import one\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    house = House(tmp_path / "supm")
    assert house.private_imports() == ["supm.second -> supm.first._own"]
    assert house.imported_once() == []
    assert house.defined_twice() == {"one": ["supm.first._own", "supm.second"]}
    assert house.rooms() == [("supm.first", 2, 3), ("supm.second", 1, 3), ("supm", 1, 0)]
