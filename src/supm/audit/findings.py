"""What an audit found: the outcome of each check, what follows from all, and the report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import wraps
from typing import Any, Final, Literal, ParamSpec, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from supm._errors import PromiseError, SupmError
from supm.reporting import Result, Table

FAMILY_ERROR: Final = 1e-6
"""Chance that a true mechanism is called broken, over all statistical tests of one family."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The outcome of one check.

    Parameters
    ----------
    check : str
        Name of the check.
    passed : bool
        False if a promise is broken.
    detail : str
        What was compared, in public figures only: parameters, probabilities and counts of drawn
        reports.
    statistic : float or None
        The figure that decided: an exact epsilon, a p-value, or a largest difference.
    loose : bool
        True if the promise is kept but more privacy is given than is claimed.

    Examples
    --------
    >>> print(Finding(check="check_rows_sum_to_one", passed=True, detail="3 rows"))
    check_rows_sum_to_one: passed, 3 rows
    """

    check: str
    passed: bool
    detail: str
    statistic: float | None = None
    loose: bool = False

    @classmethod
    def by_chance(
        cls, check: str, p_values: ArrayLike, *, error: float, detail: str, where: str = ""
    ) -> Finding:
        """Judge by the smallest of some p-values, corrected for their number."""
        found = np.asarray(p_values)
        corrected = min(1.0, float(found.min()) * found.size)
        words = f"{detail}, corrected p-value {corrected:.3g}{where}"
        return cls(check=check, passed=corrected > error, detail=words, statistic=corrected)

    @classmethod
    def of_claim(
        cls, check: str, claim: float, found: float, told: str, *, rounding: float = 0.0
    ) -> Finding:
        """Judge a claim by the epsilon that was found; loose is a matter of the check."""
        passed, detail = found <= claim + rounding, f"claimed {claim:.9g}, {told}"
        return cls(check=check, passed=passed, detail=detail, statistic=found)

    def __str__(self) -> str:
        """Return one line."""
        word = ("loose" if self.loose else "passed") if self.passed else "BROKEN"
        return f"{self.check}: {word}, {self.detail}"


_P = ParamSpec("_P")


class ImpossibleReportError(SupmError):
    """A sampler drew what its channel says is impossible."""


def broken_by_the_impossible(check: Callable[_P, Finding]) -> Callable[_P, Finding]:
    """Make a check broken where a report comes that its channel says cannot come."""

    @wraps(check)
    def judged(*args: _P.args, **options: _P.kwargs) -> Finding:
        try:
            return check(*args, **options)
        except ImpossibleReportError as impossible:
            detail = str(impossible)
            return Finding(check=check.__name__, passed=False, detail=detail, statistic=0.0)

    return judged


Verdict: TypeAlias = Literal["true", "loose", "no guarantee", "not disproved", "broken"]


_EXACT_EPSILON: Final = frozenset({"check_epsilon", "check_stated_epsilon"})


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What an audit of one mechanism found.

    Parameters
    ----------
    mechanism : str
        Its name.
    parameters : str
        Its parameters, in words.
    claimed : float
        The epsilon that it claims; infinite where it promises nothing.
    lower_bound : float or None
        The epsilon that samples alone prove, where samples were drawn.
    findings : tuple of Finding
        The outcome of every check.
    skipped : tuple of str
        The checks that could not be made, each with the reason.

    Examples
    --------
    >>> passed = Finding(check="check_attack", passed=True, detail="nothing proved")
    >>> print(Audit(mechanism="x", parameters="size 9", claimed=1.0, findings=(passed,)))
    x (size 9): claimed 1, exact -, lower bound -, not disproved
    """

    mechanism: str
    parameters: str
    claimed: float
    lower_bound: float | None = None
    findings: tuple[Finding, ...]
    skipped: tuple[str, ...] = ()

    @property
    def exact(self) -> float | None:
        """The exact epsilon of the channel, where that can be written down."""
        return next(
            (each.statistic for each in self.findings if each.check in _EXACT_EPSILON), None
        )

    @property
    def verdict(self) -> Verdict:
        """What is known about the promise.

        "true" and "loose" say that its epsilon was computed and is kept, loosely if there is room
        to spare. "no guarantee" says that nothing is promised, and nothing is kept. "not disproved"
        says that its epsilon could not be computed, and that nothing else speaks against it.
        "broken" says that at least one check failed.
        """
        if not all(finding.passed for finding in self.findings):
            return "broken"
        if self.exact is None:
            return "not disproved"
        if math.isinf(self.exact):
            return "no guarantee"
        return "loose" if any(finding.loose for finding in self.findings) else "true"

    def require(self) -> None:
        """Raise PromiseError if the promise is broken."""
        broken = [str(finding) for finding in self.findings if not finding.passed]
        if broken:
            raise PromiseError(f"{self.mechanism} ({self.parameters}): {'; '.join(broken)}.")

    def figures(self) -> tuple[str, str, str]:
        """Return the claim, the exact epsilon and the lower bound; a dash for what is unknown.

        Examples
        --------
        >>> Audit(mechanism="x", parameters="", claimed=1.0, findings=()).figures()
        ('1', '-', '-')
        """
        return _figure(self.claimed), _figure(self.exact), _figure(self.lower_bound)

    def __str__(self) -> str:
        """Return one line."""
        claimed, exact, bound = self.figures()
        return (
            f"{self.mechanism} ({self.parameters}): claimed {claimed}, exact {exact}, "
            f"lower bound {bound}, {self.verdict}"
        )


def _figure(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.6g}"


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
