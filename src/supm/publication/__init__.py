"""What was released, provably: a log of entries, signed checkpoints, proofs, and how to check all.

The room ``supm.publication.chain``, which needs an extra, keeps roots of a log on a blockchain.
"""

from __future__ import annotations

from supm.publication.checkpoint import Checkpoint, SignedCheckpoint
from supm.publication.entry import (
    ChainEntry,
    Entry,
    KeyEntry,
    ReleaseEntry,
    RoundEntry,
    read_entry,
)
from supm.publication.evidence import Evidence
from supm.publication.forks import ForkError
from supm.publication.history import KeyHistory
from supm.publication.keys import SigningKey, VerifierKey
from supm.publication.log import Log
from supm.publication.monitoring import check_log
from supm.publication.proof import Included, Proof, make_proof
from supm.publication.publishing import anchor, publish
from supm.publication.remote import RemoteLog
from supm.publication.verification import verify_chain, verify_file, verify_log, verify_receipt

__all__ = [
    "ChainEntry",
    "Checkpoint",
    "Entry",
    "Evidence",
    "ForkError",
    "Included",
    "KeyEntry",
    "KeyHistory",
    "Log",
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
