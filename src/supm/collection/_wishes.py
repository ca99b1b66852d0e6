"""What a user asked for, held against the trust and filled up by public rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from supm._errors import ParameterError
from supm._validation import Integers
from supm.messages import FORMS, PRIVATE, REDUCE_FORMS, Trust
from supm.schema import Categorical, Ordinal, Schema

__all__ = ["Wishes"]

_OWNERS: Final = Integers("owners", 1, 1 << 40)
_REDUCTIONS: Final = ("rand", *REDUCE_FORMS)


class Wishes:
    """What the user asked for, held against the trust and filled up by public rules."""

    def __init__(self, schema: Schema, epsilon: float, trust: Trust, mode: str) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.trust = trust
        self.mode = mode

    def names(self, attributes: Sequence[str] | None, keep: int | None) -> tuple[str, ...] | None:
        if attributes is None:
            return None
        given: object = (attributes,) if isinstance(attributes, str) else attributes
        # A set has no order, so the same wish would make different studies.
        if not isinstance(given, Iterable) or isinstance(given, AbstractSet | Mapping):
            raise ParameterError("attributes", "a list of names", type(given))
        names = tuple(given)
        known = set(self.schema.names)
        unknown = [name for name in names if not isinstance(name, str) or name not in known]
        if unknown or not names or len(set(names)) < len(names):
            wanted = "different names of the schema's attributes"
            raise ParameterError("attributes", wanted, unknown[0] if unknown else names)
        if keep is not None and keep != len(names):
            raise ParameterError("keep", f"left out, or {len(names)} as attributes say", keep)
        return names

    def reduction(self, wish: str | None, known: tuple[str, ...] | None) -> str:
        if known is not None:
            if wish is not None:
                raise ParameterError("reduce", "left out where the attributes are known", wish)
            return "known"
        trusted = self.trust.reduce == "trusted"
        if wish is None:
            default = "rank" if self.mode == "strict" else "rand"
            return "wa" if trusted else default
        if wish not in _REDUCTIONS:
            raise ParameterError("reduce", f"one of {', '.join(_REDUCTIONS)}", wish)
        if wish == "wa" and not trusted:
            rule = "rand, pw, waldp or rank where the reduce phase is untrusted"
            raise ParameterError("reduce", rule, wish, "Change the trust, or the wish.")
        return wish

    def drawn(self, sampled: int | None, reduction: str) -> int | None:
        if sampled is None:
            return None
        if reduction in ("known", "rand"):
            rule = "left out where nobody is asked in the reduce phase"
            raise ParameterError("sampled", rule, sampled)
        return Integers("sampled", 1, len(self.schema.attributes)).check(sampled)

    def form(self, phase: str, wish: str | None) -> str | None:
        place = getattr(self.trust, phase)
        if place == "device":
            if wish not in (None, "device"):
                rule = "left out where records are tested on the owner's device"
                raise ParameterError(phase, rule, wish, "Nothing leaves then.")
            return None
        if wish is None:
            private = "joint" if self.mode == "strict" else "odp"
            return "oda" if place == "trusted" else private
        if wish not in FORMS:
            hint = "For the device, say so in the trust." if wish == "device" else ""
            raise ParameterError(phase, f"one of {', '.join(FORMS)}", wish, hint)
        if place == "untrusted" and wish not in PRIVATE:
            rule = f"odp, pw or joint where the {phase} phase is untrusted"
            raise ParameterError(phase, rule, wish, "Change the trust, or the wish.")
        return wish

    def size(self, keep: int | None, classes: int | None, owners: int | None) -> tuple[int, int]:
        """Return K and L: what the user says, else a rule of budget, labels and owners."""
        most = len(self.schema.attributes)
        if keep is not None:
            hint = "Keep fewer, or describe more attributes."
            keep = Integers("keep", 1, most, hint).check(keep)
        if classes is not None:
            classes = Integers("classes", 2, 1 << 16).check(classes)
        if owners is not None:
            owners = _OWNERS.check(owners)
        if self.mode == "faithful":
            # "Spend a larger budget on more attributes" (paper 000, section 5.1).
            rule = min(most, 2 if self.epsilon < 20 else 5), 2 if self.epsilon < 40 else 4
            return keep or rule[0], classes or rule[1]
        held = classes or 2
        return keep or min(most, self._attributes_that_fit(held, owners)), held

    def _attributes_that_fit(self, classes: int, owners: int | None) -> int:
        """Return how many attributes a joint report carries: as many cells as e^epsilon."""
        cells = math.exp(min(self.epsilon, 16.0))
        if owners is not None:
            cells = min(cells, owners / 8)
        labels = self._labels()
        # Powers are exact; a quotient of logarithms misses 3^5 = 243.
        fitting = [keep for keep in range(2, 9) if labels * classes**keep <= cells]
        return max(fitting, default=1)

    def _labels(self) -> int:
        target = self.schema.target
        return len(target.values) if isinstance(target, Ordinal | Categorical) else 2
