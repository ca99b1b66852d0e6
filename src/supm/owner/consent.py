"""What an owner is shown before they agree, and of what left: in lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from supm.messages import Report
from supm.owner.contributing import Contribution, Receipt
from supm.owner.interviews import Leaving
from supm.owner.wallet import Wallet
from supm.reporting import Table, paragraph

_LATER: Final = (
    "Your device drew another group of this study than the one that is asked now: yours is asked "
    "later. Run the same command again once the study collects to train. Nothing was sent or spent."
)
_EARLIER: Final = (
    "Your device drew another group of this study than the one that is asked now, and yours was "
    "asked before: thank you, there is nothing to do. Nothing was sent or spent."
)


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
