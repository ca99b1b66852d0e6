"""Randomizers, learners and reductions of one's own, held against what is needed of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from supm._errors import ParameterError
from supm._extensions import installed, load, name_of
from supm.collection.reduction import Reduction
from supm.learning import Learner
from supm.messages import FORMS, REDUCTIONS
from supm.owner.own import own_randomizer


def own_form(wish: Any, epsilon: float) -> tuple[str | None, str | None]:  # noqa: ANN401  a name or a class
    """Return what is asked in the train phase, and the name of the randomizer if it is one's own.

    Examples
    --------
    >>> own_form("odp", 1.0)
    ('odp', None)
    """
    if wish is None or _only_a_word("randomizers", wish, FORMS):
        return wish, None
    found = load("randomizers", wish)
    if not hasattr(found, "for_epsilon"):
        forms = f"one of {', '.join(FORMS)}, or a randomizer's class with for_epsilon"
        raise ParameterError("train", forms, type(found).__name__)
    name = name_of("randomizers", found)
    own_randomizer(name, 2, epsilon)
    return "joint", name


def own_learner(given: Learner | str | None) -> Learner | None:
    """Return a learner as it is, or the one that a name leads to."""
    if given is None:
        return None
    learner: Learner = _made(load("learners", given))
    if not hasattr(learner, "fit"):
        raise ParameterError("learner", "an object with fit", type(learner).__name__)
    return learner


def own_reduction(given: Reduction | str | None) -> Reduction | str | None:
    """Return a reduction of one's own, or the word of one that a study knows."""
    if given is None or _only_a_word("reductions", given, REDUCTIONS):
        return given
    reduction: Reduction = _made(load("reductions", given))
    asks = getattr(reduction, "asks", None)
    if asks not in set(REDUCTIONS) - {"known", "regroup"} or not hasattr(reduction, "choose"):
        rule = f"one of {', '.join(REDUCTIONS)}, or an object with asks and choose"
        raise ParameterError("reduce", rule, type(reduction).__name__)
    return reduction


def _only_a_word(kind: str, wish: Any, ours: Collection[str]) -> bool:  # noqa: ANN401  a name or an object
    """Say whether a wish is a word of ours, or one that leads nowhere.

    What is installed is read from the disk, so it is asked last.
    """
    if not isinstance(wish, str) or ":" in wish:
        return False
    return wish in ours or wish not in installed(kind)


def _made(found: Any) -> Any:  # noqa: ANN401  an object, or a class that needs no arguments
    return found() if isinstance(found, type) else found
