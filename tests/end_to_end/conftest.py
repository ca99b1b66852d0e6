"""Owners of `tests.owner` at the stores of `tests.service`."""

from __future__ import annotations

from tests.owner.conftest import record, study, wallet
from tests.service.conftest import cluster, missing, postgres, store, store_url

__all__ = ["cluster", "missing", "postgres", "record", "store", "store_url", "study", "wallet"]
