from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from supm import BudgetError, MessageError, RecordError, simulation
from supm.collection import plan
from supm.messages import Study, Trust
from supm.owner import Contribution, Owner, Wallet, contribute
from supm.owner.http import RemoteError

if TYPE_CHECKING:
    from tests.owner.conftest import FarEnd

PRIVATE = (b"61.5", b"88.7", b"yes", b"Lovelace", b"age", b"pulse", b"ill")


def groups(study: Study) -> Study:
    """Return a study in which half of the owners are asked to reduce, and half to train."""
    return plan(study.schema, epsilon=1.0, owners=100_000, keep=2)


def test_a_report_is_sent_and_written_down(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object], study: Study
) -> None:
    receipt = contribute(far_end.url, record, wallet=wallet)
    assert receipt.verdict == "accepted"
    assert receipt.report is not None
    assert far_end.posts == [json.loads(receipt.report.to_json())]
    [kept] = wallet.answers()
    assert (kept.study, kept.phase, kept.server) == (study.hash, "train", far_end.url)
    assert kept.purpose == "Who falls ill?"
    assert kept.report == receipt.report.id
    assert kept.acknowledged is not None
    assert kept.epsilon == wallet.spent() == receipt.epsilon
    assert 0.99 < wallet.spent() <= 1.0


def test_asked_again_the_same_report_is_sent_and_nothing_is_spent(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object]
) -> None:
    first = contribute(far_end.url, record, wallet=wallet)
    again = contribute(far_end.url, record | {"age": 3.0}, wallet=wallet)
    assert again.verdict == "sent before"
    assert again.report == first.report
    assert again.epsilon == first.epsilon == wallet.spent()
    assert len(wallet.answers()) == len(far_end.reports) == 1


def test_the_default_wallet_is_used_where_none_is_given(
    far_end: FarEnd, record: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUPM_WALLET", str(tmp_path / "mine.db"))
    contribute(far_end.url, record)
    with Wallet(tmp_path / "mine.db") as wallet:
        assert len(wallet.answers()) == 1


def test_no_byte_that_the_server_receives_tells_the_record(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object]
) -> None:
    far_end.faults = ["lost", 503, 429]
    contribute(far_end.url, record, wallet=wallet)
    received = bytes(far_end.received)
    assert received.count(b"POST ") == 4
    assert [word for word in PRIVATE if word in received] == []
    on_disk = b"".join(path.read_bytes() for path in wallet.path.parent.iterdir())
    assert [word for word in (b"61.5", b"88.7", b"Lovelace") if word in on_disk] == []


def test_a_lost_answer_and_a_busy_server_lead_to_one_report(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object]
) -> None:
    far_end.faults = ["dropped", "lost", 503, 429]
    receipt = contribute(far_end.url, record, wallet=wallet)
    assert receipt.verdict == "sent before"
    assert len(far_end.posts) == 5
    assert len({form["id"] for form in far_end.posts}) == len(far_end.reports) == 1


def test_what_was_not_confirmed_is_sent_again_later_at_no_cost(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object]
) -> None:
    far_end.faults = [500]
    with pytest.raises(RemoteError, match=r"did not take the report \(500\): come back later"):
        contribute(far_end.url, record, wallet=wallet)
    [kept] = wallet.answers()
    assert kept.acknowledged is None
    receipt = contribute(far_end.url, record, wallet=wallet)
    assert receipt.verdict == "accepted"
    assert receipt.report is not None
    assert receipt.report.id == kept.report
    assert len(wallet.answers()) == 1
    assert wallet.answers()[0].acknowledged is not None


def test_a_limit_refuses_before_anything_is_drawn(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object]
) -> None:
    for limits in ({"total": 0.5}, {"total": 9.0, "per_study": 0.5}):
        wallet.limit(**limits)
        with pytest.raises(BudgetError, match=r"of the 0\.5 that this owner allows"):
            contribute(far_end.url, record, wallet=wallet)
        with pytest.raises(BudgetError, match=r"of the 0\.5 that this owner allows"):
            Contribution(far_end.url).rehearse(record, wallet)
    assert far_end.posts == []
    assert list(wallet) == []
    assert wallet.spent() == 0.0


def test_a_limit_in_total_counts_all_studies(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object], study: Study
) -> None:
    wallet.limit(total=2.5, per_study=1.0)
    for epsilon in (1.0, 0.9, 0.8):
        far_end.study = plan(study.schema, epsilon=epsilon, attributes=["age"])
        far_end.base = far_end.base.replace("127.0.0.1", "localhost")
        url = f"{far_end.base}/studies/study{int(epsilon * 10)}"
        if epsilon > 0.8:
            contribute(url, record, wallet=wallet)
        else:
            with pytest.raises(BudgetError, match=r"allows in total, 1\.9 is spent"):
                contribute(url, record, wallet=wallet)
    assert 1.89 < wallet.spent() <= 1.9


def test_the_same_question_in_another_study_costs_nothing(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object], study: Study
) -> None:
    first = contribute(far_end.url, record, wallet=wallet)
    far_end.study = replace(study, purpose="Somebody else's")
    second = contribute(f"{far_end.base}/studies/another", record, wallet=wallet)
    assert first.report is not None
    assert second.report is not None
    assert second.report.symbols == first.report.symbols
    assert second.report.id != first.report.id
    assert second.epsilon == 0.0
    assert wallet.spent() == first.epsilon


