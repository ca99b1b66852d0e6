"""The verb audit: measure whether a promise is true."""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from supm.cli._frame import UsageError, exclusive
from supm.cli._output import Target, emit, say, where
from supm.cli._types import Epsilon, whole
from supm.reporting import progress

if TYPE_CHECKING:
    from supm.audit import Audit

# A part in a hundred is no news.
_KEPT = 0.99
_BROKEN = 1


def verb(
    name: Annotated[str | None, "mechanism", "randomizers"] = None,
    /,
    *,
    everything: Annotated[bool, Parameter(name="--all")] = False,
    epsilon: Epsilon | None = None,
    size: Annotated[int | None, whole(1, 1 << 40, "K")] = None,
    json: Target = None,
) -> int:
    """Measure whether the promised epsilon is kept.

    Compare what a mechanism claims with its exact channel, its sampler with the channel and its
    estimator with both, and attack it with a million samples. The exit code is 1 if a promise is
    broken.

    Parameters
    ----------
    name : str, optional
        The mechanism to audit: binary-response, duchi, hadamard-response, hybrid,
        independent-reports, joint-report, laplace, local-hashing, odp-continuous, odp-ordinal,
        optimised-unary, piecewise, randomized-response, square-wave, subset-selection or
        symmetric-unary; or a randomizer of your own: a name that is installed, or module:Name.
    everything : bool
        Audit every shipped mechanism.
    epsilon : float, optional
        With NAME; 1 by default.
    size : int, optional
        With NAME: symbols, classes or steps.
    json : str, optional
        Write the findings to a file; - prints them.

    Examples
    --------
    ::

        supm audit --all                                  every shipped mechanism: two minutes
        supm audit --all --json audit.json                the same, and a file for machines
        supm audit randomized-response                    one of them, at epsilon 1
        supm audit subset-selection --size 8 --epsilon 0.5
        supm audit my_package:MyRandomizer --epsilon 2    one of your own
    """
    from supm import __version__
    from supm.audit.findings import AuditReport

    exclusive(needed=True, NAME=name, all=everything)
    if everything and (epsilon or size):
        raise UsageError("--epsilon and --size go with NAME, not with --all.")
    start = time.monotonic()
    audits = list(_everything() if name is None else _one(name, epsilon or 1.0, size))
    found = AuditReport(audits=audits, seconds=time.monotonic() - start)
    (table,), words = found.tables(), found.words()
    findings = where({"findings are": json})
    emit({"version": __version__} | found.to_form(), [str(table), "", *words, *findings], json)
    return _BROKEN if found.counts["broken"] else 0


def _one(name: str, epsilon: float, size: int | None) -> Iterable[Audit]:
    from supm import secure
    from supm.audit import audit_all, entry

    line = entry(name, epsilon=epsilon, size=size)
    kept = line.mechanism.epsilon
    if kept < epsilon * _KEPT:
        told = f"64-bit words cannot hold more than epsilon {kept:.4g} here"
        say(f"{told}; {epsilon:g} was asked for.")
    return audit_all(secure(), [line])


def _everything() -> Iterable[Audit]:
    """Audit all randomizers, all noise, and all that leaves an owner in any kind of study."""
    from supm import secure
    from supm.audit import (
        audit_all,
        audit_noises,
        audit_studies,
        catalogue,
        large_studies,
        noises,
        small_studies,
    )

    lines, laws = catalogue(), noises()
    owners = 2 * (len(small_studies()) + len(large_studies()))
    return chain(
        progress(audit_all(secure(), lines), total=len(lines), unit="randomizers"),
        progress(audit_noises(secure(), laws), total=len(laws), unit="laws of noise"),
        progress(audit_studies(secure()), total=owners, unit="owners"),
    )
