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
        "AnswerInterview": "answering",
        "Answered": "entries",
        "Asking": "explaining",
        "Contribution": "contributing",
        "Explanation": "explaining",
        "Interview": "interviews",
        "JointInterview": "joint",
        "Leaving": "telling",
        "Limits": "entries",
        "Offer": "offer",
        "Owner": "owner",
        "Receipt": "receipt",
        "Remote": "http",
        "RemoteError": "http",
        "SampledInterview": "sampled",
        "Sent": "many",
        "SeparateInterview": "separate",
        "Standing": "standing",
        "Wallet": "wallet",
        "WalletError": "wallet_file",
        "contribute": "contributing",
        "default_path": "wallet_file",
        "explain": "explaining",
        "fetch_offer": "offer",
        "forget": "forgetting",
        "interview": "interviewing",
        "reading": "naming",
        "saying_what_is_allowed": "allowed",
        "send_together": "many",
    },
)
