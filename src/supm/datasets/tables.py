"""Loaders of the tables; ``sets.toml`` says what is public about each and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as shipped

from supm._errors import ParameterError
from supm.datasets.dataset import Bound, Dataset
from supm.datasets.files import (
    Text,
    about,
    decimals,
    optional_text,
    published_text,
    text_columns,
    whole_numbers,
)
from supm.schema import Attribute, Categorical, Ordinal, Schema

_CELLS: Final = (
    "none of these measures of a cell nucleus can be negative; the upper bound is a round number "
    "above the range that scikit-learn's description of the set publishes"
)
# Measure: upper bounds of its mean, its standard error and its worst value over the nuclei.
_NUCLEI: Final = {
    "radius": (30.0, 3.0, 40.0),
    "texture": (50.0, 6.0, 60.0),
    "perimeter": (200.0, 25.0, 260.0),
    "area": (3000.0, 600.0, 5000.0),
    "smoothness": (0.2, 0.04, 0.3),
    "compactness": (0.4, 0.15, 1.2),
    "concavity": (0.5, 0.4, 1.5),
    "concave points": (0.25, 0.06, 0.3),
    "symmetry": (0.4, 0.1, 0.8),
    "fractal dimension": (0.12, 0.04, 0.25),
}
_RETURNS: Final = (*(f"a{place:02d}" for place in range(1, 35)), "class")
_RETURN: Final = Bound(
    low=-1,
    high=1,
    why="one part of a complex autocorrelation, normalised to [-1, 1] by the publishers",
    by_definition="both",
)
_RAYS: Final = tuple(f"f{place}" for place in range(1, 167))
_RAY: Final = Bound(
    low=-400,
    high=400,
    why="a distance in hundredths of an angstrom along a ray, from an origin on it, by UCI's "
    "description; 4 angstrom to either side is a round choice",
)
_TASKS: Final = {
    "bathing": "toilet",
    "money": "money",
    "outside": "outside",
    "traveling": "traveling",
}
_WITH_GAPS: Final = ("workclass", "occupation", "native-country")
Task = Literal["bathing", "money", "outside", "traveling"]


def load_wdbc() -> Dataset:
    """Load the breast cancer set: 569 tumours, 30 measures of their cell nuclei, two diagnoses.

    Returns
    -------
    Dataset
        The target is "benign" (357) or "malignant" (212).

    Examples
    --------
    >>> from supm.datasets import load_wdbc
    >>> load_wdbc().schema.target.values
    ('benign', 'malignant')
    """
    loaded = shipped.load_breast_cancer()
    columns = {str(name): loaded.data[:, place] for place, name in enumerate(loaded.feature_names)}
    columns["diagnosis"] = np.where(loaded.target == 1, "benign", "malignant")
    bounds = {
        pattern.format(measure): Bound(low=0.0, high=highest[at], why=_CELLS, by_definition="low")
        for at, pattern in enumerate(("mean {}", "{} error", "worst {}"))
        for measure, highest in _NUCLEI.items()
    }
    schema = Schema(
        attributes=tuple(bound.attribute(name) for name, bound in bounds.items()),
        target=Categorical("diagnosis", values=("benign", "malignant")),
    )
    return _dataset("wdbc", schema, columns, bounds)


def load_ionosphere() -> Dataset:
    """Load the ionosphere set: 351 radar returns, "g" (225) if they show structure, "b" if not.

    The attributes are the 32 continuous parts ``a03`` to ``a34`` and the discrete ``a01``, as in
    the papers; ``a02`` is 0 in every record, so it is left out.

    Returns
    -------
    Dataset
        The target is ``class``.

    Raises
    ------
    DatasetError
        If the file cannot be had, or is not the right one.
    """
    text = published_text("ionosphere", lambda content: text_columns(content.decode(), _RETURNS))
    bounds = dict.fromkeys(_RETURNS[2:34], _RETURN)
    schema = Schema(
        attributes=(
            Categorical("a01", values=(0, 1)),
            *(bound.attribute(name) for name, bound in bounds.items()),
        ),
        target=Categorical("class", values=("b", "g")),
    )
    numbers = {name: decimals(text[name]) for name in bounds}
    columns = {"a01": whole_numbers(text["a01"]), **numbers, "class": np.array(text["class"])}
    return _dataset("ionosphere", schema, columns, bounds)


def load_musk2() -> Dataset:
    """Load Musk (version 2): 6,598 conformations of 102 molecules, musk (1,017) or not.

    The names of molecule and conformation are not attributes: they tell the class. The molecule is
    kept as ``groups``, because conformations of one molecule are not independent.

    Returns
    -------
    Dataset
        The target ``class`` is 1 for a musk and 0 otherwise.

    Raises
    ------
    DatasetError
        If the file cannot be had, or is not the right one.
    """
    names = ("molecule_name", "conformation_name", *_RAYS, "class")
    text = published_text("musk2", lambda content: text_columns(content.decode(), names))
    bounds = dict.fromkeys(_RAYS, _RAY)
    schema = Schema(
        attributes=tuple(bound.attribute(name) for name, bound in bounds.items()),
        target=Categorical("class", values=(0, 1)),
    )
    columns = {name: decimals(text[name]) for name in _RAYS}
    # The original writes the class as a decimal, "1.".
    columns["class"] = decimals(text["class"]).astype(np.int64)
    return _dataset("musk2", schema, columns, bounds, groups=np.array(text["molecule_name"]))


def load_nltcs(task: Task = "money") -> Dataset:
    """Load NLTCS: 21,574 interviews, 16 items that are 1 if the person is disabled in them.

    Parameters
    ----------
    task : {"bathing", "money", "outside", "traveling"}
        Which item is the target, by the name that the papers on private synthesis use. What they
        call "bathing" is the item ``toilet``; the item ``bathing`` itself is another column.

    Returns
    -------
    Dataset
        The other fifteen items are the attributes.

    Raises
    ------
    DatasetError
        If the file cannot be had, or is not the right one.
    """
    if task not in _TASKS:
        raise ParameterError("task", f"one of {', '.join(_TASKS)}", task)
    items, target = about()["nltcs"]["items"], _TASKS[task]
    text = published_text("nltcs", _survey)
    attributes = tuple(Categorical(item, values=(0, 1)) for item in items if item != target)
    schema = Schema(attributes=attributes, target=Categorical(target, values=(0, 1)))
    columns = {item: whole_numbers(text[item]) for item in items}
    return _dataset(f"nltcs-{task}", schema, columns)


def load_adult() -> Dataset:
    """Load Adult (Census Income): 48,842 people, 14 attributes, income over 50,000 dollars or not.

    Missing values ("?" in the original, None here) are a class of their own in ``workclass``,
    ``occupation`` and ``native-country``. ``split`` tells the publishers' training records (32,561)
    from their test records.

    Returns
    -------
    Dataset
        The target ``income`` is "<=50K" or ">50K".

    Raises
    ------
    DatasetError
        If the files cannot be had, or are not the right ones.
    """
    text, bounds = published_text("adult", _census), _bounds("adult")
    told = about()["adult"]
    lists = told["lists"]
    schema = Schema(
        attributes=tuple(_of_adult(name, bounds, lists) for name in told["columns"]),
        target=Categorical("income", values=("<=50K", ">50K")),
    )
    numbers = {name: whole_numbers(text[name]) for name in (*bounds, "education-num")}
    words = {name: optional_text(text[name], "?") for name in lists}
    columns = {**numbers, **words, "income": np.array(text["income"])}
    return _dataset("adult", schema, columns, bounds, split=np.array(text["split"]))


def load_boston() -> Dataset:
    """Load Boston housing: 506 census tracts, 13 attributes, the median price of a house.

    Returns
    -------
    Dataset
        The target ``MEDV`` is continuous, in 1,000 dollars.

    Raises
    ------
    DatasetError
        If the file cannot be had, or is not the right one.
    """
    # The first line of the original has the size of the table.
    text = published_text(
        "boston", lambda content: text_columns(content.decode().split("\n", 1)[1])
    )
    bounds = _bounds("boston")
    schema = Schema(
        attributes=_with_codes(about()["boston"]["columns"], bounds, (0, 1)),
        target=bounds["MEDV"].attribute("MEDV"),
    )
    columns = {name: decimals(text[name]) for name in bounds}
    return _dataset("boston", schema, {**columns, "CHAS": whole_numbers(text["CHAS"])}, bounds)


def load_diabetes() -> Dataset:
    """Load the diabetes set: 442 patients, ten measures, progress of the illness after a year.

    The columns are the raw measurements (``scaled=False`` in scikit-learn).

    Returns
    -------
    Dataset
        The target is the continuous index ``progression``.

    Examples
    --------
    >>> from supm.datasets import load_diabetes
    >>> load_diabetes()
    Dataset('diabetes', rows=442, attributes=10, task='continuous')
    """
    loaded, bounds = shipped.load_diabetes(scaled=False), _bounds("diabetes")
    columns = {name: loaded.data[:, place] for place, name in enumerate(loaded.feature_names)}
    columns["progression"] = loaded.target
    schema = Schema(
        attributes=_with_codes(loaded.feature_names, bounds, (1, 2)),
        target=bounds["progression"].attribute("progression"),
    )
    return _dataset("diabetes", schema, columns, bounds)


def load_howell1() -> Dataset:
    """Load the !Kung census: 544 people, their height, weight, age and sex.

    Returns
    -------
    Dataset
        The target is the continuous ``height``.

    Raises
    ------
    DatasetError
        If the file cannot be had, or is not the right one.
    """
    text = published_text("howell1", lambda content: text_columns(content.decode(), delimiter=";"))
    bounds = _bounds("howell1")
    schema = Schema(
        attributes=_with_codes(("weight", "age", "male"), bounds, (0, 1)),
        target=bounds["height"].attribute("height"),
    )
    columns = {name: decimals(text[name]) for name in bounds}
    return _dataset("howell1", schema, {**columns, "male": whole_numbers(text["male"])}, bounds)


def _dataset(
    name: str,
    schema: Schema,
    columns: Mapping[str, NDArray[Any]],
    bounds: Mapping[str, Bound] | None = None,
    **more: NDArray[Any],
) -> Dataset:
    told = about()[name.partition("-")[0]]
    return Dataset(
        name=name,
        schema=schema,
        columns=columns,
        bounds=bounds or {},
        source=told["source"],
        licence=told["licence"],
        notes=tuple(told.get("notes", ())),
        **more,
    )


def _bounds(name: str) -> dict[str, Bound]:
    return {each: Bound(**told) for each, told in about()[name]["bounds"].items()}


def _with_codes(
    names: tuple[str, ...] | list[str], bounds: Mapping[str, Bound], codes: tuple[int, ...]
) -> tuple[Attribute, ...]:
    """Return the attributes of a table in which the one without bounds has codes."""
    return tuple(
        bounds[name].attribute(name) if name in bounds else Categorical(name, values=codes)
        for name in names
    )


def _of_adult(name: str, bounds: Mapping[str, Bound], lists: Mapping[str, list[str]]) -> Attribute:
    if name in bounds:
        return bounds[name].attribute(name)
    if name == "education-num":
        return Ordinal(name, values=tuple(range(1, 17)))
    values = tuple(lists[name])
    if name == "education":
        return Ordinal(name, values=values)
    return Categorical(name, values=values, missing="class" if name in _WITH_GAPS else "refuse")


def _survey(content: bytes) -> Text:
    numbered = text_columns(content.decode())
    return {item: numbered[str(place)] for item, place in about()["nltcs"]["items"].items()}


def _census(train: bytes, test: bytes) -> Text:
    # The test file has a comment in its first line and a full stop after each label.
    parts = (train.decode(), test.decode().split("\n", 1)[1])
    first, second = (text_columns(part, (*about()["adult"]["columns"], "income")) for part in parts)
    joined = {name: first[name] + second[name] for name in first}
    joined["income"] = [label.rstrip(".") for label in joined["income"]]
    joined["split"] = ["train"] * len(first["age"]) + ["test"] * len(second["age"])
    return joined
