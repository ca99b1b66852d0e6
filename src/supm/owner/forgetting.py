"""To forget what was answered, where a record has changed. What was spent is not forgotten."""

from __future__ import annotations

from supm._errors import ParameterError
from supm.messages import PHASES
from supm.owner.wallet import Wallet

__all__ = ["forget"]


def forget(wallet: Wallet, study: str) -> int:
    """Forget the answers of one owner in a study; the next ones are drawn anew and cost again.

    Who was in which group, and whether they train or are tested, is kept: to forget is no way to
    be asked twice for one budget.

    Parameters
    ----------
    wallet : Wallet
        Whose.
    study : str
        The first digits of the hash of the study, or of the one that it continues.

    Returns
    -------
    int
        How many reports were forgotten.

    Raises
    ------
    ParameterError
        If no study that was answered has a hash that begins so, or several have.
    """
    with wallet.step():
        beginning = _beginning(wallet, study)
        for phase in PHASES:
            # The owner's memory says which answer a phase of a study got.
            answer = wallet.pop(f"asked {phase} {beginning}", None)
            if isinstance(answer, str):
                wallet.pop(answer, None)
        given = [each for each in wallet.answers() if each.beginning == beginning]
        names = {f"report {each.phase} {each.study}" for each in given}
        return sum(wallet.pop(name, None) is not None for name in names)


def _beginning(wallet: Wallet, study: str) -> str:
    """Return the one study that is meant."""
    found = {
        each.beginning
        for each in wallet.answers()
        if study and (each.study.startswith(study) or each.beginning.startswith(study))
    }
    if len(found) != 1:
        wanted = "the first digits of the hash of one study that was answered"
        raise ParameterError("STUDY", wanted, study, "supm wallet show lists them.")
    return found.pop()
