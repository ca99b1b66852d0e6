"""Several audits side by side: which promises are kept, and what speaks against the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from supm.audit.findings import Audit
from supm.reporting import Result, Table

_HEAD: Final = ("mechanism", "parameters", "claimed", "exact", "lower bound", "verdict")
_NOT_DISPROVED: Final = (
    "Not disproved: the channel is too large to write down, so its epsilon was not computed."
)


@dataclass(frozen=True, kw_only=True, repr=False)
class AuditReport(Result):
    """What audits found.

    Parameters
    ----------
    audits : sequence of Audit
        One for each mechanism or study.
    seconds : float
        How long they took.
    """

    audits: Sequence[Audit]
    seconds: float

    @property
    def counts(self) -> dict[str, int]:
        """How many promises are kept exactly, not disproved, absent, and broken."""
        found = Counter(each.verdict for each in self.audits)
        return {
            "kept_exactly": found["true"] + found["loose"],
            "not_disproved": found["not disproved"],
            "no_guarantee": found["no guarantee"],
            "broken": found["broken"],
        }

    @property
    def headline(self) -> str:
        """How many promises are kept, and how many are broken."""
        kept, open_still, _, broken = self.counts.values()
        return (
            f"{kept} {'promise' if kept == 1 else 'promises'} kept exactly, {open_still} not "
            f"disproved by samples, {broken} broken, in {self.seconds:.0f} s."
        )

    def tables(self) -> Sequence[Table]:
        """Return a row for each audit."""
        rows = [
            [each.mechanism, each.parameters, *each.figures(), each.verdict] for each in self.audits
        ]
        return (Table(head=_HEAD, rows=rows, words=2),)

    def words(self) -> Sequence[str]:
        """Return what speaks against a promise, and how many are kept."""
        against = [
            f"{each.mechanism}, {each.parameters}: {finding}"
            for each in self.audits
            for finding in each.findings
            if not finding.passed
        ]
        counts = self.counts
        none = (
            f"{counts['no_guarantee']} owners are promised nothing, because a phase is trusted; "
            "the study says so."
        )
        told = [none] if counts["no_guarantee"] else []
        still = [_NOT_DISPROVED] if counts["not_disproved"] else []
        return [*against, self.headline, *told, *still]

    def to_form(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {
            **self.counts,
            "seconds": round(self.seconds, 3),
            "audits": [
                {
                    "mechanism": each.mechanism,
                    "parameters": each.parameters,
                    "claimed_epsilon": each.claimed,
                    "exact_epsilon": each.exact,
                    "empirical_lower_bound": each.lower_bound,
                    "verdict": each.verdict,
                    "findings": [asdict(finding) for finding in each.findings],
                    "skipped": list(each.skipped),
                }
                for each in self.audits
            ],
        }
