from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from supm import ParameterError, simulation
from supm.collection import plan, reduce_study
from supm.messages import Study
from supm.schema import Schema
from supm.service.errors import StateChanged, StoreError, UnknownStudy
from supm.service.store import Opened, Store, Submission, _database
from supm.service.store.values import State

HASH = "0" * 64


def create(store: Store, study: Study) -> Opened:
    return store.create(study, token_hash=HASH, minimums={"train": 3}, deadlines={})


@pytest.fixture
def study(schema: Schema) -> Study:
    return plan(schema, epsilon=3.0, mode="faithful", attributes=["age", "stage"])


def test_a_study_is_found_as_it_was_created(store_url: str, study: Study) -> None:
    store = Store.open(store_url, clock=lambda: 12.5)
    limits = {"train": 3}, {"train": 99.5}
    opened = store.create(study, token_hash=HASH, minimums=limits[0], deadlines=limits[1])
    store.close()
    again = Store.open(store_url)
    assert again.find(opened.name) == opened
    assert again.studies() == [opened]
    assert again.token_hash(opened.name) == HASH
    again.close()
    assert (opened.study, opened.state) == (study, State.COLLECTING_TO_TRAIN)
    assert (opened.minimums, opened.deadlines, opened.created) == (*limits, 12.5)
    assert (opened.invited, opened.model, opened.weights) == (False, None, None)
    assert len(opened.name) == 10
    assert opened.name.isalnum()


def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "studies.db"
    store = Store.open(f"sqlite:///{file}")
    assert [each.stat().st_mode & 0o077 for each in tmp_path.iterdir()] == [0, 0, 0]
    store.close()


def test_studies_are_listed_by_age_under_names_of_their_own(store: Store, study: Study) -> None:
    made = [create(store, study) for _ in range(5)]
    assert store.studies() == made
    assert len({each.name for each in made}) == 5


def test_an_unknown_name_is_said_to_be_unknown(store: Store) -> None:
    step: dict[str, Any] = {"expected": State.REDUCED, "to": State.COLLECTING_TO_TRAIN}
    for ask in (store.find, store.token_hash, store.reports):
        with pytest.raises(UnknownStudy):
            ask("nobody")
    with pytest.raises(UnknownStudy):
        store.advance("nobody", **step)
    assert store.counts("nobody", "train") is None
    assert store.series("nobody", "train") == []


def test_a_limit_is_about_a_phase(store: Store, study: Study) -> None:
    with pytest.raises(ParameterError, match=r"^minimums must be"):
        store.create(study, token_hash=HASH, minimums={"lunch": 1}, deadlines={})


def test_a_study_goes_all_the_way(
    store: Store, schema: Schema, told: Callable[..., Submission]
) -> None:
    opened = create(store, plan(schema, epsilon=3.0, reduce="rank", keep=2, test="odp"))
    assert opened.open_phase == "reduce"
    store.add([told(opened, 50, 1)])
    counts = store.counts(opened.name, "reduce")
    reduced = reduce_study(opened.study, counts, simulation(1))
    steps: list[dict[str, Any]] = [
        {"to": State.REDUCED, "document": reduced},
        {"to": State.COLLECTING_TO_TRAIN},
        {"to": State.TRAINED, "model": "{}", "weights": "balanced"},
        {"to": State.SERVING},
        {"to": State.CLOSED},
    ]
    phases = []
    for step in steps:
        opened = store.advance(opened.name, expected=opened.state, **step)
        phases.append(opened.open_phase)
        if opened.open_phase:
            store.add([told(opened, 10, len(phases))])
    assert phases == [None, "train", None, "test", None]
    assert [each.hash for each in opened.documents] == [reduced.previous, reduced.hash]
    assert (opened.model, opened.weights) == ("{}", "balanced")
    assert store.reports(opened.name) == {"reduce": 50, "train": 10, "test": 10}
    assert store.find(opened.name) == opened


def test_a_move_from_another_state_changes_nothing(store: Store, study: Study) -> None:
    opened = create(store, study)
    with pytest.raises(StateChanged, match="collecting to train and no longer trained"):
        store.advance(opened.name, expected=State.TRAINED, to=State.SERVING)
    with pytest.raises(ParameterError):
        store.advance(opened.name, expected=opened.state, to=State.SERVING)
    assert store.find(opened.name) == opened


def test_of_two_who_move_a_study_at_once_one_does(store: Store, study: Study) -> None:
    opened = create(store, study)

    def move(number: int) -> str | None:
        step: dict[str, Any] = {"expected": opened.state, "to": State.TRAINED, "model": str(number)}
        try:
            return store.advance(opened.name, **step).model
        except StateChanged:
            return None

    with ThreadPoolExecutor(4) as threads:
        moved = [model for model in threads.map(move, range(8)) if model]
    assert moved == [store.find(opened.name).model]


