"""How pictures look, on their own and inside a light or a dark page of HTML that fetches nothing.

The colours are those of Okabe and Ito, which everybody can tell apart; line styles and marks should
differ too, so that a picture can be read without colours.
"""

from __future__ import annotations

import base64
import io
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import permutations
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from supm.reporting.text import cut_short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure, FigureBase

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
# Up to so many names, every cell of a heat map tells its number.
_NUMBERED: Final = 12
# Points along a heat map that its names share.
_NAMES: Final = 170.0


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


def new_figure(size: tuple[float, float] | None = None) -> Figure:
    """Return an empty figure that no window shows."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  loaded to draw
    from matplotlib.figure import Figure  # noqa: PLC0415  the same

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Figure, path: str) -> None:
    """Write a picture to a file.

    Parameters
    ----------
    figure : Figure
        What to write.
    path : str
        Where; the ending says in which format.
    """
    figure.savefig(path, dpi=_DOTS)


def legend_below(figure: FigureBase, panel: Axes) -> None:
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


def tidy(panel: Axes, look: Look, axis: Literal["x", "y", "both"]) -> None:
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


def panels_in(figure: FigureBase, count: int, across: int) -> list[Axes]:
    """Return so many empty panels, row by row.

    Parameters
    ----------
    figure : Figure or SubFigure
        What they are put in.
    count, across : int
        How many there are, and how many a row holds at most.
    """
    across = min(across, count)
    places = list(figure.subplots(math.ceil(count / across), across, squeeze=False).flat)
    for left in places[count:]:
        left.set_axis_off()
    return places[:count]


def legend_above(figure: FigureBase, panels: Iterable[Axes]) -> None:
    """Name above a picture what any of its panels shows, once each.

    Parameters
    ----------
    figure : Figure or SubFigure
        What the panels are in.
    panels : iterable of Axes
        What has names.
    """
    shown = (zip(*panel.get_legend_handles_labels(), strict=True) for panel in panels)
    named = {name: handle for pairs in shown for handle, name in pairs}
    handles, names = list(named.values()), list(named)
    figure.legend(handles, names, loc="outside upper center", ncols=3, frameon=False)


def heat_map(
    panel: Axes,
    names: Sequence[str],
    values: NDArray[np.float64],
    hidden: NDArray[np.bool_],
    look: Look,
) -> QuadMesh:
    """Draw what any two of some names share, from -1 in red to 1 in blue, for a bar of colours.

    Parameters
    ----------
    panel : Axes
        Where to draw.
    names : sequence of str
        Of the rows and of the columns.
    values, hidden : ndarray of float, and of bool
        The numbers, without their diagonal, and where a question mark stands for one.
    look : Look
        That of the page.
    """
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap  # noqa: PLC0415  drawn with

    signed = LinearSegmentedColormap.from_list("signed", [look.red, look.paper, look.blue])
    blank = hidden | np.eye(len(names), dtype=np.bool_)
    style: dict[str, Any] = {"edgecolors": look.faint, "linewidth": 0.5}
    if hidden.any():
        panel.pcolormesh(np.where(hidden, 0.0, np.nan), cmap=ListedColormap([look.faint]))
    shown = panel.pcolormesh(np.where(blank, np.nan, values), cmap=signed, vmin=-1, vmax=1, **style)
    _tell_cells(panel, values, hidden, look.ink)
    _name_both_sides(panel, [cut_short(each) for each in names])
    return shown


def _tell_cells(
    panel: Axes, values: NDArray[np.float64], hidden: NDArray[np.bool_], colour: str
) -> None:
    """Write question marks, and numbers where there is room for them."""
    small = len(values) <= _NUMBERED
    size = 7.5 if small else 90 / len(values)
    for i, j in permutations(range(len(values)), 2):
        if hidden[i, j] or small:
            told = "?" if hidden[i, j] else f"{values[i, j]:.1f}".replace("-0.0", "0.0")
            panel.text(j + 0.5, i + 0.5, told, ha="center", va="center", color=colour, size=size)


def _name_both_sides(panel: Axes, names: list[str]) -> None:
    places, size = np.arange(len(names)) + 0.5, min(8.0, _NAMES / len(names))
    panel.set_xticks(places, names, rotation=90, size=size)
    panel.set_yticks(places, names, size=size)
    panel.tick_params(length=0)
    panel.invert_yaxis()
    panel.set_aspect("equal")


def _as_svg(draw: Callable[[Figure, Look], object], look: Look) -> str:
    """Return a picture for a page, which is the same whenever it is drawn."""
    import matplotlib as mpl  # noqa: PLC0415  loaded to draw

    with mpl.rc_context(_settings(look)), warnings.catch_warnings():
        # A reader's fonts may have letters that ours has not.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = new_figure()
        figure.set_facecolor("none")
        draw(figure, look)
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


_STYLE: Final = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1c2128; --soft: #5a6470;
  --card: #f4f6f8; --line: #d5dae0; --accent: #0072b2; --warn: #fff4e5; --edge: #d55e00; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #e6e9ed; --soft: #a3acb7;
  --card: #1b2027; --line: #3a424c; --accent: #56b4e9; --warn: #2b2118; --edge: #f0904a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2.5rem 1.25rem 4rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.25rem; margin: 2.8rem 0 .6rem; }
p { margin: .5rem 0; max-width: 46rem; }
.lead, .note, figcaption, footer { color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .8rem;
  margin: 1.6rem 0; }
.card { background: var(--card); border-radius: .7rem; padding: .9rem 1rem; }
.card b { display: block; font-size: 1.65rem; line-height: 1.2; }
.card span { color: var(--soft); font-size: .88rem; }
.unknown { background: var(--warn); border-left: .3rem solid var(--edge); border-radius: .3rem;
  padding: .7rem 1.1rem; margin: 1rem 0; }
.unknown p { margin: .3rem 0; }
figure { margin: 1rem 0; }
figure img { width: 100%; min-width: 44rem; height: auto; display: block; }
figcaption { font-size: .9rem; margin-top: .3rem; }
.wide { overflow-x: auto; }
.wide:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media print { figure img { min-width: 0; } }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .28rem .8rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
details { margin: .8rem 0; }
summary { cursor: pointer; color: var(--accent); }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .8rem; }
"""
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(title: str, parts: Iterable[str]) -> str:
    """Return a whole page.

    Parameters
    ----------
    title : str
        What the window is called.
    parts : iterable of str
        HTML, in its order.

    Returns
    -------
    str
    """
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def card(number: str, words: str) -> str:
    """Return a number that matters, with what it is.

    Parameters
    ----------
    number, words : str
        Both as text; cards stand side by side inside ``<div class="cards">``.

    Returns
    -------
    str
    """
    return f'<div class="card"><b>{escape(number)}</b><span>{escape(words)}</span></div>'


