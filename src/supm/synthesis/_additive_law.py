"""What laws share whose noise does not depend on the value."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm.synthesis._number_law import NumberLaw

__all__ = ["AdditiveLaw"]

# Within a tenth of the noise's own scale, reports say the same about the value.
_PER_SCALE: Final = 10
# Standard deviations beyond which no noise is ever drawn: of Laplace's, one in 10^18 is.
_REACH: Final = 30.0


class AdditiveLaw(NumberLaw):
    """Base of the laws whose reports are already unbiased and may lie beyond the bounds."""

    def unbiased(self, reports: ArrayLike) -> NDArray[np.float64]:
        """Return the reports themselves: the noise has mean zero."""
        return np.asarray(reports, dtype=np.float64)

    def supported(self, reports: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Say of each number whether it is at most 30 standard deviations beyond the bounds."""
        reach = _REACH * math.sqrt(self.noise_terms[0])
        return np.asarray((reports >= self.low - reach) & (reports <= self.high + reach))

    def _core(self, borders: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
        """Return cells over the bins: half a bin wide, or a tenth of the scale if that is more."""
        width = max((borders[-1] - borders[0]) / (2 * (borders.size - 1)), scale / _PER_SCALE)
        count = max(1, math.ceil((borders[-1] - borders[0]) / width))
        return np.linspace(borders[0], borders[-1], count + 1)
