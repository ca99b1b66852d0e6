"""What a party allows: its caps, and a record of what it spent under them."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from supm._errors import BudgetError, MessageError, ParameterError
from supm._json import check_fields, read_object
from supm._validation import Integers, Reals
from supm.federation import FederatedStudy

__all__ = ["Policy", "Spendings", "price"]

_VERSION: Final = 1
_NEEDED: Final = ("version", "epsilon", "delta", "total")
_FIELDS: Final = (*_NEEDED, "colluders")
_EPSILON: Final = Reals("epsilon", 0.0, 1e4)
_DELTA: Final = Reals("delta", 0.0, 0.5)
_COLLUDERS: Final = Integers("colluders", 0, 1000)
_EXAMPLE: Final = (
    '{"version": 1, "epsilon": 1, "delta": 1e-5, "total": {"epsilon": 4, "delta": 1e-4}}'
)


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
    """

    epsilon: float
    delta: float
    total_epsilon: float
    total_delta: float
    colluders: int = 0

    def __post_init__(self) -> None:
        for name in ("epsilon", "total_epsilon"):
            object.__setattr__(self, name, _EPSILON.check(getattr(self, name)))
        for name in ("delta", "total_delta"):
            object.__setattr__(self, name, _DELTA.check(getattr(self, name)))
        object.__setattr__(self, "colluders", _COLLUDERS.check(self.colluders))

    @classmethod
    def from_json(cls, text: str) -> Policy:
        """Read a policy from its file's text.

        Parameters
        ----------
        text : str
            JSON.

        Returns
        -------
        Policy

        Raises
        ------
        MessageError
            If it is no policy of this version.
        """
        form = read_object(text, "policy", MessageError)
        check_fields(form, _FIELDS, "a policy", MessageError)
        total = form.get("total")
        if (
            not {*_NEEDED} <= {*form}
            or form["version"] != _VERSION
            or not isinstance(total, dict)
            or {*total} != {"epsilon", "delta"}
        ):
            message = f"a policy of version {_VERSION} is such as {_EXAMPLE}."
            raise MessageError(message)
        try:
            return cls(
                epsilon=form["epsilon"],
                delta=form["delta"],
                total_epsilon=total["epsilon"],
                total_delta=total["delta"],
                colluders=form.get("colluders", 0),
            )
        except ParameterError as error:
            raise MessageError(str(error)) from None

    def check(self, study: FederatedStudy, spent: list[dict[str, Any]]) -> None:
        """Refuse a study that costs more than is allowed, or trusts more.

        Parameters
        ----------
        study : FederatedStudy
            What the party would take part in.
        spent : list of dict
            What it took part in before: study, epsilon and delta.

        Raises
        ------
        BudgetError
            If it is refused; it says which cap and by how much.
        """
        withstood = study.protocol.withstood
        if withstood < self.colluders:
            message = (
                f"the policy wants a promise that holds even if {self.colluders} parties work with "
                f"the server, and this study's holds if {withstood} do."
            )
            raise BudgetError(message)
        here = [each for each in spent if each["study"] == study.hash]
        for where, before, most in (
            ("this study", here, (self.epsilon, self.delta)),
            ("all studies together", spent, (self.total_epsilon, self.total_delta)),
        ):
            _check_cap(where, before, price(study), most)


class Spendings:
    """What a party spent, in a file beside its policy that only its owner may read.

    Parameters
    ----------
    policy_path : Path
        The file of the policy; that of the spendings ends in ``.spent.json``.
    policy : Policy
        What is allowed.
    """

    def __init__(self, policy_path: Path, policy: Policy) -> None:
        self.path = policy_path.with_suffix(".spent.json")
        self._policy = policy

    def check(self, study: FederatedStudy) -> None:
        """Refuse a study that the policy does not allow; nothing is spent."""
        with self._opened() as file:
            self._policy.check(study, _read(file, self.path))

    def charge(self, study: FederatedStudy) -> None:
        """Refuse a study that the policy does not allow, or write down what it costs."""
        with self._opened() as file:
            spent = _read(file, self.path)
            self._policy.check(study, spent)
            epsilon, delta = price(study)
            spent.append({"study": study.hash, "epsilon": epsilon, "delta": delta})
            text = json.dumps({"version": _VERSION, "spent": spent}, indent=2) + "\n"
            # The text only grows. Cut off by a crash it cannot be read, and is not taken for empty.
            os.pwrite(file, text.encode(), 0)
            os.ftruncate(file, len(text.encode()))
            # On the disk before anything leaves.
            os.fsync(file)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        try:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            hint = f"{error.strerror}; what is spent is kept beside the policy."
            wanted = "in a folder that can be written"
            raise ParameterError("--policy", wanted, str(self.path), hint) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
        finally:
            os.close(file)


def price(study: FederatedStudy) -> tuple[float, float]:
    """Return what a study costs each record: epsilon and delta.

    Parameters
    ----------
    study : FederatedStudy
        The study.

    Returns
    -------
    tuple of float and float

    Raises
    ------
    BudgetError
        If it promises nothing that has an epsilon.
    """
    promise = study.promise
    epsilon, delta = (getattr(promise, name, None) for name in ("epsilon", "delta"))
    if epsilon is None or delta is None:
        message = "this study promises nothing that a policy can count."
        raise BudgetError(message)
    return float(epsilon), float(delta)


def _check_cap(
    where: str,
    before: list[dict[str, Any]],
    cost: tuple[float, float],
    most: tuple[float, float],
) -> None:
    for name, more, cap in zip(("epsilon", "delta"), cost, most, strict=True):
        held = sum((_exact(each[name]) for each in before), Fraction(0))
        if held + _exact(more) > _exact(cap):
            message = (
                f"the policy allows {name} = {cap:g} for {where}; {float(held):.6g} is spent, and "
                f"this run costs {more:.6g} more; allow more, or agree on a study that costs less."
            )
            raise BudgetError(message)


def _exact(number: float) -> Fraction:
    # As decimals: three tenths are 0.3.
    return Fraction(repr(float(number)))


def _read(file: int, path: Path) -> list[dict[str, Any]]:
    text = os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")
    if not text:
        return []
    form = read_object(text, "record of what is spent", MessageError)
    spent = form.get("spent")
    if form.get("version") != _VERSION or not isinstance(spent, list):
        _refuse(path)
    for each in spent or []:
        if not isinstance(each, dict) or {*each} != {"study", "epsilon", "delta"}:
            _refuse(path)
        _EPSILON.check(each["epsilon"])
        _DELTA.check(each["delta"])
    return list(spent or [])


def _refuse(path: Path) -> None:
    message = f"{path} is no record of what is spent; without it nothing can be allowed."
    raise MessageError(message)
