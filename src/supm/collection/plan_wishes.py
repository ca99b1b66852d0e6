"""What a user asked for, held against the trust and filled up by public rules; its questions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from typing import Final, NamedTuple

from supm._errors import ParameterError
from supm._validation import Integers, suggestion
from supm.messages import FORMS, PRIVATE, REDUCE_FORMS, Question, Trust
from supm.schema import Attribute, Categorical, Ordinal, Schema

_CLASSES: Final = Integers("classes", 2, 1 << 16)
_REDUCTIONS: Final = ("rand", *REDUCE_FORMS)
_STRICT: Final = {"train": "sample", "test": "answer"}
_STEPS: Final = {"pw": 1024, "raw": 1 << 20}
_ANSWER_STEPS: Final = 1024


@dataclass(frozen=True, kw_only=True)
class PlanWishes:
    """What the user asked for, held against the trust and filled up by public rules."""

    schema: Schema
    epsilon: float
    trust: Trust
    mode: str
    owners: int | None
    keep: int | None
    classes: int | None
    sampled: int | None

    def __post_init__(self) -> None:
        hint = "Keep fewer, or describe more attributes."
        most = Integers("keep", 1, len(self.schema.attributes), hint)
        for name, limits in (("keep", most), ("classes", _CLASSES)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, limits.check(getattr(self, name)))

    @property
    def labels(self) -> int | None:
        """How many labels there are, or None where the target is a number."""
        target = self.schema.target
        return len(target.values) if isinstance(target, Ordinal | Categorical) else None

    def names(self, attributes: Sequence[str] | None) -> tuple[str, ...] | None:
        """Return the attributes that are known beforehand, if any are."""
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
            hint = suggestion(str(unknown[0]), self.schema.names) if unknown else ""
            raise ParameterError("attributes", wanted, unknown[0] if unknown else names, hint)
        if self.keep is not None and self.keep != len(names):
            raise ParameterError("keep", f"left out, or {len(names)} as attributes say", self.keep)
        return names

    def asked(self, known: tuple[str, ...] | None) -> tuple[Attribute, ...]:
        """Return the attributes that the study is about, before any are chosen."""
        if known is None:
            return self.schema.attributes
        by_name = {attribute.name: attribute for attribute in self.schema.attributes}
        return tuple(by_name[name] for name in known)

    def reduction(
        self, wish: str | None, known: tuple[str, ...] | None, strict: str = "rank"
    ) -> str:
        """Return how attributes are chosen."""
        if known is not None:
            if wish is not None:
                raise ParameterError("reduce", "left out where the attributes are known", wish)
            return "known"
        trusted = self.trust.reduce == "trusted"
        if wish is None:
            default = "rand" if self.mode == "faithful" else strict
            return "wa" if trusted and self.labels is not None else default
        if wish not in _REDUCTIONS:
            raise ParameterError("reduce", f"one of {', '.join(_REDUCTIONS)}", wish)
        if wish == "wa" and not trusted:
            rule = "rand, pw, waldp, rank or regroup where the reduce phase is untrusted"
            raise ParameterError("reduce", rule, wish, "Change the trust, or the wish.")
        return wish

    def drawn(self, reduction: str, rule: int) -> int | None:
        """Return how many attributes are told in the reduce phase."""
        if reduction in ("known", "rand"):
            if self.sampled is not None:
                rule_words = "left out where nobody is asked in the reduce phase"
                raise ParameterError("sampled", rule_words, self.sampled)
            return None
        if self.sampled is None:
            return rule
        return Integers("sampled", 1, len(self.schema.attributes)).check(self.sampled)

    def form(self, phase: str, wish: str | None) -> str | None:
        """Return what leaves the owner in a phase; None where nothing does."""
        place = getattr(self.trust, phase)
        if place == "device":
            if wish not in (None, "device"):
                rule = "left out where records are tested on the owner's device"
                raise ParameterError(phase, rule, wish, "Nothing leaves then.")
            return None
        if wish is None:
            private = _STRICT[phase] if self.mode == "strict" else "odp"
            # A number has no classes to tell; it is randomised for those who are trusted too.
            return "oda" if place == "trusted" and self.labels is not None else private
        if wish not in FORMS or (wish == "answer" and phase != "test"):
            hint = "For the device, say so in the trust." if wish == "device" else ""
            raise ParameterError(phase, f"one of {', '.join(FORMS)}", wish, hint)
        if place == "untrusted" and wish not in PRIVATE:
            allowed = [
                each for each in FORMS if each in PRIVATE and (phase == "test" or each != "answer")
            ]
            rule = f"one of {', '.join(allowed)} where the {phase} phase is untrusted"
            raise ParameterError(phase, rule, wish, "Change the trust, or the wish.")
        return wish

    def size(self, known: int | None) -> tuple[int, int]:
        """Return K and L where all kept attributes are told: the user's, else by a rule."""
        most, keep = len(self.schema.attributes), known or self.keep
        if self.mode == "faithful":
            # "Spend a larger budget on more attributes" (paper 000, section 5.1).
            rule = min(most, 2 if self.epsilon < 20 else 5), 2 if self.epsilon < 40 else 4
            return keep or rule[0], self.classes or rule[1]
        held = self.classes or 2
        return keep or min(most, self._attributes_that_fit(held)), held

    def _attributes_that_fit(self, classes: int) -> int:
        """Return how many attributes a joint report carries: as many cells as e^epsilon."""
        cells = math.exp(min(self.epsilon, 16.0))
        if self.owners is not None:
            cells = min(cells, self.owners / 8)
        # Powers are exact; a quotient of logarithms misses 3^5 = 243.
        labels = self.labels or 2
        fitting = [keep for keep in range(2, 9) if labels * classes**keep <= cells]
        return max(fitting, default=1)


