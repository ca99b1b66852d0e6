"""The whole story on public data: one study over HTTP, and what budgets buy, ours and theirs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from supm import __version__
from supm._random import RandomSource
from supm.collection.planning import plan
from supm.collection.simulation import Progress, Simulation, simulate_studies
from supm.collection.simulation_picture import Rising, draw_curve
from supm.collection.simulation_text import figures
from supm.collection.story import TRAINING, Aggregator, Story, parts, tell
from supm.collection.words import statement_lines
from supm.messages import Study
from supm.reporting import COLOURS, Result, Table, legend_below, paragraph

if TYPE_CHECKING:
    from supm.datasets import Dataset

_FOLDS, _REPEATS = 10, 3
# Tried out on these people: as good as asking everybody the same at 1 and 2, better at 4 and 8.
_KEPT, _CLASSES = 8, 5
_HATCHES: Final = ("", "////")
_BARS: Final = 36
_OPENING: Final = (
    "{} people of a public data set choose what to ask and train a classifier over HTTP, and {} "
    "are tested; each keeps their own record."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """Who takes part, under which budgets, with which randomness."""

    data: Dataset
    studies: list[Study]
    papers: list[Study]
    source: RandomSource

    @classmethod
    def of(cls, data: Dataset, epsilons: Sequence[float], source: RandomSource) -> Scene:
        """Plan the studies of public people, ours and the papers', for each budget."""
        budgets = sorted(epsilons)
        ours: dict[str, Any] = {"reduce": "rank", "keep": _KEPT, "classes": _CLASSES}
        return cls(
            data=data,
            studies=[plan(data.schema, epsilon=e, owners=data.rows, **ours) for e in budgets],
            papers=[plan(data.schema, epsilon=each, mode="faithful") for each in budgets],
            source=source,
        )

    @property
    def study(self) -> Study:
        """The study that the story is told of: that of the budget in the middle."""
        return self.studies[len(self.studies) // 2]

    @property
    def opening(self) -> str:
        """Who takes part, as a sentence."""
        return _OPENING.format(TRAINING, self.data.rows - TRAINING)

    def tell(self, aggregator: Aggregator, step: Callable[[], object]) -> Story:
        """Run the study with all devices; each report is a step."""
        return tell(aggregator, self.data, self.source.child("story"), step)

    def compare(self, story: Story, progress: Progress | None = None) -> Demonstration:
        """Measure what each budget buys, in our protocol and in that of the papers."""
        found = simulate_studies(
            [*self.studies, *self.papers],
            self.data.records(),
            source=self.source,
            folds=_FOLDS,
            repeats=_REPEATS,
            name="WDBC",
            progress=progress,
        )
        ours = len(self.studies)
        return Demonstration(
            story=story,
            ours=replace(found, results=found.results[:ours]),
            papers=replace(found, results=found.results[ours:]),
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Demonstration(Result):
    """One study as it went, and the accuracy of several budgets beside that of the papers.

    Parameters
    ----------
    story : Story
        What happened with one budget.
    ours, papers : Simulation
        Our protocol and that of the papers, with the same people and budgets.
    """

    size: ClassVar[tuple[float, float]] = (13.0, 5.8)
    story: Story
    ours: Simulation
    papers: Simulation

    @property
    def headline(self) -> str:
        """What is shown."""
        return "Learning from people who keep their records"

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """The story, each part with a heading: what happened, what it buys, what is promised."""
        promised = map(paragraph, statement_lines(self.story.model.statement))
        return (
            *parts(self.story),
            ("What accuracy it buys", f"{self.tables()[0]}\n{paragraph(_between(self.ours))}"),
            ("What is promised", "\n".join(promised)),
        )

    def tables(self) -> list[Table]:
        """Return what each budget buys, in both protocols."""
        told = figures(
            zip(self.ours.results, self.papers.results, strict=True),
            ("epsilon", "g", lambda pair: pair[0].study.epsilon),
            ("answered", ".1%", lambda pair: pair[0].answered.headline),
            ("spread", ".1%", lambda pair: pair[0].spread),
            ("on device", ".1%", lambda pair: pair[0].on_device.headline),
            ("papers", ".1%", lambda pair: pair[1].answered.headline),
            ("papers' spread", ".1%", lambda pair: pair[1].spread),
            ("majority", ".1%", lambda pair: pair[0].answered.of_constant),
            ("repetitions", "g", lambda pair: pair[0].repeats),
            ("folds", "g", lambda pair: pair[0].folds),
        )
        return [told]

    def words(self) -> list[str]:
        """Return what the figures mean, and what is promised."""
        return [_between(self.ours), *statement_lines(self.story.model.statement)]

    def to_form(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        story = self.story
        return {
            "version": __version__,
            "dataset": "wdbc",
            "simulation": story.simulation,
            "epsilon": story.study.epsilon,
            "attributes": list(story.study.attributes or ()),
            "strengths": story.strengths.tolist(),
            "reports": story.people,
            "tested": {"reports": story.people["test"], "right": story.right},
            "report": json.loads(story.report.to_json()),
            "in_reports": story.told.tolist(),
            "estimated": story.estimated.tolist(),
            "true": story.true.tolist(),
            "model": story.model.rule.to_form(),
            "statement": story.model.statement.to_form(),
            "accuracy": self.ours.to_form(),
            "papers": self.papers.to_form(),
        }

    def draw(self, figure: Any) -> None:  # noqa: ANN401  matplotlib ships no types
        """Draw the scores of the model beside what budgets buy."""
        left, right = figure.subfigures(1, 2, squeeze=False)[0]
        _draw_scores(left.subplots(), self.story)
        drawn, results = self.ours.curve, self.papers.results
        first, *others = drawn.lines
        papers = Rising(
            "papers' protocol (± 1 s.d.)",
            "papers",
            drawn.epsilons,
            tuple(each.answered.headline for each in results),
            tuple(each.spread for each in results),
        )
        draw_curve(right.subplots(), drawn._replace(lines=(first, papers, *others)))
        for half in (left, right):
            legend_below(half, half.axes[0])
        mark = " (simulation, not private)" if self.story.simulation else ""
        figure.suptitle(f"{self.headline}{mark}")


def _between(found: Simulation) -> str:
    return (
        f"Always predicting the commonest class is right for {found.constant:.1%}, and a support "
        f"vector machine without privacy for {found.baseline.reached.headline:.1%} "
        f"({found.baseline.repeats} repetitions). On device: the model comes to the record. "
        f"That {_KEPT} measures of {_CLASSES} classes do well was found on these public data. "
        "Papers: the protocol of papers 000 and 001, corrected, with the same budget. A randomised "
        "answer of two classes is right with probability e^epsilon / (1 + e^epsilon) at most, or "
        "as often as the commonest class, whatever the model."
    )


def _draw_scores(panel: Any, story: Story) -> None:  # noqa: ANN401  matplotlib ships no types
    edges = np.linspace(story.scores.min(), story.scores.max(), _BARS + 1)
    for label, name in enumerate(story.model.labels):
        scores = story.scores[story.labels == label]
        panel.hist(
            scores,
            edges,
            color=(COLOURS["sky"], COLOURS["orange"])[label],
            hatch=_HATCHES[label],
            alpha=0.65,
            edgecolor="black",
            linewidth=0.5,
            label=f"{name} ({scores.size} people)",
        )
    panel.axvline(0.0, color="black", linestyle="--", label="where the model's answer changes")
    panel.set_xlabel(f"score on the owner's device (points for {story.model.labels[1]})")
    panel.set_ylabel("people")
    panel.set_title(
        f"The model that {story.people['train']} reports make at epsilon = "
        f"{story.study.epsilon:g}\n"
        f"each told {story.asked.sampled} of {story.study.keep} measures that "
        f"{story.people['reduce']} others chose, with noise"
    )
    panel.grid(axis="y", alpha=0.3)
    panel.set_axisbelow(True)
