"""Numbers, names and wishes that verbs share: each reads its text, or says what it must be."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, Final, Literal

from cyclopts import Parameter

from supm._errors import ParameterError
from supm._validation import EPSILON, Integers, Reals
from supm.cli._frame import reading

_MOST_BUDGETS: Final = 100
_WEIGHT: Final = 1e-6, 1e6
_TRUST: Final = ("u", "t", "untrusted", "trusted")
_TRUST_OF_TEST: Final = (*_TRUST, "d", "device")


def whole(low: int, high: int, metavar: str = "N") -> Parameter:
    """Return how a whole number in an interval is read."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            rule = "a whole number"
            raise ValueError(rule) from None
        try:
            return Integers("", low, high).check(number)
        except ParameterError as error:
            rule = str(error).removeprefix(" must be ").rpartition(", got ")[0]
            raise ValueError(rule) from None

    return reading(read, metavar)


def real(low: float, high: float, metavar: str = "X") -> Parameter:
    """Return how a number in an interval is read."""
    return reading(lambda text: _number(text, low, high), metavar)


def _number(text: str, low: float, high: float) -> float:
    try:
        return Reals("", low, high).check(float(text))
    except ValueError:
        rule = f"a number in [{low:g}, {high:g}]"
        raise ValueError(rule) from None


def _epsilon(text: str) -> float:
    return _number(text, EPSILON.low, EPSILON.high)


def _epsilons(text: str) -> list[float]:
    parts = text.split(",")
    if len(parts) > 1 and not all(part.strip() for part in parts):
        rule = "numbers with single commas between"
        raise ValueError(rule)
    numbers = [_epsilon(part) for part in parts]
    if len(numbers) > _MOST_BUDGETS:
        rule = f"at most {_MOST_BUDGETS} numbers"
        raise ValueError(rule)
    if len(set(numbers)) < len(numbers):
        rule = "different numbers"
        raise ValueError(rule)
    return numbers


def _names(text: str) -> list[str]:
    names = [each.strip() for each in text.split(",")]
    if not all(names) or len(set(names)) < len(names):
        rule = "different names with single commas between"
        raise ValueError(rule)
    return names


def _trust(text: str) -> str:
    parts = [part.strip().lower() for part in text.split(",")]
    fits = len(parts) == 3 and {*parts[:2]} <= {*_TRUST} and parts[2] in _TRUST_OF_TEST
    if not fits:
        rule = (
            "three letters with commas between, for reduce, train and test: u (untrusted), "
            "t (trusted), and for test also d (the owner's device)"
        )
        raise ValueError(rule)
    return text


def _weights(text: str) -> str | dict[str, float]:
    if text == "balanced":
        return text
    found: dict[str, float] = {}
    for part in text.split(","):
        name, sign, number = part.rpartition("=")
        if not sign or name.strip() in found:
            rule = "balanced, or different classes with a number each, such as yes=3,no=1"
            raise ValueError(rule)
        found[name.strip()] = _number(number, *_WEIGHT)
    return found


Epsilon = Annotated[float, reading(_epsilon, "E")]
Epsilons = Annotated[list[float], reading(_epsilons, "E[,E…]")]
Names = Annotated[list[str] | None, reading(_names, "NAME[,NAME…]")]
Trust = Annotated[str | None, reading(_trust, "u,u,u")]
Weights = Annotated[str | dict[str, float] | None, reading(_weights, "W")]
Seed = Annotated[int | None, whole(0, 1 << 128, "S")]
Database = Annotated[str, Parameter(metavar="URL", env_var="SUPM_DB"), "url"]
DATABASE: Final = "sqlite:///supm.db"
"""The database of `supm serve` and of `supm study`."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Wishes:
    """The options that shape a study, which several verbs share.

    Parameters
    ----------
    trust : str, optional
        Where reduce, train and test happen: u untrusted, t trusted, d the owner's device (test
        only); u,u,u by default.
    mode : {"strict", "faithful"}
        Our protocol (default), or that of the papers, corrected.
    keep : int, optional
        How many attributes are kept; by a public rule otherwise.
    classes : int, optional
        How many classes each has.
    attributes : list of str, optional
        Use this attribute instead of searching; repeat it for more (in Python:
        plan(attributes=…)).
    sampled : int, optional
        How many attributes an owner tells before training, drawn at random; by a public rule
        otherwise.
    told : int, optional
        How many attributes an owner tells to train, drawn at random; by a public rule otherwise.
    reduce : str, optional
        What is learned before training (see below), or one of your own: a name that is installed,
        or module:Name.
    train : str, optional
        What leaves an owner to train (see below), or a randomizer of your own: a name that is
        installed, or module:Name.
    test : str, optional
        What leaves an owner to test (see below).

    Notes
    -----
    what is learned before training (--reduce):
      regroup  which classes belong together, by sampled reports of a first group; the default of
               strict mode for two labels with --keep, or where the budget is small (below 3.47) and
               many owners are expected; otherwise nothing is asked
      rank     which attributes go with the target, by sampled reports of a first group; the default
               of strict mode with --keep for more labels or a number
      rand     attributes are drawn at random, nobody is asked; the default of faithful mode
      waldp    which attributes go with the target, by classes through randomized response
      pw       the same, by numbers through the piecewise mechanism
      wa       the same, by classes as they are; only where reduce is trusted, and the default there

    what leaves an owner (--train, --test):
      sample   a few attributes, drawn at random, as one symbol that is randomised as a whole; the
               default of strict mode to train
      answer   what the model answers, randomised (--test only); the default of strict mode to test
      joint    all kept attributes as one symbol, randomised as a whole; the default of strict mode
               to train where budget and people carry the whole table
      odp      each class through a randomized response of its own; the default of faithful mode
      pw       each number through the piecewise mechanism
      oda      each class as it is; only where the phase is trusted, and the default there
      raw      each number as it is; only where the phase is trusted, for comparison
      device   nothing: the model comes to the record (--test only, the same as --trust u,u,d)

    A form that protects more than the trust asks for is allowed.
    """

    trust: Annotated[
        Trust, "trust of the reduce phase", "trust of the train phase", "trust of the test phase"
    ] = None
    mode: Literal["strict", "faithful"] = "strict"
    keep: Annotated[int | None, whole(1, 1 << 20, "K")] = None
    classes: Annotated[int | None, whole(2, 1 << 16, "L")] = None
    attributes: Annotated[list[str] | None, Parameter(name="--known", metavar="NAME")] = None
    sampled: Annotated[int | None, whole(1, 1 << 20, "S")] = None
    told: Annotated[
        int | None, Parameter(name="--attributes-per-report"), whole(1, 1 << 20, "S")
    ] = None
    reduce: Annotated[
        str | None,
        Parameter(metavar="regroup|rank|rand|waldp|pw|wa|module:Name"),
        "reduction",
        "form of the reduce phase",
        "the question of the reduce phase",
    ] = None
    train: Annotated[
        str | None,
        Parameter(metavar="sample|joint|odp|pw|oda|raw|module:Name"),
        "form of the train phase",
        "the question of the train phase",
    ] = None
    test: Annotated[
        Literal["answer", "sample", "joint", "odp", "pw", "oda", "raw", "device"] | None,
        "form of the test phase",
        "the question of the test phase",
    ] = None

    def given(self) -> dict[str, Any]:
        """Return what `supm.plan` takes."""
        return {each.name: getattr(self, each.name) for each in fields(self)}
