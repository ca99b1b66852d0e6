"""What was released, provably: a log of entries, signed checkpoints, proofs, and how to check all.

The room ``supm.publication.chain``, which needs an extra, keeps roots of a log on a blockchain.
"""

from __future__ import annotations

from supm.publication.checks import verify_chain, verify_file, verify_log, verify_receipt
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
from supm.publication.log import Log
from supm.publication.monitoring import check_log
from supm.publication.proof import Included, Proof, make_proof
from supm.publication.publishing import anchor, publish
from supm.publication.remote import RemoteLog
from supm.publication.signing import Checkpoint, SignedCheckpoint, SigningKey, VerifierKey

__all__ = [
    "ChainEntry",
    "Checkpoint",
    "ForkError",
    "ForkEvidence",
    "Included",
    "KeyEntry",
    "KeyHistory",
    "Log",
    "LogEntry",
    "Proof",
    "ReleaseEntry",
    "RemoteLog",
    "RoundEntry",
    "SignedCheckpoint",
    "SigningKey",
    "VerifierKey",
    "anchor",
    "check_log",
    "make_proof",
    "publish",
    "read_entry",
    "verify_chain",
    "verify_file",
    "verify_log",
    "verify_receipt",
]
