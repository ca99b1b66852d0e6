from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from supm import ParameterError, SchemaError, simulation
from supm.datasets import load_wdbc
from supm.estimators import PrivateLDA, PrivateLogisticRegression, PrivatePCA, PrivateSVC, federate
from supm.estimators._reading import source_for
from supm.federation import (
    Circle,
    Components,
    Discriminant,
    Margin,
    Protocol,
    SchemaEncoding,
    VectorEncoding,
    open_release,
    run_pooled,
)
from supm.messages import Release
from supm.privacy import NoGuarantee

WDBC = load_wdbc()
ENCODING = SchemaEncoding(schema=WDBC.schema)


def parts(count: int) -> list[dict[str, Any]]:
    return [
        {name: column[start::count] for name, column in WDBC.columns.items()}
        for start in range(count)
    ]


def protocols(circle: Circle) -> dict[str, Protocol]:
    budget: dict[str, Any] = {
        "encoding": ENCODING, "epsilon": 2.0, "delta": 1e-5, "circle": circle,
    }  # fmt: skip
    return {
        "discriminant": Discriminant.for_budget(**budget),
        "components": Components.for_budget(components=3, **budget),
        "subspaces": Components.for_budget(components=3, share="subspace", **budget),
        "svm": Margin.for_budget(loss="huber", components=4, **budget),
        "logistic": Margin.for_budget(loss="logistic", components=None, **budget),
    }


@pytest.mark.parametrize("kind", ["discriminant", "components", "subspaces", "svm", "logistic"])
@pytest.mark.parametrize("colluders", [0, 1, 2])
def test_masks_change_nothing(kind: str, colluders: int) -> None:
    protocol = protocols(Circle(parties=3, colluders=colluders))[kind]
    run = federate(parts(3), protocol, random_state=7)
    rows = [ENCODING.rows(WDBC.schema.read(table)) for table in parts(3)]
    names = ["party 1", "party 2", "party 3"]
    plain = run_pooled(protocol, rows, names, source_for(7, "federate"))
    assert run.outcome.to_form() == plain.to_form()


def test_the_order_of_tables_and_their_names_matter_for_noise_only() -> None:
    protocol = protocols(Circle(parties=3, colluders=0))["components"]
    tables = dict(zip("abc", parts(3), strict=True))
    turned = {name: tables[name] for name in "cab"}
    first = federate(tables, protocol, random_state=1).outcome.to_form()
    assert federate(turned, protocol, random_state=1).outcome.to_form() == first


def test_a_run_without_a_seed_is_no_simulation_and_never_the_same() -> None:
    protocol = protocols(Circle(parties=2))["components"]
    runs = [federate(parts(2), protocol) for _ in range(2)]
    assert not any(run.release.statement.simulation for run in runs)
    assert runs[0].outcome.to_form() != runs[1].outcome.to_form()


def test_other_tables_are_refused() -> None:
    protocol = protocols(Circle(parties=2))["discriminant"]
    with pytest.raises(ParameterError, match="the 2 of the protocol"):
        federate(parts(3), protocol)
    other = SchemaEncoding(schema=WDBC.schema, norm=3.0)
    vectors = Discriminant.for_budget(
        encoding=VectorEncoding(width=30, classes=2),
        epsilon=1.0,
        delta=1e-5,
        circle=Circle(parties=1),
    )
    with pytest.raises(ParameterError, match="a pair of vectors and labels"):
        federate([parts(1)[0]], vectors)
    assert other != ENCODING


def test_records_of_another_schema_do_not_join() -> None:
    missing = {name: column for name, column in parts(1)[0].items() if name != "mean radius"}
    protocol = protocols(Circle(parties=1))["discriminant"]
    with pytest.raises((SchemaError, ValueError), match="mean radius"):
        federate([missing], protocol)


def three_classes(seed: int, size: int, present: tuple[int, ...]) -> tuple[Any, Any]:
    source = simulation(seed)
    labels = np.array(present)[source.below(len(present), size).astype(np.int64)]
    drawn = source.below(1000, 4 * size).reshape(size, 4) / 2500.0 - 0.2
    return np.eye(4)[labels] * 0.6 + drawn, labels


UNEVEN = [(1, 3000, (0, 1, 2)), (2, 3000, (0, 2)), (3, 1500, (1,))]


def uneven(kind: str, **changed: Any) -> Protocol:
    budget = {
        "encoding": VectorEncoding(width=4, classes=3), "epsilon": 4.0, "delta": 1e-5,
        "circle": Circle(parties=3, colluders=0), **changed,
    }  # fmt: skip
    if kind == "discriminant":
        return Discriminant.for_budget(**budget)
    if kind in ("covariance", "subspace"):
        return Components.for_budget(**budget, components=2, share=kind)  # type: ignore[arg-type]  # one of them
    return Margin.for_budget(**budget, loss=kind)  # type: ignore[arg-type]  # one of them


@pytest.mark.parametrize("kind", ["discriminant", "huber", "softmax"])
def test_a_party_may_lack_a_class(kind: str) -> None:
    """One has all three, one lacks one, and one has records of a single class."""
    tables = [three_classes(*each) for each in UNEVEN]
    run = federate(tables, uneven(kind), delta=1e-5, random_state=1)
    vectors, labels = three_classes(9, 3000, (0, 1, 2))
    found = run.outcome.predict(vectors)
    for label in range(3):
        assert (found[labels == label] == label).mean() > 0.85
    assert run.release.statement.total.epsilon <= 4.0  # type: ignore[attr-defined]  # it has one


