"""A few parties with a table each learn together: only noisy sums over all of them are seen."""

from __future__ import annotations

from supm.federation.components import Components, ComponentsOutcome
from supm.federation.coordinator import Coordinator
from supm.federation.discriminant import Discriminant, DiscriminantOutcome
from supm.federation.encoding import Encoding, SchemaEncoding, VectorEncoding
from supm.federation.margin import Margin, MarginOutcome
from supm.federation.participant import Participant
from supm.federation.protocol import Protocol, RoundQuestion, party_source, run_pooled
from supm.federation.receipts import RoundRecord
from supm.federation.rows import Rows, grid_rows
from supm.federation.study import FederatedStudy, open_release
from supm.federation.trust import Circle

__all__ = [
    "Circle",
    "Components",
    "ComponentsOutcome",
    "Coordinator",
    "Discriminant",
    "DiscriminantOutcome",
    "Encoding",
    "FederatedStudy",
    "Margin",
    "MarginOutcome",
    "Participant",
    "Protocol",
    "RoundQuestion",
    "RoundRecord",
    "Rows",
    "SchemaEncoding",
    "VectorEncoding",
    "grid_rows",
    "open_release",
    "party_source",
    "run_pooled",
]
