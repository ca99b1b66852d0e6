"""What a study asks now: fetched from an aggregator and checked before anything is drawn."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from supm._errors import MessageError, PromiseError
from supm.messages import PHASES, Question, Report, Study
from supm.owner.http import Remote, RemoteError, split_study_url
from supm.owner.interviews import Interview, interview
from supm.owner.owner import check_promise
from supm.schema import Attribute

_LOOKS: Final = 3
_LONGEST: Final = 300
_CLOSED: Final = "the study is closed; nothing was spent or sent."
_NOTHING_NOW: Final = "the study asks nothing now; come back later, or look at its page."


@dataclass(frozen=True, kw_only=True)
class Remembered:
    """What a wallet remembers of an owner and a study, before anything is drawn or spent.

    Parameters
    ----------
    elsewhere : bool
        Whether the owner's group is known, and another one is asked.
    trained : bool
        Whether the owner helped to train what is tested now, and is not asked for that reason.
    report : Report or None
        The answer that was drawn before.
    """

    elsewhere: bool
    trained: bool
    report: Report | None


@dataclass(frozen=True, kw_only=True)
class OpenPhase:
    """The open question of a study, as its aggregator shows it.

    Parameters
    ----------
    study : Study
        The current document; its hash is the one that the aggregator names.
    phase : {"reduce", "train", "test"}
        What is open.
    invited : bool
        Whether a report needs an invitation.
    server : str
        The address of the study.
    path : str
        Where reports go, behind the address of the aggregator.
    """

    study: Study
    phase: str
    invited: bool
    server: str
    path: str

    def __post_init__(self) -> None:
        check_promise(self.interview, self.question)

    @cached_property
    def question(self) -> Question:
        """What is asked."""
        found = self.study.question(self.phase)
        if found is None or (self.phase == "reduce" and self.study.attributes is not None):
            raise MessageError(f"the study asks nothing in the {self.phase} phase.")
        return found

    @cached_property
    def columns(self) -> tuple[Attribute, ...]:
        """What is read from a record, on the owner's device."""
        asked = self.study.asked(self.phase)
        return (*asked, self.study.schema.target) if self.question.labelled else asked

    @cached_property
    def interview(self) -> Interview:
        """The mechanism that the question describes, made here and not by the aggregator."""
        return interview(self.study, self.question.phase)

    def remembered(self, wallet: Mapping[str, Any]) -> Remembered:
        """Look up how an owner stands to the question, and change nothing."""
        study, question = self.study, self.question
        apart = question.phase != "test" and len(study.groups) > 1
        group = wallet.get(f"group {study.beginning}", question.group)
        role = wallet.get(f"role {study.beginning}")
        report = wallet.get(f"report {question.phase} {study.hash}")
        return Remembered(
            elsewhere=apart and group != question.group,
            trained=question.phase == "test" and question.private and role == "training",
            report=None if report is None else Report.from_json(report),
        )


def fetch_open_phase(
    url: str,
    *,
    phase: str | None = None,
    remote: Remote | None = None,
    clock: Callable[[], float] = time.time,
) -> OpenPhase:
    """Ask an aggregator what a study asks now.

    Parameters
    ----------
    url : str
        The address of the study, such as ``https://host/studies/NAME``.
    phase : {"reduce", "train", "test"}, optional
        Refuse any other phase than this.
    remote : Remote, optional
        What fetches; one for the address by default.
    clock : callable, optional
        Returns the time in seconds since 1970, for deadlines.

    Returns
    -------
    OpenPhase

    Raises
    ------
    MessageError
        If nothing is asked now or the deadline has passed, or the document is not the one that the
        aggregator names.
    PromiseError
        If the mechanism would spend more than the study states.
    RemoteError
        If there is no answer.
    """
    base, name = split_study_url(url)
    path = f"/api/v1/studies/{name}"
    status, study = _fetch(Remote(base) if remote is None else remote, path)
    asked = _open_phase(status, phase)
    _check_deadline(status, asked, clock())
    return OpenPhase(
        study=study,
        phase=asked,
        invited=status.get("invited") is not False,
        server=f"{base}/studies/{name}",
        path=path,
    )


def refusal(form: Mapping[str, Any]) -> str:
    """Return why an aggregator refused, in its words if they can be shown.

    Examples
    --------
    >>> refusal({"error": "the phase is over."})
    'the phase is over.'
    """
    told = form.get("error")
    if not isinstance(told, str) or not told.isprintable() or len(told) > _LONGEST:
        return "it does not say why."
    return told


def _fetch(remote: Remote, path: str) -> tuple[dict[str, Any], Study]:
    # A study may move on between the two requests; then it is looked at once more.
    for _ in range(_LOOKS):
        status = _got(remote, path)
        study = Study.from_form(_got(remote, f"{path}/document"))
        if study.hash == status.get("document"):
            _check_stated(status, study)
            return status, study
    raise MessageError(
        "the aggregator shows a document that is not the one it names by hash; nothing was sent. "
        "Do not take part before that is cleared up."
    )


def _check_stated(status: Mapping[str, Any], study: Study) -> None:
    """Refuse an aggregator that names another price than the document that is consented to."""
    if status.get("epsilon", study.epsilon) != study.epsilon:
        raise PromiseError(
            "the aggregator states another epsilon than the study's document, which counts; "
            "nothing was sent."
        )


def _got(remote: Remote, path: str) -> dict[str, Any]:
    code, form = remote.get_json(path)
    if code != 200:
        raise RemoteError(f"the aggregator did not show the study ({code}): {refusal(form)}")
    return form


def _open_phase(status: Mapping[str, Any], wanted: str | None) -> str:
    phase = status.get("open_phase")
    if phase is None:
        closed = status.get("state") == "closed"
        raise MessageError(_CLOSED if closed else _NOTHING_NOW)
    if phase not in PHASES:
        raise MessageError(
            "the aggregator names a phase that this release does not know; nothing was sent."
        )
    if wanted not in (None, phase):
        raise MessageError(
            f"the study asks for the {phase} phase now, and not for the one that was named."
        )
    return str(phase)


def _check_deadline(status: Mapping[str, Any], phase: str, now: float) -> None:
    """Refuse what would come too late, before anything is spent on it."""
    deadlines = status.get("deadlines")
    told = deadlines.get(phase) if isinstance(deadlines, dict) else None
    try:
        until = datetime.fromisoformat(told).timestamp() if isinstance(told, str) else math.inf
    except (ValueError, OverflowError):
        until = math.inf
    if now > until:
        raise MessageError(
            f"the deadline of the {phase} phase has passed by this device's clock; nothing was "
            "spent or sent."
        )
