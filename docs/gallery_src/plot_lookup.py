"""
What a published score gives away
=================================

Paper 002 publishes the score of every record along a private direction, and says that nobody can go
back from one number to fifteen. But records come from a list that anybody can write down: compute
the score of every possible record, and look the published one up. What SUPM publishes instead are
counts of scores in cells, with noise; there is nothing to look up.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np
from experiments.lda_publishing.lookup_attack import LookupAttack
from experiments.lda_publishing.paper_lda import PaperLDA, PaperTable

from supm import simulation
from supm.federation import Circle, Discriminant, VectorEncoding, run_pooled

# %%
# Two thousand made-up people with ten answers each; whoever says yes often is more often ill.
source = simulation(1)
domain = np.array(list(itertools.product((-1.0, 1.0), repeat=10))) / np.sqrt(10)
people = source.below(len(domain), 2000).astype(int)
ill = (domain[people].sum(axis=1) + source.below(1000, 2000) / 250 - 2 > 0).astype(int)

published = PaperLDA(epsilon=1.0, delta=1e-3).publish(
    [PaperTable(vectors=domain[people], labels=ill)], source
)
attack = LookupAttack(domain=domain, direction=published.direction)
read = attack.recover(published.scores)
print(f"records read from the paper's scores: {np.mean(read == people):.0%}")

# %%
# The strict release of the same table, at the same epsilon and delta.
encoding = VectorEncoding(width=10, classes=2)
protocol = Discriminant.for_budget(
    encoding=encoding, epsilon=1.0, delta=1e-3, circle=Circle(parties=1)
)
outcome = run_pooled(protocol, [encoding.rows(domain[people], ill)], ["all"], source)
labels, scores = outcome.sample(2000, source)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(people, read, ".", markersize=2, color="#D55E00")
left.set(xlabel="the record's place in the list", ylabel="the place that was looked up")
left.set_title("published scores: every record is found")
for label, (name, colour) in enumerate((("well", "#0072B2"), ("ill", "#E69F00"))):
    right.hist(scores[labels == label, 0], bins=40, alpha=0.6, label=name, color=colour)
right.set(xlabel="score", ylabel="made-up people", xticks=np.linspace(-1, 1, 5))
right.set_title("strict release: counts with noise")
right.legend(frameon=False)
plt.show()
