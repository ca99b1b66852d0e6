"""The house at a glance: how large the modules are, and what makes a reader jump between files.

Run `make house`. `tests/test_shape.py` holds the limits, which may only fall.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "supm"
# What a parser sees of a line that holds no code.
BLANK = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    name: str
    text: str

    @property
    def room(self) -> str:
        """The part of the package to which it belongs."""
        return ".".join(self.name.split(".")[:2])

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def code(self) -> int:
        """Count the lines that hold code: no docstring, no comment, nothing blank."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        lines = {n for t in tokens if t.type not in BLANK for n in range(t.start[0], t.end[0] + 1)}
        return len(lines - set(self._docstring_lines()))

    def _docstring_lines(self) -> Iterator[int]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0] if node.body else None
                if first is not None and ast.get_docstring(node, clean=False) is not None:
                    yield from range(first.lineno, (first.end_lineno or first.lineno) + 1)

    def imports(self) -> Iterator[str]:
        """Yield the full name of everything that is imported from somewhere in the package."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "supm":
                yield from (f"{node.module}.{each.name}" for each in node.names)

    def definitions(self) -> Iterator[str]:
        """Yield the public classes and functions that it defines."""
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                yield node.name


class House:
    """All files of the package, and who imports whom."""

    def __init__(self, root: Path = PACKAGE) -> None:
        self.modules = {name: Module(name, path.read_text()) for name, path in named(root)}

    def imports(self) -> Iterator[tuple[Module, str]]:
        """Yield each importing file, and the file that holds what it imports."""
        for module in self.modules.values():
            for target in module.imports():
                yield module, target if target in self.modules else target.rpartition(".")[0]

    def private_imports(self) -> list[str]:
        """Return the imports that reach into an underscored file of another room."""
        return sorted(
            f"{module.name} -> {target}"
            for module, target in self.imports()
            if any(part.startswith("_") for part in target.split(".")[2:])
            and target.split(".")[:2] != module.room.split(".")
        )

    def imported_once(self) -> list[str]:
        """Return the files that one other file imports, and no more than one."""
        importers = defaultdict[str, set[str]](set)
        for module, target in self.imports():
            importers[target].add(module.name)
        return sorted(name for name in self.modules if len(importers[name]) == 1)

    def defined_twice(self) -> dict[str, list[str]]:
        """Return the public names that several files define, with these files."""
        homes = defaultdict[str, list[str]](list)
        for module in self.modules.values():
            for name in set(module.definitions()):
                homes[name].append(module.name)
        return {name: sorted(files) for name, files in sorted(homes.items()) if len(files) > 1}

    def rooms(self) -> list[tuple[str, int, int]]:
        """Return name, files and lines of code of each room, the largest first."""
        rooms = defaultdict[str, list[int]](list)
        for module in self.modules.values():
            rooms[module.room].append(module.code)
        found = [(room, len(sizes), sum(sizes)) for room, sizes in rooms.items()]
        return sorted(found, key=lambda each: -each[2])


def named(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of a package under their names."""
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def main() -> None:
    """Print the sizes of all rooms, and what the limits are about."""
    house = House()
    rooms = house.rooms()
    for room, files, code in [*rooms, ("all", len(house.modules), sum(r[2] for r in rooms))]:
        print(f"{room:<24}{files:>6} files{code:>8} lines of code")
    print(f"imported by one file only: {len(house.imported_once())}")
    for name, homes in house.defined_twice().items():
        print(f"defined in several files: {name} ({', '.join(homes)})")
    for each in house.private_imports():
        print(f"reaches into another room: {each}")


if __name__ == "__main__":
    main()
