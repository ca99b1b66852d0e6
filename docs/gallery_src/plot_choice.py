"""
Which randomizer?
=================

The error of an estimated share depends on the alphabet, the budget and the randomizer. None is
best everywhere. ``choose`` picks the one of least variance whose report is short enough.
"""

# %%
# The closed-form variance of a share of 1 / size, from one report, for each randomizer. Divide it
# by the number of owners and take the root to get a standard error.

import textwrap

import matplotlib.pyplot as plt
import numpy as np

from supm.mechanisms import choose

# The colours of Okabe and Ito, which everybody can tell apart.
looks = (
    ("#009E73", "-"),
    ("#E69F00", "--"),
    ("#0072B2", "-."),
    ("#D55E00", ":"),
    ("#000000", (0, (5, 1))),
    ("#CC79A7", (0, (1, 1))),
)
budgets = np.geomspace(0.25, 12, 25)
figure, panels = plt.subplots(1, 2, figsize=(10, 4.8), sharey=True, layout="constrained")
for panel, size in zip(panels, (8, 1024), strict=True):
    names = [candidate.name for candidate in choose(size=size, epsilon=1.0).candidates]
    for name, (colour, style) in zip(sorted(names), looks, strict=True):
        errors = [
            next(
                each.variance
                for each in choose(size=size, epsilon=e).candidates
                if each.name == name
            )
            for e in budgets
        ]
        deviations = np.sqrt(np.array(errors) / 10_000)
        panel.loglog(budgets, deviations, color=colour, linestyle=style, label=name)
    panel.set(title=f"{size} symbols", xlabel="epsilon")
    panel.set_xticks([0.25, 1, 4, 12], labels=["0.25", "1", "4", "12"])
    panel.minorticks_off()
    panel.grid(alpha=0.3)
panels[0].set_ylabel("standard error of a share, 10,000 owners")
lines, names = panels[0].get_legend_handles_labels()
figure.legend(lines, names, loc="outside lower center", ncols=3, frameon=False)
plt.show()

# %%
# The choice says why. Subset selection turns into randomized response by itself where the budget is
# large; where its report would be too long, local hashing takes over.

for size, epsilon in [(8, 4.0), (64, 1.0), (65_536, 1.0), (2**40, 1.0)]:
    print(textwrap.fill(choose(size=size, epsilon=epsilon).reason, 88), end="\n\n")
