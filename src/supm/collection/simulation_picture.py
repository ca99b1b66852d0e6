"""What budgets buy: lines that rise with epsilon, between levels that do not depend on it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from supm.learning import Metric
from supm.messages import Study
from supm.privacy import NoGuarantee
from supm.reporting import COLOURS, counted

if TYPE_CHECKING:
    from supm.collection.evaluation import Evaluation
    from supm.collection.simulation import Simulation

_Kind: TypeAlias = Literal["answered", "device", "papers", "limit", "open", "constant"]
# Line styles and marks differ too, so that the picture can be read without colours.
_STYLES: Final[dict[str, dict[str, Any]]] = {
    "answered": {"color": COLOURS["blue"], "marker": "o", "linestyle": "-", "zorder": 4},
    "device": {"color": COLOURS["green"], "marker": "s", "linestyle": "-.", "zorder": 3},
    "papers": {"color": COLOURS["pink"], "marker": "^", "linestyle": (0, (5, 1)), "zorder": 2.5},
    "limit": {"color": COLOURS["blue"], "linestyle": "-", "linewidth": 0.8, "alpha": 0.7},
    "open": {"color": COLOURS["red"], "linestyle": "--"},
    "constant": {"color": COLOURS["grey"], "linestyle": ":"},
}
# Budgets that span more than this factor are read better on a logarithmic axis.
_LINEAR: Final = 6.0
_MOST_TICKS: Final = 12
_STEPS: Final = 60
_MOST_NAMED: Final = 4


class Rising(NamedTuple):
    """Something that depends on the budget, with its standard deviation where that is known."""

    name: str
    kind: _Kind
    places: tuple[float, ...]
    values: tuple[float, ...]
    spread: tuple[float, ...] | None = None


class Level(NamedTuple):
    """Something that does not depend on the budget."""

    name: str
    kind: _Kind
    value: float


class Curve(NamedTuple):
    """What is drawn: a title, the budgets, what depends on them and what does not, both axes."""

    title: str
    epsilons: tuple[float, ...]
    lines: tuple[Rising, ...]
    levels: tuple[Level, ...]
    budget: str
    measure: str


def curve(found: Simulation) -> Curve:
    """Return the figures as a picture has them: balanced accuracies where classes have weights."""
    results = sorted(found.results, key=lambda each: each.study.epsilon)
    places = tuple(each.study.epsilon for each in results)
    constant = _constant(found)
    return Curve(
        title=_title(found),
        epsilons=places,
        lines=_lines(found, results, places) + _limit(results[0].study, places, constant),
        levels=_levels(found, constant),
        budget=_budget_words(results[0]),
        measure=_measure_words(found),
    )


def draw_curve(panel: Any, drawn: Curve) -> None:  # noqa: ANN401  matplotlib ships no types
    """Draw what budgets buy into a panel."""
    for line in drawn.lines:
        _draw_line(panel, line)
    for level in drawn.levels:
        panel.axhline(level.value, label=level.name, **_STYLES[level.kind])
    if drawn.epsilons[-1] > _LINEAR * drawn.epsilons[0]:
        panel.set_xscale("log")
    if len(drawn.epsilons) <= _MOST_TICKS:
        panel.set_xticks(drawn.epsilons, [f"{each:g}" for each in drawn.epsilons])
        panel.set_xticks([], minor=True)
    panel.set_xlabel(drawn.budget)
    panel.set_ylabel(drawn.measure)
    panel.yaxis.set_major_formatter(lambda share, _place: f"{share:.0%}")
    panel.set_title(drawn.title)
    panel.grid(alpha=0.3)
    panel.set_axisbelow(True)


def _draw_line(panel: Any, line: Rising) -> None:  # noqa: ANN401  matplotlib ships no types
    style = _STYLES[line.kind]
    if line.spread is None:
        panel.plot(line.places, line.values, label=line.name, **style)
    else:
        panel.errorbar(
            line.places, line.values, yerr=line.spread, label=line.name, capsize=4, **style
        )


def _shown(found: Simulation, reached: Metric) -> float:
    """Return the share that a line shows: of what is explained, of right answers, or balanced."""
    beside = found.labels is None or found.weights is not None
    return reached.beside if beside else reached.headline


def _constant(found: Simulation) -> float:
    if found.labels is None:
        return 0.0
    return found.constant if found.weights is None else 1.0 / found.labels


def _lines(
    found: Simulation, results: list[Evaluation], places: tuple[float, ...]
) -> tuple[Rising, ...]:
    on_device = tuple(_shown(found, each.on_device) for each in results)
    answered = tuple(_shown(found, each.answered) for each in results)
    # The spread is that of accuracies or of errors: none is known of balanced accuracies.
    spread, mark = None, ""
    if found.weights is None:
        units = [each.answered.of_constant if found.labels is None else 1.0 for each in results]
        spread = tuple(each.spread / unit for each, unit in zip(results, units, strict=True))
        mark = " (± 1 s.d.)"
    device = "tested on the owner's device"
    if results[0].study.question("test") is None:
        return (Rising(f"{device}{mark}", "device", places, on_device, spread),)
    return (
        Rising(f"answered{mark}", "answered", places, answered, spread),
        Rising(device, "device", places, on_device),
    )


def _levels(found: Simulation, constant: float) -> tuple[Level, ...]:
    reached = _shown(found, found.baseline.reached)
    without, always = "without privacy", f"always the commonest class: {constant:.1%}"
    if found.labels is None:
        without, always = "least squares without privacy", "always the mean: 0%"
    elif found.weights is not None:
        always = f"always the same class: {constant:.1%}"
    return Level(f"{without}: {reached:.1%}", "open", reached), Level(always, "constant", constant)


def _limit(study: Study, places: tuple[float, ...], constant: float) -> tuple[Rising, ...]:
    """Return what a randomised answer of two classes reaches at most, whatever the model."""
    test = study.question("test")
    if study.numeric or test is None or test.form != "answer" or study.labels != 2:
        return ()
    ratio = places[-1] / places[0]
    steps = tuple(places[0] * ratio ** (step / _STEPS) for step in range(_STEPS + 1))
    most = tuple(max(constant, 1.0 / (1.0 + math.exp(-each))) for each in steps)
    return (Rising("limit of a randomised answer", "limit", steps, most),)


def _title(found: Simulation) -> str:
    """Return what a picture is about, in two or three lines."""
    first = found.results[0]
    how = f"{counted(first.repeats, 'repetition')} of {first.folds}-fold cross-validation"
    trust = f"{first.study.mode}, trust {first.study.trust.letters}"
    mark = "; simulation, not private" if found.seeded else ""
    return f"{found.name}: {found.people} people; {trust}\n{how}{mark}{_weights(found)}"


def _weights(found: Simulation) -> str:
    given = found.weights
    if given is None:
        return ""
    if isinstance(given, str):
        named = given
    elif len(given) > _MOST_NAMED:
        named = "as given"
    else:
        values = getattr(found.results[0].study.schema.target, "values", ())
        pairs = zip(values, given, strict=True)
        named = ", ".join(f"{value}={weight:g}" for value, weight in pairs)
    return f"\nweights of the classes in training: {named}"


def _budget_words(result: Evaluation) -> str:
    """Say whose budget the axis shows, which is nobody's where nothing is promised."""
    spent = result.account
    trained, tested = (isinstance(each, NoGuarantee) for each in (spent.training, spent.testing))
    if trained and tested:
        return "epsilon of the plan; nothing is promised to anybody"
    if trained and result.study.question("test") is None:
        return "epsilon of the plan; training owners are promised nothing"
    if trained:
        return "budget of each tested owner, epsilon; training owners are promised nothing"
    if tested:
        return "budget of each training owner, epsilon; tested owners are promised nothing"
    return "budget of each owner, epsilon (smaller is more private)"


def _measure_words(found: Simulation) -> str:
    if found.labels is None:
        return "share of the squared error that is explained"
    return "accuracy" if found.weights is None else "balanced accuracy (mean over the classes)"
