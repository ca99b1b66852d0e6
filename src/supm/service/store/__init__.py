"""What the aggregator keeps: studies, reports and counts, in SQLite or PostgreSQL."""

from __future__ import annotations

from supm.service.store.store import Store
from supm.service.store.values import Opened, Receipt, Refusal, Submission

__all__ = ["Opened", "Receipt", "Refusal", "Store", "Submission"]
