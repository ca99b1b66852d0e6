"""What is promised and what was spent: guarantees, neighbours, events, composition, budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from supm._lazy import names_on_demand

if TYPE_CHECKING:
    from supm.privacy.budget import Budget, Spending
    from supm.privacy.composition import parallel, sequential
    from supm.privacy.events import (
        ComposedEvent,
        Event,
        GaussianEvent,
        LaplaceEvent,
        NonPrivateEvent,
        PureEvent,
        RandomizedResponseEvent,
        accountant_relation,
    )
    from supm.privacy.guarantee import (
        ApproximateDP,
        GaussianDP,
        Guarantee,
        NoGuarantee,
        PureDP,
        PureLDP,
        realised,
    )
    from supm.privacy.neighbours import Neighbours

__all__ = [
    "ApproximateDP",
    "Budget",
    "ComposedEvent",
    "Event",
    "GaussianDP",
    "GaussianEvent",
    "Guarantee",
    "LaplaceEvent",
    "Neighbours",
    "NoGuarantee",
    "NonPrivateEvent",
    "PureDP",
    "PureEvent",
    "PureLDP",
    "RandomizedResponseEvent",
    "Spending",
    "accountant_relation",
    "parallel",
    "realised",
    "sequential",
]

__getattr__ = names_on_demand(
    __name__,
    {
        "budget": "Budget Spending",
        "composition": "parallel sequential",
        "events": (
            "ComposedEvent Event GaussianEvent LaplaceEvent NonPrivateEvent PureEvent "
            "RandomizedResponseEvent accountant_relation"
        ),
        "guarantee": "ApproximateDP GaussianDP Guarantee NoGuarantee PureDP PureLDP realised",
        "neighbours": "Neighbours",
    },
)
