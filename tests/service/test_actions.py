from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from supm._errors import ParameterError
from supm.collection import Trained, make_model, plan
from supm.collection import train as train_on
from supm.learning import RadialSVM
from supm.messages import Model, Study
from supm.schema import Schema
from supm.service import actions, kept
from supm.service.actions import NotReady, document_of
from supm.service.errors import StateChanged
from supm.service.kept import Models, predictions
from supm.service.status import statement_json
from supm.service.store import Opened, Store, Submission
from supm.service.store.values import State

Told = Callable[..., Submission]


def created(store: Store, study: Study, **minimums: int) -> Opened:
    return store.create(study, token_hash="0" * 64, minimums=minimums, deadlines={})


@pytest.fixture
def known(schema: Schema) -> Study:
    return plan(schema, epsilon=4.0, attributes=["age", "stage", "ward"])


def test_a_study_is_trained_served_and_closed(store: Store, known: Study, told: Told) -> None:
    opened = created(store, known, train=50)
    store.add([told(opened, 60, 1)])
    trained = actions.train_stored(store, opened.name, weights="balanced")
    assert (trained.state, trained.weights) == (State.TRAINED, "balanced")
    counts = store.counts(opened.name, "train")
    assert counts is not None
    again = make_model(train_on(known, counts, RadialSVM(), weights="balanced"))
    assert trained.model == again.to_json()
    assert store.fold(opened.name, "train") == 0, "no single answer is left once a phase is over"
    served = actions.serve_model(store, opened.name)
    assert served.open_phase == "test"
    assert served.study.rule is not None
    assert document_of(served, "train") == known
    closed = actions.close_study(store, opened.name)
    assert closed.state is State.CLOSED
    assert actions.close_study(store, opened.name).state is State.CLOSED


def test_a_study_is_reduced_by_reports_and_opened(store: Store, schema: Schema, told: Told) -> None:
    opened = created(store, plan(schema, epsilon=4.0, keep=2, reduce="rank"), reduce=30)
    store.add([told(opened, 40, 1)])
    reduced = actions.reduce_stored(store, opened.name)
    assert reduced.state is State.REDUCED
    assert reduced.open_phase is None
    assert len(reduced.study.attributes or ()) == 2
    collecting = actions.open_training(store, opened.name)
    assert collecting.open_phase == "train"
    assert document_of(collecting, "reduce") == opened.study
    store.add([told(collecting, 40, 2)])
    assert actions.train_stored(store, opened.name).model is not None


def test_attributes_that_are_drawn_need_no_reports(store: Store, schema: Schema) -> None:
    opened = created(store, plan(schema, epsilon=4.0, mode="faithful", keep=1, reduce="rand"))
    assert opened.open_phase is None
    assert actions.reduce_stored(store, opened.name).state is State.REDUCED


def test_a_step_needs_its_minimum_and_the_phase_stays_open(
    store: Store, known: Study, told: Told
) -> None:
    opened = created(store, known, train=50)
    with pytest.raises(NotReady, match="has 0 reports and needs 50"):
        actions.train_stored(store, opened.name)
    store.add([told(opened, 49, 1)])
    with pytest.raises(NotReady, match="has 49 reports and needs 50"):
        actions.train_stored(store, opened.name)
    assert store.add([told(opened, 1, 2)])[0].refused is None
    assert actions.train_stored(store, opened.name).state is State.TRAINED


def test_without_a_minimum_one_report_is_needed(store: Store, known: Study) -> None:
    opened = created(store, known)
    with pytest.raises(NotReady, match="needs 1;"):
        actions.train_stored(store, opened.name)


def test_a_step_out_of_turn_is_refused_in_words(store: Store, known: Study) -> None:
    name = created(store, known).name
    for step, word in ((actions.reduce_stored, "reduced"), (actions.open_training, "opened")):
        with pytest.raises(StateChanged, match=f"is collecting to train; it can be {word}"):
            step(store, name)
    with pytest.raises(StateChanged, match="served where it is trained"):
        actions.serve_model(store, name)


def test_training_that_fails_leaves_the_phase_open(store: Store, known: Study, told: Told) -> None:
    opened = created(store, known)
    store.add([told(opened, 20, 1)])
    with pytest.raises(ParameterError, match="weights"):
        actions.train_stored(store, opened.name, weights="wrong")
    assert store.add([told(opened, 1, 2)])[0].refused is None


