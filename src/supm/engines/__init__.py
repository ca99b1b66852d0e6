"""What carries messages between a coordinator and parties: here, or between machines.

An engine knows bytes and party numbers. What is in a message, what may be sent and what it costs is
decided by those who write and read them; they are the same objects whatever carries their messages.
``supm.engines.flower`` carries them over a network; it needs the packages of ``supm[federated]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from supm._errors import SupmError
from supm._lazy import names_on_demand

if TYPE_CHECKING:
    from supm.engines.files import load_study, read_tables
    from supm.engines.flower.certificates import NodeKey
    from supm.engines.flower.federating import carry_over_flower, join_study, serve_study
    from supm.engines.in_process import Answerer, Asker, Carrier, carry_in_process, run_study
    from supm.engines.program import write_program
    from supm.engines.spendings import Spendings

__all__ = [
    "Answerer",
    "Asker",
    "Carrier",
    "NodeKey",
    "Spendings",
    "carry_in_process",
    "carry_over_flower",
    "join_study",
    "load_study",
    "read_tables",
    "run_study",
    "serve_study",
    "write_program",
]

_find = names_on_demand(
    __name__,
    {
        "files": "load_study read_tables",
        "flower.certificates": "NodeKey",
        "flower.federating": "carry_over_flower join_study serve_study",
        "in_process": "Answerer Asker Carrier carry_in_process run_study",
        "program": "write_program",
        "spendings": "Spendings",
    },
)


def __getattr__(name: str) -> Any:  # noqa: ANN401  whatever has the name
    try:
        return _find(name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "supm":
            raise
        message = f"this needs the package {error.name}; run pip install 'supm[federated]'."
        raise SupmError(message) from None
