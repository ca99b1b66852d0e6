"""
One joint report, or one report per attribute?
==============================================

The papers split a budget over the attributes of a record. A record of discretised attributes is one
symbol of a finite alphabet, so the same promise can be made for one report of the whole record.
"""

# %%
# Each owner holds four attributes of three classes. How likely is the true record to be told?

import matplotlib.pyplot as plt
import numpy as np

from supm.audit import exact_epsilon
from supm.mechanisms import GeneralizedRandomizedResponse, IndependentReports, JointReport

sizes = (3, 3, 3, 3)
budgets = np.linspace(0.5, 12, 40)
split = [IndependentReports.for_epsilon(sizes=sizes, epsilon=e) for e in budgets]
joint = [GeneralizedRandomizedResponse.for_epsilon(size=81, epsilon=e) for e in budgets]

# The colours of Okabe and Ito, which everybody can tell apart.
figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
whole = [float(each.hit) for each in joint]
panel.plot(budgets, whole, "-", color="#0072B2", label="one joint report")
told = [float(np.prod([float(part.hit) for part in each.responses])) for each in split]
panel.plot(budgets, told, "--", color="#D55E00", label="one report per attribute, budget split")
panel.axhline(1 / 81, color="grey", linestyle=":", label="a guess")
panel.set(xlabel="epsilon for the whole record", ylabel="probability of the true record")
panel.grid(alpha=0.3)
panel.legend(frameon=False, loc="upper left")
plt.show()

# %%
# Both promise the same, and the audit computes the same epsilon from their exact channels.

for report in (
    IndependentReports.for_epsilon(sizes=(2, 3), epsilon=2.0),
    JointReport.for_epsilon(sizes=(2, 3), epsilon=2.0),
):
    print(type(report).__name__, exact_epsilon(report.exact_channel()))
