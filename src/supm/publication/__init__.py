"""What was released, provably: a log of entries, signed checkpoints, proofs, and how to check all.

The room ``supm.publication.chain``, which needs an extra, keeps roots of a log on a blockchain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supm._lazy import names_on_demand

if TYPE_CHECKING:
    from supm.publication.anchoring import verify_chain
    from supm.publication.deploying import Anchoring, anchor, anchor_log, deploy_contract
    from supm.publication.entry import (
        ChainEntry,
        KeyEntry,
        LogEntry,
        ReleaseEntry,
        RoundEntry,
        read_entry,
    )
    from supm.publication.evidence import ForkError, ForkEvidence
    from supm.publication.history import KeyHistory
    from supm.publication.listing import LogListing, list_log
    from supm.publication.log import Log
    from supm.publication.monitoring import check_log, monitor
    from supm.publication.promise import Promise, promise_of
    from supm.publication.proof import (
        Included,
        Proof,
        make_proof,
        verify_file,
        verify_log,
        verify_receipt,
    )
    from supm.publication.publishing import (
        Publication,
        create_log,
        enter_file,
        publish_file,
        rotate_key,
    )
    from supm.publication.remote import RemoteLog
    from supm.publication.signing import Checkpoint, SignedCheckpoint, SigningKey, VerifierKey
    from supm.publication.verification import Verification, judge_evidence, verify

__all__ = [
    "Anchoring",
    "ChainEntry",
    "Checkpoint",
    "ForkError",
    "ForkEvidence",
    "Included",
    "KeyEntry",
    "KeyHistory",
    "Log",
    "LogEntry",
    "LogListing",
    "Promise",
    "Proof",
    "Publication",
    "ReleaseEntry",
    "RemoteLog",
    "RoundEntry",
    "SignedCheckpoint",
    "SigningKey",
    "Verification",
    "VerifierKey",
    "anchor",
    "anchor_log",
    "check_log",
    "create_log",
    "deploy_contract",
    "enter_file",
    "judge_evidence",
    "list_log",
    "make_proof",
    "monitor",
    "promise_of",
    "publish_file",
    "read_entry",
    "rotate_key",
    "verify",
    "verify_chain",
    "verify_file",
    "verify_log",
    "verify_receipt",
]

__getattr__ = names_on_demand(
    __name__,
    {
        "anchoring": "verify_chain",
        "deploying": "Anchoring anchor anchor_log deploy_contract",
        "entry": "ChainEntry KeyEntry LogEntry ReleaseEntry RoundEntry read_entry",
        "evidence": "ForkError ForkEvidence",
        "history": "KeyHistory",
        "listing": "LogListing list_log",
        "log": "Log",
        "monitoring": "check_log monitor",
        "promise": "Promise promise_of",
        "proof": "Included Proof make_proof verify_file verify_log verify_receipt",
        "publishing": "Publication create_log enter_file publish_file rotate_key",
        "remote": "RemoteLog",
        "signing": "Checkpoint SignedCheckpoint SigningKey VerifierKey",
        "verification": "Verification judge_evidence verify",
    },
)
