"""The wallet: what an owner answered before, what it cost, and how much they allow."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from supm._errors import BudgetError, ParameterError, PromiseError
from supm._validation import EPSILON, Reals
from supm.messages import PHASES, Report, Study
from supm.owner.wallet_file import Memory, WalletFile, default_path
from supm.privacy import Guarantee, PureLDP
from supm.privacy.promise_numbers import decimal, float_at_least, float_at_most

_COLUMNS: Final = (
    *("owner", "study", "beginning", "phase", "epsilon"),
    *("purpose", "server", "report", "answered", "acknowledged"),
)
_NOTE: Final = (
    f"INSERT OR IGNORE INTO answers ({', '.join(_COLUMNS)}) "  # noqa: S608  constants alone
    f"VALUES ({', '.join('?' * len(_COLUMNS))})"
)
_ANSWERS: Final = (
    f"SELECT {', '.join(_COLUMNS)} FROM answers "  # noqa: S608  constants alone
    "WHERE ? OR owner = ? ORDER BY place"
)


LIMITS: Final = {"total": "in total", "per_study": "for one study"}
"""What may be limited, in words."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The most that an owner spends; None where they set no limit.

    Parameters
    ----------
    total : float, optional
        Over all studies.
    per_study : float, optional
        On any one study and all that continue it.
    """

    total: float | None = None
    per_study: float | None = None

    def __post_init__(self) -> None:
        for name in LIMITS:
            given = getattr(self, name)
            if given is not None:
                # Zero is a limit too: nothing is to be spent.
                allowed = Reals(name, 0.0, EPSILON.high)
                object.__setattr__(self, name, allowed.check(given))


@dataclass(frozen=True, kw_only=True)
class Answered:
    """One answer that was drawn: for whom, what it cost, and whether it is known to have arrived.

    Parameters
    ----------
    owner : str
        Whose section of the wallet; empty for the only one.
    study, beginning : str
        The hash of the study, and of the one that it continues.
    phase : {"reduce", "train", "test"}
        Which question.
    epsilon : float or None
        What it spent: 0 where the same question had been answered before, None where the owner
        trusted the receiver and nothing is promised.
    purpose : str
        The study's own words.
    server : str
        Where it was to be sent.
    report : str
        The id of the report.
    answered : float
        When it was drawn, in seconds since 1970.
    acknowledged : float or None
        When the server said that it has it.
    """

    owner: str
    study: str
    beginning: str
    phase: str
    epsilon: float | None
    purpose: str
    server: str
    report: str
    answered: float
    acknowledged: float | None


class Wallet(Memory):
    """A file that remembers an owner's answers and what they cost.

    It is the memory of a `supm.owner.Owner`: what was answered is on the disk before anything
    is sent, so that a question asked again gets the same answer, also after a crash. It holds
    randomised answers and no record. Several processes may use one file at once.

    Parameters
    ----------
    path : str or Path, optional
        The file; by default what SUPM_WALLET names, or supm/wallet.db among the user's data. It is
        made for this user alone.
    clock : callable, optional
        Returns the time in seconds since 1970.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Wallet(f"{folder.name}/wallet.db") as wallet:
    ...     wallet.limit(total=4.0)
    ...     wallet["group of a study"] = 1
    >>> with Wallet(f"{folder.name}/wallet.db") as wallet:
    ...     print(wallet["group of a study"], wallet.limits.total, wallet.spent())
    1 4.0 0.0
    >>> folder.cleanup()
    """

    def __init__(
        self, path: str | Path | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(WalletFile(default_path() if path is None else Path(path)))
        self._clock = clock

    def section(self, owner: str) -> Wallet:
        """Return the part of the same file that belongs to one of several owners."""
        return self._at(self._section_name(owner))

    def sections(self) -> tuple[Wallet, ...]:
        """Return one wallet for each owner who has answered something."""
        found = self._file.run("SELECT DISTINCT owner FROM answers ORDER BY owner")
        return tuple(self._at(row[0]) for row in found)

    def _at(self, owner: str) -> Wallet:
        other = object.__new__(Wallet)
        Memory.__init__(other, self._file, owner)
        other._clock = self._clock
        return other

    @property
    def limits(self) -> Limits:
        """The most that each owner of this wallet spends."""
        kept = {name: self._setting(f"limit {name}") for name in LIMITS}
        numbers = {name: None if text is None else float(text) for name, text in kept.items()}
        return Limits(**numbers)

    def limit(self, **limits: float | None) -> None:
        """Set limits; what is not named stays as it is."""
        if not limits.keys() <= LIMITS.keys():
            raise ParameterError("limits", " or ".join(LIMITS), "another word")
        checked = Limits(**limits)
        with self.step():
            for name in limits:
                given = getattr(checked, name)
                self._set(f"limit {name}", None if given is None else repr(given))

    def spent(self, study: Study | None = None) -> float:
        """Return what this owner has spent: in all, or on a study and all that continue it."""
        return float_at_least(self._spent(None if study is None else study.beginning))

    def left(self, study: Study) -> float | None:
        """Return what this owner may still spend on a study; None where no limit is set."""
        rooms = [limit - spent for _, limit, spent in self._rooms(study)]
        return float_at_most(max(min(rooms), Fraction(0))) if rooms else None

    def check(self, epsilon: float, study: Study) -> None:
        """Raise BudgetError if an answer would cost more than this owner allows."""
        for name, limit, spent in self._rooms(study):
            if spent + decimal(epsilon) > limit:
                raise BudgetError(
                    f"an answer costs epsilon = {epsilon:.6g}, and of the {float(limit):.6g} that "
                    f"this owner allows {LIMITS[name]}, {float(spent):.6g} is spent; nothing was "
                    "sent. Limits are set with supm wallet limit."
                )

    def check_address(self, server: str, study: Study) -> None:
        """Raise BudgetError if another study was answered at an address."""
        query = "SELECT 1 FROM answers WHERE owner = ? AND server = ? AND beginning != ? LIMIT 1"
        if self._file.run(query, self._owner, server, study.beginning):
            raise BudgetError(
                "another study was answered at this address, and this one does not continue it; "
                "nothing was sent. A new study should have an address of its own."
            )

    def note(self, report: Report, study: Study, *, epsilon: float | None, server: str) -> None:
        """Write down what was drawn, and for whom; a report that is known stays as it is."""
        where = self._owner, study.hash, study.beginning, report.phase
        what = epsilon, study.purpose, server, report.id, self._clock(), None
        self._file.run(_NOTE, *where, *what)

    def acknowledge(self, report: Report, *, server: str) -> None:
        """Write down that a server has a report."""
        statement = (
            "UPDATE answers SET acknowledged = ? "
            "WHERE owner = ? AND report = ? AND server = ? AND acknowledged IS NULL"
        )
        self._file.run(statement, self._clock(), self._owner, report.id, server)

    def answers(self, *, everybody: bool = False) -> tuple[Answered, ...]:
        """Return what was answered, in order."""
        rows = self._file.run(_ANSWERS, everybody, self._owner)
        return tuple(Answered(**dict(zip(_COLUMNS, row, strict=True))) for row in rows)

    def forget(self, study: str) -> int:
        """Forget this owner's answers in a study; the next ones are drawn anew and cost again.

        Groups, and who trains or is tested, are kept: to forget is no way to
        be asked twice for one budget.
        """
        with self.step():
            beginning = self._beginning_of(study)
            for phase in PHASES:
                # The owner's memory says which answer a phase of a study got.
                answer = self.pop(f"asked {phase} {beginning}", None)
                if isinstance(answer, str):
                    self.pop(answer, None)
            given = [each for each in self.answers() if each.beginning == beginning]
            names = {f"report {each.phase} {each.study}" for each in given}
            return sum(self.pop(name, None) is not None for name in names)

    def _beginning_of(self, study: str) -> str:
        """Return the one study that is meant."""
        found = {
            each.beginning
            for each in self.answers()
            if study and (each.study.startswith(study) or each.beginning.startswith(study))
        }
        if len(found) != 1:
            wanted = "the first digits of the hash of one study that was answered"
            raise ParameterError("STUDY", wanted, study, "supm wallet show lists them.")
        return found.pop()

    def _spent(self, beginning: str | None) -> Fraction:
        query = "SELECT epsilon FROM answers WHERE owner = ? AND epsilon > 0"
        more = "" if beginning is None else " AND beginning = ?"
        values = (self._owner,) if beginning is None else (self._owner, beginning)
        rows = self._file.run(query + more, *values)
        return sum((decimal(row[0]) for row in rows), start=Fraction(0))

    def _rooms(self, study: Study) -> list[tuple[str, Fraction, Fraction]]:
        """Return each limit that is set, with what is spent of it."""
        limits = self.limits
        spent = {"total": None, "per_study": study.beginning}
        return [
            (name, decimal(getattr(limits, name)), self._spent(beginning))
            for name, beginning in spent.items()
            if getattr(limits, name) is not None
        ]


class WalletBudget:
    """What one answer may cost: it asks the wallet, within the step that also keeps the answer."""

    def __init__(self, wallet: Wallet, study: Study) -> None:
        self._wallet, self._study = wallet, study
        self.epsilon = 0.0
        """What was spent: nothing, where the question had been answered before."""

    def check(self, guarantee: Guarantee) -> None:
        """Raise BudgetError where it is more than the owner allows."""
        if not isinstance(guarantee, PureLDP):
            raise PromiseError("a wallet counts local differential privacy and no other promise.")
        self._wallet.check(guarantee.epsilon, self._study)

    def spend(self, guarantee: Guarantee, *, purpose: str) -> None:
        """Spend, or raise and change nothing; the wallet notes the purpose with the report."""
        _ = purpose
        self.check(guarantee)
        if isinstance(guarantee, PureLDP):
            self.epsilon += guarantee.epsilon
