"""The analyst's steps: from stored counts to the next document, the model, and the next state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from supm._errors import SupmError
from supm._random import secure
from supm.collection import Counts, make_model, reduce_study, train
from supm.learning import RadialSVM
from supm.messages import Model, Study
from supm.service.errors import StateChanged, StoreError
from supm.service.security import hash_invitation, hash_token, new_invitation, new_token
from supm.service.store import Opened, Store
from supm.service.store.values import State

# Should the server stop meanwhile, reports are taken again after so long.
_PAUSE_SECONDS: Final = 600.0


class NotReady(SupmError):  # noqa: N818  a study that has to wait is no error
    """A study is not ready for a step; nothing was changed."""


@dataclass(frozen=True, kw_only=True, repr=False)
class StudySecrets:
    """What whoever makes a study gets once; of each only the hash is stored."""

    token: str
    invitations: tuple[str, ...] = ()

    @classmethod
    def draw(cls, *, invitations: int = 0) -> StudySecrets:
        """Return a token, and so many invitations."""
        codes = tuple(new_invitation() for _ in range(invitations))
        return cls(token=new_token(), invitations=codes)

    @property
    def hashes(self) -> dict[str, Any]:
        """What `Store.create` keeps of them."""
        codes = [hash_invitation(each) for each in self.invitations]
        return {"token_hash": hash_token(self.token), "invitations": codes}


def reduce_stored(store: Store, name: str) -> Opened:
    """Choose what the rest of the study is about."""
    opened = _in_state(store, name, State.COLLECTING_TO_REDUCE, "reduced")
    if opened.study.question("reduce") is None:
        document = reduce_study(opened.study, None, secure())
        return store.advance(name, expected=opened.state, to=State.REDUCED, document=document)
    with _counted(store, opened, "reduce") as counts:
        return store.advance(
            name,
            expected=opened.state,
            to=State.REDUCED,
            document=reduce_study(opened.study, counts, secure()),
            counted=counts.reports,
        )


def open_training(store: Store, name: str) -> Opened:
    """Open the train phase of a reduced study."""
    opened = _in_state(store, name, State.REDUCED, "opened for training")
    return store.advance(name, expected=opened.state, to=State.COLLECTING_TO_TRAIN)


def train_stored(store: Store, name: str, *, weights: str | None = None) -> Opened:
    """Train on the stored reports."""
    opened = _in_state(store, name, State.COLLECTING_TO_TRAIN, "trained")
    with _counted(store, opened, "train") as counts:
        model = make_model(train(opened.study, counts, RadialSVM(), weights=weights))
        return store.advance(
            name,
            expected=opened.state,
            to=State.TRAINED,
            model=model.to_json(),
            weights=weights,
            counted=counts.reports,
        )


def serve_model(store: Store, name: str) -> Opened:
    """Let the model answer; where owners tell its answer, it becomes part of the document."""
    opened = _in_state(store, name, State.TRAINED, "served")
    question = opened.study.question("test")
    document = None
    if question is not None and question.form == "answer":
        document = opened.study.with_rule(Model.from_json(opened.model or "").rule)
    return store.advance(name, expected=opened.state, to=State.SERVING, document=document)


def close_study(store: Store, name: str) -> Opened:
    """Close a study for good."""
    opened = store.find(name)
    if opened.state is State.CLOSED:
        return opened
    closed = store.advance(name, expected=opened.state, to=State.CLOSED)
    for phase in store.reports(name):
        _drop_answers(store, name, phase)
    return closed


def document_of(opened: Opened, phase: str) -> Study:
    """Return the document that the reports of a phase answer."""
    if phase == "reduce":
        return opened.documents[0]
    plain = [each for each in opened.documents if each.rule is None]
    return plain[-1] if phase == "train" else opened.study


def _in_state(store: Store, name: str, wanted: State, step: str) -> Opened:
    opened = store.find(name)
    if opened.state is not wanted:
        raise StateChanged(f"the study is {opened.state}; it can be {step} where it is {wanted}.")
    return opened


@contextmanager
def _counted(store: Store, opened: Opened, phase: str) -> Iterator[Counts]:
    """Hold a phase still that has as many reports as it needs, and hand out its counts."""
    needed = max(opened.minimums.get(phase, 0), 1)
    stored = store.reports(opened.name).get(phase, 0)
    if stored < needed:
        raise NotReady(
            f"the {phase} phase has {stored:,} reports and needs {needed:,}; wait for more."
        )
    store.pause(opened.name, phase, _PAUSE_SECONDS)
    try:
        yield stored_counts(store, opened.name, phase)
    except BaseException:
        # It is still open, and takes reports again.
        store.pause(opened.name, phase, 0.0)
        raise
    _drop_answers(store, opened.name, phase)


def _drop_answers(store: Store, name: str, phase: str) -> None:
    """Keep the counts of a phase that is over, and no single answer."""
    # The step is taken. Where the database has no room now, a later look at the counts tries again.
    with suppress(StoreError):
        store.fold(name, phase)


def stored_counts(store: Store, name: str, phase: str) -> Counts:
    """Return what the stored reports of a phase add up to, or raise NotReady."""
    counts = store.counts(name, phase)
    if counts is None:
        raise NotReady(f"the {phase} phase has no reports yet; wait for some.")
    return counts
