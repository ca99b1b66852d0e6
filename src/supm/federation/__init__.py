"""A few parties with a table each learn together: only noisy sums over all of them are seen."""

from __future__ import annotations

from supm.federation.components import Components, ComponentsOutcome
from supm.federation.coordinator import Coordinator
from supm.federation.discriminant import Discriminant, DiscriminantOutcome
from supm.federation.margin import Margin, MarginOutcome
from supm.federation.participant import Participant
from supm.federation.planning import Computation, open_release, plan_federation
from supm.federation.policy import Policy, Spent, what_leaves
from supm.federation.protocol import Circle, Protocol, RoundQuestion, party_source, run_pooled
from supm.federation.receipts import Receipted, RoundRecord
from supm.federation.rows import Encoding, Rows, SchemaEncoding, VectorEncoding, grid_rows
from supm.federation.secure_sum.wire import fingerprint_words
from supm.federation.study import Federated, FederatedStudy

__all__ = [
    "Circle",
    "Components",
    "ComponentsOutcome",
    "Computation",
    "Coordinator",
    "Discriminant",
    "DiscriminantOutcome",
    "Encoding",
    "Federated",
    "FederatedStudy",
    "Margin",
    "MarginOutcome",
    "Participant",
    "Policy",
    "Protocol",
    "Receipted",
    "RoundQuestion",
    "RoundRecord",
    "Rows",
    "SchemaEncoding",
    "Spent",
    "VectorEncoding",
    "fingerprint_words",
    "grid_rows",
    "open_release",
    "party_source",
    "plan_federation",
    "run_pooled",
    "what_leaves",
]
