"""What the README says in words."""

from __future__ import annotations

from typing import Final

__all__ = [
    "ATTACKS",
    "BARS",
    "CLAIMS",
    "ENCODINGS",
    "FIGURES",
    "HEAD",
    "LEVERS",
    "PARTIES",
    "PLAIN",
    "VIEWS",
]

HEAD: Final = """\
# Publishing by linear discriminant analysis

Paper 002 (Gu, Zhang and Zhang, "Multiparty data publishing via blockchain and differential
privacy", 2022) publishes a direction, every record's score along it, and every label. Here is what
that gives with the paper's noise ("faithful"), and what a release gives that is private ("strict",
`Discriminant`): direction, noisy moments, and scores counted by class. Written by
`make reproduce PAPER=lda_publishing`.

Numbers are misclassified test records in per cent, over splits into 80 % for training and 20 % for
testing; "±" is a standard deviation over splits where it follows an error, and a standard error
where it follows a difference. Delta is 0.001. Attributes are numbers between -1 and 1 about public
middles, unordered values by their place in the public list, and rows are divided by the square root
of the number of attributes; "faithful" divides each row by its own length. NLTCS has 15 numbers in
a row, Adult 14, and 13 for education, which is without `education` and `education-num`. What the
paper calls "bathing" is the item `toilet` of NLTCS. Post-secondary education is a degree of
`Assoc-voc` or above. The paper states neither its encoding nor its split nor its grid of epsilons.

- *faithful*: the paper's algorithm and its sigma, by equations 15 and 19. In place of the paper's
  SVM on published scores stands the threshold that makes the fewest errors on them. *Global* is the
  same with the means of all owners in place of line 11.
- *direction, their threshold*: the strict direction with the whole budget, and that same threshold,
  which is not private. It is what the bars compare with.
- *direction only*: the strict direction with the whole budget, and the threshold that its noisy
  moments give. All of it is private.
- *release*: direction, moments and histogram, with one budget for all; the threshold comes from the
  release. *Made-up pairs*: a threshold learned from as many pairs drawn from the histogram.
"""

BARS: Final = """\
## The bars

Points above LDA without privacy, on the same encoding and the same splits.
"""

CLAIMS: Final = """\
## Claims

The paper prints no number; this is what it says in words.
"""

PLAIN: Final = """\
## Without privacy
"""

FIGURES: Final = """\
## Figures 1 and 2: errors by budget

With the paper's sigma the direction is close to a random one on most of the grid: its noise on
class sums is about a hundred times what its promise needs
([proof](../../docs/proofs/discriminant.md)). The falling curves of its figure 1 are not reproduced
from its formulas with this encoding. On NLTCS errors even rise with epsilon: a scatter that is less
noisy divides along the line where the classes differ, and the noise of the means is left elsewhere.

PrivBayes is that of dpmm 0.1.9, in an environment of its own: three repetitions, the same splits,
numbers in 16 equal bins of their public bounds, the promise as that package counts it, and a fit of
500 steps. Its default has 5000, which take ten times as long: on NLTCS at 0.05 the four tasks have
errors of 24.5 % on average with them, and 24.6 % with 500. It makes a whole table up, with all
columns alike, and a linear machine learns one of them from it; LDA-DP asks about one target and
tells nothing of the others. No library of PrivHD or DP-SUBN³ was found, so their curves are not
drawn.
"""

PARTIES: Final = """\
## Figure 3: parties

Epsilon 0.2. Strict sums have M / (M - T) times the variance of one table's noise, for M parties of
which T may collude with the server; nobody has to trust a generator of noise. The paper's owners
have the noise of one table in the sum, which holds if nobody colludes and nobody looks at single
messages ([what they show](../../docs/proofs/zero-sum.md)).
"""

VIEWS: Final = """\
### What each of them may learn

The epsilon that noisy moments really promise at delta 0.001 and 15 numbers a record, for records
that keep their class, by who looks: the publisher, who has the sums; somebody who reads all
messages; the publisher together with all owners but one. The paper claims one number for all. Its
noise is so much too large that the claim holds for everyone; with the least noise that keeps the
claim for the publisher, it fails where owners collude. Scores and labels, which are published
besides, have no promise at all.
"""

ATTACKS: Final = """\
## Reading records from scores

The direction is public and so is the domain: all 2^15 patterns of NLTCS, and the distinct records
of all of Adult, as somebody has them who knows people but not who of them is in the table. Every
published score is looked up, at epsilon 0.05. A strict release has no score of a record; what is
looked up in its place are as many made-up scores.
"""

LEVERS: Final = """\
## What was tried

Points above LDA without privacy (of the same encoding), for the release with one choice changed.
Defaults were chosen by numbers like these, test errors of these data, and are used for all of them
alike; most differences in the table are within its noise. All of it is public or computed from what
is released. The edge is the largest eigenvalue that noise alone would give. Lines that begin with
"direction" are about the direction of the release with the threshold that is best in training.
"""

ENCODINGS: Final = """\
Errors themselves, for the encodings. Indicators of unordered values make rows of 89 and 88 numbers
in place of 14 and 13. They need more noise and tell more: the release is better with them at every
budget, although it is farther from its own LDA without privacy, and the bar for education at 0.05
would be missed with them. Indicators are what `SchemaEncoding` takes if nothing else is said;
positions are closer to the paper.
"""
