"""What carries messages between a coordinator and parties: here, or between machines.

An engine knows bytes and party numbers. What is in a message, what may be sent and what it costs is
decided by those who write and read them; they are the same objects whatever carries their messages.
``supm.engines.flower`` carries them over a network; it needs the packages of ``supm[federated]``.
"""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
