"""What the README says in words."""

from __future__ import annotations

from typing import Final

__all__ = ["ABLATION", "ACADEMIC", "BARS", "COMPARISON", "FAILURES", "HEAD", "PICTURES", "STAGES"]

HEAD: Final = """\
# What a budget buys

Accuracy against epsilon where every phase is locally private: ours ("strict"), that of papers 000
and 001 at the same guarantee ("faithful"), and three academic baselines. Written by
`make reproduce PAPER=budget`, which goes on where a stopped run was.

Accuracies are in per cent, means over repetitions of 10-fold cross-validation against true labels;
"±" is a standard deviation over repetitions where it follows an accuracy, and a standard error
where it follows a difference. A training owner and a test owner each spend epsilon at most, in
total. "Strict" is `plan(schema, epsilon=..., owners=rows)`: the planner's own choice, from public
numbers. Bounds of attributes are constants of the public files (`data.py`). Repetitions are in
`results.csv`: 20 of ours and of the papers', and at every bar (at least 10 elsewhere for Musk 2,
Adult, wide and nltcs, 5 for large), and 5 of the academic baselines.
"""

BARS: Final = """\
## The bars

Budgets for an accuracy are interpolated between measured ones.
"""

PICTURES: Final = """\
Bands are one standard deviation over repetitions. Stars are what the papers print, for choices of
attributes at random and by the piecewise mechanism.
"""

COMPARISON: Final = """\
## Strict against faithful, at the same guarantee

"Faithful" is the best of the papers' three reductions that promise the same (`pw`, `waldp` and the
random one, which asks nobody), seen on the test folds, so it is favoured. Data sets after wine are
not named in the issue: iris, NLTCS (money), and made-up people (`made_up.py`): body (600 people, 20
correlated attributes), wide (200 attributes, 2,000 people), rare (5 % have the second label), mixed
(numbers, ordered and unordered values, some missing, three labels), ring (non-linear), xor (no
attribute tells anything alone), table (three unordered attributes that tell the label only
together), large (100,000 people). **Bold**: more than one standard error below.

The commonest label is no public number. "Private majority" is what a constant answer is worth where
it has to be learned under the same guarantee: everybody sends the label, with the whole budget and
nothing else, and the one told most often is the answer. Where that is below the majority, no
protocol that knows nothing else can be sure to reach it.
"""

FAILURES: Final = """\
### Where strict is below

{count} settings. A standard error bounds chance only two times in three: of differences that are
really 0, one in six is below it. Those beyond chance are of these kinds.

- Few people and a small budget (wdbc, ionosphere, wine at 0.5, ionosphere at 1). Which label is the
  commonest is not known well enough. At 0.5 a randomised answer is right at most 62.2 times in a
  hundred (e^0.5 / (1 + e^0.5), docs/proofs/answer.md), which is less than the majority of wdbc and
  ionosphere: not even a perfect model could do better than to answer always alike, and those who
  send nothing but the label do not know which answer that is. Ionosphere at 1 is the price of
  asking for attributes, which wins 4 points on wdbc at the same budget: the planner does not know
  on which of the two it is.
- Labels that are nearly even where nothing is learned (ring, xor and table at small budgets): what
  is commonest in the training folds is then rarer in the test fold, for the private majority too.
- A model that is hardly better than a constant (musk2 at 4): it is right 85.4 times in a hundred on
  the device, and 0.982 of its answers are kept, which leaves 84.1; the normal picture of its scores
  takes it for a little better, and so does not fall back to the constant.
"""

ABLATION: Final = """\
## What each part contributes

Answers to randomised reports, on-device accuracy in brackets.

- full: the planner's own choice.
- split budget: no joint report. Attributes by a private ranking, then a randomised response for
  each attribute and the label, with a part of the budget each, in training and in test.
- other stages: one group of owners where the planner has two, and two where it has one.
- cells: no additive score. Attributes by a private ranking, one joint report of all of them, a
  support vector machine on the cells.
- at their word: randomised test answers are believed.
- not debiased: training reports are counted as if none were randomised.
"""

ACADEMIC: Final = """\
## Against the academic baselines, on the device

Locally private naive Bayes (Yilmaz, Al-Rubaie, Chang 2019), model reversal and averaging (Qin, Bai
2026) and the support vector machine by private gradients (Wang et al. 2019), each with the settings
that did best over the six data sets, which favours them. **Bold**: we are more than one standard
error below the best of the three, which is naive Bayes then: at small budgets with many labels or
few people. A guess, not tested: what we also estimate, how attributes go together, is mostly noise
there.
"""

STAGES: Final = """\
## One stage or two

On-device accuracy of two stages minus that of one, in points, on made-up people (500 to 50,000
owners, 5 to 100 attributes, epsilon 1 to 8; a third of the attributes say something), by the noise
that the planner judges by. Columns: kind of attributes, number of labels.

One repetition of each setting. The answer depends on how often each kind occurs, which is our
choice: over the four other kinds one stage was better at nearly every noise, and the skewed kind,
common in incomes and counts, was added after that was seen.

Two stages pay where attributes are skewed, since classes of equal width then hold nearly everybody
in one, and where one stage has two classes only and these cut in the wrong place (ring at small
budgets). They cost a few points where classes of equal width were right already, and many where two
neighbouring groups do not tell the middle from both ends (ring at larger budgets).
"""
