from __future__ import annotations

import numpy as np
import pytest

from supm.reporting import LIGHT, heat_map, legend_above, panels_in
from supm.reporting.picture import new_figure


@pytest.mark.parametrize(("count", "places"), [(1, 1), (3, 3), (4, 6)])
def test_panels_fill_rows_and_what_is_left_stays_empty(count: int, places: int) -> None:
    figure = new_figure((3, 2))
    panels = panels_in(figure, count, across=3)
    assert (len(panels), len(figure.axes)) == (count, places)
    assert [each.axison for each in figure.axes] == [True] * count + [False] * (places - count)


def test_a_legend_names_once_what_any_panel_shows() -> None:
    figure = new_figure((3, 2))
    panels = panels_in(figure, 2, across=2)
    for panel, names in zip(panels, (["a", "b"], ["b", "c"]), strict=True):
        for name in names:
            panel.plot([1, 2], label=name)
    legend_above(figure, panels)
    assert [each.get_text() for each in figure.legends[0].get_texts()] == ["a", "b", "c"]


def test_a_heat_map_hides_what_is_not_known_and_the_diagonal() -> None:
    panel = new_figure((3, 2)).subplots()
    values = np.array([[1.0, 0.5, -0.01], [0.5, 1.0, -0.7], [-0.01, -0.7, 1.0]])
    hidden = np.abs(values) == 0.5
    shown = heat_map(panel, ["a", "b" * 30, "c"], values, hidden, LIGHT)
    assert [each.get_text() for each in panel.texts] == ["?", "0.0", "?", "-0.7", "0.0", "-0.7"]
    blank = np.ma.getmaskarray(np.ma.asarray(shown.get_array()))
    assert np.array_equal(blank, hidden | np.eye(3, dtype=bool))
    assert [each.get_text() for each in panel.get_xticklabels()] == ["a", f"{'b' * 21}…", "c"]


def test_a_large_heat_map_tells_no_numbers() -> None:
    panel = new_figure((3, 2)).subplots()
    values = np.full((13, 13), 0.5)
    hidden = np.zeros((13, 13), dtype=bool)
    hidden[0, 1] = True
    heat_map(panel, [str(each) for each in range(13)], values, hidden, LIGHT)
    assert [each.get_text() for each in panel.texts] == ["?"]
