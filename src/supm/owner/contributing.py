"""To take part in a study: see what is asked, agree, and send one randomised report."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any, Final

from supm._errors import MessageError
from supm._random import RandomSource
from supm.messages import Report
from supm.owner.allowed import saying_what_is_allowed
from supm.owner.http import Remote, RemoteError, split_study_url
from supm.owner.offer import Offer, fetch_offer, refusal
from supm.owner.owner import Owner
from supm.owner.purse import Purse
from supm.owner.receipt import ANOTHER_GROUP, VERDICTS, Receipt, read_receipt
from supm.owner.standing import Standing, standing
from supm.owner.telling import Leaving, cost_words, leaving, words
from supm.owner.wallet import Wallet

__all__ = ["Contribution", "contribute"]

_NOT_INVITED: Final = (401, 403)
_KEPT: Final = (
    "The report that was drawn is kept in the wallet: to send it again with a good code costs "
    "nothing more."
)
_CODE: Final = re.compile("[A-Za-z0-9](?:[A-Za-z0-9 _-]{0,198}[A-Za-z0-9])?")


class Contribution:
    """One study that asks, and owners who may answer.

    To make one fetches the study and checks it; nothing is spent or sent before `send`.

    Parameters
    ----------
    url : str
        The address of the study, such as ``https://host/studies/NAME``.
    phase : {"reduce", "train", "test"}, optional
        Refuse any other phase than this.
    trusted : iterable of str, default ()
        Phases in which the owner trusts whoever receives the answer.
    source : RandomSource, optional
        Where randomness comes from; the operating system by default.
    timeout : float, default 30.0
        Seconds until an answer of the aggregator must be there.

    Raises
    ------
    MessageError
        If nothing is asked now, or the document is not the one that the aggregator names.
    PromiseError
        If the mechanism would spend more than the study states.
    RemoteError
        If there is no answer.
    """

    def __init__(
        self,
        url: str,
        *,
        phase: str | None = None,
        trusted: Iterable[str] = (),
        source: RandomSource | None = None,
        timeout: float = 30.0,
    ) -> None:
        self._remote = Remote(split_study_url(url)[0], timeout=timeout)
        self._offer = fetch_offer(url, phase=phase, remote=self._remote)
        self._trusted = tuple(trusted)
        self._source = source

    @property
    def remote(self) -> Remote:
        """The aggregator."""
        return self._remote

    @property
    def offer(self) -> Offer:
        """What the study asks now."""
        return self._offer

    def words(self, wallet: Wallet | None = None) -> list[str]:
        """Say in sentences what is asked, what is promised and what it costs.

        Parameters
        ----------
        wallet : Wallet, optional
            The owner's, to say what was spent before; without it, the cost is left out.

        Returns
        -------
        list of str
        """
        cost = [] if wallet is None else [cost_words(self._offer, wallet)]
        return [*words(self._offer), *cost]

    def leaving(self, report: Report | None = None) -> tuple[Leaving, ...]:
        """Say what would leave the device.

        Parameters
        ----------
        report : Report, optional
            The answer, where it is drawn: what it is about is certain then.

        Returns
        -------
        tuple of Leaving
        """
        symbols = None if report is None else report.symbols
        return leaving(self._offer.study, self._offer.phase, self._offer.interview, symbols)

    def standing(self, wallet: Wallet) -> Standing:
        """Say what the wallet remembers of this study; nothing is drawn or kept.

        Parameters
        ----------
        wallet : Wallet
            The owner's.

        Returns
        -------
        Standing
        """
        return standing(self._offer, wallet)

    def is_asked(self, wallet: Wallet) -> bool:
        """Return whether the owner's group is asked; it is drawn once, by the public shares.

        Parameters
        ----------
        wallet : Wallet
            Where the group is kept.

        Returns
        -------
        bool
        """
        # A step of its own: a refusal later on must not lead to another draw.
        with wallet.step():
            return self._is_asked(self._owner(wallet))

    def rehearse(self, record: Mapping[str, object], wallet: Wallet) -> Report | None:
        """Return a report such as would leave, and keep, spend and send nothing.

        Parameters
        ----------
        record : mapping of str to value
            The owner's record.
        wallet : Wallet
            What was answered before, and how much is allowed.

        Returns
        -------
        Report or None
            The one that was drawn before, if there is one. Otherwise an example: the one that
            leaves is drawn when it is sent. None if another group is asked.
        """
        wallet.check_address(self._offer.server, self._offer.study)
        purse = Purse(wallet, self._offer.study)
        owner = self._owner(ChainMap({}, wallet), purse)
        if not self._is_asked(owner):
            return None
        with saying_what_is_allowed(self._offer.columns):
            return owner.answer(self._offer.study, self._offer.phase, record)

    def check(
        self, record: Mapping[str, object], wallet: Wallet, *, invitation: str | None = None
    ) -> None:
        """Raise what `send` would refuse, before anything is spent or sent.

        Parameters
        ----------
        record : mapping of str to value
            The owner's record.
        wallet : Wallet
            The owner's.
        invitation : str, optional
            The one-time code, of which only the form can be checked here.
        """
        self._check_invitation(invitation)
        self.rehearse(record, wallet)

    def answer(self, record: Mapping[str, object], wallet: Wallet) -> Report:
        """Spend, draw and write down, as one step, and send nothing yet.

        Parameters
        ----------
        record : mapping of str to value
            The owner's record; what is not asked is not looked at.
        wallet : Wallet
            The owner's.

        Returns
        -------
        Report
            The same one whenever this study asks again.
        """
        offer = self._offer
        with wallet.step(), saying_what_is_allowed(offer.columns):
            wallet.check_address(offer.server, offer.study)
            purse = Purse(wallet, offer.study)
            report = self._owner(wallet, purse).answer(offer.study, offer.phase, record)
            epsilon = purse.epsilon if offer.question.private else None
            wallet.note(report, offer.study, epsilon=epsilon, server=offer.server)
        return report

    def send(
        self, record: Mapping[str, object], wallet: Wallet, *, invitation: str | None = None
    ) -> Receipt:
        """Answer and send; where that was interrupted, the same report is sent again.

        Parameters
        ----------
        record : mapping of str to value
            The owner's record.
        wallet : Wallet
            The owner's.
        invitation : str, optional
            The one-time code, where the study needs one.

        Returns
        -------
        Receipt

        Raises
        ------
        BudgetError
            If the owner does not allow it, or the owner's rules do not: see
            `supm.owner.Owner.answer`.
        RemoteError
            If the aggregator cannot be reached or refuses. The answer is in the wallet: to try
            again later costs nothing.
        """
        self._check_invitation(invitation)
        wallet.check_address(self._offer.server, self._offer.study)
        if not self.is_asked(wallet):
            study, phase = self._offer.study.hash, self._offer.phase
            return Receipt(verdict=ANOTHER_GROUP, study=study, phase=phase, epsilon=0.0)
        report = self.answer(record, wallet)
        form = self._post(report, invitation)
        receipt = read_receipt(form, report, epsilon=_cost(report, wallet))
        wallet.acknowledge(report, server=self._offer.server)
        return receipt

    def _check_invitation(self, invitation: str | None) -> None:
        if invitation is None:
            if self._offer.invited:
                message = "the study asks by invitation; give the code that came with it."
                raise MessageError(message)
            return
        # It becomes a header; the library's own complaint would show it.
        if not _CODE.fullmatch(invitation):
            message = (
                "an invitation must be a code of letters, digits and hyphens; nothing was sent."
            )
            raise MessageError(message)

    def _owner(self, memory: MutableMapping[str, Any], purse: Purse | None = None) -> Owner:
        return Owner(source=self._source, trusted=self._trusted, memory=memory, budget=purse)

    def _is_asked(self, owner: Owner) -> bool:
        study, question = self._offer.study, self._offer.question
        alone = question.phase == "test" or len(study.groups) == 1
        return alone or owner.group(study) == question.group

    def _post(self, report: Report, invitation: str | None) -> dict[str, Any]:
        headers = {} if invitation is None else {"X-Invitation": invitation}
        path = f"{self._offer.path}/reports"
        code, form = self._remote.post_json(path, report.to_json(), headers)
        if code not in VERDICTS:
            kept = f" {_KEPT}" if invitation is not None and code in _NOT_INVITED else ""
            message = f"the aggregator did not take the report ({code}): {refusal(form)}{kept}"
            raise RemoteError(message)
        return form


def contribute(
    url: str,
    record: Mapping[str, object],
    *,
    wallet: Wallet | None = None,
    invitation: str | None = None,
    phase: str | None = None,
) -> Receipt:
    """Take part in a study with one record.

    Parameters
    ----------
    url : str
        The address of the study, such as ``https://host/studies/NAME``.
    record : mapping of str to value
        The owner's record. It is read here, randomised here, and does not leave.
    wallet : Wallet, optional
        The owner's; the default file where none is given.
    invitation : str, optional
        The one-time code, where the study needs one.
    phase : {"reduce", "train", "test"}, optional
        Refuse any other phase than this.

    Returns
    -------
    Receipt

    Raises
    ------
    SupmError
        As `Contribution` and `Contribution.send`; then nothing was sent, or it may be sent again
        at no cost.
    """
    contribution = Contribution(url, phase=phase)
    if wallet is not None:
        return contribution.send(record, wallet, invitation=invitation)
    with Wallet() as own:
        return contribution.send(record, own, invitation=invitation)


def _cost(report: Report, wallet: Wallet) -> float | None:
    costs = [each.epsilon for each in wallet.answers() if each.report == report.id]
    return None if None in costs else max((each or 0.0 for each in costs), default=0.0)
