"""What a log remembers of its anchors, for those who look at a release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from supm.publication.chain import Chain, deploy
from supm.publication.keys import SigningKey
from supm.publication.log import Log
from supm.publication.publishing import anchor, name_contract

if TYPE_CHECKING:
    from tests.publication.chain.conftest import Place

TIME = "2026-11-18T14:00:00Z"


def test_block_time_and_transaction_are_noted_and_kept(tmp_path: Path, node: Place) -> None:
    key, account = SigningKey.made("log.example", tmp_path / "log.key"), node.account()
    with Log.create(tmp_path / "log.db", key) as log:
        made = deploy(node.where, account, log.first_key.identity)
        name_contract(log, key, made, account.address, TIME)
        chain = Chain(node.where, made.contract)
        size, receipt = anchor(log, chain, account)
        found = chain.anchored(size)
        assert receipt is not None
        assert found is not None
        noted = {
            "chain": made.chain,
            "contract": made.contract,
            "block": receipt.block,
            "transaction": receipt.transaction,
            "time": found.time,
        }
        assert json.loads(log.anchor_note(size) or "") == noted
        assert anchor(log, chain, account) == (size, None)
        assert json.loads(log.anchor_note(size) or "") == noted
        # As a log that did not hear the answer, and finds the root on the chain.
        log.note_anchor(size, "{}")
        anchor(log, chain, account)
        del noted["transaction"]
        assert json.loads(log.anchor_note(size) or "") == noted
        # What another contract said is not mixed with what this one says.
        other = noted | {"contract": "0x" + "ab" * 20, "transaction": receipt.transaction}
        log.note_anchor(size, json.dumps(other))
        anchor(log, chain, account)
        assert json.loads(log.anchor_note(size) or "") == noted
        assert log.anchor_note(size + 1) is None