def test_a_model_comes_from_exactly_the_stored_reports(
    store: Store, known: Study, told: Told
) -> None:
    opened = created(store, known)
    store.add([told(opened, 20, 1)])
    done = threading.Event()
    refused: list[str] = []

    def send() -> None:
        for seed in range(2, 2000):
            receipt = store.add([told(opened, 20, seed)])[0]
            refused.extend([receipt.refused] if receipt.refused else [])
            if done.is_set():
                return

    sender = threading.Thread(target=send)
    sender.start()
    trained = actions.train_stored(store, opened.name)
    done.set()
    sender.join()
    counts = store.counts(opened.name, "train")
    assert counts is not None
    assert counts.reports == store.reports(opened.name)["train"]
    assert make_model(train_on(known, counts, RadialSVM())).to_json() == trained.model
    assert set(refused) <= {"phase is being counted", "phase is over"}


@pytest.mark.parametrize("test", ["answer", "sample", "odp"])
def test_a_model_answers_alike_after_a_restart(
    store: Store, schema: Schema, told: Told, test: str
) -> None:
    names = ["age", "stage", "ward"]
    opened = created(store, plan(schema, epsilon=4.0, attributes=names, test=test))
    store.add([told(opened, 200, 1)])
    with pytest.raises(NotReady, match="no model yet"):
        found_by(Models(store), opened)
    served = actions.serve_model(store, actions.train_stored(store, opened.name).name)
    rules: list[Any] = [found_by(Models(store), served)[0].rule for _ in range(2)]
    assert served.model is not None
    assert rules[0] == rules[1] == Model.from_json(served.model).rule


def test_many_who_ask_for_a_model_wait_for_one_training(
    store: Store, known: Study, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = created(store, known)
    store.add([told(opened, 200, 1)])
    served = actions.serve_model(store, actions.train_stored(store, opened.name).name)
    trainings: list[str] = []

    def counted(*given: Any, **more: Any) -> Trained:
        trainings.append(threading.current_thread().name)
        return train_on(*given, **more)

    monkeypatch.setattr(kept, "train", counted)
    found = found_by(Models(store), served, times=45)
    assert all(each is found[0] for each in found)
    assert len(trainings) == 1
    assert trainings[0].startswith("supm-train")


def found_by(models: Models, opened: Opened, *, times: int = 1) -> list[Trained]:
    """Ask so many times at once, in a loop of its own: Playwright keeps one in the main thread."""

    async def ask() -> list[Trained]:
        return list(await asyncio.gather(*(models.find(opened) for _ in range(times))))

    with ThreadPoolExecutor(1) as thread:
        found = thread.submit(asyncio.run, ask()).result()
    models.stop()
    return found


def test_answers_are_labels_with_their_probability(store: Store, known: Study, told: Told) -> None:
    opened = created(store, known)
    store.add([told(opened, 300, 1)])
    actions.train_stored(store, opened.name)
    served = actions.serve_model(store, opened.name)
    found = predictions(found_by(Models(store), served)[0], np.array([[0], [1]]))
    assert all(each["answer"] in ("no", "yes") for each in found)
    assert all(0.5 <= each["probability"] <= 1.0 for each in found)


def test_closing_keeps_counts_and_no_single_answer(store: Store, known: Study, told: Told) -> None:
    opened = created(store, known)
    store.add([told(opened, 60, 1)])
    actions.close_study(store, opened.name)
    assert store.fold(opened.name, "train") == 0
    counts = store.counts(opened.name, "train")
    assert counts is not None
    assert counts.reports == 60


def test_a_simulation_is_called_one_in_all_that_comes_of_it(
    store: Store, known: Study, told: Told
) -> None:
    opened = store.create(known, token_hash="0" * 64, minimums={}, deadlines={}, simulation=True)
    assert store.find(opened.name).simulation
    assert '"simulation":true' in statement_json(opened)
    store.add([told(opened, 60, 1)])
    counts = store.counts(opened.name, "train")
    assert counts is not None
    assert counts.simulation
    trained = actions.train_stored(store, opened.name)
    assert Model.from_json(trained.model or "").statement.simulation
