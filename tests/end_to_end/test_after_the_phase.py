"""An answer of the aggregator is lost, the phase ends, and the owner comes again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from supm.messages import Report, Study
from supm.owner import Contribution, Wallet, send_together
from supm.owner.http import Remote, RemoteError
from supm.service.app import make_app
from supm.service.serving import running
from supm.service.store import Opened, Store
from supm.service.store.values import State


@pytest.fixture
def opened(store: Store, study: Study) -> Opened:
    return store.create(study, token_hash="0" * 64, minimums={}, deadlines={})


@pytest.fixture
def base(store: Store, opened: Opened) -> Iterator[str]:
    """Serve a database of each kind, with one open study."""
    assert opened.open_phase == "train"
    with running(make_app(store)) as url:
        yield url


def send_and_hear_nothing(base: str, opened: Opened, report: Report) -> None:
    """Let a report be stored by whoever does not tell the wallet."""
    path = f"/api/v1/studies/{opened.name}/reports"
    assert Remote(base).post_json(path, report.to_json())[0] == 201


def end(store: Store, opened: Opened) -> None:
    store.advance(opened.name, expected=opened.state, to=State.TRAINED, model="{}")


def test_the_wallet_hears_after_the_phase_what_was_stored_in_it(
    base: str, store: Store, opened: Opened, wallet: Wallet, record: dict[str, object]
) -> None:
    contribution = Contribution(f"{base}/studies/{opened.name}")
    report = contribution.answer(record, wallet)
    send_and_hear_nothing(base, opened, report)
    assert wallet.answers()[0].acknowledged is None
    end(store, opened)
    receipt = contribution.send(record, wallet)
    assert (receipt.verdict, receipt.report) == ("sent before", report)
    assert wallet.answers()[0].acknowledged is not None
    assert store.reports(opened.name) == {"train": 1}


def test_what_was_never_stored_is_not_acknowledged_after_the_phase(
    base: str, store: Store, opened: Opened, wallet: Wallet, record: dict[str, object]
) -> None:
    contribution = Contribution(f"{base}/studies/{opened.name}")
    contribution.answer(record, wallet)
    end(store, opened)
    with pytest.raises(RemoteError, match=r"did not take the report \(409\)"):
        contribution.send(record, wallet)
    assert wallet.answers()[0].acknowledged is None
    assert store.reports(opened.name) == {"train": 0}


def test_a_gateway_hears_of_each_of_its_owners(
    base: str, store: Store, opened: Opened, wallet: Wallet, record: dict[str, object]
) -> None:
    contribution = Contribution(f"{base}/studies/{opened.name}")
    owners = [(wallet.section(str(place)), record) for place in range(4)]
    for own, one in owners[:3]:
        send_and_hear_nothing(base, opened, contribution.answer(one, own))
    end(store, opened)
    sent = send_together(contribution, owners)
    assert (sent.accepted, sent.sent_before, len(sent.refused)) == (0, 3, 1)
    heard = [[each.acknowledged is not None for each in own.answers()] for own, _ in owners]
    assert heard == [[True]] * 3 + [[False]]
    assert store.reports(opened.name) == {"train": 3}
