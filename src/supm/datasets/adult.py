"""Income in the census of 1994 (Adult)."""

from __future__ import annotations

from typing import Final

import numpy as np

from supm.datasets._sources import SOURCES
from supm.datasets._text import Text, optional_text, published_text, text_columns, whole_numbers
from supm.datasets.dataset import Bound, Dataset
from supm.schema import Attribute, Categorical, Ordinal, Schema

__all__ = ["load_adult"]

_BOUNDS: Final = {
    "age": Bound(
        low=17,
        high=90,
        why="the records were drawn with age > 16; the survey records 90 and over as 90",
        by_definition="both",
    ),
    "fnlwgt": Bound(
        low=0,
        high=2_000_000,
        why="a sampling weight: how many people a record stands for, in round numbers",
        by_definition="low",
    ),
    "capital-gain": Bound(
        low=0, high=99_999, why="dollars in a field of five digits", by_definition="both"
    ),
    "capital-loss": Bound(
        low=0,
        high=5_000,
        why="dollars; a tax return then deducted at most 3,000 a year, the rest is room",
        by_definition="low",
    ),
    "hours-per-week": Bound(
        low=1,
        high=99,
        why="the records were drawn with hours > 0; the field has two digits",
        by_definition="both",
    ),
}
# The lists are those of the publishers' file adult.names; education is put in order.
_LISTS: Final = {
    "workclass": """
        Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay
        Never-worked
    """,
    "education": """
        Preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th HS-grad Some-college Assoc-voc
        Assoc-acdm Bachelors Masters Prof-school Doctorate
    """,
    "marital-status": """
        Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent
        Married-AF-spouse
    """,
    "occupation": """
        Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty
        Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving
        Priv-house-serv Protective-serv Armed-Forces
    """,
    "relationship": """
        Wife Own-child Husband Not-in-family Other-relative Unmarried
    """,
    "race": """
        White Asian-Pac-Islander Amer-Indian-Eskimo Other Black
    """,
    "sex": """
        Female Male
    """,
    "native-country": """
        United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc)
        India Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica
        Vietnam Mexico Portugal Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti
        Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador
        Trinadad&Tobago Peru Hong Holand-Netherlands
    """,
}
_WITH_GAPS: Final = ("workclass", "occupation", "native-country")
_COLUMNS: Final = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
)


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
    text = published_text(SOURCES["adult"], _from_originals)
    numbers = {name: whole_numbers(text[name]) for name in (*_BOUNDS, "education-num")}
    words = {name: optional_text(text[name], "?") for name in _LISTS}
    return Dataset(
        name="adult",
        schema=Schema(
            attributes=tuple(_attribute(name) for name in _COLUMNS),
            target=Categorical("income", values=("<=50K", ">50K")),
        ),
        columns={**numbers, **words, "income": np.array(text["income"])},
        bounds=_BOUNDS,
        source="UCI Adult (Census Income); Becker, Kohavi 1996",
        licence="CC BY 4.0",
        notes=("education and education-num say the same.", "45,222 records have no gap."),
        split=np.array(text["split"]),
    )


def _attribute(name: str) -> Attribute:
    if name in _BOUNDS:
        return _BOUNDS[name].attribute(name)
    if name == "education-num":
        return Ordinal(name, values=tuple(range(1, 17)))
    values = tuple(_LISTS[name].split())
    if name == "education":
        return Ordinal(name, values=values)
    return Categorical(name, values=values, missing="class" if name in _WITH_GAPS else "refuse")


def _from_originals(train: bytes, test: bytes) -> Text:
    # The test file has a comment in its first line and a full stop after each label.
    parts = (train.decode(), test.decode().split("\n", 1)[1])
    first, second = (text_columns(part, (*_COLUMNS, "income")) for part in parts)
    joined = {name: first[name] + second[name] for name in first}
    joined["income"] = [label.rstrip(".") for label in joined["income"]]
    joined["split"] = ["train"] * len(first["age"]) + ["test"] * len(second["age"])
    return joined
