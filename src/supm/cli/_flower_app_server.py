"""The server's side of a study, as a program that a SuperLink runs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from supm._errors import FederationError, ParameterError
from supm._validation import Reals
from supm.cli._federate_flower import fingerprint
from supm.cli._federate_run import coordinator_of
from supm.cli._federate_study import read_study
from supm.cli._files import check_target, write_text
from supm.cli._flower_app import run_source
from supm.engines.flower import server_app

__all__ = ["serverapp"]

_PAUSE: Final = 0.2
_WAIT: Final = Reals("wait", 1.0, 1e6)
_PATIENCE: Final = Reals("patience", 1.0, 1e6)
_Config = Mapping[str, object]


def serverapp(study_path: Path) -> ServerApp:
    """Return the server's side of a study.

    Parameters
    ----------
    study_path : Path
        The file of the study.

    Returns
    -------
    ServerApp
        What else it needs is in the configuration of the run: `supm.cli._flower_app`.
    """
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        _run(study_path, grid, context)

    return app


def _run(study_path: Path, grid: Grid, context: Context) -> None:
    config = context.run_config
    study, source, target = read_study(str(study_path)), run_source(config), _target(config)
    wait = _WAIT.check(config.get("wait", 600.0))
    patience = _PATIENCE.check(config.get("patience", 300.0))
    coordinator = coordinator_of(study, source)
    nodes = _nodes(config, study.protocol.circle.parties, grid, wait)
    server_app(coordinator, nodes, wait=wait, patience=patience, tell=_say)(grid, context)
    release = study.release(coordinator.outcome, simulation=source.simulation)
    write_text("release", release.to_json() + "\n", target)
    _say(fingerprint(coordinator.roster_fingerprint))
    _say(f"Published: {release.kind} of {study.name}. {release.statement.words}")


def _target(config: _Config) -> str:
    """Return where the release goes; a run that could not be written is not begun."""
    target = str(config.get("release", ""))
    if not Path(target).is_absolute():
        raise ParameterError("release", "a whole path on the machine of the SuperLink", target)
    check_target("release", target)
    return target


def _nodes(config: _Config, parties: int, grid: Grid, wait: float) -> list[int]:
    """Return the node of each party."""
    named = str(config.get("nodes", "")).split()
    if not named:
        return _whoever_is_there(grid, parties, wait)
    if len({*named}) != parties or len(named) != parties or not all(map(str.isdecimal, named)):
        wanted = f"empty, or the different numbers of {parties} SuperNodes"
        raise ParameterError("nodes", wanted, " ".join(named))
    return [int(each) for each in named]


def _whoever_is_there(grid: Grid, parties: int, wait: float) -> list[int]:
    end = time.monotonic() + wait
    while len(there := sorted(grid.get_node_ids())) < parties:
        if time.monotonic() >= end:
            message = f"{len(there)} of {parties} SuperNodes are there after {wait:g} seconds."
            raise FederationError(message)
        time.sleep(_PAUSE)
    if len(there) > parties:
        message = (
            f"{len(there)} SuperNodes are there, and the study is for {parties} parties; name them "
            "in the order of the parties with --run-config 'nodes=\"…\"'."
        )
        raise FederationError(message)
    return there


def _say(text: str) -> None:
    print(text, flush=True)
