"""What owners spend: by phase, and in total for a training owner and for a test owner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from supm import __version__
from supm._errors import PromiseError
from supm.messages import FORMS, REDUCTIONS, Model, PhaseStatement, Question, Statement, Study
from supm.owner import interview
from supm.owner.answering import answer_randomizer
from supm.privacy import Guarantee, NoGuarantee, PureLDP, parallel, sequential


@dataclass(frozen=True, kw_only=True)
class Account:
    """What is promised, derived from the mechanisms.

    Parameters
    ----------
    phases : mapping of str to Guarantee
        What an answer in each phase promises; phases that ask nothing are left out.
    training : Guarantee
        In total for an owner who helps to choose attributes or to train: the sum over the questions
        of the own group, and the largest over the groups, which are different people.
    testing : Guarantee
        In total for an owner whose record is classified.
    """

    phases: Mapping[str, Guarantee]
    training: Guarantee
    testing: Guarantee


def account(study: Study) -> Account:
    """Return what the owners of a study spend.

    Parameters
    ----------
    study : Study
        Before the attributes are chosen, an answer about them is taken to spend all that its
        question allows: what a mechanism keeps depends on the classes in the last digits.

    Returns
    -------
    Account

    Examples
    --------
    >>> from supm.collection import plan
    >>> from supm.datasets import load_wdbc
    >>> study = plan(load_wdbc().schema, epsilon=8.0, mode="faithful", reduce="pw")
    >>> spent = account(study)
    >>> round(spent.phases["reduce"].epsilon, 6), round(spent.training.epsilon, 6)
    (4.0, 8.0)
    """
    phases = {each.phase: _promise(study, each) for each in study.questions}
    by_group: dict[int, list[Guarantee]] = {}
    for question in study.questions:
        if question.phase != "test":
            by_group.setdefault(question.group, []).append(phases[question.phase])
    training = parallel(*(sequential(*promises) for promises in by_group.values()))
    return Account(phases=phases, training=training, testing=phases.get("test", PureLDP(0.0)))


def make_statement(study: Study, *, simulation: bool) -> Statement:
    """Return the statement of a result that a study led to.

    Parameters
    ----------
    study : Study
        The reduced study.
    simulation : bool
        Whether any randomness came from a seed.

    Returns
    -------
    Statement
    """
    spent = account(study)
    phases = [
        PhaseStatement(
            phase=each.phase, method=_method(study, each), guarantee=spent.phases[each.phase]
        )
        for each in study.questions
    ]
    return Statement(
        study=study.hash,
        phases=tuple(phases),
        training=spent.training,
        testing=spent.testing,
        simulation=simulation,
        software=f"supm {__version__}",
    )


def check_statement(model: Model) -> None:
    """Raise PromiseError if a model's statement is not what its study's mechanisms spend.

    Parameters
    ----------
    model : Model
        As it was downloaded.

    Notes
    -----
    That the study was followed, and where randomness came from, no file can show.
    """
    right = make_statement(model.study, simulation=model.statement.simulation)
    told, due = model.statement, right
    same = (told.training, told.testing) == (due.training, due.testing)
    phases = [(each.phase, each.guarantee) for each in told.phases]
    if not same or phases != [(each.phase, each.guarantee) for each in due.phases]:
        raise PromiseError(
            "the statement is not what the study's mechanisms spend; do not rely on it."
        )


def _promise(study: Study, question: Question) -> Guarantee:
    """Return the promise of a phase; where nothing is promised, with the reason in words."""
    if question.form == "answer":
        return PureLDP(answer_randomizer(study, question).epsilon)
    if question.epsilon is not None:
        open_still = question.phase != "reduce" and study.attributes is None
        if open_still:
            return PureLDP(question.epsilon)
        return interview(study, question.phase).guarantee
    what = "numbers" if question.form == "raw" else "classes"
    return NoGuarantee(
        f"in the {question.phase} phase {what} leave the owner as they are; "
        "whoever receives them is trusted"
    )


def _method(study: Study, question: Question) -> str:
    words = [FORMS[question.form], *filter(None, [question.mechanism])]
    many = len(study.schema.attributes) if question.phase == "reduce" else study.keep
    if question.phase == "reduce":
        words.append(REDUCTIONS[study.reduction])
    if question.sampled is not None:
        words.append(f"{question.sampled} of {many} attributes, drawn")
    elif question.form != "answer":
        words.append(f"{many} attribute{'s' if many > 1 else ''}")
    if question.form not in ("pw", "raw", "answer"):
        merged = study.reduction == "regroup" and question.phase != "reduce"
        words.append(f"up to {2 if merged else study.classes} classes each")
    return ", ".join(words)
