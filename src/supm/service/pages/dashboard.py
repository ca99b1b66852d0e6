"""The analyst's page: where a study stands, what its reports say, and the next step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus
from threading import Lock
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from supm.collection import account
from supm.collection.forecasting import accuracy_by_budget, round_owners
from supm.messages import PHASES, Model, Study, Trust
from supm.owner import explain
from supm.service.pages.frame import PLOTLY_VERSION, plotly_marks, render
from supm.service.pages.model_tables import chosen_of, rule_view
from supm.service.pages.sign_in import go
from supm.service.security import brings_token, store_of
from supm.service.store import Store
from supm.service.store.values import Opened, State

# With so few, a forecast takes about a second.
_FEW_ATTRIBUTES: Final = 5
_FEW_LABELS: Final = 4
_FEW_OWNERS: Final = 2000
_MOST_KEPT: Final = 32
_kept: Final[dict[tuple[str, int], dict[str, Any]]] = {}
# A forecast takes a processor for a second or more, and reports come first.
_one_at_a_time: Final = Lock()


def dashboard_page(request: Request, name: str) -> Response:
    """Return the dashboard, or send who has no token to the form for it."""
    opened = store_of(request).find(name)
    if not brings_token(request, name):
        return go(f"/studies/{opened.name}/enter")
    reports = store_of(request).reports(name)
    return render(request, "dashboard.html", _context(request, opened, reports))


def forecast_json(request: Request, name: str) -> Response:
    """Return the accuracy by budget on made-up people, for the analyst."""
    opened = store_of(request).find(name)
    if not brings_token(request, name):
        return JSONResponse({"error": "this needs the study's token."}, HTTPStatus.FORBIDDEN)
    owners = _owners(opened, store_of(request).reports(name))
    return JSONResponse(_forecasts(opened.documents[0], owners))


def _forecasts(study: Study, owners: int) -> dict[str, Any]:
    """Return the accuracy by budget, worked out once."""
    key = study.hash, owners
    with _one_at_a_time:
        if key not in _kept:
            while len(_kept) >= _MOST_KEPT:
                _kept.pop(next(iter(_kept)))
            _kept[key] = accuracy_by_budget(study, owners)
        return _kept[key]


def _context(request: Request, opened: Opened, reports: dict[str, int]) -> dict[str, Any]:
    study, beginning = opened.study, opened.documents[0]
    phases = phases_of(opened, reports, _unused(store_of(request), opened))
    owners = _owners(opened, reports)
    return {
        "name": opened.name,
        "title": study.purpose or f"Predict {study.schema.target.name}",
        "state": str(opened.state),
        "epsilon": study.epsilon,
        "mode": study.mode,
        "trust": trust_in_words(study.trust),
        "numeric": study.numeric,
        "tested": study.question("test") is not None,
        "merged": study.merges is not None,
        "weights": opened.weights,
        "invited": opened.invited,
        "has_model": opened.model is not None,
        "facts": facts_of(opened),
        "steps": steps_of(opened),
        "phases": phases,
        "reports": sum(reports.values()),
        "moves": moves_of(opened),
        "chosen": chosen_of(study),
        "simulation": opened.simulation,
        "rule": None if opened.model is None else rule_view(Model.from_json(opened.model)),
        "link": str(request.url_for("owner_page", name=opened.name)),
        "forecast_owners": owners,
        "forecast": _forecast(beginning, owners),
        "plotly_version": PLOTLY_VERSION,
        "plotly_marks": plotly_marks(),
    }


def _unused(store: Store, opened: Opened) -> int | None:
    """Return how many invitations can still let a report in, where owners need one."""
    if not opened.invited or opened.open_phase is None:
        return None
    return store.unused_invitations(opened.name, opened.open_phase)


def _forecast(study: Study, owners: int) -> str:
    """Say how the page gets the forecast: at once, by itself after a while, or when asked to."""
    if study.numeric or (study.hash, owners) in _kept:
        return "ready"
    schema = study.schema
    few = len(schema.attributes) <= _FEW_ATTRIBUTES and study.labels <= _FEW_LABELS
    return "cheap" if few and owners <= _FEW_OWNERS else "asked"


def _owners(opened: Opened, reports: dict[str, int]) -> int:
    """Return for how many people a forecast is made: those expected, or those who reported."""
    training = sum(number for phase, number in reports.items() if phase != "test")
    expected = sum(number for phase, number in opened.minimums.items() if phase != "test")
    return round_owners(max(training, expected))


@dataclass(frozen=True, kw_only=True)
class Step:
    """One state on the way of a study; ``place`` is "done", "now" or "ahead"."""

    name: str
    place: str


@dataclass(frozen=True, kw_only=True)
class Phase:
    """Who is asked in a phase, how many answered, and who may still.

    ``unused`` is the number of invitations that can let a report of the open phase in; None where
    nobody needs one.
    """

    name: str
    who: str
    asked: str
    epsilon: float | None
    reports: int
    minimum: int
    deadline: str | None
    open: bool
    unused: int | None = None

    @property
    def expected(self) -> int:
        """How many reports are still needed."""
        return max(0, self.minimum - self.reports)


@dataclass(frozen=True, kw_only=True)
class Move:
    """A step that the analyst may take: what it does, and what to know before."""

    action: str
    title: str
    explanation: str
    phase: str | None = None
    weighted: bool = False


_MOVES: Final = {
    State.COLLECTING_TO_REDUCE: Move(
        action="reduce",
        title="Choose what to ask",
        explanation=(
            "The reports of this phase decide which attributes or classes the study goes on with. "
            "No further report of this phase is taken, and the choice cannot be taken back."
        ),
        phase="reduce",
    ),
    State.REDUCED: Move(
        action="open",
        title="Open for training reports",
        explanation="Owners can then report for training, on what was chosen.",
    ),
    State.COLLECTING_TO_TRAIN: Move(
        action="train",
        title="Train the model",
        explanation=(
            "A model is made from all training reports. No further training report is taken, and "
            "the model cannot be trained again."
        ),
        phase="train",
    ),
    State.TRAINED: Move(
        action="serve",
        title="Publish and serve",
        explanation="Owners can then have their records classified with the model.",
    ),
}
_DRAW: Final = Move(
    action="reduce",
    title="Draw the attributes",
    explanation=(
        "The attributes that the study goes on with are drawn at random; no record has a say in "
        "it. The choice cannot be taken back."
    ),
)
_CLOSE: Final = Move(
    action="close",
    title="Close the study",
    explanation="Nothing is taken or answered any more. A closed study stays closed.",
)


def steps_of(opened: Opened) -> list[Step]:
    """Return the states that this study goes through, and where it stands."""
    skipped = 0 if opened.documents[0].attributes is None else 2
    states = list(State)[skipped:]
    now = states.index(opened.state)
    places = ["done" if place < now else "ahead" for place in range(len(states))]
    places[now] = "now"
    return [Step(name=str(state), place=place) for state, place in zip(states, places, strict=True)]


def moves_of(opened: Opened) -> list[Move]:
    """Return the step that comes next, if any, and closing."""
    if opened.state is State.CLOSED:
        return []
    following = _MOVES.get(opened.state)
    if following is None:
        return [_CLOSE]
    if following.action == "reduce" and opened.study.question("reduce") is None:
        following = _DRAW
    if following.action == "train":
        following = replace(following, weighted=not opened.study.numeric)
    return [following, _CLOSE]


def phases_of(opened: Opened, reports: Mapping[str, int], unused: int | None = None) -> list[Phase]:
    """Return one entry for each phase that asks owners something."""
    study = opened.documents[0]
    rows = explain(study).rows
    return [
        Phase(
            name=question.phase,
            who=row.who,
            asked=row.asked,
            epsilon=row.epsilon,
            reports=reports.get(question.phase, 0),
            minimum=opened.minimums.get(question.phase, 0),
            deadline=day(opened.deadlines.get(question.phase)),
            open=opened.open_phase == question.phase,
            unused=unused if opened.open_phase == question.phase else None,
        )
        for question, row in zip(study.questions, rows, strict=False)
    ]


def facts_of(opened: Opened) -> dict[str, str]:
    """Return what is promised and by which plan, in words."""
    study = opened.study
    spent = account(study)
    facts = {"training": spent.training.sentence, "plan": explain(opened.documents[0]).sentence}
    return facts | {"testing": _testing(study, spent.testing.sentence), "created": _date(opened)}


def trust_in_words(trust: Trust) -> str:
    """Return which phases are trusted with what people hold.

    Examples
    --------
    >>> trust_in_words(Trust(test="device")), trust_in_words(Trust(train="trusted"))
    ('nobody is trusted', 'trusted to train')
    """
    named = zip(PHASES, trust.words, strict=True)
    trusted = [phase for phase, word in named if word == "trusted"]
    return f"trusted to {' and '.join(trusted)}" if trusted else "nobody is trusted"


def _testing(study: Study, sentence: str) -> str:
    if study.question("test") is None:
        return "The model is followed on the owner's own device: nothing leaves it."
    return sentence


def _date(opened: Opened) -> str:
    return day(opened.created) or ""


def day(seconds: float | None) -> str | None:
    """Return a time as a day and an hour, or None where there is none.

    Examples
    --------
    >>> day(0.0)
    '1970-01-01 00:00 UTC'
    """
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
