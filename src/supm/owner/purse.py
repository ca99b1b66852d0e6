"""What an owner spends from: a budget whose limits and history are in a wallet."""

from __future__ import annotations

from supm._errors import PromiseError
from supm.messages import Study
from supm.owner.wallet import Wallet
from supm.privacy import Budget, Guarantee, NoGuarantee, PureLDP

__all__ = ["Purse"]


class Purse(Budget):
    """The budget for one answer. It asks the wallet, within the step that also keeps the answer.

    Parameters
    ----------
    wallet : Wallet
        Where limits are, and what was spent before.
    study : Study
        What is answered.
    """

    def __init__(self, wallet: Wallet, study: Study) -> None:
        super().__init__(NoGuarantee("the limits are those of the wallet"))
        self._wallet = wallet
        self._study = study

    @property
    def epsilon(self) -> float:
        """What was spent from it: nothing, where the question had been answered before."""
        spent = self.spent
        return spent.epsilon if isinstance(spent, PureLDP) else 0.0

    def spend(self, guarantee: Guarantee, *, purpose: str) -> None:
        """Spend, or raise and change nothing.

        Parameters
        ----------
        guarantee : Guarantee
            What the answer promises.
        purpose : str
            What it is for.

        Raises
        ------
        BudgetError
            If it is more than the owner allows.
        PromiseError
            If the promise is not one to the owner alone.
        """
        if not isinstance(guarantee, PureLDP):
            message = "a wallet counts local differential privacy and no other promise."
            raise PromiseError(message)
        self._wallet.check(guarantee.epsilon, self._study)
        super().spend(guarantee, purpose=purpose)
