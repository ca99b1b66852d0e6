"""To take part in a study: see what is asked, agree, and send one randomised report."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Final

from supm._errors import MessageError
from supm._random import RandomSource
from supm.messages import Report
from supm.owner.http import Remote, RemoteError, split_study_url
from supm.owner.interviews import Leaving
from supm.owner.open_phase import Remembered, fetch_open_phase, refusal
from supm.owner.owner import Owner
from supm.owner.wallet import Wallet, WalletBudget
from supm.owner.words import cost_words, question_words, saying_what_is_allowed

ANOTHER_GROUP: Final = "another group is asked"
"""The verdict where an owner drew a group that is not asked now."""

# What an aggregator says of a report that it has, by the status of its answer.
_VERDICTS: Final = {201: "accepted", 200: "sent before"}
_LONGEST_ANSWER: Final = 200
_NOT_INVITED: Final = (401, 403)
_KEPT: Final = (
    "The report that was drawn is kept in the wallet: to send it again with a good code costs "
    "nothing more."
)
_CODE: Final = re.compile("[A-Za-z0-9](?:[A-Za-z0-9 _-]{0,198}[A-Za-z0-9])?")


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What came of taking part.

    Parameters
    ----------
    verdict : {"accepted", "sent before", "another group is asked"}
        What the aggregator said; or that it was not asked.
    study : str
        The hash of the study.
    phase : {"reduce", "train", "test"}
        Which question.
    epsilon : float or None
        What this answer cost, whenever it was drawn; None where nothing is promised.
    report : Report, optional
        What was sent.
    answer : str or float, optional
        The model's answer, in the test phase.
    probability : float, optional
        How sure it is.
    """

    verdict: str
    study: str
    phase: str
    epsilon: float | None
    report: Report | None = None
    answer: str | float | None = None
    probability: float | None = None


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
        self.remote = Remote(split_study_url(url)[0], timeout=timeout)
        """The aggregator."""
        self.open_phase = fetch_open_phase(url, phase=phase, remote=self.remote)
        """What the study asks now."""
        self._trusted = tuple(trusted)
        self._source = source

    def words(self, wallet: Wallet | None = None) -> list[str]:
        """Say in sentences what is asked and promised, and what it costs the owner of a wallet."""
        cost = [] if wallet is None else [cost_words(self.open_phase, wallet)]
        return [*question_words(self.open_phase), *cost]

    def leaving(self, report: Report | None = None) -> tuple[Leaving, ...]:
        """Say what would leave the device, or what leaves with a report that is drawn."""
        symbols = None if report is None else report.symbols
        return self.open_phase.interview.leaving(self.open_phase.study.schema.target, symbols)

    def named(self, report: Report) -> tuple[tuple[str, str], ...]:
        """Say which class a report names of what, which may be true or not."""
        return self.open_phase.interview.named(self.open_phase.study.schema.target, report.symbols)

    def remembered(self, wallet: Wallet) -> Remembered:
        """Say what the wallet remembers of this study; nothing is drawn or kept."""
        return self.open_phase.remembered(wallet)

    def is_asked(self, wallet: Wallet) -> bool:
        """Return whether the owner's group is asked; it is drawn once, by the public shares."""
        # A step of its own: a refusal later on must not lead to another draw.
        with wallet.step():
            return self._is_asked(self._owner(wallet))

    def rehearse(self, record: Mapping[str, object], wallet: Wallet) -> Report | None:
        """Return a report such as would leave, and keep, spend and send nothing.

        It is the one that was drawn before, if there is one, and otherwise an example: the one that
        leaves is drawn when it is sent. It is None if another group is asked.
        """
        owner = self._trial(wallet)
        if not self._is_asked(owner):
            return None
        with saying_what_is_allowed(self.open_phase.columns):
            return owner.answer(self.open_phase.study, self.open_phase.phase, record)

    def check(
        self, record: Mapping[str, object], wallet: Wallet, *, invitation: str | None = None
    ) -> None:
        """Raise what `send` would refuse, before anything is drawn, spent or sent.

        Of an invitation, only the form can be checked here.
        """
        self._check_invitation(invitation)
        owner = self._trial(wallet)
        if self._is_asked(owner):
            with saying_what_is_allowed(self.open_phase.columns):
                owner.check(self.open_phase.study, self.open_phase.phase, record)

    def answer(self, record: Mapping[str, object], wallet: Wallet) -> Report:
        """Spend, draw and write down, as one step, and send nothing yet.

        The same report is returned whenever this study asks again.
        """
        opened = self.open_phase
        with wallet.step(), saying_what_is_allowed(opened.columns):
            wallet.check_address(opened.server, opened.study)
            budget = WalletBudget(wallet, opened.study)
            report = self._owner(wallet, budget).answer(opened.study, opened.phase, record)
            epsilon = budget.epsilon if opened.question.private else None
            wallet.note(report, opened.study, epsilon=epsilon, server=opened.server)
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
        if not self.is_asked(wallet):
            study, phase = self.open_phase.study.hash, self.open_phase.phase
            return Receipt(verdict=ANOTHER_GROUP, study=study, phase=phase, epsilon=0.0)
        report = self.answer(record, wallet)
        form = self._post(report, invitation)
        receipt = _receipt(form, report, epsilon=_cost(report, wallet))
        wallet.acknowledge(report, server=self.open_phase.server)
        return receipt

    def _check_invitation(self, invitation: str | None) -> None:
        if invitation is None:
            if self.open_phase.invited:
                raise MessageError("the study asks by invitation; give the code that came with it.")
            return
        # It becomes a header; the library's own complaint would show it.
        if not _CODE.fullmatch(invitation):
            raise MessageError(
                "an invitation must be a code of letters, digits and hyphens; nothing was sent."
            )

    def _trial(self, wallet: Wallet) -> Owner:
        """Return an owner who remembers what the wallet holds, and writes nothing into it."""
        wallet.check_address(self.open_phase.server, self.open_phase.study)
        return self._owner(ChainMap({}, wallet), WalletBudget(wallet, self.open_phase.study))

    def _owner(self, memory: MutableMapping[str, Any], budget: WalletBudget | None = None) -> Owner:
        return Owner(source=self._source, trusted=self._trusted, memory=memory, budget=budget)

    def _is_asked(self, owner: Owner) -> bool:
        study, question = self.open_phase.study, self.open_phase.question
        alone = question.phase == "test" or len(study.groups) == 1
        return alone or owner.group(study) == question.group

    def _post(self, report: Report, invitation: str | None) -> dict[str, Any]:
        headers = {} if invitation is None else {"X-Invitation": invitation}
        path = f"{self.open_phase.path}/reports"
        code, form = self.remote.post_json(path, report.to_json(), headers)
        if code not in _VERDICTS:
            kept = f" {_KEPT}" if invitation is not None and code in _NOT_INVITED else ""
            raise RemoteError(
                f"the aggregator did not take the report ({code}): {refusal(form)}{kept}"
            )
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


def _receipt(form: Mapping[str, Any], report: Report, *, epsilon: float | None) -> Receipt:
    """Read what an aggregator says of a report."""
    verdict, probability = form.get("verdict"), form.get("probability")
    if form.get("id") != report.id or verdict not in _VERDICTS.values():
        raise MessageError("the aggregator's receipt is not for this report; send it again later.")
    return Receipt(
        verdict=str(verdict),
        study=report.study,
        phase=report.phase,
        epsilon=epsilon,
        report=report,
        answer=_shown(form.get("answer")),
        probability=probability if isinstance(probability, float) else None,
    )


def _shown(answer: object) -> str | float | None:
    """Return a label or a number; what else an aggregator sends is not put before an owner."""
    if isinstance(answer, str) and answer.isprintable() and len(answer) <= _LONGEST_ANSWER:
        return answer
    return answer if isinstance(answer, int | float) else None
