"""
How many attributes should a report tell?
=========================================

In strict mode each owner draws a few attributes and tells them with the label, as one symbol. The
more are told, the more a report says, and the less often it is the truth.
"""

# %%
# A report over so many combinations is the truth with probability *gap*, and otherwise any of them.
# What it adds to an estimate about an attribute grows with the square of the gap, and it tells *s*
# attributes: *s* gap² is what the planner makes large.

import matplotlib.pyplot as plt
import numpy as np

from supm.collection import plan
from supm.mechanisms import GeneralizedRandomizedResponse
from supm.owner import interview
from supm.schema import Categorical, Continuous, Schema


def gap(size: int, epsilon: float) -> float:
    response = GeneralizedRandomizedResponse.for_epsilon(size=size, epsilon=epsilon)
    return float(response.hit - response.miss)


def together(told: int, epsilon: float) -> float:
    return told * gap(2 * 2**told, epsilon) ** 2


def apart(told: int, epsilon: float) -> float:
    share = epsilon / (told + 1)
    return told * (gap(2, share) * gap(2, share)) ** 2


# The colours of Okabe and Ito, which everybody can tell apart.
looks = (
    (1.0, "#009E73", "o-"),
    (2.0, "#E69F00", "s--"),
    (4.0, "#0072B2", "^-."),
    (8.0, "#D55E00", "D:"),
)
told = np.arange(1, 11)
figure, panels = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for epsilon, colour, style in looks:
    worth = [together(int(each), epsilon) for each in told]
    panels[0].plot(told, worth, style, color=colour, label=f"epsilon {epsilon:g}")
    best = int(np.argmax(worth))
    panels[0].plot(told[best], worth[best], "o", ms=13, mfc="none", color=colour)
panels[0].set(xlabel="attributes told (two classes each)", ylabel="what a report is worth, s gap²")
panels[0].set_yscale("log")
panels[0].legend(frameon=False, title="circles: the planner's choice")

budgets = np.linspace(0.5, 10, 39)
one = [max(together(s, float(e)) for s in range(1, 13)) for e in budgets]
split = [max(apart(s, float(e)) for s in range(1, 13)) for e in budgets]
panels[1].plot(budgets, np.array(one) / np.array(split), "-", color="#0072B2")
panels[1].set(xlabel="epsilon for the whole record", ylabel="people needed, as a multiple of ours")
panels[1].set_title("budget split over attributes and label", fontsize="medium")
panels[1].set_yscale("log")
panels[1].set_yticks([5, 10, 20, 40, 80], ["5", "10", "20", "40", "80"])
panels[1].minorticks_off()
for panel in panels:
    panel.grid(alpha=0.3)
plt.show()

# %%
# The planner takes the best number for a schema; nobody has to know it.

schema = Schema(
    attributes=tuple(Continuous(f"a{number}", low=0, high=1) for number in range(30)),
    target=Categorical("ill", values=("no", "yes")),
)
for epsilon, _, _ in looks:
    asked = interview(plan(schema, epsilon=epsilon, classes=2), "train")
    print(f"epsilon {epsilon:g}: {asked.sampled} attributes, the truth in {asked.gap():.0%}")
