"""Two checkpoints of one log that cannot both be true, as evidence that anybody can check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from supm._errors import PublicationError
from supm.publication.checkpoint import SignedCheckpoint
from supm.publication.merkle import check_consistency

__all__ = ["ForkError", "check_same_log"]


class ForkError(PublicationError):
    """A log shows different entries to different readers. It carries the evidence.

    Parameters
    ----------
    first, second : SignedCheckpoint
        The two checkpoints, both signed by the log.
    path : sequence of bytes
        What the log gave as proof that one is the beginning of the other.
    root : bytes, optional
        The root with which the second begins instead of the first's, where it is known. The path
        leads from there to the second, so whoever has these needs no entry to see the fork.
    """

    def __init__(
        self,
        first: SignedCheckpoint,
        second: SignedCheckpoint,
        path: Sequence[bytes],
        root: bytes | None = None,
    ) -> None:
        sizes = first.checkpoint.size, second.checkpoint.size
        super().__init__(
            f"the log {first.checkpoint.name} is forked: its signed checkpoints of {sizes[0]} and "
            f"{sizes[1]} entries cannot both be true. Keep both and show them."
        )
        self.first, self.second, self.path, self.root = first, second, tuple(path), root

    @property
    def evidence(self) -> dict[str, Any]:
        """The two checkpoints, the path and the other root, as plain values for JSON."""
        path = [each.hex() for each in self.path]
        root = None if self.root is None else self.root.hex()
        return {"first": self.first.text, "second": self.second.text, "path": path, "root": root}


def check_same_log(
    first: SignedCheckpoint, second: SignedCheckpoint, path: Sequence[bytes]
) -> None:
    """Raise unless the larger checkpoint's log begins with the smaller one's.

    Of one size, two roots are a fork, whoever shows them. Of two sizes, a path that does not hold
    may be the fault of whoever carried it, and accuses nobody.

    Parameters
    ----------
    first, second : SignedCheckpoint
        The smaller and the larger; their signatures were checked.
    path : sequence of bytes
        The consistency proof.

    Raises
    ------
    ForkError
        If both are of one size and differ.
    PublicationError
        If the path does not show that one is the beginning of the other.
    """
    small, large = first.checkpoint, second.checkpoint
    try:
        check_consistency(small.size, small.root, large.size, large.root, path)
    except PublicationError:
        if small.size == large.size:
            raise ForkError(first, second, path) from None
        message = (
            f"the log did not show that its {large.size} entries begin with the {small.size} that "
            "were signed before: it was rewritten, or its answer was."
        )
        raise PublicationError(message) from None
