from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from supm import MessageError
from supm.owner import Contribution, Sent, Wallet, send_together
from supm.owner.http import RemoteError

if TYPE_CHECKING:
    from tests.owner.conftest import FarEnd

Owners = list[tuple[Wallet, dict[str, object]]]


@pytest.fixture
def owners(wallet: Wallet, record: dict[str, object]) -> Owners:
    return [(wallet.section(str(number)), record | {"age": number}) for number in range(4)]


def arrived(wallet: Wallet) -> int:
    return sum(each.acknowledged is not None for each in wallet.answers(everybody=True))


def test_all_answers_go_as_one_batch(far_end: FarEnd, wallet: Wallet, owners: Owners) -> None:
    contribution = Contribution(far_end.url)
    assert send_together(contribution, []) == Sent(
        accepted=0, sent_before=0, elsewhere=0, trained=0, refused=()
    )
    sent = send_together(contribution, owners)
    assert sent == Sent(accepted=4, sent_before=0, elsewhere=0, trained=0, refused=())
    again = send_together(contribution, owners)
    assert again == Sent(accepted=0, sent_before=4, elsewhere=0, trained=0, refused=())
    assert len(far_end.posts) == 2
    assert far_end.posts[0] == far_end.posts[1]
    assert len(far_end.reports) == arrived(wallet) == 4
    assert wallet.spent() == 0.0
    assert {each.spent() for each, _ in owners} == {owners[0][0].spent()}


def test_where_codes_are_needed_nothing_is_spent_on_a_batch(
    far_end: FarEnd, wallet: Wallet, owners: Owners
) -> None:
    far_end.invited = True
    with pytest.raises(MessageError, match=r"asks by invitation.*nothing was spent or sent"):
        send_together(Contribution(far_end.url), owners)
    assert wallet.answers(everybody=True) == ()
    assert far_end.posts == []


def test_who_cannot_answer_holds_nobody_up(far_end: FarEnd, wallet: Wallet, owners: Owners) -> None:
    owners[1] = (owners[1][0], {"age": "Lovelace"})
    sent = send_together(Contribution(far_end.url), owners)
    assert (sent.accepted, len(sent.refused)) == (3, 1)
    assert "Lovelace" not in sent.refused[0]
    assert list(owners[1][0]) == []
    assert arrived(wallet) == 3


def test_answers_that_did_not_arrive_are_sent_again(
    far_end: FarEnd, wallet: Wallet, owners: Owners
) -> None:
    contribution = Contribution(far_end.url)
    far_end.faults = [409]
    with pytest.raises(RemoteError, match=r"did not take the reports \(409\): come back later"):
        send_together(contribution, owners)
    assert (len(wallet.answers(everybody=True)), arrived(wallet)) == (4, 0)
    assert send_together(contribution, owners).accepted == 4
    assert far_end.posts[0] == far_end.posts[1]
    assert arrived(wallet) == 4


def test_what_the_aggregator_refuses_is_not_taken_for_arrived(
    far_end: FarEnd, wallet: Wallet, owners: Owners
) -> None:
    far_end.batch = {"accepted": 3, "sent_before": 0, "refused": [{"place": 2, "reason": "x"}]}
    sent = send_together(Contribution(far_end.url), owners)
    assert sent.refused == ("the aggregator did not take the report.",)
    assert arrived(wallet) == 3
    assert owners[2][0].answers()[0].acknowledged is None


@pytest.mark.parametrize(
    "receipt",
    [
        {"accepted": 5, "sent_before": 0, "refused": []},
        {"accepted": 5, "sent_before": -1, "refused": []},
        {"accepted": True, "sent_before": 3, "refused": []},
        {"accepted": 4, "sent_before": 0},
        {"accepted": 3, "sent_before": 0, "refused": [{"place": 9}]},
        {"accepted": 3, "sent_before": 0, "refused": ["2"]},
    ],
)
def test_a_receipt_for_other_reports_is_not_believed(
    far_end: FarEnd, wallet: Wallet, owners: Owners, receipt: dict[str, Any]
) -> None:
    far_end.batch = receipt
    with pytest.raises(MessageError, match="not for these reports"):
        send_together(Contribution(far_end.url), owners)
    assert arrived(wallet) == 0
