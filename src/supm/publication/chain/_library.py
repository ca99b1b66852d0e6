"""All that is used of web3 and its parts; nothing else in this package imports them.

One of the parts, py_ecc, raises Python's limit on recursion to 100,000 for the whole process when
it is imported. A message of many opening brackets would then end the process instead of being
refused, so the limit is put back.
"""

from __future__ import annotations

import sys

_LIMIT = sys.getrecursionlimit()

import requests  # noqa: E402  after the limit was read
from eth_account import Account as Keys  # noqa: E402  the same
from eth_typing import ChecksumAddress, HexStr  # noqa: E402  the same
from web3 import Web3  # noqa: E402  the same
from web3.contract import Contract  # noqa: E402  the same
from web3.exceptions import (  # noqa: E402  the same
    ContractLogicError,
    TimeExhausted,
    Web3RPCError,
)
from web3.middleware import ExtraDataToPOAMiddleware  # noqa: E402  the same
from web3.providers import BaseProvider, JSONBaseProvider  # noqa: E402  the same
from web3.types import (  # noqa: E402  the same
    RPCEndpoint,
    RPCResponse,
    TxParams,
    TxReceipt,
)

sys.setrecursionlimit(_LIMIT)

__all__ = [
    "BaseProvider",
    "ChecksumAddress",
    "Contract",
    "ContractLogicError",
    "ExtraDataToPOAMiddleware",
    "HexStr",
    "JSONBaseProvider",
    "Keys",
    "RPCEndpoint",
    "RPCResponse",
    "TimeExhausted",
    "TxParams",
    "TxReceipt",
    "Web3",
    "Web3RPCError",
    "requests",
]
