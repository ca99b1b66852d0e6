"""What owners are shown: what is asked and what left, and what was spent on what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Self

from supm.messages import Report
from supm.owner.contributing import Contribution, Receipt
from supm.owner.interviews import Leaving
from supm.owner.wallet import Answered, Limits, Wallet
from supm.reporting import Result, Table, paragraph

_DIGITS: Final = 12
_HEAD: Final = ("study", "phases", "since", "purpose", "owners", "arrived", "epsilon", "where")
_LATER: Final = (
    "Your device drew another group of this study than the one that is asked now: yours is asked "
    "later. Run the same command again once the study collects to train. Nothing was sent or spent."
)
_EARLIER: Final = (
    "Your device drew another group of this study than the one that is asked now, and yours was "
    "asked before: thank you, there is nothing to do. Nothing was sent or spent."
)


@dataclass(frozen=True, kw_only=True, repr=False)
class WalletOverview(Result):
    """What all owners of a wallet answered and spent.

    Parameters
    ----------
    path : Path
        The file.
    owners : int
        How many owners have answered something.
    spent : float
        What the owner spent who spent most.
    limits : Limits
        The most that each of them allows.
    answers : tuple of Answered
        All answers in order.
    """

    path: Path
    owners: int
    spent: float
    limits: Limits
    answers: tuple[Answered, ...]

    @classmethod
    def of(cls, wallet: Wallet) -> Self:
        """Read a wallet."""
        sections = wallet.sections()
        return cls(
            path=wallet.path,
            owners=len(sections),
            spent=max((each.spent() for each in sections), default=0.0),
            limits=wallet.limits,
            answers=wallet.answers(everybody=True),
        )

    @property
    def headline(self) -> str:
        """The file, and what was spent in total."""
        return f"{self.path}: {self._totals()}"

    @property
    def allowed(self) -> str:
        """The limits in words."""
        total, study = self.limits.total, self.limits.per_study
        first = "no limit in total" if total is None else f"at most {total:.6g} in total"
        return f"{first}, {'no limit' if study is None else f'at most {study:.6g}'} for one study"

    def to_form(self) -> dict[str, Any]:
        """Return all of it, with times as texts."""
        return {
            "path": str(self.path),
            "owners": self.owners,
            "spent": self.spent,
            "total": self.limits.total,
            "per_study": self.limits.per_study,
            "words": self.allowed,
            "studies": self.studies(),
            "answers": [_form(each) for each in self.answers],
        }

    def tables(self) -> Sequence[Table]:
        """Return one row for each study at one address."""
        rows = [_row(each) for each in self.studies()]
        return [Table(head=_HEAD, rows=rows, words=4, widest=28)] if rows else []

    def exceeded(self) -> list[str]:
        """Say where a limit is below what is spent: nothing is taken back by it."""
        most = max((each["spent"] or 0.0 for each in self.studies()), default=0.0)
        pairs = (
            ("in total", self.spent, self.limits.total),
            ("on one study", most, self.limits.per_study),
        )
        return [
            f"This is exceeded already: {spent:.6g} is spent {where}, and that stays spent. "
            "Nothing more will be."
            for where, spent, limit in pairs
            if limit is not None and spent > limit
        ]

    def studies(self) -> list[dict[str, Any]]:
        """Put together what was answered in one study at one address."""
        groups: dict[tuple[str, str], list[Answered]] = {}
        for each in self.answers:
            groups.setdefault((each.beginning, each.server), []).append(each)
        return [
            {
                "study": study,
                "phases": list(dict.fromkeys(each.phase for each in given)),
                "since": _moment(given[0].answered),
                "purpose": given[0].purpose,
                "server": server,
                "owners": len({each.owner for each in given}),
                "answers": len(given),
                "arrived": sum(each.acknowledged is not None for each in given),
                "spent": _most(given),
            }
            for (study, server), given in groups.items()
        ]

    def _totals(self) -> str:
        if not self.owners:
            return f"nothing was spent yet; {self.allowed}."
        if self.owners == 1:
            return f"epsilon = {self.spent:.6g} was spent in total; {self.allowed}."
        return (
            f"{self.owners} owners, each of whom has spent epsilon = {self.spent:.6g} in total "
            f"at most; {self.allowed}."
        )


def _form(given: Answered) -> dict[str, Any]:
    arrived = given.acknowledged
    times = {
        "answered": _moment(given.answered),
        "acknowledged": None if arrived is None else _moment(arrived),
    }
    return asdict(given) | times


def _most(answers: list[Answered]) -> float | None:
    """Return what the owner spent who spent most; None where nothing is promised."""
    spent: dict[str, Fraction] = {}
    for each in answers:
        if each.epsilon is not None:
            # As decimals: three tenths are 0.3.
            more = Fraction(repr(each.epsilon))
            spent[each.owner] = spent.get(each.owner, Fraction(0)) + more
    return float(max(spent.values())) if spent else None


def _row(study: dict[str, Any]) -> list[str]:
    spent = study["spent"]
    return [
        study["study"][:_DIGITS],
        ", ".join(study["phases"]),
        study["since"][:10],
        study["purpose"] or "-",
        str(study["owners"]),
        f"{study['arrived']} of {study['answers']}",
        "no promise" if spent is None else f"{spent:.6g}",
        # Last: it is not broken into lines, so that it can be copied.
        study["server"],
    ]


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def consent_lines(
    contribution: Contribution, words: Sequence[str], report: Report | None = None
) -> Iterator[str]:
    """Say what is asked and what it costs, and show what leaves, or would leave."""
    yield from map(paragraph, words)
    told = contribution.leaving(report)
    ranges = any(each.fewest_choices < each.choices for each in told)
    by_lot = ", by what is drawn" if ranges else ""
    head = ["what leaves", "one of", f"chance of the truth{by_lot}"]
    rows = [[each.what, _count(each), _chance(each)] for each in told]
    yield f"\n{Table(head=head, rows=rows)}\n"


def report_lines(contribution: Contribution, report: Report, words: str) -> Iterator[str]:
    """Show a report as it is sent, and what it says of its owner."""
    yield f"{words}\n{report.to_json()}"
    named = contribution.named(report)
    if named:
        said = "; ".join(f"{what} is {which}" for what, which in named)
        about = contribution.leaving(report)
        sure = f" (truly with a chance of {_chance(about[0])})" if len(about) == 1 else ""
        yield paragraph(f"It says, truly or not{sure}: {said}.")


def receipt_lines(contribution: Contribution, receipt: Receipt) -> Iterator[str]:
    """Show what left, and what the aggregator said of it; nothing where nobody was asked."""
    if receipt.report is None:
        return
    yield from report_lines(contribution, receipt.report, "This left, and nothing else:")
    yield f"The aggregator has it ({receipt.verdict}). Thank you."
    if receipt.answer is not None:
        sure = receipt.probability
        sureness = "" if sure is None else f", with probability {sure:.1%}"
        yield f"The model's answer to that report: {receipt.answer}{sureness}."


def receipt_form(receipt: Receipt, wallet: Wallet) -> dict[str, Any]:
    """Return what came of taking part as plain values for JSON."""
    return {
        "verdict": receipt.verdict,
        "study": receipt.study,
        "phase": receipt.phase,
        "epsilon": receipt.epsilon,
        "report": None if receipt.report is None else receipt.report.to_form(),
        "spent": wallet.spent(),
        "answer": receipt.answer,
        "probability": receipt.probability,
    }


def not_asked(contribution: Contribution) -> str:
    """Say that the owner's group is asked later, or was asked before."""
    return _LATER if contribution.open_phase.phase == "reduce" else _EARLIER


def _count(told: Leaving) -> str:
    fewer = f"{told.fewest_choices} to " if told.fewest_choices < told.choices else ""
    return f"{fewer}{told.choices}"


def _chance(told: Leaving) -> str:
    if told.truth is None or told.most_truth is None:
        return "near it"
    more = f" to {told.most_truth:.1%}" if told.fewest_choices < told.choices else ""
    return f"{told.truth:.1%}{more}"
