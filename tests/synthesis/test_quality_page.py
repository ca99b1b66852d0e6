from __future__ import annotations

import base64
import re
from functools import cache
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from supm import simulation
from supm.mechanisms import ContinuousLaplace
from supm.mechanisms import GeneralizedRandomizedResponse as Response
from supm.reporting import DARK, LIGHT
from supm.synthesis import Archive, ArchiveSchema, ClassColumn, NumberColumn
from supm.synthesis.quality import Quality, assess
from supm.synthesis.quality_dependence import KNOWN
from supm.synthesis.quality_page import BAND, BLUR, SHARES, _draw_pairs, quality_page

# Where a page may look without leaving the file.
INSIDE = ("data:image/svg+xml;base64,",)


@cache
def quality(columns: int = 3, *, clean: bool = True, epsilon: float = 3.0) -> Quality:
    rows = 1500
    held: dict[str, Any] = {}
    first = simulation(1).words(rows) / 2.0**64
    for place in range(columns):
        other = simulation(place + 2).words(rows) / 2.0**64
        held[f"x<{place}>"] = 0.7 * first + 0.3 * other
    held["ill & well"] = np.where(first > 0.4, "yes", "no")
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=epsilon)
    numbers = [NumberColumn(name, law) for name in held if name != "ill & well"]
    coin = Response.for_epsilon(size=2, epsilon=epsilon)
    kinds: tuple[NumberColumn | ClassColumn, ...] = (
        *numbers,
        ClassColumn("ill & well", ("no", "yes"), coin),
    )
    schema = ArchiveSchema(columns=kinds, target="x<0>")
    archive = Archive.noised(held, schema, simulation(9))
    return assess(archive, held, held if clean else None)


@cache
def shown(*, clean: bool = True, epsilon: float = 3.0) -> str:
    return quality_page(
        quality(clean=clean, epsilon=epsilon), name="<b>noisy</b>.csv", made="x < y"
    )


