"""The README: the bar, the claims, the figures as tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

from experiments.federated_svm.results import Results, Row
from experiments.federated_svm.settings import METHODS, SHAPED, USUAL, Scope, cells_of, shapes_of
from experiments.federated_svm.words import BAR, CLAIMS, GRADIENTS, HEAD, SECONDS, SHAPES

__all__ = ["bar", "worse_than_alone", "write_readme"]

_POINTS: Final = 8.0
# Non-private, DPML, DPDR-DPML, Fed_DPDR-DPML.
_TABLE_3: Final = {
    "mnist": (3.68, 7873.23, 111.70, 113.20),
    "fashion_mnist": (5.02, 7988.60, 112.70, 123.50),
    "cifar10": (63.45, 36960.70, 147.96, 150.30),
}
_TIMED: Final = ("non-private", "paper, DPML", "strict, one party", "strict")
# Each beside all records in one place under the same loss.
_JUDGED: Final = {
    "strict": "non-private, softmax",
    "strict, T = 4": "non-private, softmax",
    "strict, Huber": "non-private",
}
_TOGETHER: Final = ("strict", "strict, T = 4")


def write_readme(results: Results, scope: Scope, pictures: Sequence[Path], path: Path) -> None:
    """Write the whole document."""
    budgets, shapes = (f"![{each.stem}](figures/{each.name})\n" for each in pictures)
    parts = [
        HEAD,
        _scope(results, scope),
        _methods(),
        BAR,
        bar(results, scope),
        worse_than_alone(results, scope),
        *(_budgets(results, scope, data) for data in scope.data),
        budgets,
        CLAIMS,
        _claims(results, scope),
        SHAPES,
        shapes,
        *(_shapes(results, scope, data) for data in scope.data),
        SECONDS,
        _seconds(results, scope),
        GRADIENTS,
    ]
    path.write_text("\n".join(part for part in parts if part).rstrip() + "\n")


def bar(results: Results, scope: Scope) -> str:
    """Return the verdicts at epsilon 1: nobody or all others collude, and the paper's loss."""
    lines = []
    for data in scope.data:
        for method, baseline in _JUDGED.items():
            plain = _default(results, scope, data, baseline, epsilon=0.1)
            ours = _default(results, scope, data, method, epsilon=1.0)
            alone = _default(results, scope, data, "strict, one party", epsilon=1.0)
            if ours and plain and alone:
                lines.append(_verdict(data, method, ours, plain, alone))
    return "\n".join(lines) + "\n"


def worse_than_alone(results: Results, scope: Scope) -> str:
    """Return the settings in which five parties together are worse than the largest of them."""
    usual = [(epsilon, USUAL, scope.default) for epsilon in scope.epsilons]
    varied = [(epsilon, *shape) for shape in shapes_of(scope) for epsilon in (0.1, 1.0)]
    lines, judged = [], 0
    for data, place in product(scope.data, [*usual, *varied]):
        alone, *together = _side_by_side(results, data, place)
        for method, ours in zip(_TOGETHER, together, strict=True):
            if alone and ours:
                judged += 1
                lines += _if_worse(f"{data}, {method}, {_place(*place)}", ours, alone)
    if not lines:
        return "In no setting are five parties together worse than the largest of them.\n"
    head = f"Worse than the largest party alone, in {len(lines)} of {judged} settings"
    return f"{head} (ten classes by chance: 10 %):\n\n" + "\n".join(lines) + "\n"


def _side_by_side(
    results: Results, data: str, place: tuple[float, int, tuple[int, ...]]
) -> list[Row | None]:
    wanted: dict[str, Any] = dict(zip(("epsilon", "components", "sizes"), place, strict=True))
    return [results.at(data, each, **wanted) for each in ("strict, one party", *_TOGETHER)]


def _if_worse(name: str, ours: Row, alone: Row) -> list[str]:
    if ours.accuracy >= alone.accuracy:
        return []
    return [f"- {name}: {_spread(ours)} against {_spread(alone)} %."]


def _place(epsilon: float, components: int, sizes: tuple[int, ...]) -> str:
    return f"epsilon {epsilon:g}, k = {components}, {_sizes(sizes)}"


def _sizes(sizes: tuple[int, ...]) -> str:
    if len(set(sizes)) == 1:
        return f"{sizes[0]} records each"
    return f"{', '.join(map(str, sizes))} records"


def _spread(row: Row) -> str:
    told = f"{100 * row.accuracy:.1f}"
    return f"{told} ± {100 * row.accuracy_sd:.1f}" if row.cell.repetitions > 1 else told