def figure(draw: Callable[[Figure, Look], object], *, name: str, alt: str, caption: str) -> str:
    """Return a picture for a light and for a dark page, with its caption.

    Parameters
    ----------
    draw : callable
        Sets the size of the figure that it is given, and draws into it with a look.
    name, alt, caption : str
        What it is, what is to be seen for whom cannot see it, and what it means.

    Returns
    -------
    str
    """
    light, dark = (_inside(_as_svg(draw, look)) for look in (LIGHT, DARK))
    return (
        f"<figure>{_wide(name)}"
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
        f'<img src="{light}" alt="{escape(alt, quote=True)}"></picture></div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def details(title: str, content: Iterable[str]) -> str:
    """Return something that opens when it is wanted.

    Parameters
    ----------
    title : str
        What is always shown.
    content : iterable of str
        HTML.

    Returns
    -------
    str
    """
    inside = "\n".join(content)
    summary = f"<summary>{escape(title)}</summary>"
    return f"<details>{summary}{_wide(title)}\n{inside}\n</div></details>"


def _wide(name: str) -> str:
    """Open a box that scrolls where it is too wide, for a keyboard too."""
    return f'<div class="wide" tabindex="0" role="group" aria-label="{escape(name, quote=True)}">'


def _inside(picture: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(picture.encode()).decode()}"