class PlanChoice(NamedTuple):
    """How attributes are chosen, and how many of what are told."""

    reduction: str
    known: tuple[str, ...] | None
    keep: int
    classes: int
    reduce_told: int | None
    train_told: int | None
    groups: tuple[int, ...]
    fits_whole: bool = False


class Forms(NamedTuple):
    """What leaves those who train and those who are tested, and how many attributes each tells."""

    train: str
    train_told: int | None
    test: str | None
    test_told: int | None
    mechanism: str | None


def questions(
    wishes: PlanWishes, choice: PlanChoice, told: Forms, share: float
) -> tuple[Question, ...]:
    """Return the questions, with digits enough whatever the program around has set."""
    with localcontext(Context(prec=40)):
        return tuple(_questions(wishes, choice, told, Decimal(repr(share))))


def _questions(
    wishes: PlanWishes, choice: PlanChoice, told: Forms, share: Decimal
) -> Iterator[Question]:
    whole = Decimal(repr(wishes.epsilon))
    reduce_form = REDUCE_FORMS.get(choice.reduction)
    # Disjoint groups have the whole budget each; the same people share it between two questions.
    first = whole if reduce_form == "sample" else _floor(whole * share)
    rest = _floor(whole - first) if reduce_form in ("pw", "odp") else whole
    if reduce_form is not None:
        yield _question("reduce", reduce_form, first, choice.reduce_told)
    group = 1 if reduce_form == "sample" else 0
    train = _question("train", told.train, rest, told.train_told, group)
    yield replace(train, mechanism=told.mechanism)
    if told.test is not None:
        # The papers keep a share for a label that a record to be classified does not have.
        paper = wishes.mode == "faithful" and told.test in ("odp", "pw")
        budget = _floor(whole * choice.keep / (choice.keep + 1)) if paper else whole
        steps = _ANSWER_STEPS if wishes.labels is None and told.test == "answer" else None
        yield _question("test", told.test, budget, told.test_told, steps=steps)


def _question(
    phase: str,
    form: str,
    budget: Decimal,
    sampled: int | None,
    group: int = 0,
    *,
    steps: int | None = None,
) -> Question:
    return Question(
        phase=phase,
        form=form,
        epsilon=float(budget) if form in PRIVATE else None,
        steps=steps or _STEPS.get(form),
        sampled=sampled,
        group=group,
    )


def _floor(amount: Decimal) -> Decimal:
    """Cut to 15 digits, which a float prints as they are."""
    return amount.quantize(Decimal(10) ** (amount.adjusted() - 14), rounding=ROUND_FLOOR)