def test_a_party_without_records_takes_part_in_a_discriminant() -> None:
    tables = [three_classes(*UNEVEN[0]), (np.empty((0, 4)), np.empty(0, dtype=np.int64))]
    circle = Circle(parties=2, colluders=0)
    run = federate(tables, uneven("discriminant", circle=circle), random_state=1)
    vectors, labels = three_classes(9, 3000, (0, 1, 2))
    assert (run.outcome.predict(vectors) == labels).mean() > 0.9


@pytest.mark.parametrize("kind", ["covariance", "subspace", "huber", "softmax"])
def test_a_party_without_records_is_refused_elsewhere(kind: str) -> None:
    tables = [three_classes(*UNEVEN[0]), (np.empty((0, 4)), np.empty(0, dtype=np.int64))]
    protocol = uneven(kind, circle=Circle(parties=2, colluders=0))
    with pytest.raises(ParameterError, match=r"rows must be a whole number .* got 0"):
        federate(tables, protocol, random_state=1)


def test_an_estimator_is_a_federation_of_one() -> None:
    lda = PrivateLDA(epsilon=2.0, delta=1e-5, schema=WDBC.schema, random_state=3)
    lda.fit(WDBC.columns, WDBC.target)
    protocol = protocols(Circle(parties=1))["discriminant"]
    rows = ENCODING.rows(WDBC.records())
    plain = run_pooled(protocol, [rows], ["party 1"], source_for(3, "fit"))
    assert lda.outcome_.to_form() == plain.to_form()


@pytest.mark.parametrize(
    "model",
    [
        PrivateLDA(epsilon=4.0, schema=WDBC.schema, random_state=1),
        PrivateSVC(epsilon=4.0, schema=WDBC.schema, random_state=1),
        PrivateLogisticRegression(epsilon=4.0, schema=WDBC.schema, random_state=1),
    ],
    ids=["lda", "svc", "logistic"],
)
def test_a_table_is_learned(model: Any) -> None:
    model.fit(WDBC.columns, WDBC.target)
    found = model.predict(WDBC.columns)
    majority = (WDBC.target == "benign").mean()
    assert (found == WDBC.target).mean() > majority + 0.1
    assert model.statement_.total.epsilon <= 4.0
    assert model.clipped_ == 0


def test_rows_over_the_norm_are_clipped_and_counted() -> None:
    vectors = simulation(1).below(1000, 400).reshape(200, 2) / 500.0 - 1.0
    labels = (vectors[:, 0] > 0).astype(int)
    lda = PrivateLDA(epsilon=8.0, bounds=None, norm=0.5, random_state=1).fit(vectors, labels)
    assert lda.clipped_ == np.count_nonzero(np.linalg.norm(vectors, axis=1) > 0.5)


@pytest.mark.parametrize("kind", [PrivateLDA, PrivateSVC, PrivateLogisticRegression])
def test_labels_that_were_found_void_the_promise_and_public_ones_do_not(kind: Any) -> None:
    vectors = simulation(1).below(1000, 400).reshape(200, 2) / 500.0 - 1.0
    labels = (vectors[:, 0] > 0).astype(int)
    found = kind(random_state=1).fit(vectors, labels)
    assert isinstance(found.statement_.total, NoGuarantee)
    assert "give labels=" in found.statement_.words
    assert found.release_.statement == found.statement_
    assert open_release(Release.from_json(found.release_.to_json()))
    given = kind(labels=(0, 1, 2), random_state=1).fit(vectors, labels)
    assert given.classes_.tolist() == [0, 1, 2]
    assert 0.99 < given.study_.promise.epsilon <= 1.0
    assert given.statement_ == given.study_.statement(simulation=True)
    with pytest.raises(ParameterError, match="labels must be None where there is a schema"):
        kind(labels=(0, 1), schema=WDBC.schema).fit(WDBC.columns, WDBC.target)


@pytest.mark.parametrize("kind", [PrivateSVC, PrivateLogisticRegression])
def test_a_delta_that_cannot_be_kept_is_refused_before_anything_is_learned(kind: Any) -> None:
    vectors = np.array([[-0.5], [0.5]] * 10)
    with pytest.raises(ParameterError, match="A pure epsilon is not to be had"):
        kind(delta=0.0, labels=(0, 1)).fit(vectors, np.array([0, 1] * 10))


@pytest.mark.parametrize("kind", [PrivateLDA, PrivatePCA])
def test_a_budget_whose_noise_is_too_wide_is_told_as_one(kind: Any) -> None:
    with pytest.raises(ParameterError, match=r"epsilon must be large enough .*, got 1e-05"):
        kind(epsilon=1e-5).fit(np.array([[-0.5, 0], [0.5, 0]] * 10), np.array([0, 1] * 10))


def test_labels_that_are_no_whole_numbers_are_refused() -> None:
    protocol = Discriminant.for_budget(
        encoding=VectorEncoding(width=1, classes=2), epsilon=1.0, delta=1e-5,
        circle=Circle(parties=1),
    )  # fmt: skip
    with pytest.raises(ParameterError, match="labels must be a flat array of whole numbers"):
        federate([(np.array([[0.5], [0.1]]), np.array([0.7, 1.0]))], protocol)


def test_more_components_than_columns_are_refused() -> None:
    with pytest.raises(ParameterError, match="components"):
        PrivatePCA(n_components=31, schema=WDBC.schema).fit(WDBC.columns)
