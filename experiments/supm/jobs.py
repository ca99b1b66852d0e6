"""One job: one setting of the protocol, repeated; and what came out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from experiments.supm.settings import Pairs

__all__ = ["Job", "Outcome"]


@dataclass(frozen=True, kw_only=True)
class Job:
    """One setting, repeated.

    Parameters
    ----------
    data : str
        Name of the data set.
    method : {"supm", "nested", "raw", "pw"}
        The protocol with one (K, L); the same with (K, L) chosen by inner folds; no noise at all;
        the piecewise mechanism on all attributes and the label.
    reading : str
        Which reading of an ambiguous text: for "raw" and "pw" as in `experiments.supm.baselines`;
        for DR.PW and DR.WALDP whether the budget is the "total" of a training owner or is spent
        "twice", once to reduce and once to train.
    reduction, train : str
        As in `Curve`. Every trained model is tested on noisy records and on records as they are.
    pairs : Pairs
        One (K, L), or for "nested" those to choose from.
    epsilon : float
        The budget on the horizontal axis; 0 where there is none.
    folds : {"equal", "grouped"}
        Ten equal folds, or whole groups of dependent rows in one fold.
    bounds : {"extremes", "public"}
        The bounds of attributes: smallest and largest value as in the papers, or the loader's.
    shares : {"label", "attributes"}
        Whether a test owner spends a share on a label as in the papers, or all on attributes.
    repeats : int
        Repetitions.
    """

    data: str
    method: str = "supm"
    reading: str = ""
    reduction: str = ""
    train: str = ""
    pairs: Pairs = ()
    epsilon: float = 0.0
    folds: str = "equal"
    bounds: str = "extremes"
    shares: str = "label"
    repeats: int

    @classmethod
    def from_form(cls, form: dict[str, Any]) -> Job:
        """Read what ``asdict`` and JSON made of a job."""
        pairs = tuple((int(keep), int(classes)) for keep, classes in form["pairs"])
        return cls(**{**form, "pairs": pairs})


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Shares of right predictions, one for each repetition.

    Parameters
    ----------
    answered, answered_balanced : tuple of float
        Accuracy and balanced accuracy on test records that were sent as the test phase says.
    device, device_balanced : tuple of float
        The same for test records that stay at home: their classes as they are (ODA).
    majority : float
        Accuracy of the commonest class.
    seconds : float
        Processor time of all repetitions.
    """

    answered: tuple[float, ...]
    answered_balanced: tuple[float, ...]
    device: tuple[float, ...]
    device_balanced: tuple[float, ...]
    majority: float
    seconds: float

    @classmethod
    def from_form(cls, form: dict[str, Any]) -> Outcome:
        """Read what ``asdict`` and JSON made of an outcome."""
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in form.items()
        }
        return cls(**values)

    def accuracy(self, test: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Return per cent right in each repetition, for one way of testing."""
        return 100 * np.array(self.device if test == "oda" else self.answered)

    def balanced(self, test: str) -> float:
        """Return the mean balanced accuracy in per cent, for one way of testing."""
        chosen = self.device_balanced if test == "oda" else self.answered_balanced
        return 100 * float(np.mean(chosen))
