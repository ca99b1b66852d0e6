"""The verb wallet: see and limit what was spent on studies."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from supm._errors import ParameterError
from supm.cli._frame import reading
from supm.cli._output import File, Target, agreed, emit
from supm.reporting import counted, paragraph

if TYPE_CHECKING:
    from supm.owner import Wallet

_LARGEST = 1e4
verb = App(
    name="wallet",
    help_flags=(),
    version_flags=(),
    help="See and limit what you have spent on studies.\n\n"
    "What you answered, what it cost, and how much you allow. The wallet is a file of your own:\n"
    "SUPM_WALLET names it, or it is supm/wallet.db among your data. It holds randomised answers\n"
    "and no record. Keep it as long as the record: without it, a question that is asked again is\n"
    "answered anew and costs again.",
)


def _limit(text: str) -> float | str:
    if text == "none":
        return text
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= _LARGEST:
        rule = f"a number in [0, {_LARGEST:g}], or none"
        raise ValueError(rule)
    return number


_Limit = Annotated[float | str | None, reading(_limit, "E")]


@verb.command(name="show")
def _show(*, wallet: File = None, json: Target = None) -> None:
    """Show what was spent, on what, and whether it arrived.

    Parameters
    ----------
    wallet : str, optional
        Another wallet than your usual one.
    json : str, optional
        Write it; - prints it.

    Examples
    --------
    ::

        supm wallet show
    """
    from supm.owner import Wallet, WalletOverview

    _check_there(wallet)
    with Wallet(wallet) as opened:
        overview = WalletOverview.of(opened)
    emit(overview.to_form(), [str(overview)], json)


@verb.command(name="limit")
def _set_limit(*, total: _Limit = None, per_study: _Limit = None, wallet: File = None) -> None:
    """Set the most that you spend.

    Parameters
    ----------
    total : float or "none", optional
        The most that you spend over all studies; none takes the limit away.
    per_study : float or "none", optional
        The most that you spend on any one study; none takes the limit away.
    wallet : str, optional
        Another wallet than your usual one.

    Examples
    --------
    ::

        supm wallet limit --total 8 --per-study 2    spend no more than that
        supm wallet limit --total none               take a limit away
    """
    from supm.owner import Wallet, WalletOverview

    named = {"total": total, "per_study": per_study}
    given = {
        name: None if isinstance(each, str) else each
        for name, each in named.items()
        if each is not None
    }
    if not given:
        raise ParameterError("limit", "followed by --total or --per-study", "nothing")
    with Wallet(wallet) as opened:
        opened.limit(**given)
        overview = WalletOverview.of(opened)
    print(f"From now on: {overview.allowed}.")
    for line in overview.exceeded():
        print(paragraph(line))


@verb.command(name="forget")
def _forget(
    study: Annotated[str, Parameter(name="STUDY")], /, *, yes: bool = False, wallet: File = None
) -> int:
    """Answer a study anew, as your record has changed; what was spent stays spent.

    Parameters
    ----------
    study : str
        The first digits of its hash.
    yes : bool
        Forget without asking.
    wallet : str, optional
        Another wallet than your usual one.

    Examples
    --------
    ::

        supm wallet forget 1a2b3c4d
    """
    from supm.owner import Wallet

    _check_there(wallet)
    with Wallet(wallet) as opened:
        owners = [each for each in opened.sections() if _knows(each, study)]
        if not owners:
            opened.forget(study)
        print(
            paragraph(
                "The next answer to that study will be drawn anew and will cost again, beyond what "
                "the study states; what was spent stays spent."
            )
        )
        no = "Nothing was forgotten."
        if not agreed("Forget what was answered?", sys.stdout, yes=yes, otherwise=no):
            return 1
        with opened.step():
            forgotten = sum(each.forget(study) for each in owners)
    print(f"{counted(forgotten, 'report')} forgotten.")
    return 0


def _check_there(path: str | None) -> None:
    """Refuse a file that is misspelt: it would be made, and be empty."""
    if path is not None and not Path(path).is_file():
        raise ParameterError("--wallet", "a file that exists", path)


def _knows(section: Wallet, study: str) -> bool:
    return any(
        each.study.startswith(study) or each.beginning.startswith(study)
        for each in section.answers()
    )
