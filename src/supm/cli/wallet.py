"""The verb wallet: see and limit what was spent on studies."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supm._errors import ParameterError
from supm.cli._arguments import real
from supm.cli._files import check_target, write_json
from supm.cli._output import counted, paragraph, table
from supm.cli.contribute import agreed

if TYPE_CHECKING:
    from supm.owner import Answered, Limits, Wallet

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  supm wallet show                             what was spent, on what, and whether it arrived
  supm wallet limit --total 8 --per-study 2    spend no more than that
  supm wallet limit --total none               take a limit away
  supm wallet forget 1a2b3c4d                  my record has changed: answer that study anew

The wallet is a file of your own: SUPM_WALLET names it, or it is supm/wallet.db among your data. It
holds randomised answers and no record. Keep it as long as the record: without it, a question that
is asked again is answered anew and costs again.
"""
_DIGITS = 12
_LARGEST = 1e4


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "wallet",
        help="see and limit what you have spent on studies",
        description="What you answered, what it cost, and how much you allow.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    show = actions.add_parser("show", help="what was spent, on what, and whether it arrived")
    show.add_argument("--json", metavar="FILE", help="write it; - prints it")
    limit = actions.add_parser("limit", help="set the most that you spend")
    for name, what in (("--total", "over all studies"), ("--per-study", "on any one study")):
        words = f"the most that you spend {what}; none takes the limit away"
        limit.add_argument(name, type=_limit, metavar="E", help=words)
    forget = actions.add_parser("forget", help="answer a study anew; what was spent stays spent")
    forget.add_argument("study", metavar="STUDY", help="the first digits of its hash")
    forget.add_argument("--yes", action="store_true", help="forget without asking")
    for action, run in ((show, _show), (limit, _set_limits), (forget, _forget)):
        action.add_argument("--wallet", metavar="FILE", help="another wallet than your usual one")
        action.set_defaults(run=run)


def _limit(text: str) -> float | str:
    return text if text == "none" else real(0.0, _LARGEST)(text)


def _show(arguments: argparse.Namespace) -> int:
    from supm.owner import Wallet  # noqa: PLC0415  loaded when the verb runs

    check_target("--json", arguments.json)
    _check_there(arguments.wallet)
    with Wallet(arguments.wallet) as wallet:
        told = _for_machines(wallet)
    if arguments.json:
        write_json(told, arguments.json)
    if arguments.json != "-":
        print(f"{told['path']}: {_totals(told)}")
        if told["studies"]:
            head = ["study", "phases", "since", "purpose", "owners", "arrived", "epsilon", "where"]
            print(f"\n{table(head, [_row(each) for each in told['studies']], left=4, widest=28)}")
    return 0


def _set_limits(arguments: argparse.Namespace) -> int:
    from supm.owner import Wallet  # noqa: PLC0415  loaded when the verb runs

    named = {"total": arguments.total, "per_study": arguments.per_study}
    given = {
        name: None if limit == "none" else limit
        for name, limit in named.items()
        if limit is not None
    }
    if not given:
        raise ParameterError("limit", "followed by --total or --per-study", "nothing")
    with Wallet(arguments.wallet) as wallet:
        wallet.limit(**given)
        print(f"From now on: {_allowed(wallet.limits)}.")
        for line in _exceeded(_for_machines(wallet)):
            print(paragraph(line))
    return 0


def _forget(arguments: argparse.Namespace) -> int:
    from supm.owner import Wallet  # noqa: PLC0415  loaded when the verb runs

    _check_there(arguments.wallet)
    with Wallet(arguments.wallet) as wallet:
        owners = [each for each in wallet.sections() if _knows(each, arguments.study)]
        if not owners:
            wallet.forget(arguments.study)
        print(
            paragraph(
                "The next answer to that study will be drawn anew and will cost again, beyond what "
                "the study states; what was spent stays spent."
            )
        )
        no = "Nothing was forgotten."
        if not agreed("Forget what was answered?", sys.stdout, yes=arguments.yes, otherwise=no):
            return 1
        with wallet.step():
            forgotten = sum(each.forget(arguments.study) for each in owners)
    print(f"{counted(forgotten, 'report')} forgotten.")
    return 0


def _check_there(path: str | None) -> None:
    """Refuse a file that is misspelt: it would be made, and be empty."""
    if path is not None and not Path(path).is_file():
        raise ParameterError("--wallet", "a file that exists", path)


def _knows(wallet: Wallet, study: str) -> bool:
    return any(
        each.study.startswith(study) or each.beginning.startswith(study)
        for each in wallet.answers()
    )


def _totals(told: dict[str, Any]) -> str:
    if not told["owners"]:
        return f"nothing was spent yet; {told['words']}."
    if told["owners"] == 1:
        return f"epsilon = {told['spent']:.6g} was spent in total; {told['words']}."
    return (
        f"{told['owners']} owners, each of whom has spent epsilon = {told['spent']:.6g} in total "
        f"at most; {told['words']}."
    )


def _allowed(limits: Limits) -> str:
    total, study = limits.total, limits.per_study
    first = "no limit in total" if total is None else f"at most {total:.6g} in total"
    return f"{first}, {'no limit' if study is None else f'at most {study:.6g}'} for one study"


def _exceeded(told: dict[str, Any]) -> list[str]:
    """Say where a limit is below what is spent: nothing is taken back by it."""
    most = max((each["spent"] or 0.0 for each in told["studies"]), default=0.0)
    pairs = (
        ("in total", told["spent"], told["total"]),
        ("on one study", most, told["per_study"]),
    )
    return [
        f"This is exceeded already: {spent:.6g} is spent {where}, and that stays spent. Nothing "
        "more will be."
        for where, spent, limit in pairs
        if limit is not None and spent > limit
    ]


def _for_machines(wallet: Wallet) -> dict[str, Any]:
    sections, limits = wallet.sections(), wallet.limits
    return {
        "path": str(wallet.path),
        "owners": len(sections),
        "spent": max((each.spent() for each in sections), default=0.0),
        "total": limits.total,
        "per_study": limits.per_study,
        "words": _allowed(limits),
        "studies": _studies(wallet.answers(everybody=True)),
        "answers": [_answer(each) for each in wallet.answers(everybody=True)],
    }


def _answer(given: Answered) -> dict[str, Any]:
    return {
        "owner": given.owner,
        "study": given.study,
        "beginning": given.beginning,
        "phase": given.phase,
        "epsilon": given.epsilon,
        "purpose": given.purpose,
        "server": given.server,
        "report": given.report,
        "answered": _moment(given.answered),
        "acknowledged": None if given.acknowledged is None else _moment(given.acknowledged),
    }


def _studies(answers: tuple[Answered, ...]) -> list[dict[str, Any]]:
    """Put together what was answered in one study at one address."""
    groups: dict[tuple[str, str], list[Answered]] = {}
    for each in answers:
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
