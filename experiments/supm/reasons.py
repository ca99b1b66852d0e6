"""Why a number differs from the printed one, where it does; by the key of the claim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["REASONS"]

REASONS: Final[Mapping[str, str]] = {}
