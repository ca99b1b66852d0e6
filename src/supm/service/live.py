"""An aggregator for a demonstration; its database lives in a folder that is removed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from supm._errors import SupmError
from supm.collection.counting import Counts
from supm.messages import Model, Report, Study
from supm.owner.http import Remote, answered
from supm.service.actions import StudySecrets
from supm.service.app import make_app
from supm.service.serving import running
from supm.service.store import Store


@dataclass(frozen=True, kw_only=True, repr=False)
class Live:
    """A study that collects at a running aggregator."""

    store: Store
    name: str
    url: str
    token: str

    @property
    def page(self) -> str:
        """The address of the page for owners."""
        return f"{self.url}/studies/{self.name}"

    def document(self) -> Study:
        """Return what an owner is asked now, read from the aggregator's answer."""
        _, form = self._remote().get_json(f"/api/v1/studies/{self.name}/document")
        return Study.from_json(json.dumps(form))

    def send(self, report: Report) -> dict[str, Any]:
        """Send what an owner tells, as an owner does, and return the receipt."""
        return answered(self._remote().post_json(self._path("reports"), report.to_json()))

    def step(self, *steps: str) -> None:
        """Take steps as the analyst does."""
        for step in steps:
            answered(self._remote(self.token).post_json(self._path(step), "{}"))

    def counts(self, phase: str) -> Counts:
        """Return what the stored reports of a phase add up to."""
        counts = self.store.counts(self.name, phase)
        if counts is None:
            message = f"nobody reported in the {phase} phase."
            raise SupmError(message)
        return counts

    def model(self) -> Model:
        """Return the published model."""
        _, form = self._remote().get_json(self._path("model"))
        return Model.from_json(json.dumps(form))

    def _path(self, what: str) -> str:
        return f"/api/v1/studies/{self.name}/{what}"

    def _remote(self, token: str | None = None) -> Remote:
        return Remote(self.url, token=token)


@contextmanager
def live(study: Study, *, simulation: bool) -> Iterator[Live]:
    """Open a study at an aggregator that runs as long as the block does."""
    with TemporaryDirectory(prefix="supm-demo-") as folder:
        store = Store.open(f"sqlite:///{Path(folder) / 'supm.db'}")
        try:
            secrets = StudySecrets.draw()
            opened = store.create(study, simulation=simulation, **secrets.hashes)
            with running(make_app(store)) as url:
                yield Live(store=store, name=opened.name, url=url, token=secrets.token)
        finally:
            store.close()
