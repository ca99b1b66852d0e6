"""Run every check that applies to a mechanism, and say whether its promise is true."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import TypeAlias

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import Reals
from supm.audit.agreement import check_channel, check_outcomes, check_standard_error
from supm.audit.attacks import check_attack
from supm.audit.channel import (
    check_epsilon,
    check_inputs,
    check_rows_sum_to_one,
    check_stated_epsilon,
    check_support,
)
from supm.audit.crowds import check_crowd, check_mixed
from supm.audit.estimates import check_estimates, check_unbiased, check_variance
from supm.audit.events import has_events
from supm.audit.findings import FAMILY_ERROR, Audit, Finding
from supm.audit.independence import check_independence
from supm.audit.places import check_long_calls, check_positions
from supm.audit.sampler import check_density, check_grid, check_raw_values, check_sampler
from supm.audit.shipped import Entry, catalogue
from supm.audit.sources import check_mark, check_source
from supm.audit.subjects import Auditable, count_inputs
from supm.mechanisms import (
    FiniteChannel,
    FrequencyRandomizer,
    IndependentReports,
    JointReport,
    LocalRandomizer,
    OrderedDiscretePerturbation,
    SupportRandomizer,
)
from supm.mechanisms.randomizers.hybrid import Hybrid
from supm.mechanisms.randomizers.laplace import Laplace
from supm.mechanisms.randomizers.numeric import NumericRandomizer
from supm.mechanisms.randomizers.randomizer import ENTRIES, OUTCOMES
from supm.mechanisms.randomizers.window import WindowRandomizer

__all__ = ["audit", "audit_all"]

_CLAIMED = Reals("claimed", 0.0, 1e6, "A claim is a finite epsilon.")
_WRITTEN_DOWN = 1 << 16
_DRAWN_BITS = 1 << 26
_MOST_DRAWS = 1 << 22
_OBJECTS = 32
_TRIALS = 1_000_000
# Above this epsilon reports vary too little for a single place of a call to stand out.
_VARYING = 2.0
_CROWD = 1 << 16
_COMPARED = 1 << 15
_MEMORY = 1 << 28
# Reports times symbols that are counted in a few seconds, also by the slowest estimator.
_COUNTED = 1 << 26

_READABLE = (
    FrequencyRandomizer,
    IndependentReports,
    JointReport,
    NumericRandomizer,
    OrderedDiscretePerturbation,
)

_LONGEST = 200
_ON_GRID = (WindowRandomizer, Hybrid)

_Check: TypeAlias = partial[Finding]


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
    findings = [_run(check) for check in _exact_checks(mechanism, source, claim)]
    bound = None
    if sampled:
        findings += [_run(check) for check in _agreement_checks(mechanism, source)]
        checks = list(_sampled_checks(mechanism, source))
        share = error / (len(checks) + 1)
        findings += [_run(partial(check, error=share)) for check in checks]
        trials = max(1000, min(_TRIALS, _MEMORY // mechanism.report_bytes))
        attacked = partial(check_attack, mechanism, source, claimed=claim, trials=trials)
        bounded = _run(partial(attacked, error=share))
        findings.append(bounded)
        bound = bounded.statistic
    return Audit(
        mechanism=type(mechanism).__name__,
        parameters=_parameters(mechanism),
        claimed=claim,
        lower_bound=bound,
        findings=tuple(findings),
        skipped=tuple(_skipped(mechanism, sampled=sampled)),
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
    text = ", ".join(f"{name}={value}" for name, value in stated)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _exact_checks(mechanism: Auditable, source: RandomSource, claim: float) -> Iterator[_Check]:
    if isinstance(mechanism, Laplace):
        yield partial(check_stated_epsilon, mechanism, claimed=claim)
    elif _is_small(mechanism):
        yield partial(check_inputs, mechanism)
        yield partial(check_rows_sum_to_one, mechanism)
        yield partial(check_epsilon, mechanism, claimed=claim)
    elif isinstance(mechanism, SupportRandomizer):
        yield partial(check_support, mechanism, claimed=claim)
    if isinstance(mechanism, FiniteChannel) and _is_listed(mechanism):
        yield partial(check_channel, mechanism)
    if _is_small(mechanism):
        if isinstance(mechanism, _READABLE):
            yield partial(check_unbiased, mechanism, source)
        if isinstance(mechanism, SupportRandomizer | NumericRandomizer):
            yield partial(check_variance, mechanism, source)


def _agreement_checks(mechanism: Auditable, source: RandomSource) -> Iterator[_Check]:
    """Yield the checks that draw reports and leave nothing to chance."""
    yield partial(check_mark, mechanism)
    if isinstance(mechanism, FiniteChannel) and mechanism.outcomes <= OUTCOMES.high:
        yield partial(check_outcomes, mechanism, source)
    if isinstance(mechanism, _READABLE) and _is_countable(mechanism):
        yield partial(check_standard_error, mechanism, source)


def _sampled_checks(mechanism: Auditable, source: RandomSource) -> Iterator[Callable[..., Finding]]:
    if isinstance(mechanism, Laplace):
        yield partial(check_density, mechanism, source)
    elif _is_small(mechanism):
        yield partial(check_sampler, mechanism, source, draws=_draws(mechanism))
    if _is_small(mechanism):
        yield partial(check_independence, mechanism, source)
        if mechanism.epsilon < _VARYING and not _takes_objects(mechanism):
            yield partial(check_positions, mechanism, source)
    if isinstance(mechanism, FrequencyRandomizer) and mechanism.size <= _COUNTED:
        draws = min(_CROWD, _COUNTED // mechanism.size, _MEMORY // mechanism.report_bytes)
        yield partial(check_estimates, mechanism, source, draws=max(256, draws))
    if isinstance(mechanism, NumericRandomizer):
        yield partial(check_estimates, mechanism, source)
    if isinstance(mechanism, Laplace) or (
        isinstance(mechanism, WindowRandomizer | Hybrid) and _is_listed(mechanism)
    ):
        yield partial(check_grid, mechanism, source)
    if isinstance(mechanism, OrderedDiscretePerturbation):
        yield partial(check_raw_values, mechanism, source)
    yield from _crowd_checks(mechanism, source)


def _crowd_checks(mechanism: Auditable, source: RandomSource) -> Iterator[Callable[..., Finding]]:
    """Yield the statistical checks for which the channel may be large."""
    yield partial(check_source, mechanism, source, draws=_compared(mechanism))
    if has_events(mechanism):
        yield partial(check_crowd, mechanism, source)
        yield partial(check_mixed, mechanism, source, draws=_compared(mechanism))
        yield partial(check_long_calls, mechanism, source)


def _skipped(mechanism: Auditable, *, sampled: bool) -> Iterator[str]:
    """Name the checks that apply and are not made, each with the reason."""
    if not _is_small(mechanism):
        reason = "the channel is too large to write down"
        for check in _of_small(mechanism, sampled=sampled):
            yield f"{check}: {reason}"
    elif sampled and mechanism.epsilon >= _VARYING:
        yield "check_positions: reports vary too little at this epsilon"
    elif sampled and _takes_objects(mechanism):
        yield "check_positions: values that are words take too long"
    if sampled and isinstance(mechanism, _ON_GRID) and not _is_listed(mechanism):
        yield "check_grid: the channel is too large to write down"
    if sampled and not has_events(mechanism):
        for check in ("check_crowd", "check_mixed", "check_long_calls"):
            yield f"{check}: no event of known probability"
    if not sampled:
        yield "all checks that draw reports: not asked for"


def _of_small(mechanism: Auditable, *, sampled: bool) -> Iterator[str]:
    """Name the checks that a channel must be small for."""
    if not isinstance(mechanism, Laplace):
        yield from ("check_inputs", "check_rows_sum_to_one", "check_epsilon")
    if isinstance(mechanism, _READABLE):
        yield "check_unbiased"
    if isinstance(mechanism, SupportRandomizer | NumericRandomizer):
        yield "check_variance"
    if sampled:
        if not isinstance(mechanism, Laplace):
            yield "check_sampler"
        yield from ("check_independence", "check_positions")


def _draws(mechanism: FiniteChannel) -> int:
    """Draw more where a report costs less: by its length, and by the type of the raw values."""
    bits = max(4, mechanism.report_bits) * (_OBJECTS if _takes_objects(mechanism) else 1)
    return min(_MOST_DRAWS, _DRAWN_BITS // (bits * len(mechanism.inputs())))


def _compared(mechanism: Auditable) -> int:
    return max(256, min(_COMPARED, _MEMORY // (8 * mechanism.report_bits)))


def _is_countable(mechanism: Auditable) -> bool:
    """Tell whether a few hundred reports are counted symbol by symbol in a moment."""
    if isinstance(mechanism, FrequencyRandomizer | JointReport):
        return count_inputs(mechanism) <= _WRITTEN_DOWN
    return True


def _is_listed(mechanism: FiniteChannel) -> bool:
    """Tell whether both forms of the channel are made in a moment."""
    if isinstance(mechanism, _ON_GRID):
        return mechanism.outcomes * len(mechanism.inputs()) <= ENTRIES.high
    return _is_small(mechanism)


def _takes_objects(mechanism: Auditable) -> bool:
    """Tell whether raw values are words rather than numbers, which are slow to look up."""
    return isinstance(mechanism, FiniteChannel) and mechanism.inputs().dtype == object


def _is_small(mechanism: Auditable) -> bool:
    """Tell whether the channel can be written down at leisure."""
    if isinstance(mechanism, Laplace):
        least, greatest = mechanism.alphabet
        return greatest - least <= _WRITTEN_DOWN
    # The number of outcomes first: where it is huge, so may be the list of inputs.
    return mechanism.outcomes <= _WRITTEN_DOWN and (
        mechanism.outcomes * len(mechanism.inputs()) <= _WRITTEN_DOWN
    )


def _run(check: _Check) -> Finding:
    """Run a check; one that cannot be run to its end is a finding and must not stop the others."""
    try:
        return check()
    except Exception as failure:  # noqa: BLE001  whatever a broken mechanism raises is reported
        name = check.func.__name__
        detail = f"raised {type(failure).__name__}: {failure}"
        return Finding(check=name, passed=False, detail=detail)
