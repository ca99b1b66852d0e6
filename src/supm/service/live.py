"""An aggregator for a demonstration; its database lives in a folder that is removed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from supm._errors import SupmError
from supm.collection.counting import Counts
from supm.messages import Study
from supm.service.actions import StudySecrets
from supm.service.app import make_app
from supm.service.remote import RemoteStudy
from supm.service.serving import running
from supm.service.store import Store


class Live(RemoteStudy):
    """A study that collects at a running aggregator, whose store can be looked into."""

    def __init__(self, store: Store, url: str, token: str) -> None:
        super().__init__(url, token=token)
        self._store, self.page, self.token = store, url, token

    def counts(self, phase: str) -> Counts:
        """Return what the stored reports of a phase add up to."""
        counts = self._store.counts(self.name, phase)
        if counts is None:
            message = f"nobody reported in the {phase} phase."
            raise SupmError(message)
        return counts


@contextmanager
def live(study: Study, *, simulation: bool) -> Iterator[Live]:
    """Open a study at an aggregator that runs as long as the block does."""
    with TemporaryDirectory(prefix="supm-demo-") as folder:
        store = Store.open(f"sqlite:///{Path(folder) / 'supm.db'}")
        try:
            secrets = StudySecrets.draw()
            opened = store.create(study, simulation=simulation, **secrets.hashes)
            with running(make_app(store)) as url:
                yield Live(store, f"{url}/studies/{opened.name}", secrets.token)
        finally:
            store.close()
