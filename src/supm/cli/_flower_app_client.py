"""A party's side of a study, as a program that a stock SuperNode runs.

What it works with is named on the party's own machine, in a file that the SuperNode was started
with; the server chooses nothing of it. To name a study there is to agree to it: nobody is asked
while a SuperNode runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from flwr.app import Context, Message
from flwr.clientapp import ClientApp

from supm import RandomSource, secure
from supm._errors import FederationError, MessageError, ParameterError, SupmError
from supm._json import check_fields, read_object
from supm.cli._federate_flower import fingerprint
from supm.cli._federate_party import consent, protocol_of, spendings_of
from supm.cli._federate_study import read_rows, read_study
from supm.cli._files import read_text
from supm.cli._flower_app import run_source
from supm.engines.flower import client_app
from supm.federation import Participant, party_source

__all__ = ["PartyFile", "clientapp"]

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
        form = read_object(read_text(_SETTING, path), "party file", MessageError)
        check_fields(form, _FIELDS, "a party file", MessageError)
        texts = {name: form[name] for name in _TEXTS if name in form}
        simulation = form.get("simulation", False)
        if (
            not {*_NEEDED} <= {*form}
            or form["version"] != _VERSION
            or not all(isinstance(each, str) and each for each in texts.values())
            or not isinstance(simulation, bool)
        ):
            message = f"a party file of version {_VERSION} is such as {_EXAMPLE}."
            raise MessageError(message)
        folder, name = Path(path).parent, texts.pop("name")
        files = {each: str(folder / value) for each, value in texts.items()}
        return cls(name=name, simulation=simulation, **files)

    def participant(self, source: RandomSource) -> Participant:
        """Return the party.

        Parameters
        ----------
        source : RandomSource
            What the run asks parties to draw from.

        Returns
        -------
        Participant

        Raises
        ------
        FederationError
            If the run is a simulation, and the party takes part in none.
        """
        if source.simulation and not self.simulation:
            message = "the run is a simulation, and this party takes part in none."
            raise FederationError(message)
        study = read_study(self.study)
        return Participant(
            read_rows(self.data, study, self.schema),
            protocol_of(study),
            consent(study, spendings_of(self.policy)),
            partial(party_source, source if self.simulation else secure(), self.name),
            _note,
        )


def clientapp() -> ClientApp:
    """Return a party's side.

    Returns
    -------
    ClientApp
        It reads the file that ``flower-supernode --node-config 'party-file="…"'`` names.
    """
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
            _say(fingerprint(participant.roster_fingerprint(after)))
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
    print(f"supm: {text}", flush=True)
