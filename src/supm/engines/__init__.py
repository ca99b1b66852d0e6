"""What carries messages between a coordinator and parties: here, or between machines.

An engine knows bytes and party numbers. What is in a message, what may be sent and what it costs is
decided by those who write and read them; they are the same objects whatever carries their messages.
``supm.engines.flower`` carries them over a network; it needs the packages of ``supm[federated]``.
"""

from supm.engines.exchange import Answerer, Coordinator
from supm.engines.in_process import run_in_process

__all__ = ["Answerer", "Coordinator", "run_in_process"]