class Reader(HTMLParser):
    """Collects tags that are open, pictures and whatever could be fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.alts: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in {"meta", "img", "source", "br"}:
            self.open.append(tag)
        for name, value in attrs:
            if name in {"src", "srcset", "href", "data", "action"}:
                self.links.append(value or "")
            if name == "alt":
                self.alts.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def pictures(text: str) -> list[tuple[str, str]]:
    """Return each picture of a page as SVG, for a light and for a dark one."""
    found = [base64.b64decode(each.removeprefix(INSIDE[0])).decode() for each in read(text).links]
    return list(zip(found[1::2], found[::2], strict=True))


def words_in(picture: str) -> str:
    return " ".join(ET.fromstring(picture).itertext())  # noqa: S314  it was made here


def test_the_page_is_whole_and_fetches_nothing() -> None:
    text = shown()
    found = read(text)
    assert all(each.startswith(INSIDE) for each in found.links)
    assert not {"script", "link", "iframe", "object", "form"} & found.tags
    assert "default-src 'none'" in text
    assert "@import" not in text
    assert "url(" not in text


def test_every_picture_has_two_looks_and_a_text_for_those_who_do_not_see_it() -> None:
    found = read(shown())
    assert len(found.alts) == 4
    assert len(found.links) == 8
    assert len(set(found.links)) == 8
    assert all(len(each) > 60 for each in found.alts)


def test_the_pictures_inside_are_whole() -> None:
    for each in pictures(shown()):
        for picture in each:
            assert ET.fromstring(picture).tag.endswith("svg")  # noqa: S314  it was made here


def test_names_of_columns_cannot_break_the_page() -> None:
    text = shown()
    assert "<b>noisy</b>" not in text
    assert "x<0>" not in text
    assert "x&lt;0&gt;" in text
    assert "ill &amp; well" in text


def test_the_page_says_what_was_spent_and_what_cannot_be_known() -> None:
    found = quality(epsilon=0.5)
    text = shown(epsilon=0.5)
    words = re.sub(r"<[^>]+>", " ", text)
    assert "epsilon that each record had spent" in words
    assert f">{found.schema.epsilon:.3g}<" in text
    assert "What can and cannot be known" in words
    assert "not known" in words
    assert found.sentences[0] in words
    assert all(name in words for name in ("± s.e.", "synthetic"))
    assert "protects nobody" not in words
    assert "protects nobody" in shown()


def test_without_clean_records_nothing_is_said_of_them() -> None:
    text = shown(clean=False)
    assert "clean" not in re.sub(r"base64,[^\"]*", "", text).split("</style>")[1]


@pytest.mark.parametrize("place", range(4))
def test_the_looks_differ_and_have_colours_of_their_own(place: int) -> None:
    light, dark = pictures(shown())[place]
    assert light != dark
    assert (LIGHT.ink in light, LIGHT.ink in dark) == (True, False)
    assert (DARK.ink in light, DARK.ink in dark) == (False, True)


def test_a_page_is_the_same_whenever_it_is_drawn() -> None:
    assert quality_page(quality(), name="<b>noisy</b>.csv", made="x < y") == shown()


def test_without_models_there_is_no_picture_of_them() -> None:
    told, silent = shown(), shown(clean=False)
    assert ("Chart of models" in told, len(pictures(told))) == (True, 4)
    assert ("Chart of models" in silent, len(pictures(silent))) == (False, 3)


def test_many_columns_are_drawn_in_part_and_listed_in_full() -> None:
    found = quality(18, clean=False)
    text = quality_page(found, name="noisy.csv", made="Made by supm.")
    assert "The first 16 of 19." in text
    assert text.count("x&lt;17&gt;") > 18


@pytest.mark.parametrize("name", ["a$b$c_{", "身長", "m" * 60, "_hidden", "50% & <more>"])
def test_any_name_of_a_column_can_be_drawn(name: str) -> None:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=1.0)
    schema = ArchiveSchema(columns=(NumberColumn(name, law), NumberColumn("other", law)))
    held = {name: np.linspace(0, 1, 50), "other": np.linspace(0, 1, 50)}
    found = assess(Archive.noised(held, schema, simulation(1)), held)
    drawn = [words_in(light) for light, _ in pictures(quality_page(found, name="a.csv", made=""))]
    assert len(drawn) == 3
    assert all(name in words or f"{name[:21]}…" in words for words in drawn)


def test_what_the_noise_hides_is_never_shown_as_known() -> None:
    found = quality(epsilon=0.5)
    hidden = [pair for pair in found.estimate.pairs() if not found.estimate.known[pair]]
    assert len(hidden) > 0
    text = quality_page(found, name="a.csv", made="")
    assert text.count("(not known)") == len(hidden)
    drawn = [words_in(light) for light, _ in pictures(text)]
    # One in the lower and one in the upper half of one matrix of four.
    assert [words.count("?") for words in drawn] == [0, 2 * len(hidden), 0, 0]
    wide = [pair for pair in hidden if found.estimate.error[pair] >= 1]
    assert text.count("<td>any</td>") == len(wide)


def test_known_and_hidden_pairs_are_told_apart_by_colour_and_width() -> None:
    from matplotlib.figure import Figure  # noqa: PLC0415  drawn with

    found = quality(epsilon=1.0)
    canvas = Figure()
    _draw_pairs(found, canvas, LIGHT)
    lines = canvas.axes[0].lines
    for place, pair in enumerate(found.estimate.strongest(100)):
        thin, thick, _ = (each for each in lines if np.unique(each.get_ydata()).tolist() == [place])
        known = bool(found.estimate.known[pair])
        assert {thin.get_color(), thick.get_color()} == {LIGHT.blue if known else LIGHT.grey}
        middle, error = found.estimate.strength[pair], found.estimate.error[pair]
        for line, reach in ((thin, KNOWN), (thick, 1.0)):
            ends = np.clip([middle - reach * error, middle + reach * error], -1, 1)
            np.testing.assert_allclose(np.asarray(line.get_xdata(), float), ends)


def test_what_has_no_direction_is_not_drawn_below_zero() -> None:
    from matplotlib.figure import Figure  # noqa: PLC0415  drawn with

    coin = Response.for_epsilon(size=3, epsilon=0.5)
    schema = ArchiveSchema(columns=tuple(ClassColumn(name, tuple("abc"), coin) for name in "xy"))
    held = {name: ["a", "b", "c"] * 20 for name in "xy"}
    found = assess(Archive.noised(held, schema, simulation(1)), held)
    canvas = Figure()
    _draw_pairs(found, canvas, LIGHT)
    (panel,) = canvas.axes
    drawn = np.concatenate([np.asarray(each.get_xdata(), float) for each in panel.lines])
    assert drawn.min() >= 0.0
    assert "Cramér's V" in panel.get_xlabel()


def test_one_column_has_no_pictures_of_pairs() -> None:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=1.0)
    schema = ArchiveSchema(columns=(NumberColumn("a", law),))
    held = {"a": np.linspace(0, 1, 50)}
    found = assess(Archive.noised(held, schema, simulation(1)), held)
    text = quality_page(found, name="noisy.csv", made="Made by supm.")
    assert len(read(text).alts) == 1
    assert "Dependence" not in text
    assert "records of 1 column." in text
    assert "By the records a has mean" in text


def numbers(epsilon: float, count: int = 2) -> Quality:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=epsilon)
    columns = tuple(NumberColumn(f"x{place}", law) for place in range(count))
    held = {each.name: np.linspace(0, 1, 400) for each in columns}
    archive = Archive.noised(held, ArchiveSchema(columns=columns, target="x0"), simulation(1))
    return assess(archive, held)


def test_errors_that_cannot_be_known_are_neither_drawn_nor_a_headline() -> None:
    hidden, told = (quality_page(numbers(each), name="a.csv", made="") for each in (1e-4, 20.0))
    words = [re.sub(r"base64,[^\"]*", "", each) for each in (hidden, told)]
    assert "the constant&#x27;s mean squared error" not in words[0]
    assert "What a model of x0 is worth cannot be known" in words[0]
    assert not re.search(r"e\+|inf|-\d+%", words[0].split("</style>")[1].split("Distributions")[0])
    assert "the constant&#x27;s mean squared error" in words[1]
    assert (len(read(hidden).alts), len(read(told).alts)) == (3, 4)


def test_the_caption_says_how_many_pairs_are_drawn() -> None:
    caption = "The strongest 24 of 28 pairs"
    assert caption in quality_page(numbers(4.0, 8), name="a.csv", made="")
    assert "The strongest" not in quality_page(numbers(4.0, 7), name="a.csv", made="")


def test_each_chart_of_a_distribution_says_how_well_it_is_known() -> None:
    pages = [quality_page(numbers(each), name="a.csv", made="") for each in (20.0, 0.1)]
    known, hidden, classes = (words_in(pictures(each)[2][0]) for each in (*pages, shown()))
    assert (BAND in known, BLUR in known, SHARES in known) == (True, True, False)
    assert (BAND in hidden, "shape not known" in known) == (False, False)
    assert hidden.count("shape not known") == 2
    assert SHARES in classes


def test_the_caption_names_the_columns_whose_shape_is_hidden() -> None:
    known, hidden = (quality_page(numbers(each), name="a.csv", made="") for each in (20.0, 0.1))
    sentence = "The shape of the distribution of x0 and x1 is not known"
    assert sentence not in known
    assert "The shapes of all columns are known" in known
    # In what cannot be known, in the caption and in the text for those who do not see the chart.
    assert hidden.count(sentence) == 3


def test_what_may_be_too_wide_for_a_phone_scrolls_by_keyboard() -> None:
    text = shown()
    boxes = text.count('<div class="wide"')
    assert boxes == text.count('<div class="wide" tabindex="0" role="group" aria-label="')
    assert boxes == text.count("<figure>") + text.count("<details>") == 8
    assert "min-width: 44rem" in text


def test_classes_have_labels_unless_they_are_many() -> None:
    for count in (3, 8, 30):
        values = tuple(f"class {place}" for place in range(count))
        law = Response.for_epsilon(size=count, epsilon=4.0)
        schema = ArchiveSchema(columns=(ClassColumn("kind", values, law),))
        held = {"kind": [values[place % count] for place in range(300)]}
        found = assess(Archive.noised(held, schema, simulation(1)), held)
        ((drawn, _),) = pictures(quality_page(found, name="a.csv", made=""))
        assert (">class 2<" in drawn.replace("\n", "")) == (count < 30)
        assert ("30 classes" in drawn) == (count == 30)
