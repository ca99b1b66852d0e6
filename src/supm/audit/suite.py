"""Run every check that applies to a mechanism, and say whether its promise is true."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import partial
from inspect import signature
from typing import Any, Final, NamedTuple

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import Reals
from supm.audit import channel, crowds, estimates, independence, sampler
from supm.audit.attacks import check_attack
from supm.audit.events import has_events
from supm.audit.findings import FAMILY_ERROR, Audit, Finding
from supm.audit.shipped import Entry, catalogue
from supm.audit.subjects import Auditable, Readable, count_symbols, grid_points, is_listed
from supm.mechanisms import (
    FiniteChannel,
    FrequencyRandomizer,
    Laplace,
    LocalRandomizer,
    NumericRandomizer,
    OrderedDiscretePerturbation,
    SupportRandomizer,
)
from supm.mechanisms.randomizers.randomizer import ENTRIES, OUTCOMES
from supm.reporting import cut_short

_CLAIMED: Final = Reals("claimed", 0.0, 1e6, "A claim is a finite epsilon.")
_WRITTEN_DOWN: Final = 1 << 16
_DRAWN_BITS: Final = 1 << 26
_MOST_DRAWS: Final = 1 << 22
_OBJECTS: Final = 32
_TRIALS: Final = 1_000_000
# Above this epsilon reports vary too little for a single place of a call to stand out.
_VARYING: Final = 2.0
_CROWD: Final = 1 << 16
_COMPARED: Final = 1 << 15
_MEMORY: Final = 1 << 28
# Reports times symbols that are counted in a few seconds, also by the slowest estimator.
_COUNTED: Final = 1 << 26
_LONGEST: Final = 200

# What a mechanism is, in words that the rules below ask for.
_KINDS: Final[Mapping[str, Any]] = {
    "finite": FiniteChannel,
    "unbounded": Laplace,
    "support": SupportRandomizer,
    "grid": sampler.OnGrid,
    "attribute": OrderedDiscretePerturbation,
    "variance": SupportRandomizer | NumericRandomizer,
    "crowd": FrequencyRandomizer | NumericRandomizer,
    "estimate": Readable,
}
_LARGE: Final = "the channel is too large to write down"
# What its size or its epsilon allows, with what is said where it does not.
_ALLOWED: Final[Mapping[str, str]] = {
    "small": _LARGE,
    "listed": _LARGE,
    "numbered": "the outcomes are too many to be numbered",
    "countable": "the symbols are too many to be counted",
    "tallied": "the symbols are too many to be counted",
    "varying": "reports vary too little at this epsilon",
    "plain": "values that are words take too long",
    "events": "no event of known probability",
}


class _Subject(NamedTuple):
    """A mechanism, what is claimed of it, and the words for all that it is and allows."""

    mechanism: Auditable
    source: RandomSource
    claim: float
    words: frozenset[str]

    def checks(self, rules: Iterable[_Rule]) -> Iterator[partial[Finding]]:
        """Yield the checks that can be made."""
        for rule in rules:
            if self.words.issuperset(rule.needs.split()):
                yield rule.ready(self)

    def skipped(self, rules: Iterable[_Rule]) -> Iterator[str]:
        """Yield the checks that concern this mechanism and cannot be made, each with the reason."""
        for check, needs, _ in rules:
            missing = [word for word in needs.split() if word not in self.words]
            if missing and all(word in _ALLOWED for word in missing):
                yield f"{check.__name__}: {_ALLOWED[missing[0]]}"


def _subject(mechanism: Auditable, source: RandomSource, claim: float) -> _Subject:
    return _Subject(mechanism, source, claim, frozenset(_words(mechanism)))


class _Rule(NamedTuple):
    """A check, the words that a mechanism must answer to, and how many reports it draws."""

    check: Callable[..., Finding]
    needs: str
    draws: Callable[[_Subject], int] | None = None

    def ready(self, subject: _Subject) -> partial[Finding]:
        """Return the check with all that it asks for by name."""
        asked = signature(self.check).parameters
        given: dict[str, Any] = {"claimed": subject.claim, "source": subject.source}
        given = {name: value for name, value in given.items() if name in asked}
        if self.draws is not None:
            given["draws"] = self.draws(subject)
        return partial(self.check, subject.mechanism, **given)


def _every_row(subject: _Subject) -> int:
    """Draw more where a report costs less: by its length, and by the type of the raw values."""
    mechanism: Any = subject.mechanism
    bits: int = max(4, mechanism.report_bits) * (1 if "plain" in subject.words else _OBJECTS)
    return min(_MOST_DRAWS, _DRAWN_BITS // (bits * len(mechanism.inputs())))


def _crowd(subject: _Subject) -> int:
    mechanism = subject.mechanism
    if not isinstance(mechanism, FrequencyRandomizer):
        return _CROWD
    draws = min(_CROWD, _COUNTED // mechanism.size, _MEMORY // mechanism.report_bytes)
    return max(256, draws)


def _two_calls(subject: _Subject) -> int:
    return max(256, min(_COMPARED, _MEMORY // (8 * subject.mechanism.report_bits)))


_STATED: Final = (
    _Rule(channel.check_stated_epsilon, "unbounded"),
    _Rule(channel.check_inputs, "finite small"),
    _Rule(channel.check_rows_sum_to_one, "finite small"),
    _Rule(channel.check_epsilon, "finite small"),
    _Rule(channel.check_support, "support large"),
    _Rule(channel.check_channel, "finite listed"),
    _Rule(estimates.check_unbiased, "estimate small"),
    _Rule(estimates.check_variance, "variance small"),
)
"""Checks of what a mechanism states of itself."""
_DRAWN: Final = (
    _Rule(independence.check_mark, ""),
    _Rule(channel.check_outcomes, "finite numbered"),
    _Rule(estimates.check_standard_error, "estimate countable"),
)
"""Checks that draw reports and leave nothing to chance."""
_BY_CHANCE: Final = (
    _Rule(sampler.check_density, "unbounded"),
    _Rule(sampler.check_sampler, "finite small", _every_row),
    _Rule(independence.check_independence, "small"),
    _Rule(crowds.check_positions, "small varying plain"),
    _Rule(estimates.check_estimates, "crowd tallied", _crowd),
    _Rule(sampler.check_grid, "grid listed"),
    _Rule(sampler.check_raw_values, "attribute"),
    _Rule(independence.check_source, "", _two_calls),
    _Rule(crowds.check_crowd, "events"),
    _Rule(independence.check_mixed, "events", _two_calls),
    _Rule(crowds.check_long_calls, "events"),
)
"""Statistical checks, which share the chance that a true mechanism is called broken."""


def audit(
    mechanism: Auditable,
    source: RandomSource,
    *,
    claimed: float | None = None,
    sampled: bool = True,
    error: float = FAMILY_ERROR,
) -> Audit:
    """Run every check that applies to a mechanism.

    Parameters
    ----------
    mechanism : FiniteChannel or Laplace
        The mechanism to be audited.
    source : RandomSource
        Where randomness comes from.
    claimed : float, optional
        The claim; by default what the mechanism itself claims.
    sampled : bool, default True
        False leaves out all that draws reports.
    error : float, default 1e-6
        Chance that a true mechanism is called broken.

    Returns
    -------
    Audit
        All findings, and the verdict.

    Examples
    --------
    >>> from supm._random import simulation
    >>> from supm.mechanisms import GeneralizedRandomizedResponse
    >>> coin = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=1.0)
    >>> found = audit(coin, simulation(1))
    >>> found.verdict, 0.97 < found.lower_bound <= found.exact <= found.claimed
    ('true', True)
    >>> audit(coin, simulation(1), claimed=0.5).verdict
    'broken'
    """
    _require_auditable(mechanism)
    claim = mechanism.epsilon if claimed is None else _CLAIMED.check(claimed)
    subject = _subject(mechanism, source, claim)
    findings = [_run(check) for check in subject.checks(_STATED)]
    skipped = [*subject.skipped(_STATED)]
    bound = None
    if sampled:
        findings += [_run(check) for check in subject.checks(_DRAWN)]
        checks = list(subject.checks(_BY_CHANCE))
        share = error / (len(checks) + 1)
        findings += [_run(partial(check, error=share)) for check in checks]
        trials = max(1000, min(_TRIALS, _MEMORY // mechanism.report_bytes))
        attacked = partial(check_attack, mechanism, source, claimed=claim, trials=trials)
        bounded = _run(partial(attacked, error=share))
        findings.append(bounded)
        bound = bounded.statistic
        skipped += subject.skipped((*_DRAWN, *_BY_CHANCE))
    else:
        skipped.append("all checks that draw reports: not asked for")
    return Audit(
        mechanism=type(mechanism).__name__,
        parameters=_parameters(mechanism),
        claimed=claim,
        lower_bound=bound,
        findings=tuple(findings),
        skipped=tuple(skipped),
    )


def audit_all(source: RandomSource, entries: Iterable[Entry] | None = None) -> Iterator[Audit]:
    """Audit all shipped mechanisms, one after the other.

    Parameters
    ----------
    source : RandomSource
        Where randomness comes from.
    entries : iterable of Entry, optional
        What to audit; by default the whole `catalogue`.

    Yields
    ------
    Audit
        One for each entry. The chance that a true mechanism is called broken is 10^-6 over all of
        them.

    Examples
    --------
    >>> from supm._random import simulation
    >>> from supm.audit.shipped import entry
    >>> [found.verdict for found in audit_all(simulation(1), [entry("duchi")])]
    ['true']
    """
    lines = catalogue() if entries is None else list(entries)
    for line in lines:
        found = audit(line.mechanism, source, sampled=line.sampled, error=FAMILY_ERROR / len(lines))
        yield replace(found, mechanism=line.name, parameters=line.parameters)


def _require_auditable(mechanism: object) -> None:
    if not isinstance(mechanism, LocalRandomizer):
        hint = "For a callable use epsilon_lower_bound."
        kind = type(mechanism).__name__
        raise ParameterError("mechanism", "a LocalRandomizer", f"a {kind}", hint)
    if not isinstance(mechanism, FiniteChannel | Laplace):
        hint = (
            "Derive it from FiniteChannel and add outcomes, inputs, outcome and exact_channel, or "
            "use epsilon_lower_bound."
        )
        raise ParameterError("mechanism", "a FiniteChannel", type(mechanism).__name__, hint)


def _parameters(mechanism: Auditable) -> str:
    """Return the parameters of a mechanism in words; they are public."""
    if not is_dataclass(mechanism):
        return "no stated parameters"
    stated = ((each.name, getattr(mechanism, each.name)) for each in fields(mechanism))
    return cut_short(", ".join(f"{name}={value}" for name, value in stated), _LONGEST)


def _words(mechanism: Auditable) -> Iterator[str]:
    """Yield the words for what a mechanism is, and for what its size and its epsilon allow."""
    yield from (word for word, kind in _KINDS.items() if isinstance(mechanism, kind))
    small = _is_small(mechanism)
    symbols = count_symbols(mechanism)
    allowed = {
        "small": small,
        "large": not small,
        "listed": _both_forms(mechanism, small=small),
        "numbered": isinstance(mechanism, FiniteChannel) and mechanism.outcomes <= OUTCOMES.high,
        "countable": symbols <= _WRITTEN_DOWN,
        "tallied": symbols <= _COUNTED,
        "varying": mechanism.epsilon < _VARYING,
        "plain": small and grid_points(mechanism).dtype != object,
        "events": has_events(mechanism),
    }
    yield from (word for word, holds in allowed.items() if holds)


def _both_forms(mechanism: Auditable, *, small: bool) -> bool:
    """Tell whether both forms of the channel are made in a moment, or are not needed."""
    if isinstance(mechanism, Laplace):
        return True
    on_grid = isinstance(mechanism, sampler.OnGrid)
    return is_listed(mechanism, ENTRIES.high) if on_grid else small


def _is_small(mechanism: Auditable) -> bool:
    """Tell whether the channel can be written down at leisure."""
    if isinstance(mechanism, Laplace):
        least, greatest = mechanism.alphabet
        return greatest - least <= _WRITTEN_DOWN
    return is_listed(mechanism, _WRITTEN_DOWN)


def _run(check: partial[Finding]) -> Finding:
    """Run a check; one that cannot be run to its end is a finding and must not stop the others."""
    try:
        return check()
    except Exception as failure:  # noqa: BLE001  whatever a broken mechanism raises is reported
        name = check.func.__name__
        detail = f"raised {type(failure).__name__}: {failure}"
        return Finding(check=name, passed=False, detail=detail)
