"""The verb contribute: take part in a study with one's own record."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import urlsplit

from supm._errors import ParameterError
from supm.cli._arguments import whole
from supm.cli._files import check_target, read_text, write_json
from supm.cli._output import paragraph, say, table
from supm.cli._service import UsageError

if TYPE_CHECKING:
    from supm.messages import Report
    from supm.owner import Contribution, Leaving, Receipt, Wallet

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  supm contribute mine.csv --study https://host/studies/NAME --dry-run   look, and send nothing
  supm contribute mine.csv --study https://host/studies/NAME
  supm contribute mine.csv --study https://host/studies/NAME --invitation-file code.txt
  supm contribute devices.csv --study https://host/studies/NAME --each-row-is-an-owner \\
      --owner-column serial --yes                                        a gateway

DATA.csv has a line with the names of the columns and a line with your values. They are read here
and randomised here; what leaves is shown. The wallet (supm wallet) keeps what was answered, so that
asking again gets the same report and costs nothing more.
"""
_PHASES = ("reduce", "train", "test")
_HERE = ("127.0.0.1", "::1", "localhost")
_LATER = (
    "Your device drew another group of this study than the one that is asked now: yours is asked "
    "later. Run the same command again once the study collects to train. Nothing was sent or spent."
)
_EARLIER = (
    "Your device drew another group of this study than the one that is asked now, and yours was "
    "asked before: thank you, there is nothing to do. Nothing was sent or spent."
)


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "contribute",
        help="take part in a study with your own record, which does not leave",
        description="See what a study asks and what it costs, agree, and send one randomised\n"
        "report. Your record stays on this device.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", metavar="DATA.csv", help="your record: names, and one line")
    parser.add_argument("--study", required=True, metavar="URL", help="the address of the study")
    _add_rows(parser)
    parser.add_argument("--phase", choices=_PHASES, help="take part in this phase and in no other")
    parser.add_argument(
        "--trust",
        action="append",
        default=[],
        choices=_PHASES,
        metavar="PHASE",
        help="answer this phase also where it asks for values as they are, with no promise",
    )
    parser.add_argument("--invitation-file", metavar="FILE", help="the code, where one is needed")
    parser.add_argument("--wallet", metavar="FILE", help="another wallet than your usual one")
    parser.add_argument("--yes", action="store_true", help="send without asking")
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would leave; send and spend nothing"
    )
    parser.add_argument("--json", metavar="FILE", help="write what was sent; - prints it")
    parser.set_defaults(run=_run)


def _add_rows(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--row", type=whole(1, 1 << 40), metavar="N", help="which record is yours, from 1"
    )
    which.add_argument(
        "--each-row-is-an-owner",
        action="store_true",
        help="for a gateway of devices: every row is an owner with a section of the wallet",
    )
    parser.add_argument(
        "--owner-column",
        metavar="COL",
        help="what names each owner, so that rows may move; it does not leave, and the wallet "
        "keeps a keyed hash of it. By default an owner is a place in the file",
    )


def _run(arguments: argparse.Namespace) -> int:
    from supm.cli._output import lines_read  # noqa: PLC0415  the same
    from supm.owner import Contribution, Wallet  # noqa: PLC0415  the same
    from supm.schema.text_table import read_csv  # noqa: PLC0415  loaded when the verb runs

    check_target("--json", arguments.json)
    if arguments.owner_column and not arguments.each_row_is_an_owner:
        message = "--owner-column must be given with --each-row-is-an-owner, which it belongs to."
        raise UsageError(message)
    data = read_csv(arguments.data, progress=lines_read)
    codes = _codes(arguments.invitation_file)
    contribution = Contribution(arguments.study, phase=arguments.phase, trusted=arguments.trust)
    _notice_clear(arguments.study)
    with Wallet(arguments.wallet) as wallet:
        if arguments.each_row_is_an_owner:
            from supm.cli._gateway import contribute_rows  # noqa: PLC0415  the same

            return contribute_rows(contribution, data, wallet, codes, arguments)
        return _contribute_one(contribution, data, wallet, codes, arguments)


def _contribute_one(
    contribution: Contribution,
    data: Any,  # noqa: ANN401  a TextTable; its module is loaded when the verb runs
    wallet: Wallet,
    codes: list[str],
    arguments: argparse.Namespace,
) -> int:
    from supm.cli._rows import one_row, records  # noqa: PLC0415  loaded when the verb runs

    aloud = sys.stderr if arguments.json == "-" else sys.stdout
    if len(codes) > 1:
        message = (
            f"--invitation-file must be a file with one code, your own, and holds {len(codes)}."
        )
        raise UsageError(message)
    code = codes[0] if codes else None
    [record] = records(one_row(data, arguments.row), contribution.open_phase.columns)
    asked = arguments.dry_run or contribution.is_asked(wallet)
    before = contribution.remembered(wallet)
    # Whoever is not asked reads that first, and of no cost; who trained is refused below.
    if asked and not before.elsewhere and not before.trained:
        explain(contribution, contribution.words(wallet), aloud, before.report)
    if arguments.dry_run:
        return _rehearse(contribution, record, wallet, arguments)
    if not asked:
        print(paragraph(_elsewhere(contribution)), file=aloud)
    else:
        contribution.check(record, wallet, invitation=code)
        if not agreed("Send one report?", aloud, yes=arguments.yes):
            return 1
    receipt = contribution.send(record, wallet, invitation=code)
    if receipt.report is not None:
        _thank(contribution, receipt, aloud)
    if arguments.json:
        write_json(_for_machines(receipt, wallet), arguments.json)
    return 0