def test_a_move_is_refused_where_reports_came_after_the_count(
    store: Store, study: Study, told: Callable[..., Submission]
) -> None:
    opened = create(store, study)
    store.add([told(opened, 5, 1)])
    step: dict[str, Any] = {"expected": opened.state, "to": State.TRAINED, "model": "{}"}
    with pytest.raises(StateChanged, match=r"^1 reports came after the count"):
        store.advance(opened.name, counted=4, **step)
    assert store.advance(opened.name, counted=5, **step).state is State.TRAINED


@pytest.mark.parametrize(
    "url",
    [
        "mysql://user:secret@host/name",
        "sqlite://",
        "sqlite:///:memory:",
        "secret",
        "postgresql://user:secret@host:port/name",
    ],
)
def test_an_address_of_another_kind_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(ParameterError, match=r"^url must be sqlite:///FILE or") as refused:
        Store.open(url)
    assert "secret" not in str(refused.value)
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_a_database_that_does_not_answer_is_said_not_to(tmp_path: Path) -> None:
    for url in (f"postgresql://user:secret@/name?host={tmp_path}", f"sqlite:///{tmp_path}/no/file"):
        with pytest.raises(StoreError) as refused:
            Store.open(url)
        assert not any(word in str(refused.value) for word in ("secret", "user", str(tmp_path)))


def test_a_database_of_a_newer_release_is_left_alone(store_url: str) -> None:
    Store.open(store_url).close()
    engine = sa.create_engine(store_url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(StoreError, match="another release"):
        Store.open(store_url)


ADD_A_COLUMN = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "0002", "0001"


def upgrade() -> None:
    op.add_column("studies", sa.Column("colour", sa.Text, server_default="blue"))
"""


def test_a_database_of_an_older_release_is_migrated_and_its_studies_are_kept(
    store_url: str, study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.open(store_url)
    old = create(store, study)
    store.close()
    shutil.copytree(_database._SCRIPTS / "versions", tmp_path / "versions")
    (tmp_path / "versions" / "second.py").write_text(ADD_A_COLUMN)
    monkeypatch.setattr(_database, "_SCRIPTS", tmp_path)
    monkeypatch.setattr(_database, "NEWEST", "0002")
    for _ in range(2):
        store = Store.open(store_url)
        assert store.find(old.name) == old
        with store._database.reading() as connection:
            assert connection.execute(sa.text("SELECT colour FROM studies")).scalar() == "blue"
            found = connection.execute(sa.text("SELECT version_num FROM alembic_version"))
            assert found.scalars().all() == ["0002"]
        store.close()
    monkeypatch.undo()
    with pytest.raises(StoreError, match="another release"):
        Store.open(store_url)


@pytest.mark.parametrize("name", ["by", "contact"])
def test_who_runs_a_study_is_said_in_a_text_like_its_purpose(name: str, study: Study) -> None:
    for wrong in ("x" * 2001, "a\x1b[31m", 7):
        told: Any = {name: wrong}
        with pytest.raises(ParameterError, match=f"{name} must be"):
            Opened(
                name="",
                state=State.COLLECTING_TO_TRAIN,
                documents=(study,),
                minimums={},
                deadlines={},
                invited=False,
                created=0.0,
                **told,
            )


def test_the_newest_migration_is_the_revision_of_the_tables() -> None:
    found = sorted((_database._SCRIPTS / "versions").glob("*.py"))
    revisions = re.findall(
        r'^revision: Final = "(\d+)"', "".join(map(Path.read_text, found)), re.MULTILINE
    )
    assert max(revisions) == _database.NEWEST


def test_opening_at_once_makes_the_tables_once(store_url: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        opened = list(threads.map(Store.open, [store_url] * 4))
    assert all(store.healthy() for store in opened)
    for store in opened:
        store.close()


def test_a_file_that_others_open_is_waited_for(tmp_path: Path) -> None:
    # The switch to write-ahead logging refuses at once where another holds the file.
    holder = sqlite3.connect(tmp_path / "store.db", check_same_thread=False)
    holder.isolation_level = None
    holder.execute("CREATE TABLE held (value)")
    holder.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as threads:
        opening = threads.submit(Store.open, f"sqlite:///{tmp_path}/store.db")
        assert wait([opening], timeout=0.3).not_done
        holder.execute("COMMIT")
        opening.result(timeout=60).close()
    holder.close()
