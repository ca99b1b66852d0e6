"""The public document of a federation: what every party reads before it takes part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from functools import cached_property
from typing import Any, Final, Self

from supm import __version__
from supm._errors import BudgetError, FederationError, MessageError, ParameterError, RecordError
from supm._json import canonical
from supm._random import RandomSource
from supm._validation import Reals, check_kind, check_text, keep_checked
from supm.federation.components import Components
from supm.federation.coordinator import Coordinator, RoundRecord
from supm.federation.discriminant import Discriminant
from supm.federation.margin import Margin
from supm.federation.participant import Participant
from supm.federation.protocol import Protocol
from supm.federation.rows import Rows, SchemaEncoding
from supm.federation.secure_sum.keys import hash_text
from supm.messages.codec import Message, from_value
from supm.messages.release import Release, ReleaseStatement
from supm.privacy import ApproximateDP, GaussianDP, Guarantee
from supm.reporting import Result, Table
from supm.schema import Schema, TextTable

_LONGEST_NAME, _LONGEST_PURPOSE = 200, 2000
_DELTA: Final = Reals("delta", 1e-300, 0.5)
_SHIPPED: Final = Components | Discriminant | Margin
_DIGITS: Final = 6


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FederatedStudy(Message):
    """What is computed from the parties' tables, for what, with how much noise.

    Parameters
    ----------
    name : str
        What the study is called.
    protocol : Protocol
        What is computed; its guarantee follows from its noise.
    delta : float
        At which the guarantee is told as an epsilon.
    purpose : str
        What it is for, in words.

    Examples
    --------
    >>> from supm.federation import Circle, Discriminant, VectorEncoding
    >>> protocol = Discriminant.for_budget(
    ...     encoding=VectorEncoding(width=4, classes=2), epsilon=1.0, delta=1e-5,
    ...     circle=Circle(parties=3, colluders=1),
    ... )
    >>> study = FederatedStudy(name="hospitals", protocol=protocol, delta=1e-5)
    >>> FederatedStudy.from_json(study.to_json()).hash == study.hash
    True
    >>> round(study.promise.epsilon, 3) <= 1.0
    True
    """

    noun = "a federated study"
    version = 1
    name: str
    protocol: Protocol
    delta: float
    purpose: str = ""

    def __post_init__(self) -> None:
        check_kind("protocol", self.protocol, Protocol)
        check_text("name", self.name, _LONGEST_NAME)
        check_text("purpose", self.purpose, _LONGEST_PURPOSE)
        if not self.name:
            raise ParameterError("name", "a text that is not empty", self.name)
        keep_checked(self, delta=_DELTA)

    @cached_property
    def promise(self) -> Guarantee:
        """What each record is promised in total, as an epsilon at the study's delta."""
        total = self.protocol.guarantee
        if isinstance(total, GaussianDP):
            total = total.to_approximate(self.delta)
        if not isinstance(total, ApproximateDP):
            return total
        # Six digits are enough for people; to say more than is spent is still true.
        return replace(total, epsilon=_rounded_up(total.epsilon))

    @property
    def price(self) -> tuple[float, float]:
        """What it costs each record, epsilon and delta; or BudgetError where it has none."""
        promise = self.promise
        epsilon, delta = (getattr(promise, name, None) for name in ("epsilon", "delta"))
        if epsilon is None or delta is None:
            raise BudgetError("this study promises nothing that a policy can count.")
        return float(epsilon), float(delta)

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of the canonical text."""
        return hash_text(self.text)

    @cached_property
    def text(self) -> str:
        """The canonical text, which every party reads and consents to."""
        return canonical(self.to_form())

    def to_json(self) -> str:
        """Return the canonical text."""
        return self.text

    @classmethod
    def from_form(cls, form: object) -> Self:
        """Read what `to_form` wrote; the protocol is one of those that are shipped."""
        held = cls._checked(form)
        protocol = from_value(_SHIPPED, held["protocol"], "protocol", cls)
        others = {name: held[name] for name in ("name", "purpose", "delta")}
        try:
            return cls(protocol=protocol, **others)
        except ParameterError as error:
            raise MessageError(str(error)) from None

    @property
    def words(self) -> str:
        """What a party should know before it takes part, as a paragraph."""
        purpose = f" It is for: {self.purpose}" if self.purpose else ""
        return f"The study {self.name!r}.{purpose} {self.statement(simulation=False).words}"

    def statement(self, *, simulation: bool) -> ReleaseStatement:
        """Return what is promised for whatever the study releases."""
        return replace(self._statement, simulation=simulation)

    @cached_property
    def _statement(self) -> ReleaseStatement:
        return ReleaseStatement(
            study=self.hash,
            parts=self.protocol.parts,
            total=self.promise,
            trust=self.protocol.trust,
            simulation=False,
            software=f"supm {__version__}",
        )

    def summary(self) -> dict[str, Any]:
        """Return what machines want to know of it: what it costs and how much is told."""
        circle = self.protocol.circle
        return {
            "name": self.name,
            "hash": self.hash,
            "protocol": self.protocol.kind,
            "epsilon": getattr(self.promise, "epsilon", None),
            "delta": getattr(self.promise, "delta", None),
            "parties": circle.parties,
            "colluders": circle.colluders,
            "dropouts": circle.dropouts,
            "numbers": list(self.protocol.lengths),
        }

    def read_rows(self, data: object, schema: Schema | None = None) -> Rows:
        """Return a party's table as this study describes it."""
        encoding = self.protocol.encoding
        if not isinstance(encoding, SchemaEncoding):
            raise MessageError(
                "this study is about vectors, and only tables with a schema can be read."
            )
        if schema is not None and schema != encoding.schema:
            hint = "The study was made with another schema, with other bounds or values."
            raise ParameterError("schema", "the schema of the study", "another", hint)
        if not isinstance(data, TextTable):
            return encoding.rows(encoding.schema.read(data))
        _check_columns(data, encoding.schema)
        try:
            return encoding.rows(encoding.schema.read(data))
        except RecordError as error:
            raise RecordError(
                str(error) if data.path in str(error) else f"{data.path}: {error}"
            ) from None

    def coordinator(
        self, *, record: Callable[[RoundRecord], None] | None = None, simulation: bool = False
    ) -> Coordinator:
        """Return the server's side, which sends the release to the parties at the end."""
        return Coordinator(
            self.protocol,
            self.text,
            finish=lambda outcome, _: self.release(outcome, simulation=simulation).to_json(),
            record=record,
            simulation=simulation,
        )

    def participant(
        self,
        rows: Rows,
        source_for: Callable[[str], RandomSource],
        *,
        charge: Callable[[FederatedStudy], None] | None = None,
        on_problem: Callable[[Exception], None] | None = None,
    ) -> Participant:
        """Return a party's side, which answers for this study and for no other."""
        pay = charge or (lambda _: None)
        return Participant(rows, self._own, lambda *_: pay(self), source_for, on_problem)

    def _own(self, text: str) -> Protocol:
        if text != self.text:
            raise FederationError(
                "the server runs another study than the one that this party has read."
            )
        return self.protocol

    def release(self, outcome: Any, *, simulation: bool) -> Release:  # noqa: ANN401  each its own
        """Return what is published: the outcome with its statement."""
        return Release(
            kind=self.protocol.kind,
            study=self.text,
            content=outcome.to_form(),
            statement=self.statement(simulation=simulation),
        )

    def check_release(self, release: Release) -> None:
        """Refuse what a server sent at the end and says something else than this study."""
        told, own = release.statement, self.statement(simulation=False)
        if replace(told, software=own.software) != own:
            raise FederationError(
                "the server published a release whose statement is not that of this study."
            )

    def __repr__(self) -> str:
        """Say what it is and its hash."""
        return f"FederatedStudy({self.name!r}, {self.protocol.kind}, {self.hash[:12]})"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Federated(Result):
    """What came out of a run.

    Parameters
    ----------
    study : FederatedStudy
        The document that the parties consented to.
    outcome : object
        What the protocol concluded; it can be used to predict.
    release : Release
        The same as a document, with its statement.
    fingerprint : str
        Of the keys of all parties: those who see the same one had no stranger between them.
    """

    study: FederatedStudy
    outcome: Any
    release: Release
    fingerprint: str

    @classmethod
    def of(cls, study: FederatedStudy, coordinator: Coordinator) -> Federated:
        """Return what a coordinator that has finished concluded."""
        return cls(
            study=study,
            outcome=coordinator.outcome,
            release=study.release(coordinator.outcome, simulation=coordinator.simulation),
            fingerprint=coordinator.roster_fingerprint,
        )

    @property
    def headline(self) -> str:
        """What was published."""
        return f"Published: {self.release.kind} of {self.study.name}."

    def to_form(self) -> dict[str, Any]:
        """Return the statement as plain values for JSON."""
        return self.release.statement.to_form()

    def tables(self) -> Sequence[Table]:
        """Return what was released, one by one."""
        protocol = self.study.protocol
        rounds = zip(protocol.parts, protocol.lengths, strict=True)
        rows = [[part.name, f"{count:,}", _short(part.guarantee)] for part, count in rounds]
        return [Table(head=["what", "numbers from each party", "promise"], rows=rows)]

    def words(self) -> Sequence[str]:
        """Return the statement as a paragraph that needs no other reading."""
        return [self.release.statement.words]


def _short(promise: Guarantee) -> str:
    """Return a promise in its own numbers."""
    told = {name: getattr(promise, name, None) for name in ("mu", "epsilon", "delta")}
    return ", ".join(f"{name} = {value:.4g}" for name, value in told.items() if value is not None)


def _check_columns(table: TextTable, schema: Schema) -> None:
    for name in (*schema.names, schema.target.name):
        # The names that there are stay unsaid: in a file without a header they would be values.
        if name not in table.names:
            raise RecordError(
                f"{table.path} has no column {name!r}; its first line must name the columns as the "
                "study does."
            )


def _rounded_up(epsilon: float) -> float:
    exact = Decimal(repr(epsilon))
    step = Decimal(1).scaleb(exact.adjusted() - _DIGITS + 1)
    return float(exact.quantize(step, rounding=ROUND_CEILING))
