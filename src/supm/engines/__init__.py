"""What carries messages between a coordinator and parties: here, or between machines.

An engine knows bytes and party numbers. What is in a message, what may be sent and what it costs is
decided by those who write and read them; they are the same objects whatever carries their messages.
``supm.engines.flower`` carries them over a network; it needs the packages of ``supm[federated]``.
"""

from supm.engines.federated import Carrier, run_study
from supm.engines.files import load_study
from supm.engines.in_process import Answerer, Asker, carry_in_process
from supm.engines.program import write_program
from supm.engines.spendings import Spendings

__all__ = [
    "Answerer",
    "Asker",
    "Carrier",
    "Spendings",
    "carry_in_process",
    "load_study",
    "run_study",
    "write_program",
]