def _elsewhere(contribution: Contribution) -> str:
    return _LATER if contribution.open_phase.phase == "reduce" else _EARLIER


def explain(
    contribution: Contribution, words: list[str], aloud: TextIO, report: Report | None = None
) -> None:
    """Say what is asked and what it costs, and show what leaves.

    Parameters
    ----------
    contribution : Contribution
        The study.
    words : list of str
        The sentences.
    aloud : text file
        Where to say it.
    report : Report, optional
        What leaves, where it was drawn before.
    """
    for line in words:
        print(paragraph(line), file=aloud)
    told = contribution.leaving(report)
    rows = [[each.what, _count(each), _chance(each)] for each in told]
    ranges = any(each.fewest_choices < each.choices for each in told)
    by_lot = ", by what is drawn" if ranges else ""
    head = ["what leaves", "one of", f"chance of the truth{by_lot}"]
    print(f"\n{table(head, rows, left=1)}\n", file=aloud)


def _count(told: Leaving) -> str:
    fewer = f"{told.fewest_choices} to " if told.fewest_choices < told.choices else ""
    return f"{fewer}{told.choices}"


def _chance(told: Leaving) -> str:
    if told.truth is None or told.most_truth is None:
        return "near it"
    more = f" to {told.most_truth:.1%}" if told.fewest_choices < told.choices else ""
    return f"{told.truth:.1%}{more}"


def agreed(
    question: str,
    aloud: TextIO,
    *,
    yes: bool,
    otherwise: str = "Nothing was sent, and nothing was spent.",
) -> bool:
    """Ask, unless that was answered on the command line.

    Parameters
    ----------
    question : str
        What to ask.
    aloud : text file
        Where to ask it.
    yes : bool
        Whether it was answered already.
    otherwise : str, optional
        What to say where the answer is no.

    Returns
    -------
    bool
    """
    if yes:
        return True
    print(f"{question} [y/N] ", end="", file=aloud, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    print(otherwise, file=aloud)
    return False


def _rehearse(
    contribution: Contribution,
    record: dict[str, object],
    wallet: Wallet,
    arguments: argparse.Namespace,
) -> int:
    report = contribution.rehearse(record, wallet)
    form = None if report is None else json.loads(report.to_json())
    if arguments.json:
        write_json({"dry_run": True, "report": form}, arguments.json)
    if arguments.json == "-":
        return 0
    if report is None:
        print(paragraph(_elsewhere(contribution)))
        return 0
    known = any(each.report == report.id for each in wallet.answers())
    which = "This report" if known else "A report such as this, drawn anew when it is sent,"
    _print_report(f"{which} would leave, and nothing else:", contribution, report, sys.stdout)
    print("Nothing was sent or spent.")
    return 0


def _print_report(words: str, contribution: Contribution, report: Report, aloud: TextIO) -> None:
    print(f"{words}\n{report.to_json()}", file=aloud)
    told = contribution.named(report)
    if told:
        said = "; ".join(f"{what} is {which}" for what, which in told)
        about = contribution.leaving(report)
        sure = f" (truly with a chance of {_chance(about[0])})" if len(about) == 1 else ""
        print(paragraph(f"It says, truly or not{sure}: {said}."), file=aloud)


def _thank(contribution: Contribution, receipt: Receipt, aloud: TextIO) -> None:
    if receipt.report is not None:
        _print_report("This left, and nothing else:", contribution, receipt.report, aloud)
    print(f"The aggregator has it ({receipt.verdict}). Thank you.", file=aloud)
    if receipt.answer is not None:
        sure = receipt.probability
        sureness = "" if sure is None else f", with probability {sure:.1%}"
        print(f"The model's answer to that report: {receipt.answer}{sureness}.", file=aloud)


def _for_machines(receipt: Receipt, wallet: Wallet) -> dict[str, Any]:
    report = receipt.report
    return {
        "verdict": receipt.verdict,
        "study": receipt.study,
        "phase": receipt.phase,
        "epsilon": receipt.epsilon,
        "report": None if report is None else json.loads(report.to_json()),
        "spent": wallet.spent(),
        "answer": receipt.answer,
        "probability": receipt.probability,
    }


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
