"""The verb verify: whether a file is what was published, and with which guarantee."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from supm._errors import ParameterError, PublicationError, SupmError
from supm._json import read_object
from supm.cli._output import Target, check_target, check_targets, write_json
from supm.reporting import paragraph

if TYPE_CHECKING:
    from supm.publication import Verification
    from supm.publication.verification import Tell

File = Annotated[str | None, Parameter(metavar="FILE")]
Node = Annotated[str | None, Parameter(metavar="URL")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Reader:
    """What a reader of a log knows from elsewhere, and whom to ask.

    Parameters
    ----------
    key : str
        The log's public key, or a file that holds it; or set SUPM_LOG_KEY. Get it from the
        publisher by a way that you trust.
    chain : str, optional
        A node of the chain (JSON-RPC).
    contract : str, optional
        The contract's chain and address, from elsewhere than the log; without it the log is
        believed.
    """

    key: Annotated[str, Parameter(metavar="KEY", env_var="SUPM_LOG_KEY")]
    chain: Node = None
    contract: Annotated[str | None, Parameter(metavar="ID:0x…")] = None

    @property
    def asked(self) -> dict[str, Any]:
        """The same, as the library takes it."""
        return {"key": self.key, "chain": self.chain or None, "contract": self.contract}


def verb(
    file: str,
    /,
    *,
    by: Reader,
    proof: Annotated[str | None, Parameter(metavar="P")] = None,
    log: Node = None,
    receipt: File = None,
    evidence: Target = None,
    json: Target = None,
) -> None:
    """Check that a file was published, unaltered, and with which guarantee.

    Check a file against the proof beside it and the log's public key, with no network; on demand
    also against the log as it is now, and against a chain. Each thing that was checked is printed
    in words; the first that does not hold ends it with exit code 1.

    Parameters
    ----------
    file : str
        What was downloaded, or a bundle of it and its proof.
    by : Reader
        What the reader knows from elsewhere.
    proof : str, optional
        Its proof; FILE.proof by default.
    log : str, optional
        Ask the log too: its address or its file.
    receipt : str, optional
        What a party kept of the run: was it counted?
    evidence : str, optional
        Write the evidence of a fork here.
    json : str, optional
        Write what was checked; - prints it.

    Examples
    --------
    ::

        supm verify release.json --key releases.pub                      by release.json.proof
        supm verify release.zip --key releases.pub                       a file and its proof
        supm verify release.json --key releases.pub --chain http://127.0.0.1:8545
        supm verify release.json --key releases.pub --log https://hospitals.example
        supm verify release.json --key releases.pub --receipt mine.json  was my table counted?
    """
    from supm.publication import verify as verified

    def checked(tell: Tell) -> Verification:
        return verified(
            file,
            proof=proof or None,
            log=log or None,
            receipt=receipt or None,
            tell=tell,
            **by.asked,
        )

    read = {"FILE": file, "--proof": proof, "--receipt": receipt, "--log": log, "--key": by.key}
    show_checks(checked, read, json, evidence)


def show_checks(
    checked: Callable[[Tell], Verification],
    read: Mapping[str, str | None],
    json: str | None,
    evidence: str | None = None,
) -> None:
    """Print each check as soon as it holds; raise at the first that does not, its evidence kept."""
    written = {"--json": json or None, "--evidence": evidence or None}
    check_targets({name: path for name, path in read.items() if path}, written)
    if json:
        check_replaceable("--json", json, lambda text: _check_field(text, "outcome"))
    if evidence:
        check_replaceable("--evidence", evidence, lambda text: _check_field(text, "first"))
    if json and json != "-":
        # What an earlier run found must not be taken for what this one did, however it ends.
        write_json({"verified": False, "outcome": "unknown", "checked": []}, json)
    found = checked(_silent if json == "-" else _show)
    kept = _keep_evidence(found, evidence)
    if json:
        write_json(found.to_form(), json)
    if not found:
        raise PublicationError(f"{found.headline} {kept}".rstrip())
    if json != "-":
        print(found.headline)


def check_replaceable(option: str, target: str, read: Callable[[str], object]) -> None:
    """Refuse a target that is there and is something else than what would replace it."""
    check_target(option, target)
    path = Path(target)
    if target == "-" or not path.exists():
        return
    try:
        read(path.read_text(encoding="utf-8"))
    except (SupmError, OSError, UnicodeDecodeError):
        wanted = "a new file, or one of the same kind, which is replaced"
        raise ParameterError(option, wanted, target) from None


def _silent(_: str) -> None:
    """Show nothing: the checks are in the JSON."""


def _show(line: str) -> None:
    mark = "" if line.startswith("WARNING") else "ok: "
    # Lines after the first are set in, so that each check is seen to be one.
    print(textwrap.indent(paragraph(mark + line), "    ").strip(), flush=True)


def _check_field(text: str, name: str) -> None:
    if name not in read_object(text, "file", PublicationError):
        raise PublicationError("another file.")


def _keep_evidence(found: Verification, target: str | None) -> str:
    """Write the evidence where there is some, and say where it is."""
    if found.fork is None:
        return ""
    if target is None:
        return "Once more with --evidence FILE, and the evidence is in a file."
    write_json(found.fork.to_form(), target)
    return f"The evidence is in {target}: supm log evidence {target} judges it."
