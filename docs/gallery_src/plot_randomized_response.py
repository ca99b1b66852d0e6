"""
Counting answers that nobody can hold against anyone
====================================================

Ten thousand people each hold one of five answers. Everyone randomises the own answer before it
leaves the device, so that no single report says much; together the reports still tell how common
each answer is, and how far that estimate can be trusted.
"""

import textwrap

import matplotlib.pyplot as plt
import numpy as np

from supm import simulation
from supm.mechanisms import GeneralizedRandomizedResponse

# %%
# The randomizer is one object that owner and aggregator share. Its epsilon is computed from the
# thresholds that the sampler uses, and its channel is exact: row *i* holds the probabilities of the
# five possible reports of a person whose answer is *i*.
randomizer = GeneralizedRandomizedResponse.for_epsilon(size=5, epsilon=1.0)
print(textwrap.fill(str(randomizer.guarantee), 88))
print(randomizer.channel().round(3))

# %%
# The owners. The source is a simulation with a public seed so that this page can be built again;
# a device would use ``supm.secure()``.
counts = np.array([4000, 3000, 1500, 1000, 500])
shares = counts / counts.sum()
answers = np.repeat(np.arange(5), counts)
reports = randomizer.randomize(answers, simulation(7))

# %%
# The aggregator sees reports only. It counts them and inverts the channel.
estimate = randomizer.estimate(randomizer.tally(reports))
low, high = estimate.interval(0.95)
for answer, true in enumerate(shares):
    print(f"answer {answer}: true {true:.2f}, between {low[answer]:.3f} and {high[answer]:.3f}")

# %%
# Reports alone are pulled towards the uniform distribution; the estimate undoes that, at the price
# of the error bars.
reported = np.bincount(reports.symbols, minlength=5) / len(reports)
positions = np.arange(5)
# The colours of Okabe and Ito, which everybody can tell apart.
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.bar(positions - 0.27, shares, 0.25, label="true", color="#56B4E9")
axes.bar(positions, reported, 0.25, label="reported", color="#E69F00")
axes.bar(
    positions + 0.27,
    estimate.values,
    0.25,
    yerr=high - estimate.values,
    capsize=3,
    label="estimated, 95 % interval",
    color="#009E73",
)
axes.set(xlabel="answer", ylabel="share of people", xticks=positions)
axes.legend(frameon=False)
plt.show()
