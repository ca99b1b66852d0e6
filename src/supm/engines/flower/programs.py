"""Both sides of a study as programs that a stock SuperLink and stock SuperNodes run.

What a party works with is named on its own machine, in a file that the SuperNode was started with;
the server chooses nothing of it. To name a study there is to agree to it: nobody is asked while a
SuperNode runs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from flwr.app import Context, Message
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp

from supm import RandomSource, secure
from supm._errors import FederationError, MessageError, ParameterError, SupmError
from supm._json import check_fields, read_object
from supm._validation import Reals
from supm.engines.files import Spendings, check_writable, load_study, text_of_file, write_file
from supm.engines.flower.coordinating import server_app
from supm.engines.flower.taking_part import client_app
from supm.engines.program import run_source
from supm.federation import Federated, Participant, fingerprint_words, party_source
from supm.schema import Schema, read_csv

_VERSION: Final = 1
_NEEDED: Final = ("version", "name", "data", "study", "policy")
_TEXTS: Final = ("name", "data", "study", "policy", "schema")
_FIELDS: Final = (*_NEEDED, "schema", "simulation")
_EXAMPLE: Final = (
    '{"version": 1, "name": "north", "data": "north.csv", "study": "study.json", '
    '"policy": "policy.json"}'
)
_SETTING: Final = "party-file"
_Config = Mapping[str, object]
# All that goes to the server; Flower sends it the text of an error.
_REASON: Final = "this party did not answer; see its own log."


@dataclass(frozen=True, kw_only=True)
class PartyFile:
    """What a party works with; names of files are relative to this one's folder.

    Parameters
    ----------
    name : str
        What the party is called in its own log, and in a simulation.
    data, study, policy : str
        The files of its table, of the study that it agrees to, and of the most that it spends.
    schema : str, optional
        The file of the schema that it expects.
    simulation : bool, default False
        Whether to draw from the seed of a run, if it has one. Nothing of such a run is private.
    """

    name: str
    data: str
    study: str
    policy: str
    schema: str | None = None
    simulation: bool = False

    @classmethod
    def read(cls, path: str) -> PartyFile:
        """Read it.

        Parameters
        ----------
        path : str
            The name of the file.

        Returns
        -------
        PartyFile

        Raises
        ------
        MessageError
            If it is no party file of this version.
        """
        form = read_object(text_of_file(_SETTING, Path(path)), "party file", MessageError)
        check_fields(form, _FIELDS, "a party file", MessageError)
        texts = {name: form[name] for name in _TEXTS if name in form}
        simulation = form.get("simulation", False)
        if (
            not {*_NEEDED} <= {*form}
            or form["version"] != _VERSION
            or not all(isinstance(each, str) and each for each in texts.values())
            or not isinstance(simulation, bool)
        ):
            raise MessageError(f"a party file of version {_VERSION} is such as {_EXAMPLE}.")
        folder, name = Path(path).parent, texts.pop("name")
        files = {each: str(folder / value) for each, value in texts.items()}
        return cls(name=name, simulation=simulation, **files)

    def participant(self, source: RandomSource) -> Participant:
        """Return the party."""
        if source.simulation and not self.simulation:
            raise FederationError("the run is a simulation, and this party takes part in none.")
        study = load_study(Path(self.study))
        schema = None if self.schema is None else Schema.load(self.schema)
        return study.participant(
            study.read_rows(read_csv(self.data), schema),
            partial(party_source, source if self.simulation else secure(), self.name),
            charge=Spendings.of(Path(self.policy)).charge,
            on_problem=_note,
        )


def party_program() -> ClientApp:
    """Return a party's side."""
    return _PartyApp()


class _PartyApp(ClientApp):
    """The engine's program, for a party that is known only when a message comes."""

    def __call__(self, message: Message, context: Context) -> Message:
        """Answer a message."""
        return client_app(_OnThisMachine(context))(message, context)


class _OnThisMachine:
    """Answer with what this machine's party file names."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def answer(self, state: bytes, message: bytes) -> tuple[bytes, bytes]:
        """Answer, or raise an error that says nothing of this machine."""
        try:
            path = _path(self._context.node_config)
            participant = PartyFile.read(path).participant(run_source(self._context.run_config))
        except Exception as error:  # noqa: BLE001  whatever it says, it must not go out
            _note(error)
            raise FederationError(_REASON) from None
        after, reply = participant.answer(state, message)
        if participant.released(after):
            _say(fingerprint_words(participant.roster_fingerprint(after)))
        return after, reply


def _path(config: _Config) -> str:
    path = config.get(_SETTING)
    if isinstance(path, str) and Path(path).is_absolute():
        return path
    hint = f"""Start the SuperNode with --node-config '{_SETTING}="/path/party.json"'."""
    raise ParameterError(_SETTING, "the whole path of a file", path or "nothing", hint)


def _note(problem: Exception) -> None:
    """Write to the SuperNode's log why there is no answer."""
    # Only what is ours is known to hold no private value.
    _say(str(problem) if isinstance(problem, SupmError) else type(problem).__name__)


def _say(text: str) -> None:
    _log(f"supm: {text}")


_PAUSE: Final = 0.2
_WAIT: Final = Reals("wait", 1.0, 1e6)
_PATIENCE: Final = Reals("patience", 1.0, 1e6)


def server_program(study_path: Path) -> ServerApp:
    """Return the server's side of a study; what else it needs is in the settings of the run."""
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        _serve(study_path, grid, context)

    return app


def _serve(study_path: Path, grid: Grid, context: Context) -> None:
    config = context.run_config
    study, source, target = load_study(study_path), run_source(config), _target(config)
    wait = _WAIT.check(config.get("wait", 600.0))
    patience = _PATIENCE.check(config.get("patience", 300.0))
    coordinator = study.coordinator(simulation=source.simulation)
    nodes = _nodes(config, study.protocol.circle.parties, grid, wait)
    server_app(coordinator, nodes, wait=wait, patience=patience, tell=_log)(grid, context)
    made = Federated.of(study, coordinator)
    write_file("release", target, made.release.to_json() + "\n")
    _log(fingerprint_words(made.fingerprint))
    _log(f"{made.headline} {made.release.statement.words}")


def _target(config: _Config) -> Path:
    """Return where the release goes; a run that could not be written is not begun."""
    target = Path(str(config.get("release", "")))
    if not target.is_absolute():
        wanted = "a whole path on the machine of the SuperLink"
        raise ParameterError("release", wanted, str(target))
    check_writable("release", target)
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
            raise FederationError(
                f"{len(there)} of {parties} SuperNodes are there after {wait:g} seconds."
            )
        time.sleep(_PAUSE)
    if len(there) > parties:
        raise FederationError(
            f"{len(there)} SuperNodes are there, and the study is for {parties} parties; name them "
            "in the order of the parties with --run-config 'nodes=\"…\"'."
        )
    return there


def _log(text: str) -> None:
    """Write to what Flower keeps of a program's output."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
