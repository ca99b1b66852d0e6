"""What carries messages between a coordinator and parties: here, or between machines.

An engine knows bytes and party numbers. What is in a message, what may be sent and what it costs is
decided by those who write and read them; they are the same objects whatever carries their messages.
``supm.engines.flower`` carries them over a network; it needs the packages of ``supm[federated]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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

__getattr__ = names_on_demand(
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
