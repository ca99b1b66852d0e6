"""What a published file promises, derived anew from the noise that it names, and who made it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from supm._errors import MessageError, PublicationError
from supm._json import read_object
from supm.collection import account, check_statement, make_statement
from supm.collection.words import cost_lines, plan_lines, statement_lines
from supm.federation import FederatedStudy, open_release
from supm.messages import Model, Release, ReleaseStatement, Statement, Study
from supm.publication.entry import ReleaseEntry
from supm.reporting import Result, counted
from supm.synthesis import SavedSynthesizer

AnyStatement: TypeAlias = Statement | ReleaseStatement

_WITHOUT: Final = (
    "WARNING: {} parties made this release together, and it was published without its rounds: none "
    "of them can find out whether it was counted."
)


@dataclass(frozen=True, kw_only=True, repr=False)
class Promise(Result):
    """What a text of SUPM is, and what it promises to whom.

    Parameters
    ----------
    noun : str
        What it is, such as "release".
    statement : Statement or ReleaseStatement
        What is promised: derived, where the text names its noise.
    lines : sequence of str
        That in words.
    """

    noun: str
    statement: AnyStatement
    lines: Sequence[str]

    @property
    def headline(self) -> str:
        """What it is."""
        return f"the promise of a {self.noun}"

    def to_form(self) -> dict[str, Any]:
        """Return the statement as plain values for JSON."""
        return self.statement.to_form()

    def words(self) -> Sequence[str]:
        """Return the promise in words."""
        return self.lines


def promise_of(text: str) -> Promise:
    """Return what a text of SUPM is, and what it promises.

    Parameters
    ----------
    text : str
        A model, a synthesizer, a statement, a study or a release, as JSON.

    Returns
    -------
    Promise

    Raises
    ------
    MessageError
        If it is none of them, or promises something else than its noise keeps.
    """
    noun, statement, lines = _read(text, read_object(text, "file", MessageError))
    return Promise(noun=noun, statement=statement, lines=lines or _lines(statement))


def _read(text: str, form: dict[str, Any]) -> tuple[str, AnyStatement, Sequence[str]]:
    """Return what a text is, its statement, and words where it has more to say than that."""
    if "content" in form:
        release = Release.from_json(text)
        # What is promised is derived from the noise that the study names, not believed.
        open_release(release)
        return "release", release.statement, ()
    if "protocol" in form:
        federated = FederatedStudy.from_json(text)
        return "federated study", federated.statement(simulation=False), [federated.words]
    if "statement" in form:
        return _learned(text, synthesizer="settings" in form)
    if "phases" in form:
        return "statement", Statement.from_json(text), ()
    if "parts" in form:
        return "statement of a release", ReleaseStatement.from_form(form), ()
    if "questions" in form:
        study = Study.from_json(text)
        lines = [*plan_lines(study), *cost_lines(account(study))]
        return "study", make_statement(study, simulation=False), lines
    raise MessageError(
        "the file is no model, statement, study or release of SUPM; their fields are others."
    )


def _learned(text: str, *, synthesizer: bool) -> tuple[str, AnyStatement, Sequence[str]]:
    if synthesizer:
        return "synthesizer", SavedSynthesizer.from_json(text).statement, ()
    model = Model.from_json(text)
    check_statement(model)
    return "model", model.statement, ()


def _lines(statement: AnyStatement) -> Sequence[str]:
    if isinstance(statement, ReleaseStatement):
        return [statement.words]
    return statement_lines(statement)


def own_statement(content: bytes) -> AnyStatement | None:
    """Return the statement of a release or a model of any kind, derived anew; None for the rest.

    It raises PublicationError for one that promises something else than its noise keeps.
    """
    try:
        text = content.decode("utf-8-sig")
        form = json.loads(text)
    except (ValueError, RecursionError):
        return None
    try:
        found = promise_of(text)
    except MessageError as error:
        # By what is read, not by how it is spelt: whoever uses the file reads it, too.
        if not isinstance(form, dict) or not {"statement", "content"} & set(form):
            return None
        raise PublicationError(
            f"the file is not a release or a model that keeps its promise: {error}"
        ) from None
    return found.statement if found.noun in ("release", "model", "synthesizer") else None


def told_of_the_run(content: bytes, entry: ReleaseEntry, facts: dict[str, Any]) -> Iterator[str]:
    """Yield in words who took part by the entry of a release, where that can be known."""
    text = content.decode("utf-8-sig")
    # A synthesizer has such a statement, too, and was made by no run.
    if "content" not in read_object(text, "file", PublicationError):
        return
    release = Release.from_json(text)
    protocol = FederatedStudy.from_json(release.study).protocol
    parties, rounds = protocol.circle.parties, protocol.rounds
    if not entry.commitments:
        if parties > 1:
            yield _WITHOUT.format(parties)
        return
    shape = f"{counted(rounds, 'round')} of {counted(parties, 'party')}"
    if [len(each) for each in entry.commitments] != [parties] * rounds:
        raise PublicationError(
            f"the entry tells of other rounds than the release's study has: {shape}."
        )
    lost, tolerated = _lost(entry), protocol.circle.dropouts
    if len(lost) > tolerated:
        raise PublicationError(
            f"by the entry {counted(len(lost), 'party')} had left before the end of the run, and "
            f"the release's study tolerates {tolerated}."
        )
    facts |= {"parties": parties, "rounds": rounds, "lost": sorted(lost)}
    yield f"The entry holds {shape}, with a hash of what each sent{_but(lost)}."


def _lost(entry: ReleaseEntry) -> dict[int, list[int]]:
    """Return for each party that is missing somewhere the rounds in which it is."""
    found: dict[int, list[int]] = {}
    for number, told in enumerate(entry.commitments):
        for party, each in enumerate(told):
            if not each:
                found.setdefault(party, []).append(number)
    return found


def _but(lost: dict[int, list[int]]) -> str:
    told = "; ".join(f"party {party} in {_rounds(missing)}" for party, missing in lost.items())
    return f". Lost, so not counted: {told}" if told else ""


def _rounds(missing: list[int]) -> str:
    noun = "round" if len(missing) == 1 else "rounds"
    return f"{noun} {', '.join(map(str, missing))}"
