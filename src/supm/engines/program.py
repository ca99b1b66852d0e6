"""A study as a program that ``flwr run`` submits, for institutions that run SuperNodes already.

A SuperNode runs the program that the server submits, beside the party's data: what is in this
folder, or anything else. Whoever does not trust the server with that runs ``supm federate party``,
which never fetches a program.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from supm import RandomSource, secure, simulation
from supm._errors import ParameterError
from supm.federation import FederatedStudy

_PACKAGE: Final = "supm_federation"
_LONGEST_SEED: Final = 1 << 128
_PROJECT: Final = """\
[project]
name = "supm-federation"
version = "1.0.0"
description = "A federated study of supm"
license = "Apache-2.0"
# What it needs is installed by whoever runs it, and never by Flower.
dependencies = []

[tool.flwr.app]
publisher = "supm"

[tool.flwr.app.components]
serverapp = "supm_federation.server:app"
clientapp = "supm_federation.client:app"
"""
_SETTINGS: Final = """\

[tool.flwr.app.config]
# Where the server writes the release, on the machine of the SuperLink.
release = {release}
# Empty, or the seed of a simulation, which is not private.
seed = {seed}
# The numbers of the SuperNodes in the order of the parties, with blanks between; empty: all.
nodes = ""
# How many seconds to wait until all are there, and for the answers of one turn.
wait = 600.0
patience = 300.0
"""
# What Flower wants to be told of a program that no node fetches and nothing runs.
EMPTY_PROGRAM: Final = {
    "pyproject.toml": _PROJECT.encode(),
    f"{_PACKAGE}/server.py": b"",
    f"{_PACKAGE}/client.py": b"",
}
_SERVER: Final = '''\
"""The server's side of the study beside this file."""

from pathlib import Path

from supm.engines.flower.programs import server_program

app = server_program(Path(__file__).with_name("study.json"))
'''
_CLIENT: Final = '''\
"""A party's side; its own file says to which study it agrees, and with which table."""

from supm.engines.flower.programs import party_program

app = party_program()
'''


def write_program(
    folder: Path, study: FederatedStudy, *, release: Path, seed: int | None = None
) -> None:
    """Write a study as a program of Flower.

    Parameters
    ----------
    folder : Path
        A new folder.
    study : FederatedStudy
        The study.
    release : Path
        Where the server writes the release, on the machine of the SuperLink.
    seed : int, optional
        Of a simulation; parties draw from it only where their own files allow it.

    Raises
    ------
    ParameterError
        If the folder is there, or cannot be made.
    """
    # A text in TOML is one in JSON, with every letter as it is.
    target, source = (
        json.dumps(each, ensure_ascii=False)
        for each in (str(release.absolute()), "" if seed is None else str(seed))
    )
    files = {
        "pyproject.toml": _PROJECT + _SETTINGS.format(release=target, seed=source),
        f"{_PACKAGE}/__init__.py": "",
        f"{_PACKAGE}/server.py": _SERVER,
        f"{_PACKAGE}/client.py": _CLIENT,
        f"{_PACKAGE}/study.json": study.to_json() + "\n",
    }
    _write(folder, files)


def run_source(config: Mapping[str, object]) -> RandomSource:
    """Return the randomness that the configuration of a run asks for.

    Examples
    --------
    >>> run_source({"seed": "7"}).simulation, run_source({"seed": ""}).simulation
    (True, False)
    """
    text = str(config.get("seed", ""))
    if not text:
        return secure()
    # The length first: a very long text is slow to read as a number.
    if not text.isdecimal() or len(text) > 40 or int(text) > _LONGEST_SEED:
        raise ParameterError("seed", "empty, or a whole number from 0 to 2^128", text)
    return simulation(int(text))


def _write(folder: Path, files: Mapping[str, str]) -> None:
    try:
        folder.mkdir()
        (folder / _PACKAGE).mkdir()
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        hint = f"{error.strerror}."
        wanted = "a new folder in one that can be written"
        raise ParameterError("folder", wanted, str(folder), hint) from None
