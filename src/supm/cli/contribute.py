"""The verb contribute: take part in a study with one's own record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Literal, TextIO
from urllib.parse import urlsplit

from cyclopts import Parameter

from supm._errors import ParameterError
from supm.cli._frame import UsageError, exclusive
from supm.cli._output import File, Target, agreed, aloud, emit, read_text, say, table, write_json
from supm.cli._types import whole
from supm.reporting import bar, counted, paragraph

if TYPE_CHECKING:
    from supm.owner import Contribution, Wallet
    from supm.owner.gateway import GatewayOwner
    from supm.schema import TextTable

_Phase = Literal["reduce", "train", "test"]
_HERE = ("127.0.0.1", "::1", "localhost")


def verb(
    data: Annotated[str, Parameter(name="DATA", metavar="DATA.csv")],
    /,
    *,
    study: Annotated[str, Parameter(metavar="URL")],
    row: Annotated[int | None, whole(1, 1 << 40)] = None,
    each_row_is_an_owner: bool = False,
    owner_column: Annotated[str | None, Parameter(metavar="COL")] = None,
    phase: _Phase | None = None,
    trust: Annotated[list[_Phase] | None, Parameter(metavar="PHASE")] = None,
    invitation_file: File = None,
    wallet: File = None,
    yes: bool = False,
    dry_run: bool = False,
    json: Target = None,
) -> int:
    """Take part in a study with your own record, which does not leave.

    See what a study asks and what it costs, agree, and send one randomised report. DATA.csv has a
    line with the names of the columns and a line with your values. They are read here and
    randomised here; what leaves is shown. The wallet (supm wallet) keeps what was answered, so that
    asking again gets the same report and costs nothing more.

    Parameters
    ----------
    data : str
        Your record: names, and one line.
    study : str
        The address of the study.
    row : int, optional
        Which record is yours, from 1.
    each_row_is_an_owner : bool
        For a gateway of devices: every row is an owner with a section of the wallet.
    owner_column : str, optional
        What names each owner, so that rows may move; it does not leave, and the wallet keeps a
        keyed hash of it. By default an owner is a place in the file.
    phase : str, optional
        Take part in this phase and in no other.
    trust : list of str, optional
        Answer this phase also where it asks for values as they are, with no promise.
    invitation_file : str, optional
        The code, where one is needed.
    wallet : str, optional
        Another wallet than your usual one.
    yes : bool
        Send without asking.
    dry_run : bool
        Show what would leave; send and spend nothing.
    json : str, optional
        Write what was sent; - prints it.

    Examples
    --------
    ::

        supm contribute mine.csv --study https://host/studies/NAME --dry-run
        supm contribute mine.csv --study https://host/studies/NAME
        supm contribute mine.csv --study https://host/studies/NAME --invitation-file code.txt
        supm contribute devices.csv --study URL --each-row-is-an-owner --owner-column serial --yes
    """
    from supm.owner import Contribution, Wallet
    from supm.schema import read_csv

    exclusive(row=row, each_row_is_an_owner=each_row_is_an_owner)
    if owner_column and not each_row_is_an_owner:
        raise UsageError(
            "--owner-column must be given with --each-row-is-an-owner, which it belongs to."
        )
    table, codes = read_csv(data), _codes(invitation_file)
    if not each_row_is_an_owner:
        _check_one(table, row, codes)
    contribution = Contribution(study, phase=phase, trusted=trust or ())
    _notice_clear(study)
    with Wallet(wallet) as opened:
        if each_row_is_an_owner:
            owners = _owners(contribution, table, codes, owner_column, dry_run=dry_run)
            return _many(contribution, owners, opened, yes=yes, dry_run=dry_run, json=json)
        record, code = _record(contribution, table, row), codes[0] if codes else None
        if dry_run:
            return _rehearse(contribution, record, opened, json)
        return _one(contribution, record, opened, code, yes=yes, json=json)


def _one(
    contribution: Contribution,
    record: dict[str, object],
    wallet: Wallet,
    code: str | None,
    *,
    yes: bool,
    json: str | None,
) -> int:
    from supm.owner.overview import not_asked, receipt_form, receipt_lines

    place = aloud(json)
    if contribution.is_asked(wallet):
        _explain(contribution, wallet, place)
        contribution.check(record, wallet, invitation=code)
        if not agreed("Send one report?", place, yes=yes):
            return 1
    else:
        print(paragraph(not_asked(contribution)), file=place)
    receipt = contribution.send(record, wallet, invitation=code)
    _show(receipt_lines(contribution, receipt), place)
    if json:
        write_json(receipt_form(receipt, wallet), json)
    return 0


def _rehearse(
    contribution: Contribution, record: dict[str, object], wallet: Wallet, json: str | None
) -> int:
    from supm.owner.overview import not_asked, report_lines

    _explain(contribution, wallet, aloud(json))
    report = contribution.rehearse(record, wallet)
    if report is None:
        emit({"dry_run": True, "report": None}, [paragraph(not_asked(contribution))], json)
        return 0
    known = any(each.report == report.id for each in wallet.answers())
    which = "This report" if known else "A report such as this, drawn anew when it is sent,"
    lines = report_lines(contribution, report, f"{which} would leave, and nothing else:")
    words = [*lines, "Nothing was sent or spent."]
    emit({"dry_run": True, "report": report.to_form()}, words, json)
    return 0


def _explain(contribution: Contribution, wallet: Wallet, place: TextIO) -> None:
    """Show what is asked; whoever is not asked reads that alone, and of no cost."""
    from supm.owner.overview import consent_lines

    before = contribution.remembered(wallet)
    if not before.elsewhere and not before.trained:
        words = contribution.words(wallet)
        _show(consent_lines(contribution, words, before.report), place)


def _many(
    contribution: Contribution,
    owners: list[GatewayOwner],
    wallet: Wallet,
    *,
    yes: bool,
    dry_run: bool,
    json: str | None,
) -> int:
    """Let every row of a file take part; 1 if an owner could not, or if nobody was to."""
    from supm.owner.gateway import cost_of_each, each_owner
    from supm.owner.overview import consent_lines

    place = aloud(json)
    words = [*contribution.words(), cost_of_each(contribution)]
    _show(consent_lines(contribution, words), place)
    question = f"Send a report for each of {counted(len(owners), 'owner')}?"
    if not dry_run and not agreed(question, place, yes=yes):
        return 1
    found, reasons = Counter[str](), Counter[str]()
    with bar(total=len(owners), unit=" owners", label="owners") as shown:
        for verdict, reason in each_owner(contribution, owners, wallet, dry_run=dry_run):
            found[verdict] += 1
            reasons.update([reason] if reason else [])
            shown.step()
    print(table(["owners", "count"], [[each, str(found[each])] for each in found]), file=place)
    for reason, count in reasons.items():
        print(f"Refused for {counted(count, 'owner')}: {reason}", file=place)
    if json:
        write_json({"dry_run": dry_run, "owners": dict(found), "reasons": dict(reasons)}, json)
    return int(bool(reasons))


def _owners(
    contribution: Contribution,
    data: TextTable,
    codes: list[str],
    column: str | None,
    *,
    dry_run: bool,
) -> list[GatewayOwner]:
    """Return the owner of each row; refuse before anybody spends where codes are wanting."""
    from supm.owner.gateway import GatewayOwner
    from supm.owner.rows import owner_names, records

    needed = bool(codes) or (contribution.open_phase.invited and not dry_run)
    if needed and len(codes) < data.rows:
        got = f"holds {len(codes)}" if codes else "was not given; the study asks by invitation"
        raise UsageError(
            f"--invitation-file must hold a code for each of {counted(data.rows, 'record')}, one "
            f"in each line, and {got}."
        )
    given = [*codes[: data.rows]] if codes else [None] * data.rows
    held = records(data, contribution.open_phase.columns)
    return [
        GatewayOwner(*each) for each in zip(owner_names(data, column), held, given, strict=True)
    ]


def _record(contribution: Contribution, data: TextTable, row: int | None) -> dict[str, object]:
    from supm.owner.rows import one_row, records

    return records(one_row(data, row), contribution.open_phase.columns)[0]


def _check_one(data: TextTable, row: int | None, codes: list[str]) -> None:
    if row is None and data.rows > 1:
        raise UsageError(
            f"DATA must be a file with one record, and holds {data.rows}. Choose yours with "
            "--row N; a gateway for many says --each-row-is-an-owner."
        )
    if len(codes) > 1:
        raise UsageError(
            f"--invitation-file must be a file with one code, your own, and holds {len(codes)}."
        )


def _codes(path: str | None) -> list[str]:
    if path is None:
        return []
    lines = read_text("--invitation-file", path).splitlines()
    codes = [line.strip() for line in lines if line.strip()]
    if not codes:
        raise ParameterError("--invitation-file", "a file with a code", path, "It is empty.")
    return codes


def _notice_clear(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme == "http" and parts.hostname not in _HERE:
        say(
            "the address is not https: others on the way see that you take part, and may interfere."
        )


def _show(lines: Iterable[str], place: TextIO) -> None:
    for line in lines:
        print(line, file=place)
