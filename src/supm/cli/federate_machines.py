"""The acts of federate that run between machines: key, server and party."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TextIO

from cyclopts import Parameter

from supm.cli._output import NewFile, Target, aloud, write_text
from supm.cli._types import real, whole
from supm.cli.federate import (
    File,
    Output,
    Publish,
    Study,
    check_output,
    enter_release,
    recording,
    show_release,
    speaker,
)

if TYPE_CHECKING:
    from supm.messages import Commitments

_RECEIPT: Final = (
    "holds hashes of what is sent. When the release is published, supm verify RELEASE --key KEY "
    "--receipt FILE says whether it was counted."
)
_WAIT: Final = 600.0
_Say = Callable[[str], None]
Seconds = Annotated[float, real(1, 1e6, "SECONDS")]


def key(*, output: Annotated[NewFile, Parameter(alias="-o", required=True)]) -> None:
    """Make the key by which a server knows a party.

    Parameters
    ----------
    output : str
        A new file; FILE.pub is public.

    Examples
    --------
    ::

        supm federate key -o north.key
    """
    from supm.engines import NodeKey

    NodeKey.made(Path(str(output)))
    print(f"Keep {output}; give {output}.pub to the owner of the server.")


def server(
    study: Study,
    /,
    *,
    folder: Annotated[str, Parameter(metavar="DIR")],
    party_key: Annotated[list[str], Parameter(metavar="FILE"), "party-key"] = [],  # noqa: B006  as cyclopts reads it
    host: str = "127.0.0.1",
    listen: Annotated[str | None, Parameter(metavar="ADDRESS")] = None,
    port: Annotated[int, whole(1, 65535)] = 8443,
    wait: Seconds = _WAIT,
    patience: Seconds = _WAIT,
    publish: Publish = None,
    signing_key: File | None = None,
    output: Output = None,
    json: Target = None,
) -> None:
    r"""Run the server of a study.

    Parameters
    ----------
    study : str
        The study.
    folder : str
        For certificates and a log; only yours.
    party_key : list of str
        A party's public key; once for each.
    host : str
        By what name or address parties reach this machine.
    listen : str, optional
        On which address to listen.
    port : int
        Where (8443 by default).
    wait : float
        How long to wait until all parties are there (600 by default).
    patience : float
        How long to wait for the answers of one turn; who is late is lost (600 by default).
    publish : str, optional
        Write each round and the release into this log (supm log create makes one).
    signing_key : str, optional
        The log's secret key; by default the file beside the log that ends in .key.
    output : str, optional
        Write the release.
    json : str, optional
        Write the statement; - prints it.

    Examples
    --------
    ::

        supm federate server study.json --host fed.example --folder run --party-key north.key.pub \
            --party-key east.key.pub --party-key south.key.pub -o release.json
    """
    from supm.engines import load_study, serve_study

    check_output(output, publish)
    say = speaker(json, output)
    with recording(publish, signing_key) as kept:
        made = serve_study(
            load_study(Path(study)),
            [Path(each) for each in party_key],
            folder=Path(folder),
            host=host,
            port=port,
            listen=listen,
            wait=wait,
            patience=patience,
            record=None if kept is None else kept.record,
            tell=say,
        )
        show_release(made, json, output, say)
        enter_release(kept, made.release, output, say)


def party(
    data: Annotated[str, Parameter(metavar="DATA.csv")],
    /,
    *,
    study: File,
    server: Annotated[str, Parameter(metavar="HOST:PORT")],
    ca: Annotated[str, Parameter(metavar="FILE"), "certificate"],
    key: File,
    policy: File,
    schema: File | None = None,
    receipt: NewFile = None,
    yes: bool = False,
    wait: Seconds = _WAIT,
    output: Output = None,
    json: Target = None,
) -> int:
    r"""Take part in a study with your table, which stays.

    The policy is a file of yours that holds the most that you spend on one study and on all, and
    how many parties may work with the server without breaking the promise. What was spent is
    written beside it, into policy.spent.json.

    Parameters
    ----------
    data : str
        Your table.
    study : str
        What you agree to.
    server : str
        Where the server is.
    ca : str
        Its certificate: ca.pem.
    key : str
        Your key.
    policy : str
        The most that you spend.
    schema : str, optional
        Check that it is the study's.
    receipt : str, optional
        Keep hashes of what you send, to find it published.
    yes : bool
        Take part without asking.
    wait : float
        How long to wait for the server and for its next message (600 by default).
    output : str, optional
        Write the release.
    json : str, optional
        Write the statement; - prints it.

    Examples
    --------
    ::

        supm federate party mine.csv --study study.json --server fed.example:8443 --ca ca.pem \
            --key north.key --policy policy.json

    where policy.json holds, for example:

        {"version": 1, "epsilon": 1, "delta": 1e-5, "colluders": 1,
         "total": {"epsilon": 4, "delta": 1e-4}}
    """
    from supm.engines import join_study, load_study
    from supm.schema import as_schema

    check_output(output, None)
    say = speaker(json, output)
    made = join_study(
        load_study(Path(study)),
        data,
        server=server,
        certificate=Path(ca),
        key=Path(key),
        policy=Path(policy),
        agrees=partial(_agrees, say=say, where=aloud(json, output), yes=yes),
        schema=None if schema is None else as_schema(schema),
        keep=None if receipt is None else partial(_keep, receipt, say),
        wait=wait,
        tell=say,
    )
    if made is None:
        return 1
    show_release(made, json, output, say)
    return 0


def _keep(path: str, say: _Say, sent: Commitments) -> None:
    """Write a party's receipt, and say once what it is for."""
    write_text("--receipt", sent.to_json() + "\n", path)
    if len(sent.rounds) == 1:
        say(f"{path} {_RECEIPT}")


def _agrees(lines: Sequence[str], say: _Say, where: TextIO, *, yes: bool) -> bool:
    for line in lines:
        say(line)
    if yes:
        return True
    print("Take part? [y/N] ", end="", file=where, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    print("Nothing was sent, and nothing was spent.", file=where)
    return False
