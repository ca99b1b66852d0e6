"""What accuracy the budgets around a study's own would buy: forecasts on made-up people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from supm._errors import SupmError
from supm._random import simulation
from supm.collection.forecasting import forecast
from supm.collection.planning import plan
from supm.messages import Study

_FACTORS: Final = (0.25, 0.5, 1.0, 2.0, 4.0)
_REPEATS: Final = 3
_FEWEST: Final = 40
_UNKNOWN: Final = 1000
_MOST: Final = 20_000
_LARGEST: Final = 64.0
_SEED: Final = 1


def round_owners(expected: int) -> int:
    """Return a number of people to make up: two digits, within what a forecast takes.

    Examples
    --------
    >>> round_owners(0), round_owners(1234), round_owners(10**7)
    (1000, 1200, 20000)
    """
    return int(float(f"{min(max(expected or _UNKNOWN, _FEWEST), _MOST):.1e}"))


def accuracy_by_budget(study: Study, owners: int) -> dict[str, Any]:
    """Return the accuracy that budgets around a study's own would reach on made-up people.

    Examples
    --------
    >>> from supm.datasets import load_wdbc
    >>> study = plan(load_wdbc().schema, epsilon=4.0, attributes=["mean radius"])
    >>> found = accuracy_by_budget(study, 100)
    >>> [point["epsilon"] for point in found["points"]]
    [1.0, 2.0, 4.0, 8.0, 16.0]
    """
    told: dict[str, Any] = {
        "owners": owners,
        "repeats": _REPEATS,
        "epsilon": study.epsilon,
        "device": study.question("test") is None,
        "note": "",
        "points": [],
    }
    if study.numeric:
        told["note"] = "There is no forecast where the target is a number."
        return told
    budgets = [study.epsilon * factor for factor in _FACTORS]
    tried = [each for each in budgets if each <= max(_LARGEST, study.epsilon)]
    points = [_point(study, epsilon, owners) for epsilon in tried]
    told["points"] = [point for point in points if point is not None]
    if not told["points"]:
        told["note"] = "A forecast cannot be made for this study."
    return told


def _point(study: Study, epsilon: float, owners: int) -> dict[str, float] | None:
    try:
        tried = study if epsilon == study.epsilon else _other(study, epsilon, owners)
        found = forecast(tried, owners=owners, source=simulation(_SEED), repeats=_REPEATS)
    except SupmError:
        # Some budgets allow no such plan; the others are shown.
        return None
    return {
        "epsilon": epsilon,
        "answered": found.answered,
        "on_device": found.on_device,
        "majority": found.majority,
    }


def _other(study: Study, epsilon: float, owners: int) -> Study:
    """Return the plan of another budget, with everything else that was chosen for this one."""
    return plan(study.schema, **{**_chosen(study, owners), "epsilon": epsilon})


def _chosen(study: Study, owners: int) -> dict[str, Any]:
    """Return the wishes that make this study; what the planner's rules give anyway is none."""
    wishes: dict[str, Any] = {
        "epsilon": study.epsilon,
        "trust": study.trust,
        "mode": study.mode,
        "owners": owners,
        "attributes": study.attributes,
    }
    # Forms twice, as the rule of each depends on the others; then numbers, which follow from all.
    for name, held in [*_FORMS.items(), *_FORMS.items(), *_NUMBERS.items()]:
        own = held(study)
        if own is not None and own != held(plan(study.schema, **wishes)):
            wishes[name] = own
    return wishes


def _form(phase: str) -> Callable[[Study], str | None]:
    return lambda study: getattr(study.question(phase), "form", None)


def _told(phase: str) -> Callable[[Study], int | None]:
    return lambda study: getattr(study.question(phase), "sampled", None)


def _reduction(study: Study) -> str | None:
    return None if study.reduction == "known" else study.reduction


def _share(study: Study) -> float | None:
    """Return which part of the budget the choice of attributes gets where it is shared."""
    question = study.question("reduce")
    if question is None or question.epsilon is None or len(study.groups) > 1:
        return None
    return question.epsilon / study.epsilon


_FORMS: Final[dict[str, Callable[[Study], str | None]]] = {
    "reduce": _reduction,
    "train": _form("train"),
    "test": _form("test"),
}
_NUMBERS: Final[dict[str, Callable[[Study], float | None]]] = {
    "classes": lambda study: study.classes,
    "keep": lambda study: study.keep,
    "sampled": _told("reduce"),
    "told": _told("train"),
    "reduce_share": _share,
}
