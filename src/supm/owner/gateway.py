"""Many owners behind one gateway: their answers are written down in one step and sent together.

An owner needs a memory: without one, to ask again would draw anew and cost again. Each has a
section of one wallet, by a name that is no part of the record: two owners with equal records would
share an answer and be counted once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from supm._errors import BudgetError, MessageError, RecordError
from supm._json import canonical
from supm.messages import Report
from supm.owner.contributing import ANOTHER_GROUP, Contribution
from supm.owner.http import RemoteError
from supm.owner.open_phase import refusal
from supm.owner.wallet import Wallet

_TOGETHER: Final = 250
_WOULD: Final = "would leave"
_REFUSED: Final = "refused"
_TRAINED_ALREADY: Final = "trained already"


@dataclass(frozen=True, kw_only=True)
class Sent:
    """What came of the answers of several owners.

    Parameters
    ----------
    accepted, sent_before : int
        How many reports the aggregator has now, and how many it had.
    elsewhere : int
        How many owners are in a group that is not asked.
    trained : int
        How many owners helped to train what is tested now, and are not asked for that reason.
    refused : tuple of str
        Why others could not answer: a sentence for each.
    """

    accepted: int
    sent_before: int
    elsewhere: int
    trained: int
    refused: tuple[str, ...]


def send_together(
    contribution: Contribution, owners: Sequence[tuple[Wallet, Mapping[str, object]]]
) -> Sent:
    """Let several owners answer, and send their reports as one batch.

    Parameters
    ----------
    contribution : Contribution
        The study; one that asks by invitation takes reports one by one.
    owners : sequence of (Wallet, mapping)
        Each with a section of one wallet, and a record; at most 10,000.

    Returns
    -------
    Sent

    Raises
    ------
    MessageError
        If the study asks by invitation; nothing was spent or sent.
    RemoteError
        If the aggregator cannot be reached or refuses. The answers are in the wallet: to try again
        later costs nothing.
    """
    if not owners:
        return Sent(accepted=0, sent_before=0, elsewhere=0, trained=0, refused=())
    if contribution.open_phase.invited:
        raise MessageError(
            "the study asks by invitation, and takes reports one by one, each with its code; "
            "nothing was spent or sent."
        )
    given: list[tuple[Wallet, Report]] = []
    refused: list[str] = []
    others = Counter[str]()
    with owners[0][0].step():
        for wallet, record in owners:
            try:
                if other := _not_asked(contribution, wallet):
                    others[other] += 1
                else:
                    given.append((wallet, contribution.answer(record, wallet)))
            except (BudgetError, RecordError) as error:
                refused.append(str(error))
    told = _post(contribution, [report for _, report in given]) if given else {}
    places = {each["place"] for each in told.get("refused", ())}
    with owners[0][0].step():
        for place, (wallet, report) in enumerate(given):
            if place not in places:
                wallet.acknowledge(report, server=contribution.open_phase.server)
    return Sent(
        accepted=told.get("accepted", 0),
        sent_before=told.get("sent_before", 0),
        elsewhere=others[ANOTHER_GROUP],
        trained=others[_TRAINED_ALREADY],
        refused=(*refused, *("the aggregator did not take the report." for _ in places)),
    )


def _not_asked(contribution: Contribution, wallet: Wallet) -> str | None:
    """Return why an owner is not asked, or None where they are; the group is drawn for it."""
    if not contribution.is_asked(wallet):
        return ANOTHER_GROUP
    return _TRAINED_ALREADY if contribution.remembered(wallet).trained else None


def _post(contribution: Contribution, reports: list[Report]) -> dict[str, Any]:
    opened = contribution.open_phase
    form = {
        "version": 1,
        "study": opened.study.hash,
        "phase": opened.phase,
        "group": opened.question.group,
        "reports": [{"id": each.id, "symbols": each.symbols} for each in reports],
    }
    path = f"{opened.path}/reports/batch"
    code, told = contribution.remote.post_json(path, canonical(form))
    if code != 200:
        raise RemoteError(f"the aggregator did not take the reports ({code}): {refusal(told)}")
    if not _is_receipt(told, len(reports)):
        raise MessageError(
            "the aggregator's receipt is not for these reports; send them again later."
        )
    return told


def _is_receipt(told: Mapping[str, Any], sent: int) -> bool:
    accepted, before, refused = (told.get(each) for each in ("accepted", "sent_before", "refused"))
    if type(accepted) is not int or type(before) is not int or not isinstance(refused, list):
        return False
    places = {each.get("place") for each in refused if isinstance(each, dict)}
    known = all(type(place) is int and 0 <= place < sent for place in places)
    whole = accepted + before + len(places) == sent and min(accepted, before) >= 0
    return known and whole and len(places) == len(refused)


class GatewayOwner(NamedTuple):
    """One owner: the name of the section, the record, and the code where one is needed."""

    name: str
    record: Mapping[str, object]
    code: str | None = None


def cost_of_each(contribution: Contribution) -> str:
    """Say what an answer costs each owner."""
    opened = contribution.open_phase
    if not opened.question.private:
        return "It costs no budget, because nothing is promised."
    before = "has not answered this before"
    if opened.phase == "test":
        before = "has neither trained nor answered this before"
    return f"Each owner who {before} spends epsilon = {opened.interview.epsilon:.6g}."


def each_owner(
    contribution: Contribution,
    owners: Sequence[GatewayOwner],
    wallet: Wallet,
    *,
    dry_run: bool = False,
) -> Iterator[tuple[str, str | None]]:
    """Let each owner take part; yield a verdict for each, and why where they could not."""
    if dry_run or any(each.code for each in owners):
        return _one_by_one(contribution, owners, wallet, dry_run=dry_run)
    return _in_batches(contribution, owners, wallet)


def _in_batches(
    contribution: Contribution, owners: Sequence[GatewayOwner], wallet: Wallet
) -> Iterator[tuple[str, str | None]]:
    """Send many at once; an aggregator that refuses stops all, and to run again goes on."""
    for first in range(0, len(owners), _TOGETHER):
        part = owners[first : first + _TOGETHER]
        sent = send_together(
            contribution, [(wallet.section(each.name), each.record) for each in part]
        )
        yield from [("accepted", None)] * sent.accepted
        yield from [("sent before", None)] * sent.sent_before
        yield from [(ANOTHER_GROUP, None)] * sent.elsewhere
        yield from [(_TRAINED_ALREADY, None)] * sent.trained
        yield from [(_REFUSED, reason) for reason in sent.refused]


def _one_by_one(
    contribution: Contribution, owners: Sequence[GatewayOwner], wallet: Wallet, *, dry_run: bool
) -> Iterator[tuple[str, str | None]]:
    """Go on where one owner cannot take part."""
    for each in owners:
        own = wallet.section(each.name)
        try:
            if contribution.remembered(own).trained:
                yield _TRAINED_ALREADY, None
            elif dry_run:
                asked = contribution.rehearse(each.record, own) is not None
                yield (_WOULD if asked else ANOTHER_GROUP), None
            else:
                yield contribution.send(each.record, own, invitation=each.code).verdict, None
        except (BudgetError, RecordError) as error:
            yield _REFUSED, str(error)
