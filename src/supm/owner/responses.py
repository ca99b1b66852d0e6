"""Randomized responses with an exact share of a budget."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from supm.mechanisms import GeneralizedRandomizedResponse
from supm.mechanisms.thresholds import threshold_for

__all__ = ["randomized_response"]


@lru_cache(maxsize=4096)
def randomized_response(size: int, share: Fraction) -> GeneralizedRandomizedResponse:
    """Return the response that keeps an exact share of a budget; many attributes have the same."""
    words = threshold_for(share, inside=1, outside=size - 1)
    return GeneralizedRandomizedResponse(size=size, keep_words=words)
