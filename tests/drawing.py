"""Which entries of the audit's catalogue a run checks: a part that is drawn anew for each commit.

All of them take minutes; `make audit` checks all, and each night should run it. The seed is printed
at the head of a run: with SUPM_AUDIT_SEED set to it, the same part is drawn again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

WHOLE = "all"
_Item = TypeVar("_Item")


@cache
def seed() -> str:
    """Return what was asked for, or the commit: the same for every process that runs the tests."""
    git, root = shutil.which("git"), Path(__file__).resolve().parents[1]
    asked = os.environ.get("SUPM_AUDIT_SEED", "")
    if asked or git is None:
        return asked or "no commit"
    command = [git, "rev-parse", "--short=12", "HEAD"]
    found = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603  no word of it comes from outside
    return found.stdout.strip() or "no commit"


def drawn(items: Sequence[_Item], count: int) -> list[_Item]:
    """Return so many of the items, in their order; all of them for `make audit`."""
    if seed() == WHOLE or count >= len(items):
        return list(items)
    chosen = sorted(range(len(items)), key=_rank)[:count]
    return [items[place] for place in sorted(chosen)]


def _rank(place: int) -> bytes:
    return hashlib.sha256(f"{seed()} {place}".encode()).digest()
