"""
A number under local privacy
============================

For a mean there are Laplace, Duchi, piecewise and their hybrid; for a whole distribution there is
the square wave. All of them report on a public grid.
"""

# %%
# The exact variance of one decoded report, at the worst value of the range [-1, 1].

import matplotlib.pyplot as plt
import numpy as np

import supm
from supm.mechanisms import Duchi, Hybrid, Laplace, Piecewise, SquareWave

# The colours of Okabe and Ito, which everybody can tell apart.
looks = {
    Laplace: ("#000000", ":"),
    Duchi: ("#E69F00", "-."),
    Piecewise: ("#0072B2", "--"),
    Hybrid: ("#D55E00", "-"),
}
budgets = np.geomspace(0.2, 8, 25)
figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
for kind, (colour, style) in looks.items():
    made = [kind.for_epsilon(low=-1.0, high=1.0, epsilon=e) for e in budgets]
    worst = [max(each.variance(value) for value in (-1.0, 0.0, 1.0)) for each in made]
    panel.loglog(budgets, worst, color=colour, linestyle=style, label=kind.__name__)
panel.set(xlabel="epsilon", ylabel="worst-case variance of one report")
panel.set_xticks([0.2, 0.5, 1, 2, 4, 8], labels=["0.2", "0.5", "1", "2", "4", "8"], minor=False)
panel.minorticks_off()
panel.grid(alpha=0.3)
panel.legend(frameon=False, loc="upper right")
plt.show()

# %%
# The square wave recovers a distribution. The owners' ages are simulated with a public seed.

ages = np.clip(np.concatenate((np.linspace(18, 45, 12_000), np.linspace(60, 75, 8_000))), 0, 100)
wave = SquareWave.for_epsilon(low=0.0, high=100.0, epsilon=2.0, steps=50)
found = wave.estimate(wave.tally(wave.randomize(ages, supm.simulation(3))))

figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
share, edges = np.histogram(ages, bins=np.linspace(-1, 101, 52))
panel.stairs(share / ages.size, edges, fill=True, color="#56B4E9", label="true (20,000 owners)")
panel.plot(found.points, found.shares, color="#D55E00", label="estimated at epsilon 2")
panel.set(xlabel="age", ylabel="share of the owners")
figure.legend(loc="outside upper center", ncols=2, frameon=False)
plt.show()
print(f"mean: true {ages.mean():.1f}, estimated {found.mean:.1f}")
