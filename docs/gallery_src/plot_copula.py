"""
Rows from records that were noised long ago
===========================================

An archive holds records that were noised when they were collected. A copula that knows of the noise
gives back how the columns are distributed and how they depend on each other, as far as the noise
lets anybody know, and rows can be drawn from it.
"""

# %%
# Twenty thousand made-up owners told two numbers with Laplace noise, at epsilon 4 for each number.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeRegressor

import supm
from supm.datasets import load_diabetes
from supm.estimators import CopulaSynthesizer, NoiseAwareRegressor
from supm.mechanisms import ContinuousLaplace, GeneralizedRandomizedResponse
from supm.synthesis import Archive, ArchiveSchema, ClassColumn, NumberColumn

# The colours of Okabe and Ito, which everybody can tell apart.
truth_colour, noisy_colour, synthetic_colour = "#009E73", "#D55E00", "#0072B2"

words = supm.simulation(1).words(6 * 20_000).reshape(6, -1) / 2.0**64
bell, years = words[:4].sum(axis=0) - 2, (words[4] + words[5] ** 2) / 2
people = {"age": 18 + 70 * years, "pressure": 95 + 60 * years + 25 * bell * (0.4 + years)}
schema = ArchiveSchema(
    columns=(
        NumberColumn("age", ContinuousLaplace.for_epsilon(low=0, high=100, epsilon=4.0)),
        NumberColumn("pressure", ContinuousLaplace.for_epsilon(low=60, high=200, epsilon=4.0)),
    )
)
archive = Archive.noised(people, schema, supm.simulation(4))
made = CopulaSynthesizer(schema=schema, random_state=1).fit(archive.table()).sample(20_000)

figure, panels = plt.subplots(
    1, 3, figsize=(10, 3.8), layout="constrained", sharex=True, sharey=True
)
told = archive.reports
for panel, (title, rows, colour) in zip(
    panels,
    (
        ("what the owners held", people, truth_colour),
        ("what they told (archive)", told, noisy_colour),
        ("synthetic rows", made, synthetic_colour),
    ),
    strict=True,
):
    correlation = np.corrcoef(rows["age"], rows["pressure"])[0, 1]
    panel.plot(rows["age"][:4000], rows["pressure"][:4000], ".", color=colour, alpha=0.25, ms=3)
    panel.set_title(f"{title}\ncorrelation {correlation:.2f}", fontsize=10)
    panel.set(xlabel="age", xlim=(-60, 160), ylim=(0, 260))
    panel.grid(alpha=0.3)
panels[0].set_ylabel("blood pressure")
plt.show()

# %%
# A tree that predicts the progress of diabetes. Trained on the noisy records it learns the noise;
# trained on synthetic rows it does not, and at small budgets neither beats always predicting the
# mean. A model that takes the noise into account where it is fitted needs no rows in between, and
# shrinks to the mean. The budget on the axis is that of the whole record: what all of its eleven
# cells cost.

data = load_diabetes()
clean = dict(data.columns)
kinds = (*data.schema.attributes, data.schema.target)
names = [each.name for each in data.schema.attributes]
span = data.schema.target.high - data.schema.target.low
people_count = len(clean["progression"])
held_out = np.arange(people_count) % 3 == 0


def noised(kind: object, epsilon: float) -> NumberColumn | ClassColumn:
    if kind.name == "sex":
        return ClassColumn(
            "sex", kind.values, GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=epsilon)
        )
    law = ContinuousLaplace.for_epsilon(low=kind.low, high=kind.high, epsilon=epsilon)
    return NumberColumn(kind.name, law)


def inputs(rows: dict) -> np.ndarray:
    return np.column_stack([np.asarray(rows[name], dtype=float) for name in names])


test = {name: column[held_out] for name, column in clean.items()}
train = {name: column[~held_out] for name, column in clean.items()}


def error(found: np.ndarray) -> float:
    return float(np.mean((found - test["progression"]) ** 2)) / span**2


def tree(rows: dict, leaf: int) -> np.ndarray:
    model = DecisionTreeRegressor(min_samples_leaf=leaf, random_state=0)
    return model.fit(inputs(rows), rows["progression"]).predict(inputs(test))


looks = {
    "tree on noisy records": (noisy_colour, "o--"),
    "tree on synthetic rows": (synthetic_colour, "s-"),
    "noise-aware model": ("#CC79A7", "^-"),
}
budgets = np.array([0.5, 1, 2, 5, 10, 20])
errors = []
for budget in budgets:
    columns = tuple(noised(kind, budget) for kind in kinds)
    described = ArchiveSchema(columns=columns, target="progression")
    found = []
    for seed in range(3):
        archive = Archive.noised(train, described, supm.simulation(seed))
        rows = CopulaSynthesizer(schema=described, random_state=seed).fit(archive).sample(5000)
        aware = NoiseAwareRegressor(schema=described).fit(archive)
        answers = aware.predict({name: test[name] for name in names})
        found.append([error(tree(archive.table(), 5)), error(tree(rows, 100)), error(answers)])
    errors.append(np.mean(found, axis=0))

constant = error(np.full(held_out.sum(), train["progression"].mean()))
figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, (colour, style)), line in zip(looks.items(), np.transpose(errors), strict=True):
    panel.loglog(budgets * len(kinds), line, style, color=colour, label=name)
panel.axhline(constant, color="#666666", linestyle=":", label="always the mean")
clean_error = error(tree(train, 20))
panel.axhline(clean_error, color=truth_colour, linestyle="-.", label="tree on clean records")
panel.set(xlabel="epsilon of the whole record (11 cells)", ylabel="mean squared error")
ticks = budgets * len(kinds)
panel.set_xticks(ticks, [f"{each:g}" for each in ticks], minor=False)
panel.minorticks_off()
panel.grid(alpha=0.3)
panel.legend(frameon=False)
plt.show()
print(f"always the mean {constant:.4f}; clean records {clean_error:.4f}")