def test_a_document_that_changes_after_the_answer_is_refused(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object], study: Study
) -> None:
    beginning = plan(study.schema, epsilon=1.0, mode="faithful", reduce="rand", keep=1)
    far_end.study = beginning.reduced(("age",))
    contribute(far_end.url, record, wallet=wallet)
    spent = wallet.spent()
    far_end.study = beginning.reduced(("pulse",))
    with pytest.raises(BudgetError, match="a second answer would cost more than it states"):
        contribute(far_end.url, record, wallet=wallet)
    far_end.study = study
    with pytest.raises(BudgetError, match="another study was answered at this address"):
        contribute(far_end.url, record, wallet=wallet)
    with pytest.raises(BudgetError, match="another study was answered at this address"):
        Contribution(far_end.url).rehearse(record, wallet)
    assert len(far_end.posts) == 1
    assert wallet.spent() == spent


def test_an_owner_of_another_group_is_told_so_and_stays_in_it(
    far_end: FarEnd, tmp_path: Path, record: dict[str, object], study: Study
) -> None:
    far_end.study, far_end.phase = groups(study), "reduce"
    assert len(far_end.study.groups) == 2
    verdicts: Counter[str] = Counter()
    for number in range(12):
        with Wallet(tmp_path / f"{number}.db") as wallet:
            # Nothing may be spent: the refusal must not lead to another draw of the group.
            wallet.limit(total=0.0)
            first = outcome(far_end, record, wallet)
            assert all(outcome(far_end, record, wallet) == first for _ in range(3))
            verdicts[first] += 1
    assert set(verdicts) == {"another group is asked", "BudgetError"}
    assert far_end.posts == []


def outcome(far_end: FarEnd, record: dict[str, object], wallet: Wallet) -> str:
    try:
        return contribute(far_end.url, record, wallet=wallet).verdict
    except BudgetError as error:
        return type(error).__name__


def test_a_rehearsal_keeps_and_sends_nothing(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object]
) -> None:
    contribution = Contribution(far_end.url)
    example = contribution.rehearse(record, wallet)
    assert example is not None
    assert example != contribution.rehearse(record, wallet)
    assert (list(wallet), wallet.answers(), far_end.posts) == ([], (), [])
    sent = contribution.send(record, wallet).report
    assert contribution.rehearse(record, wallet) == sent


def test_what_promises_nothing_needs_trust(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object], study: Study
) -> None:
    far_end.study = plan(
        study.schema, epsilon=1.0, attributes=["age"], trust=Trust(train="trusted")
    )
    with pytest.raises(BudgetError, match="asks for values as they are"):
        contribute(far_end.url, record, wallet=wallet)
    assert far_end.posts == []
    contribution = Contribution(far_end.url, trusted=["train"])
    assert "Nothing is promised" in " ".join(contribution.words(wallet))
    assert {row.truth for row in contribution.leaving()} == {1.0}
    assert contribution.send(record, wallet).epsilon is None
    assert wallet.spent() == 0.0


def test_an_invitation_travels_in_a_header_and_is_not_kept(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object]
) -> None:
    far_end.invited = True
    with pytest.raises(MessageError, match="by invitation"):
        contribute(far_end.url, record, wallet=wallet)
    with pytest.raises(MessageError, match="must be a code") as refused:
        contribute(far_end.url, record, wallet=wallet, invitation="secret\r\nX: 1")
    assert "secret" not in str(refused.value)
    assert wallet.answers() == ()
    contribute(far_end.url, record, wallet=wallet, invitation="Kb-4_x")
    assert far_end.codes == ["Kb-4_x"]
    files = b"".join(path.read_bytes() for path in wallet.path.parent.iterdir())
    assert b"Kb-4_x" not in files


def test_a_receipt_for_another_report_is_not_believed(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object]
) -> None:
    far_end.receipt = {"id": "0" * 32}
    with pytest.raises(MessageError, match="not for this report"):
        contribute(far_end.url, record, wallet=wallet)
    assert wallet.answers()[0].acknowledged is None


def test_the_models_answer_is_in_the_receipt(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object]
) -> None:
    far_end.receipt = {"answer": "no", "probability": 0.75}
    receipt = contribute(far_end.url, record, wallet=wallet)
    assert (receipt.answer, receipt.probability) == ("no", 0.75)
    far_end.receipt = {"answer": "\x1b[2J", "probability": "sure"}
    receipt = contribute(far_end.url, record, wallet=wallet)
    assert (receipt.answer, receipt.probability) == (None, None)


@pytest.mark.parametrize(
    "broken",
    [{"age": "61.523437 years"}, {"age": [61.523437]}, {"ill": "Lovelace-Byron"}, {"age": None}],
)
def test_no_error_shows_a_value(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object], broken: dict[str, object]
) -> None:
    with pytest.raises(RecordError) as refused:
        contribute(far_end.url, record | broken, wallet=wallet)
    told = f"{refused.value!r} {refused.value.__cause__} {refused.value.__context__}"
    assert "61.5" not in told
    assert "Lovelace" not in told
    assert far_end.posts == []
    assert list(wallet) == []
    assert wallet.spent() == 0.0


def test_two_studies_of_one_seed_agree_with_the_owner_alone(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object], study: Study
) -> None:
    alone = Owner(source=simulation(5)).answer(study, "train", record)
    receipt = Contribution(far_end.url, source=simulation(5)).send(record, wallet)
    assert receipt.report == alone


def test_a_check_draws_nothing(
    far_end: FarEnd, wallet: Wallet, record: dict[str, object], study: Study
) -> None:
    source = simulation(5)
    contribution = Contribution(far_end.url, source=source)
    contribution.check(record, wallet)
    with pytest.raises(RecordError):
        contribution.check(record | {"age": "old"}, wallet)
    assert (list(wallet), far_end.posts) == ([], [])
    receipt = contribution.send(record, wallet)
    assert receipt.report == Owner(source=simulation(5)).answer(study, "train", record)
