"""What makes a study consistent: forms within their trust, questions within groups and budget."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from supm._errors import ParameterError
from supm.messages._size_rules import check_sizes
from supm.messages.question import REDUCE_FORMS
from supm.schema import Continuous

if TYPE_CHECKING:
    from supm.messages.question import Question
    from supm.messages.study import Study

__all__ = ["check_rules"]


def check_rules(study: Study) -> None:
    """Raise ParameterError, which names the rule, where parts of a study contradict each other."""
    if isinstance(study.schema.target, Continuous):
        raise ParameterError("target", "a list of classes", "a continuous attribute")
    _check_groups(study)
    _check_phases(study)
    _check_trust(study)
    _check_spending(study)
    _check_attributes(study)
    check_sizes(study)
    _check_continuation(study)


def _check_continuation(study: Study) -> None:
    """Let a study continue itself only: who could name another could ask its owners again."""
    if study.attributes is None or study.reduction == "known":
        if study.previous is not None:
            raise ParameterError("previous", "left out before attributes are chosen", "a hash")
    elif study.previous != replace(study, attributes=None, previous=None).hash:
        rule = "the hash of this very study without its chosen attributes"
        raise ParameterError("previous", rule, "another")


def _check_groups(study: Study) -> None:
    if not 1 <= len(study.groups) <= 256:
        raise ParameterError("groups", "1 to 256 weights", len(study.groups))
    for question in study.questions:
        if question.group >= len(study.groups):
            raise ParameterError("group", f"below {len(study.groups)}", question.group)
        if question.phase == "test" and question.group:
            raise ParameterError("group", "0 in the test phase, which has none", question.group)


def _check_phases(study: Study) -> None:
    phases = [question.phase for question in study.questions]
    if len(set(phases)) < len(phases):
        raise ParameterError("questions", "at most one for each phase", f"{len(phases)} questions")
    if "train" not in phases:
        raise ParameterError("questions", "at least one for the train phase", "none")
    reduce = study.question("reduce")
    form, wanted = reduce and reduce.form, REDUCE_FORMS.get(study.reduction)
    if form != wanted:
        rule = f"{wanted or 'absent'} where the reduction is {study.reduction}"
        raise ParameterError(_phase("reduce"), rule, form)
    for question in study.questions:
        _check_sampled(question, len(study.schema.attributes))


def _check_sampled(question: Question, attributes: int) -> None:
    if question.phase != "reduce":
        if question.sampled is not None:
            raise ParameterError("sampled", "left out after the reduce phase", question.sampled)
    elif question.sampled is None or question.sampled > attributes:
        rule = f"a number of attributes, at most {attributes}, in the reduce phase"
        raise ParameterError("sampled", rule, question.sampled)


def _phase(phase: str) -> str:
    return f"the question of the {phase} phase"


def _check_trust(study: Study) -> None:
    for question in study.questions:
        place = getattr(study.trust, question.phase)
        if place == "untrusted" and not question.private:
            rule = "odp, joint or pw where the environment is untrusted"
            raise ParameterError(_phase(question.phase), rule, question.form)
    if (study.question("test") is None) != (study.trust.test == "device"):
        rule = "absent exactly where records are tested on the owner's device"
        got = "absent" if study.question("test") is None else "present"
        raise ParameterError(_phase("test"), rule, got)


def _check_spending(study: Study) -> None:
    """Compare what each owner is asked to spend with the budget, exactly."""
    budget = Fraction(repr(study.epsilon))
    asked = [question for question in study.questions if question.epsilon is not None]
    spent: dict[str | int, Fraction] = {}
    for question in asked:
        owner = "test" if question.phase == "test" else question.group
        spent[owner] = spent.get(owner, Fraction(0)) + Fraction(repr(question.epsilon))
    for total in spent.values():
        if total > budget:
            rule = f"at most the study's epsilon, {study.epsilon:g}, in total for one owner"
            raise ParameterError("epsilon", rule, float(total))


def _check_attributes(study: Study) -> None:
    names = study.schema.names
    if study.keep > len(names):
        hint = "Keep fewer, or describe more attributes."
        raise ParameterError("keep", f"at most the {len(names)} attributes", study.keep, hint)
    if study.attributes is None:
        if study.reduction == "known":
            raise ParameterError("attributes", "named where they are known", None)
        return
    chosen = study.attributes
    if not set(chosen) <= set(names):
        raise ParameterError("attributes", "names of the schema", "another name")
    if len(set(chosen)) != len(chosen) or len(chosen) != study.keep:
        raise ParameterError("attributes", f"{study.keep} different names", len(chosen))
