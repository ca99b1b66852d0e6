"""What runs on a device: read a study, consent, answer, keep count in a wallet, and send.

What a name needs is loaded when it is first used: an owner needs little of it.
"""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