def _verdict(data: str, method: str, ours: Row, plain: Row, alone: Row) -> str:
    spread = f" ± {100 * ours.accuracy_sd:.1f}" if ours.cell.repetitions > 1 else ""
    runs = f"{ours.cell.repetitions} run{'s' * (ours.cell.repetitions > 1)}"
    gap = 100 * (plain.accuracy - ours.accuracy)
    kept = "met" if gap <= _POINTS else "missed"
    more = 100 * (ours.accuracy - alone.accuracy)
    return (
        f"- {data}, {method}: {100 * ours.accuracy:.1f}{spread} % in {runs}, {gap:.1f} points "
        f"below {100 * plain.accuracy:.1f} % ({plain.cell.method}): **{kept}**; {more:+.1f} points "
        "against one party alone."
    )


def _scope(results: Results, scope: Scope) -> str:
    seconds = sum(row.seconds * row.cell.repetitions for row in results.rows)
    words = (
        f"{len(results.rows)} of {len(cells_of(scope))} cells, processor time {seconds / 60:.1f} "
        f"minutes. Strict cells of figure 3 are means of {scope.repetitions} runs, each with other "
        "records and noise; all others are single runs.\n"
    )
    if scope.name == "full":
        return f"This is the full run: {words}"
    return f"**This is the {scope.name} run, a look and no measurement:** {words}"


def _methods() -> str:
    return "\n".join(f"- *{name}*: {words}." for name, words in METHODS.items()) + "\n"


def _default(
    results: Results, scope: Scope, data: str, method: str, *, epsilon: float
) -> Row | None:
    wanted: dict[str, Any] = {"components": 20, "sizes": scope.default, "epsilon": epsilon}
    return results.at(data, method, **wanted)


def _budgets(results: Results, scope: Scope, data: str) -> str:
    heads = ["method", *(f"epsilon {epsilon:g}" for epsilon in scope.epsilons)]
    body = []
    for method in METHODS:
        fixed = 0.1 if method.startswith("non-private") else None
        rows = [_default(results, scope, data, method, epsilon=fixed or e) for e in scope.epsilons]
        body.append([method, *(_three(row, cost="paper" in method) for row in rows)])
    plain = _default(results, scope, data, "non-private", epsilon=0.1)
    majority = f" Always the commonest class: {100 * plain.majority:.1f} %." if plain else ""
    title = f"### {data}\n\nTen classes / one against the rest / even or odd, in per cent."
    real = " In brackets the epsilon that the paper's way really costs."
    return f"{title}{real}{majority}\n\n{_grid(heads, body)}\n"


def _three(row: Row | None, *, cost: bool) -> str:
    if row is None:
        return "-"
    figures = (row.accuracy, row.against_rest, row.even_odd)
    text = " / ".join(f"{100 * each:.1f}" for each in figures)
    return f"{text} ({row.cost})" if cost else text


def _claims(results: Results, scope: Scope) -> str:
    """Return what is claimed in words beside what was found, at the paper's default."""
    body = []
    for data in scope.data:
        plain = _default(results, scope, data, "non-private", epsilon=0.1)
        for method, claimed in (
            ("paper", "close to Non-Priv at epsilon 0.1"),
            ("paper, split", "the same, at its stated cost"),
            ("strict", "-"),
        ):
            ours = _default(results, scope, data, method, epsilon=0.1)
            if plain and ours:
                gap = 100 * (ours.accuracy - plain.accuracy)
                found = f"{100 * ours.accuracy:.1f} %, really epsilon {ours.cost}"
                body.append([f"{data}, {method}", claimed, found, f"{gap:+.1f} points"])
    return _grid(["what", "claimed", "ours", "gap"], body) + "\n"


def _shapes(results: Results, scope: Scope, data: str) -> str:
    heads = ["", "non-private", *(f"{name}, epsilon {epsilon:g}" for name, epsilon in SHAPED)]
    body = []
    for components, sizes in [*shapes_of(scope), (USUAL, scope.default)]:
        shape: dict[str, Any] = {"components": components, "sizes": sizes}
        rows = [results.at(data, "non-private", **shape)]
        rows += [results.at(data, name, epsilon=epsilon, **shape) for name, epsilon in SHAPED]
        name = f"k = {components}, {_sizes(sizes)}"
        body.append([name, *(_three(row, cost=False) for row in rows)])
    return f"### {data}\n\n{_grid(heads, body)}\n"


def _seconds(results: Results, scope: Scope) -> str:
    body = []
    for data in scope.data:
        for method, claimed in zip(_TIMED, _TABLE_3[data], strict=True):
            row = _default(results, scope, data, method, epsilon=0.1)
            row = row or _default(results, scope, data, method, epsilon=scope.epsilons[-1])
            if row:
                ratio = f"{claimed / row.seconds:.0f} times faster"
                body.append([f"{data}, {method}", f"{claimed}", f"{row.seconds:.2f}", ratio])
    return _grid(["what", "claimed", "ours", "gap"], body) + "\n"


def _grid(heads: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
