"""What makes a study consistent, and answerable: no part contradicts another or is too large."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from supm._errors import ParameterError
from supm._validation import EPSILON
from supm.messages.question import REDUCE_FORMS
from supm.messages.rules import Scorecard
from supm.schema import Attribute, Categorical, Continuous
from supm.schema.discretizer import class_count

if TYPE_CHECKING:
    from supm.messages.question import Question
    from supm.messages.study import Study

_WIDEST: Final = 1e150
_CELLS: Final = 1 << 20
_CLASSES: Final = 1 << 24
# The aggregator counts how often two classes are told together: a table of 2^24 numbers at most.
_TOLD: Final = 1 << 12
# How often each label gets each answer is worked out for all of them.
_LABELS: Final = 256
# The aggregator adds up squares of symbols, exactly, in 64 bits.
_STEPS: Final = 1 << 15
# A little above the least epsilon of a mechanism, since shares are rounded down.
_LEAST: Final = Fraction(repr(EPSILON.low)) * (1 + Fraction(1, 1 << 40))


def check_rules(study: Study) -> None:
    """Raise ParameterError, which names the rule, where parts of a study contradict each other."""
    _check_groups(study)
    _check_phases(study)
    _check_trust(study)
    _check_spending(study)
    _check_target(study)
    _check_attributes(study)
    _check_merges(study)
    _check_sizes(study)
    _check_rule(study)
    _check_continuation(study)


def _check_continuation(study: Study) -> None:
    """Let a study continue itself only: who could name another could ask its owners again."""
    known = study.attributes if study.reduction == "known" else None
    if study.attributes == known and study.rule is None:
        if study.previous is not None:
            raise ParameterError("previous", "left out where nothing is continued", "a hash")
        return
    beginning = replace(study, attributes=known, merges=None, rule=None, previous=None)
    if study.previous != beginning.hash:
        rule = "the hash of this very study without what was learned"
        raise ParameterError("previous", rule, "another")


def _check_target(study: Study) -> None:
    """Let a number be predicted by the forms that can tell one without saying too much."""
    test = study.question("test")
    stepped = test is not None and test.form == "answer" and test.steps is not None
    if not study.numeric:
        if stepped:
            raise ParameterError("steps", "left out where the target has classes", "a number")
        return
    for question in study.questions:
        if question.form not in ("sample", "answer"):
            rule = "sample or answer where the target is a number"
            raise ParameterError(_phase(question.phase), rule, question.form)
    if test is not None and test.form == "answer" and test.steps is None:
        raise ParameterError("steps", "given where the answer is a number", None)
    if study.reduction not in ("known", "rank", "regroup"):
        rule = "known, rank or regroup where the target is a number"
        raise ParameterError("reduction", rule, study.reduction)
    target = study.schema.target
    # Squared errors have to stay numbers.
    if isinstance(target, Continuous) and target.high - target.low > _WIDEST:
        raise ParameterError("target", "a number between bounds at most 1e150 apart", "wider ones")


def _check_merges(study: Study) -> None:
    due = study.reduction == "regroup" and study.attributes is not None
    if (study.merges is not None) != due:
        rule = "given exactly where classes were merged"
        raise ParameterError("merges", rule, "absent" if due else "present")
    if study.merges is None:
        return
    if len(study.merges) != len(study.attributes or ()):
        rule = "one list for each chosen attribute"
        raise ParameterError("merges", rule, len(study.merges))
    for attribute, groups in zip(study.asked("train"), study.merges, strict=True):
        used = set(groups)
        if len(groups) != class_count(attribute, study.classes):
            rule = f"a group for each class of {attribute.name}"
            raise ParameterError("merges", rule, f"{len(groups)} of them")
        if len(used) < 2 or max(used) != len(used) - 1:
            rule = f"groups of {attribute.name} numbered from 0, at least two"
            raise ParameterError("merges", rule, "others")


def _check_rule(study: Study) -> None:
    """Hold a model against the attributes that it is about."""
    if study.rule is None:
        return
    test = study.question("test")
    if test is None or test.form != "answer":
        rule = "left out where owners are not asked for its answer"
        raise ParameterError("rule", rule, "a rule", "Ask the study as it is.")
    if study.numeric and not isinstance(study.rule, Scorecard):
        raise ParameterError("rule", "a scorecard where the target is a number", "a table")
    sizes = tuple(each.size for each in study.discretizers("test"))
    study.rule.check(sizes, study.outputs)


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
    _check_test(study)
    for question in study.questions:
        most = len(study.schema.attributes) if question.phase == "reduce" else study.keep
        _check_sampled(question, most)


def _check_test(study: Study) -> None:
    """Refuse a test of which the model of the train phase could make nothing."""
    train, test = study.question("train"), study.question("test")
    if train is None or test is None:
        return
    if train.form == "sample" and test.form in ("joint", "pw", "raw"):
        rule = "answer, sample, odp or oda where reports told a few attributes each"
        raise ParameterError(_phase("test"), rule, test.form)
    if test.form == "sample" and train.form != "sample":
        rule = f"another where the question of the train phase is {train.form}"
        raise ParameterError(_phase("test"), rule, test.form)
    if test.form == "answer" and train.form in ("pw", "raw"):
        rule = f"another where the question of the train phase is {train.form}"
        raise ParameterError(_phase("test"), rule, test.form)


def _check_sampled(question: Question, attributes: int) -> None:
    if question.phase != "reduce" and question.form != "sample":
        if question.sampled is not None:
            rule = "left out after the reduce phase where all attributes are told"
            raise ParameterError("sampled", rule, question.sampled)
    elif question.sampled is None or question.sampled > attributes:
        rule = f"a number of attributes, at most {attributes}, in the {question.phase} phase"
        raise ParameterError("sampled", rule, question.sampled)


def _phase(phase: str) -> str:
    return f"the question of the {phase} phase"


def _check_trust(study: Study) -> None:
    for question in study.questions:
        place = getattr(study.trust, question.phase)
        if place == "untrusted" and not question.private:
            rule = "odp, joint, sample, pw or answer where the environment is untrusted"
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


def _check_sizes(study: Study) -> None:
    """Raise ParameterError where nobody could answer a question, whatever is chosen later."""
    if len(study.schema.attributes) * study.classes > _CLASSES:
        raise ParameterError("classes", "at most 2^24 over all attributes", study.classes)
    for question in study.questions:
        _check_share(study, question)
        if question.form in ("pw", "raw"):
            _check_order(study, question)
        if question.form == "pw" and (question.steps or 0) > _STEPS:
            raise ParameterError("steps", "at most 2^15 where numbers are added up", question.steps)
        if question.form in ("joint", "sample"):
            _check_cells(study, question)


def _candidates(study: Study, question: Question) -> tuple[Attribute, ...]:
    """Return the attributes that are asked, or that may be once they are chosen."""
    chosen = study.attributes is not None and question.phase != "reduce"
    return study.asked(question.phase) if chosen else study.schema.attributes


def _check_share(study: Study, question: Question) -> None:
    if question.epsilon is None:
        return
    whole = question.form in ("joint", "sample", "answer")
    parts = 1 if whole else (question.sampled or study.keep) + question.labelled
    if Fraction(repr(question.epsilon)) < parts * _LEAST:
        rule = f"more than {EPSILON.low:g} for each of the {parts} parts of an answer"
        hint = "Ask for fewer attributes, or allow a larger epsilon."
        name = f"epsilon of the {question.phase} phase"
        raise ParameterError(name, rule, question.epsilon, hint)


def _check_order(study: Study, question: Question) -> None:
    for attribute in _candidates(study, question):
        if isinstance(attribute, Categorical) and len(attribute.values) > 2:
            rule = f"another, since {attribute.name} has no order and so is no number"
            name = f"form of the {question.phase} phase"
            raise ParameterError(name, rule, question.form)


def _check_cells(study: Study, question: Question) -> None:
    sizes = sorted(class_count(each, study.classes) for each in _candidates(study, question))
    if study.reduction == "regroup" and question.phase != "reduce":
        merges = study.merges or ((1,),) * study.keep  # each has two groups, once there are any
        sizes = sorted(max(each) + 1 for each in merges)
    labels = study.labels if question.labelled else 1
    cells = math.prod(sizes[-(question.sampled or study.keep) :]) * labels
    if question.form == "sample" and labels > _LABELS:
        hint = "Put rare ones together, or ask for a joint answer of a few attributes."
        raise ParameterError(
            "labels", f"at most {_LABELS} where attributes are drawn", labels, hint
        )
    if question.form == "sample" and sum(sizes) + labels > _TOLD:
        rule = "at most 2^12 with the labels, over all attributes of which some are drawn"
        hint = "Name fewer attributes, or ask for fewer classes."
        raise ParameterError("classes", rule, sum(sizes) + labels, hint)
    if cells > _CELLS:
        hint = "Keep fewer attributes or fewer classes."
        name = f"cells of a joint answer in the {question.phase} phase"
        raise ParameterError(name, "at most 2^20", cells, hint)
