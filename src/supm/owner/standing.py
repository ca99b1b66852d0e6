"""How an owner stands to a question: what the wallet remembers of earlier ones."""

from __future__ import annotations

from dataclasses import dataclass

from supm.messages import Report
from supm.owner.memory import Memory
from supm.owner.offer import Offer

__all__ = ["Standing", "standing"]


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What is known of an owner before anything is drawn or spent.

    Parameters
    ----------
    elsewhere : bool
        Whether the owner's group is known, and another one is asked.
    trained : bool
        Whether the owner helped to train what is tested now, and is not asked for that reason.
    report : Report or None
        The answer that was drawn before.
    """

    elsewhere: bool
    trained: bool
    report: Report | None


def standing(offer: Offer, wallet: Memory) -> Standing:
    """Look up how an owner stands to a question, and change nothing.

    Parameters
    ----------
    offer : Offer
        What a study asks now.
    wallet : Memory
        The owner's.

    Returns
    -------
    Standing
    """
    study, question = offer.study, offer.question
    apart = question.phase != "test" and len(study.groups) > 1
    group = wallet.get(f"group {study.beginning}", question.group)
    role = wallet.get(f"role {study.beginning}")
    report = wallet.get(f"report {question.phase} {study.hash}")
    return Standing(
        elsewhere=apart and group != question.group,
        trained=question.phase == "test" and question.private and role == "training",
        report=None if report is None else Report.from_json(report),
    )
