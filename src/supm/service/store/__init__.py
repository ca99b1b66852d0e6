"""What the aggregator keeps: studies, reports and counts, in SQLite or PostgreSQL."""

from __future__ import annotations

from supm.service.store._database import DatabaseAddress
from supm.service.store.store import Store
from supm.service.store.values import Opened, Refusal, Submission, Verdict

__all__ = ["DatabaseAddress", "Opened", "Refusal", "Store", "Submission", "Verdict"]
