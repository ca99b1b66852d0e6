"""What a party reads and allows before it takes part: what would leave it, and its caps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from supm._errors import BudgetError, MessageError, ParameterError
from supm._json import check_fields, read_object
from supm._random import RandomSource, secure
from supm._validation import Integers, Reals, keep_checked
from supm.federation.rows import Rows
from supm.federation.study import FederatedStudy
from supm.messages.codec import Message
from supm.reporting import Table

_VERSION: Final = 1
_NEEDED: Final = ("version", "epsilon", "delta", "total")
_FIELDS: Final = (*_NEEDED, "colluders")
_EPSILON: Final = Reals("epsilon", 0.0, 1e4)
_DELTA: Final = Reals("delta", 0.0, 0.5)
_TOTAL_EPSILON: Final = Reals("total epsilon", 0.0, 1e4)
_TOTAL_DELTA: Final = Reals("total delta", 0.0, 0.5)
_COLLUDERS: Final = Integers("colluders", 0, 1000)
_EXAMPLE: Final = (
    '{"version": 1, "epsilon": 1, "delta": 1e-5, "total": {"epsilon": 4, "delta": 1e-4}}'
)
_SHOWN: Final = 3
_LEAVES: Final = (
    "What leaves, besides keys: each number is computed from your records with noise that is drawn "
    "here, under masks that cancel only in the sum over all parties."
)


@dataclass(frozen=True, kw_only=True)
class Spent(Message):
    """What a party spent on one run.

    Parameters
    ----------
    study : str
        The hash of the study.
    epsilon, delta : float
        What it cost each record.
    """

    noun = "what was spent"
    study: str
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        keep_checked(self, epsilon=_EPSILON, delta=_DELTA)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The most that a party spends.

    Parameters
    ----------
    epsilon, delta : float
        On one study, however often it is run.
    total_epsilon, total_delta : float
        On all studies together.
    colluders : int, default 0
        A study must keep its promise even if so many other parties work with the server.

    Examples
    --------
    >>> Policy(epsilon=1, delta=1e-5, total_epsilon=4, total_delta=1e-4).colluders
    0
    """

    epsilon: float
    delta: float
    total_epsilon: float
    total_delta: float
    colluders: int = 0

    def __post_init__(self) -> None:
        keep_checked(self, epsilon=_EPSILON, delta=_DELTA, colluders=_COLLUDERS)
        keep_checked(self, total_epsilon=_TOTAL_EPSILON, total_delta=_TOTAL_DELTA)

    @classmethod
    def from_json(cls, text: str) -> Policy:
        """Read a policy from its file's text; MessageError where it is none of this version."""
        form = read_object(text, "policy", MessageError)
        check_fields(form, _FIELDS, "a policy", MessageError)
        total = _total_of(form)
        try:
            own = {name: form[name] for name in ("epsilon", "delta", "colluders") if name in form}
            return cls(**own, total_epsilon=total["epsilon"], total_delta=total["delta"])
        except ParameterError as error:
            raise MessageError(str(error)) from None

    def check(self, study: FederatedStudy, spent: Sequence[Spent]) -> Spent:
        """Refuse a study that costs more than is allowed, or trusts more.

        Parameters
        ----------
        study : FederatedStudy
            What the party would take part in.
        spent : sequence of Spent
            What it took part in before.

        Returns
        -------
        Spent
            What it costs, to be written down before anything leaves.

        Raises
        ------
        BudgetError
            If it is refused; it says which cap and by how much.
        """
        withstood = study.protocol.withstood
        if withstood < self.colluders:
            raise BudgetError(
                f"the policy wants a promise that holds even if {self.colluders} parties work with "
                f"the server, and this study's holds if {withstood} do."
            )
        epsilon, delta = study.price
        cost = Spent(study=study.hash, epsilon=epsilon, delta=delta)
        here = [each for each in spent if each.study == study.hash]
        _check_caps("this study", here, cost, (self.epsilon, self.delta))
        together = (self.total_epsilon, self.total_delta)
        _check_caps("all studies together", spent, cost, together)
        return cost


def what_leaves(study: FederatedStudy, rows: Rows, name: str) -> list[str]:
    """Say what would leave a party, in paragraphs and a table.

    Parameters
    ----------
    study : FederatedStudy
        The study.
    rows : Rows
        The party's own.
    name : str
        What the party calls its table.

    Returns
    -------
    list of str
    """
    rounds = zip(study.protocol.parts, study.protocol.lengths, strict=True)
    cells = [[str(n), part.name, f"{count:,}"] for n, (part, count) in enumerate(rounds, start=1)]
    head = ["round", "what", "whole numbers, masked"]
    return [
        study.words,
        f"{name} has {rows.size:,} records, and that number is told. {_clipped(rows)}",
        _LEAVES,
        str(Table(head=head, rows=cells, words=2)),
        example(secure()),
    ]


def example(source: RandomSource) -> str:
    """Show numbers such as those that leave a party.

    Under a mask every number is equally likely, whatever it hides, so nothing is computed for it.
    """
    numbers = ", ".join(map(str, source.words(_SHOWN).tolist()))
    return (
        "Under its mask each number is any from 0 to 2^64 - 1 with the same chance, whatever it "
        f"hides. So what leaves looks like these, which were drawn just now: {numbers}, …"
    )


def _clipped(rows: Rows) -> str:
    if not rows.clipped:
        return "All of them are within the public bound on their length."
    return (
        f"{rows.clipped:,} of them are longer than the public bound and are shortened to it; how "
        "many these are is not told."
    )


def _check_caps(
    where: str, before: Sequence[Spent], cost: Spent, most: tuple[float, float]
) -> None:
    for name, cap in zip(("epsilon", "delta"), most, strict=True):
        held = sum((_exact(getattr(each, name)) for each in before), Fraction(0))
        more = getattr(cost, name)
        if held + _exact(more) > _exact(cap):
            raise BudgetError(
                f"the policy allows {name} = {cap:g} for {where}; {float(held):.6g} is spent, and "
                f"this run costs {more:.6g} more; allow more, or agree on a study that costs less."
            )


def _exact(number: float) -> Fraction:
    # As decimals: three tenths are 0.3.
    return Fraction(repr(float(number)))


def _total_of(form: dict[str, Any]) -> dict[str, Any]:
    """Return the caps on all studies together; what is missing is named."""
    total = form.get("total")
    wrong = next((f"has no {name}" for name in _NEEDED if name not in form), "")
    if not wrong and form["version"] != _VERSION:
        wrong = "has another version"
    if isinstance(total, dict) and {*total} == {"epsilon", "delta"} and not wrong:
        return total
    wrong = wrong or "has a total of other fields than epsilon and delta"
    raise MessageError(f"the policy {wrong}; one of version {_VERSION} is {_EXAMPLE}.")
