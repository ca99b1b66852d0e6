"""The owner's side: a wallet, and a way to take part. It needs none of the server's libraries."""

from __future__ import annotations

from supm.service.owners._wallet_file import WalletError, default_path
from supm.service.owners.allowed import saying_what_is_allowed
from supm.service.owners.contributing import Contribution, contribute
from supm.service.owners.entries import Answered, Limits
from supm.service.owners.forgetting import forget
from supm.service.owners.many import Sent, send_together
from supm.service.owners.offer import Offer, fetch_offer
from supm.service.owners.reading import reading
from supm.service.owners.receipt import Receipt
from supm.service.owners.standing import Standing
from supm.service.owners.telling import Leaving
from supm.service.owners.wallet import Wallet

__all__ = [
    "Answered",
    "Contribution",
    "Leaving",
    "Limits",
    "Offer",
    "Receipt",
    "Sent",
    "Standing",
    "Wallet",
    "WalletError",
    "contribute",
    "default_path",
    "fetch_offer",
    "forget",
    "reading",
    "saying_what_is_allowed",
    "send_together",
]
