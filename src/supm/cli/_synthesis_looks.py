"""Two looks of pictures in a page: for a light one and for a dark one.

The colours are those of Okabe and Ito, which everybody can tell apart; marks differ too, so that
the pictures can be read without colours.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

__all__ = ["DARK", "LIGHT", "Look", "brief", "drawn_as_svg", "tidy"]

_LONGEST: Final = 22


@dataclass(frozen=True, kw_only=True)
class Look:
    """Colours of one look.

    Parameters
    ----------
    ink, faint, paper : str
        Text, lines behind, and the middle of the colours of a matrix.
    noisy, synthetic, clean, unknown : str
        What is drawn.
    """

    ink: str
    faint: str
    paper: str
    noisy: str
    synthetic: str
    clean: str
    unknown: str


LIGHT: Final = Look(
    ink="#1c2128",
    faint="#d5dae0",
    paper="#ffffff",
    noisy="#D55E00",
    synthetic="#0072B2",
    clean="#009E73",
    unknown="#8a929c",
)
DARK: Final = Look(
    ink="#e6e9ed",
    faint="#3a424c",
    paper="#1b2027",
    noisy="#F0904A",
    synthetic="#56B4E9",
    clean="#2FC79A",
    unknown="#8d96a1",
)


def brief(name: str) -> str:
    """Cut a name short that would push the picture aside."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def tidy(panel: Any, look: Look, axis: str) -> None:  # noqa: ANN401  matplotlib ships no types
    """Leave lines along one axis and nothing else around a panel."""
    panel.grid(axis=axis, color=look.faint, linewidth=0.6)
    panel.set_axisbelow(True)
    for side in ("top", "right", "left"):
        panel.spines[side].set_visible(False)
    panel.tick_params(axis="y", length=0)


def drawn_as_svg(size: tuple[float, float], look: Look, draw: Callable[[Any], None]) -> str:
    """Return a picture that is the same whenever it is drawn."""
    with mpl.rc_context(_settings(look)), warnings.catch_warnings():
        # A reader's fonts may have letters that ours has not.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = Figure(figsize=size, layout="constrained", facecolor="none")
        FigureCanvasAgg(figure)
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
