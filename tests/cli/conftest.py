from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from supm.collection import plan
from supm.datasets import load_wdbc
from supm.messages import Study
from supm.schema import Categorical, Continuous, Schema
from supm.service.app import make_app
from supm.service.security import hash_invitation, hash_token
from supm.service.serving import running
from supm.service.store import Opened, Store

Address = Callable[..., str]

SCHEMA = Schema(
    attributes=(Continuous("age", low=0, high=100), Continuous("pulse", low=0, high=220)),
    target=Categorical("ill", values=("no", "yes")),
)
HEAD = "name,age,pulse,ill\n"
MINE = f"{HEAD}Lovelace,61.523437,88.765625,yes\n"


@pytest.fixture
def wdbc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder that holds WDBC as wdbc.csv and its schema as wdbc.json."""
    monkeypatch.chdir(tmp_path)
    data = load_wdbc()
    with Path("wdbc.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(data.columns)
        writer.writerows(zip(*data.columns.values(), strict=True))
    Path("wdbc.json").write_text(data.schema.to_json())
    return Path("wdbc.csv")


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder that holds one owner's record as mine.csv, with a wallet of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUPM_WALLET", str(tmp_path / "wallet.db"))
    Path("mine.csv").write_text(MINE)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(f"sqlite:///{tmp_path}/store.db")
    yield opened
    opened.close()


@pytest.fixture
def address(store: Store) -> Iterator[Address]:
    """Make a study at a real aggregator, and return where it is."""
    with running(make_app(store)) as base:

        def make(study: Study | None = None, codes: tuple[str, ...] = ()) -> str:
            known = plan(SCHEMA, epsilon=1.0, attributes=["age", "pulse"], purpose="Who is ill?")
            opened: Opened = store.create(
                known if study is None else study,
                token_hash=hash_token("token"),
                minimums={},
                deadlines={},
                invitations=[hash_invitation(code) for code in codes],
            )
            return f"{base}/studies/{opened.name}"

        yield make


def stored(store: Store, url: str) -> dict[str, int]:
    """Return how many reports the study at an address has, by phase."""
    return {phase: n for phase, n in store.reports(url.rpartition("/")[2]).items() if n}
