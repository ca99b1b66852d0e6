"""What runs on a device: read a study, consent, answer, keep count in a wallet, and send.

What a name needs is loaded when it is first used: an owner needs little of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supm._lazy import names_on_demand

if TYPE_CHECKING:
    from supm.owner.allowed import saying_what_is_allowed
    from supm.owner.answering import AnswerInterview
    from supm.owner.contributing import Contribution, contribute
    from supm.owner.entries import Answered, Limits
    from supm.owner.explaining import Asking, Explanation, explain
    from supm.owner.forgetting import forget
    from supm.owner.http import Remote, RemoteError
    from supm.owner.interviewing import interview
    from supm.owner.interviews import Interview
    from supm.owner.joint import JointInterview
    from supm.owner.many import Sent, send_together
    from supm.owner.naming import reading
    from supm.owner.offer import Offer, fetch_offer
    from supm.owner.owner import Owner
    from supm.owner.receipt import Receipt
    from supm.owner.sampled import SampledInterview
    from supm.owner.separate import SeparateInterview
    from supm.owner.standing import Standing
    from supm.owner.telling import Leaving
    from supm.owner.wallet import Wallet
    from supm.owner.wallet_file import WalletError, default_path

__all__ = [
    "AnswerInterview",
    "Answered",
    "Asking",
    "Contribution",
    "Explanation",
    "Interview",
    "JointInterview",
    "Leaving",
    "Limits",
    "Offer",
    "Owner",
    "Receipt",
    "Remote",
    "RemoteError",
    "SampledInterview",
    "Sent",
    "SeparateInterview",
    "Standing",
    "Wallet",
    "WalletError",
    "contribute",
    "default_path",
    "explain",
    "fetch_offer",
    "forget",
    "interview",
    "reading",
    "saying_what_is_allowed",
    "send_together",
]

__getattr__ = names_on_demand(
    __name__,
    {
        "allowed": "saying_what_is_allowed",
        "answering": "AnswerInterview",
        "contributing": "Contribution contribute",
        "entries": "Answered Limits",
        "explaining": "Asking Explanation explain",
        "forgetting": "forget",
        "http": "Remote RemoteError",
        "interviewing": "interview",
        "interviews": "Interview",
        "joint": "JointInterview",
        "many": "Sent send_together",
        "naming": "reading",
        "offer": "Offer fetch_offer",
        "owner": "Owner",
        "receipt": "Receipt",
        "sampled": "SampledInterview",
        "separate": "SeparateInterview",
        "standing": "Standing",
        "telling": "Leaving",
        "wallet": "Wallet",
        "wallet_file": "WalletError default_path",
    },
)
