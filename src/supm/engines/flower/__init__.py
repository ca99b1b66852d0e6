"""Parties on machines of their own, over Flower.

What is Flower's: the SuperLink that parties connect to, its messages, and its node keys. What is
not, and why:

- A stock SuperNode runs whatever program the server sends it, beside the party's data. Ours
  (`take_part`) runs the program that the party installed, and never fetches another.
- A stock SuperLink lets everybody who reaches its port start programs and admit nodes. Ours lets
  in who knows a secret of the run; for all others, only what nodes need is there, and for that a
  node key is needed.
- TLS and node keys are always on. Flower's reports to its makers are always off.
"""

import os

from supm._lazy import names_on_demand

# Before anything of Flower is imported, which reads them when it is.
QUIET = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
}
os.environ.update(QUIET)

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
