"""One face for what was measured, whether the target has classes or is a number."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from supm.cli._curve import Curve
from supm.cli._figures import between, curve, figures, for_machines
from supm.cli._numbers import number_between, number_curve, number_figures, number_for_machines
from supm.cli._outcome import NumberOutcome, Outcome
from supm.cli._output import paragraph
from supm.cli._plans import plans
