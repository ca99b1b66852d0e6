"""The fixed sentences of the README."""

from __future__ import annotations

from typing import Final

__all__ = ["HEAD", "RULES"]

HEAD: Final = """\
# Papers 000 and 001: every printed number beside ours

This file is written by `make reproduce PAPER=supm`; do not edit it. `results.csv` has every setting
that was run, `figures/` the pictures. Notes at the end say why we differ where we do.
"""

RULES: Final = """\
## How it was run

What is run is the package's faithful mode: the protocol of the papers with the corrections of
`docs/errata.md`. Everybody draws one report for each question, and all folds use the same reports.

- **Split.** Ten equal folds after a shuffle, the remainder left out (560, 350 and 6590 records):
  the printed 98.04 %, 95.71 % and 98.98 % are 549/560, 335/350 and 6523/6590.
- **Score.** Accuracy against the true label. The majority class needs no data; where a method does
  not beat it, it has learned nothing that accuracy shows. `results.csv` has balanced accuracy too.
- **Bounds.** Smallest and largest value of each attribute, as in the papers. They are read from
  private data, so a deployment must not do that; the rows "public bounds" use the package's.
- **Budget.** What the horizontal axis says is what a test owner spends in total, a share for a
  label that nobody needs included, as in the papers. For a training owner it is the total under
  DR.Rand.
  DR.PW and DR.WALDP ask the same owners twice: "total" gives each question half of epsilon, "twice"
  gives each all of it, which is 2 epsilon in total. DR.WA and ODA promise nothing at all.
- **Best (K, L).** As in the papers, the best at each budget is picked by the accuracy on the test
  folds, in each repetition; "chosen by inner folds" picks it from the training reports and their
  noisy labels, which is all that an aggregator sees. To collect reports for several (K, L) would
  cost owners several budgets; here every candidate has the whole one, so that only the effect of
  picking is measured.
- **(ODP, ODA) and (ODA, ODA).** A test record whose classes are sent as they are gets the same
  answer as one that stays on its device, so the column `on_device` is that of (…, ODA).
- **Repetitions.** New folds, attributes and noise each time; folds and what DR.Rand draws are the
  same for all budgets and methods. ± is the standard deviation over repetitions. The papers do not
  say how often they ran; one seed is named for splitting, reduction and noise, which suggests once.
- **Versions.** Budgets on Musk were run just before the shares of a budget became exact fractions,
  all else with the package as it is. The distributions are the same; other numbers are drawn, so
  that a new run of Musk differs by its noise.
- **Holds.** Without noise: within 0.7 of the printed accuracy; with noise: within 2. A budget:
  within 3, where our mean, between the budgets that were run, passes the level or the other lines;
  single runs go up and down and touch a level before their mean does.
  An order: on average and at most budgets; "consistently" and "always": at every budget. A largest
  difference: at most 0.7 above the printed one.
"""
