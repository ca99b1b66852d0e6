"""Many owners behind one command: each row of a file answers with a section of the wallet.

An owner needs a memory: without one, to run the command again would draw anew and cost again. The
section goes by the row's place in the file, or by a column that names owners, and never by what the
record holds: two owners with equal records would share an answer and be counted once.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from supm._errors import BudgetError, RecordError
from supm.cli._files import write_json
from supm.cli._output import bar, counted, table
from supm.cli._rows import owner_names, records
from supm.cli._service import UsageError
from supm.cli.contribute import agreed, explain
from supm.schema.text_table import TextTable

if TYPE_CHECKING:
    from supm.owner import Contribution, Wallet

__all__ = ["contribute_rows"]

_TOGETHER = 250
_REFUSED = "refused"
_WOULD = "would leave"
_ELSEWHERE = "another group is asked"
_TRAINED = "trained already"


class _Row(NamedTuple):
    """One owner: the name of the section, the record, and the code where one is needed."""

    name: str
    record: dict[str, object]
    code: str | None


def contribute_rows(
    contribution: Contribution,
    data: TextTable,
    wallet: Wallet,
    codes: list[str],
    arguments: argparse.Namespace,
) -> int:
    """Let every row of a file take part.

    Parameters
    ----------
    contribution : Contribution
        The study.
    data : TextTable
        One owner in each row.
    wallet : Wallet
        With a section for each.
    codes : list of str
        One invitation for each row, in order, where they are needed.
    arguments : Namespace
        What was asked for.

    Returns
    -------
    int
        The exit code: 1 if an owner could not take part, or if nobody was to.
    """
    _check_codes(codes, data.rows, arguments, invited=contribution.open_phase.invited)
    rows = _rows(contribution, data, codes, arguments.owner_column)
    aloud = sys.stderr if arguments.json == "-" else sys.stdout
    explain(contribution, [*contribution.words(), _cost(contribution)], aloud)
    question = f"Send a report for each of {counted(len(rows), 'owner')}?"
    if not arguments.dry_run and not agreed(question, aloud, yes=arguments.yes):
        return 1
    send = _one_by_one if arguments.dry_run or codes else _together
    found, reasons = Counter[str](), Counter[str]()
    with bar(total=len(rows), unit=" owners", label="owners") as shown:
        for verdict, reason in send(contribution, rows, wallet, arguments):
            found[verdict] += 1
            reasons.update([reason] if reason else [])
            shown.step()
    print(table(["owners", "count"], [[each, str(found[each])] for each in found]), file=aloud)
    for reason, count in reasons.items():
        print(f"Refused for {counted(count, 'owner')}: {reason}", file=aloud)
    if arguments.json:
        told = {"dry_run": arguments.dry_run, "owners": dict(found), "reasons": dict(reasons)}
        write_json(told, arguments.json)
    return int(_REFUSED in found)


def _cost(contribution: Contribution) -> str:
    if not contribution.open_phase.question.private:
        return "It costs no budget, because nothing is promised."
    spent = contribution.open_phase.interview.epsilon
    before = "has not answered this before"
    if contribution.open_phase.phase == "test":
        before = "has neither trained nor answered this before"
    return f"Each owner who {before} spends epsilon = {spent:.6g}."


def _check_codes(
    codes: list[str], rows: int, arguments: argparse.Namespace, *, invited: bool
) -> None:
    """Refuse before anybody spends what the aggregator would refuse afterwards."""
    needed = bool(codes) or (invited and not arguments.dry_run)
    if not needed or len(codes) >= rows:
        return
    got = f"holds {len(codes)}" if codes else "was not given; the study asks by invitation"
    message = (
        f"--invitation-file must hold a code for each of {counted(rows, 'record')}, one in each "
        f"line, and {got}."
    )
    raise UsageError(message)


def _rows(
    contribution: Contribution, data: TextTable, codes: list[str], column: str | None
) -> list[_Row]:
    given = [*codes[: data.rows]] if codes else [None] * data.rows
    names, held = owner_names(data, column), records(data, contribution.open_phase.columns)
    return [_Row(*each) for each in zip(names, held, given, strict=True)]


def _together(
    contribution: Contribution, rows: list[_Row], wallet: Wallet, _: argparse.Namespace
) -> Iterator[tuple[str, str | None]]:
    """Send many at once; an aggregator that refuses stops all, and to run again goes on."""
    from supm.owner import send_together  # noqa: PLC0415  loaded when the verb runs

    for first in range(0, len(rows), _TOGETHER):
        part = rows[first : first + _TOGETHER]
        owners = [(wallet.section(each.name), each.record) for each in part]
        sent = send_together(contribution, owners)
        yield from [("accepted", None)] * sent.accepted
        yield from [("sent before", None)] * sent.sent_before
        yield from [(_ELSEWHERE, None)] * sent.elsewhere
        yield from [(_TRAINED, None)] * sent.trained
        yield from [(_REFUSED, reason) for reason in sent.refused]


def _one_by_one(
    contribution: Contribution, rows: list[_Row], wallet: Wallet, arguments: argparse.Namespace
) -> Iterator[tuple[str, str | None]]:
    """Go on where one owner cannot take part."""
    for each in rows:
        own = wallet.section(each.name)
        try:
            if contribution.remembered(own).trained:
                yield _TRAINED, None
            elif arguments.dry_run:
                asked = contribution.rehearse(each.record, own) is not None
                yield (_WOULD if asked else _ELSEWHERE), None
            else:
                yield contribution.send(each.record, own, invitation=each.code).verdict, None
        except (BudgetError, RecordError) as error:
            yield _REFUSED, str(error)
