"""How pictures look, on their own and inside a light or a dark page.

The colours are those of Okabe and Ito, which everybody can tell apart; line styles and marks should
differ too, so that a picture can be read without colours.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

COLOURS: Final = {
    "blue": "#0072B2",
    "green": "#009E73",
    "red": "#D55E00",
    "pink": "#CC79A7",
    "sky": "#56B4E9",
    "orange": "#E69F00",
    "yellow": "#F0E442",
    "grey": "#666666",
}
"""Eight colours by their names."""

_DOTS: Final = 150


@dataclass(frozen=True, kw_only=True)
class Look:
    """Colours of a picture inside a page.

    Parameters
    ----------
    ink, faint, paper : str
        Text, lines behind, and the ground.
    red, blue, green, grey : str
        What is drawn.
    """

    ink: str
    faint: str
    paper: str
    red: str
    blue: str
    green: str
    grey: str


LIGHT: Final = Look(
    ink="#1c2128",
    faint="#d5dae0",
    paper="#ffffff",
    red="#D55E00",
    blue="#0072B2",
    green="#009E73",
    grey="#8a929c",
)
DARK: Final = Look(
    ink="#e6e9ed",
    faint="#3a424c",
    paper="#1b2027",
    red="#F0904A",
    blue="#56B4E9",
    green="#2FC79A",
    grey="#8d96a1",
)


def new_figure(size: tuple[float, float]) -> Any:  # noqa: ANN401  matplotlib ships no types
    """Return an empty figure that no window shows."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  loaded to draw
    from matplotlib.figure import Figure  # noqa: PLC0415  the same

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Any, path: str) -> None:  # noqa: ANN401  matplotlib ships no types
    """Write a picture to a file.

    Parameters
    ----------
    figure : Figure
        What to write.
    path : str
        Where; the ending says in which format.
    """
    figure.savefig(path, dpi=_DOTS)


def legend_below(figure: Any, panel: Any) -> None:  # noqa: ANN401  matplotlib ships no types
    """Put the legend of a panel under it.

    Parameters
    ----------
    figure : Figure or SubFigure
        What the panel is in.
    panel : Axes
        What has the legend.
    """
    named = list(zip(*panel.get_legend_handles_labels(), strict=True))
    # What has bars of error comes last, though it matters most.
    named.sort(key=lambda each: not isinstance(each[0], tuple))
    handles, names = zip(*named, strict=True)
    figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False)


def tidy(panel: Any, look: Look, axis: str) -> None:  # noqa: ANN401  matplotlib ships no types
    """Leave lines along one axis and nothing else around a panel.

    Parameters
    ----------
    panel : Axes
        What to tidy.
    look : Look
        That of the page.
    axis : {"x", "y", "both"}
        Along which lines stay.
    """
    panel.grid(axis=axis, color=look.faint, linewidth=0.6)
    panel.set_axisbelow(True)
    for side in ("top", "right", "left"):
        panel.spines[side].set_visible(False)
    panel.tick_params(axis="y", length=0)


def as_svg(size: tuple[float, float], look: Look, draw: Callable[[Any], None]) -> str:
    """Return a picture for a page, which is the same whenever it is drawn.

    Parameters
    ----------
    size : tuple of float
        Width and height in inches.
    look : Look
        Light or dark.
    draw : callable
        Draws into the figure that it is given.

    Returns
    -------
    str
    """
    import matplotlib as mpl  # noqa: PLC0415  loaded to draw

    with mpl.rc_context(_settings(look)), warnings.catch_warnings():
        # A reader's fonts may have letters that ours has not.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = new_figure(size)
        figure.set_facecolor("none")
        draw(figure)
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()


def _settings(look: Look) -> dict[Any, Any]:
    inked = ("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.titlecolor")
    return {
        **dict.fromkeys(inked, look.ink),
        "axes.edgecolor": look.faint,
        "axes.facecolor": "none",
        "axes.titlesize": 10,
        "font.size": 9.5,
        "svg.fonttype": "none",
        "svg.hashsalt": "supm",
        # Names of columns are text as it is, and no formulas.
        "text.parse_math": False,
    }
