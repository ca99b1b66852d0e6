"""What runs on a device: read a study, consent, answer, keep count in a wallet, and send.

What a name needs is loaded when it is first used: an owner needs little of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supm._lazy import names_on_demand

if TYPE_CHECKING:
    from supm.owner.answering import AnswerInterview
    from supm.owner.contributing import Contribution, Receipt, contribute
    from supm.owner.gateway import Sent, send_together
    from supm.owner.http import Remote, RemoteError
    from supm.owner.interviews import Interview, Leaving, interview
    from supm.owner.joint import JointInterview
    from supm.owner.open_phase import OpenPhase, Remembered, fetch_open_phase
    from supm.owner.overview import WalletOverview
    from supm.owner.owner import Allowance, Owner
    from supm.owner.sampled import SampledInterview
    from supm.owner.separate import SeparateInterview
    from supm.owner.wallet import Answered, Limits, Wallet
    from supm.owner.wallet_file import WalletError, default_path
    from supm.owner.words import Asking, Explanation, explain, saying_what_is_allowed

__all__ = [
    "Allowance",
    "AnswerInterview",
    "Answered",
    "Asking",
    "Contribution",
    "Explanation",
    "Interview",
    "JointInterview",
    "Leaving",
    "Limits",
    "OpenPhase",
    "Owner",
    "Receipt",
    "Remembered",
    "Remote",
    "RemoteError",
    "SampledInterview",
    "Sent",
    "SeparateInterview",
    "Wallet",
    "WalletError",
    "WalletOverview",
    "contribute",
    "default_path",
    "explain",
    "fetch_open_phase",
    "interview",
    "saying_what_is_allowed",
    "send_together",
]

__getattr__ = names_on_demand(
    __name__,
    {
        "answering": "AnswerInterview",
        "contributing": "Contribution Receipt contribute",
        "gateway": "Sent send_together",
        "http": "Remote RemoteError",
        "interviews": "Interview Leaving interview",
        "joint": "JointInterview",
        "open_phase": "OpenPhase Remembered fetch_open_phase",
        "owner": "Allowance Owner",
        "sampled": "SampledInterview",
        "separate": "SeparateInterview",
        "wallet": "Answered Limits Wallet",
        "overview": "WalletOverview",
        "wallet_file": "WalletError default_path",
        "words": "Asking Explanation explain saying_what_is_allowed",
    },
)
