"""Why a number differs from the printed one, where it does; by the key of the claim.

The figures are those of the full run. A reason that no figure supports is called a guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["REASONS"]

_IONOSPHERE_RAW: Final = (
    "Within the bar, but only just; the standard error of our mean is 0.04. With gamma as the text "
    "says 61 of 100 splits are within 0.7, and 7 reach the printed 335 of 350."
)
_MUSK_RAW: Final = (
    "Gamma by the largest variance, as the text says, misses by 1.5; scikit-learn's default is "
    "within 0.4 and the mean variance within 0.1. That the authors, who used scikit-learn, left "
    "its default is a guess, and a reading that is chosen because it fits. On WDBC and Ionosphere "
    "all three readings are within 0.7."
)
_LABEL_SHARE: Final = (
    "The printed figure lies between two readings. If a test owner spends a share on a label, as "
    "in the text, we have 88.5 on WDBC and 82.6 on Ionosphere at epsilon = 10; with all of it on "
    'the attributes 91.6 and 85.9 (table "Readings").'
)
_PW_WDBC: Final = (
    "What PW is applied to is not said. On all attributes and the label, the only reading that "
    "protects a record, each of the 31 values has a budget of 1.6 at epsilon = 50, and the best of "
    "20 runs has 75.5. With labels as they are the best of 20 runs has 84.1, near the printed "
    "figure. Section 3.1 has a reading of its own, which is not in this table yet: each owner "
    "draws K attributes and tells zero for the rest. A trial of it gave 83.9, so the leads over PW "
    "in this table are leads over its weakest reading."
)
_PW_IONOSPHERE: Final = (
    "The printed 65 lies between our readings, 62.5 and 71.4, and within a standard deviation of "
    "the first. It is hardly more than the majority class, 64.1. With K drawn attributes, section "
    "3.1's reading, a trial gave 65.5."
)
_PW_MUSK: Final = (
    "With 167 values each has a budget of 0.3 at epsilon = 50. The sign of a label is then right "
    "with probability 0.57, and a model of such labels is right for 57.5 %, far below the majority "
    "class, 84.6. With labels as they are it says nearly always the majority. Neither gives the "
    "printed 86.81; with K drawn attributes, section 3.1's reading, a trial gave 84.5."
)
_ONE_DRAW: Final = (
    "Which attributes are drawn decides: on WDBC at 50, where noise is small, runs of DR.Rand have "
    "a standard deviation of 2.0, and of DR.WA, which ranks without noise, of 0.2. On WDBC single "
    "draws reach 90 % at 20.6 to 40.0, 2 of 20 never, and 2 of 20 by the printed 22.4, where they "
    "range from 78.2 to 90.4; on Ionosphere they reach 85 % at 22.2 to 48.5, 1 of 20 by the "
    "printed 22.8 (`wdbc-draws.png`, `ionosphere-draws.png`). The printed figures are among our "
    "best draws. That they are one draw is a guess, from the one seed that the text names."
)
_GOOD_PW: Final = (
    "Our DR.PW finds better attributes than the printed one, even where it gets half of epsilon "
    'only ("total"): on WDBC it has 92.3 at 30 where DR.WA, which ranks without noise, has 93.5. '
    "All 20 runs on each data set pass the level before the printed budget. We rank by the "
    "correlation over the owners who drew an attribute; that the papers rank by something noisier, "
    "or give the reduction less, is a guess."
)
_RAND_AND_PW: Final = (
    "Two reasons together: our mean over 20 draws of attributes is below the printed "
    "DR.Rand, and our DR.PW is above the printed one (`figure-000-2.png`, `figure-000-5.png`)."
)
_MUSK_LEVELS: Final = (
    "85 % is 0.4 above the majority class, so one run decides: at 27 our three runs of DR.PW have "
    "84.6, 87.3 and 84.6. Where a mean passes 85 % the model is still hardly better than a "
    "constant: balanced accuracy at 27 is at most 54.1 for DR.PW and DR.Rand, at 12.6 it is 61.4 "
    "for DR.WA (50 is a constant). DR.WA has 85.8 at 10 already. Budgets between 10, 12.6, 15, "
    "20.4, 27 are interpolated."
)
_MUSK_ORDER: Final = (
    "With epsilon as the total both give the majority class in all 3 runs up to 15, are within 0.1 "
    "of each other up to 35, and DR.Rand is ahead by 0.7 from 42 on. With epsilon spent twice "
    "DR.PW is ahead by up to 1.7 below 30 (`figure-000-8.png`). Three runs cannot tell more."
)
_MUSK_PHASES: Final = (
    "Almost equal they are, within 0.2, since all of them say nearly always the majority class "
    "(84.6) below 15. That (ODP, ODA) is a little better we see from 15 on against (ODA, ODP), "
    "and clearly only at 50 against (ODP, ODP)."
)
_SIZES_WDBC: Final = (
    "On the mean of 20 draws (6,3) is 0.7 ahead at 21.4, the two are within 0.5 from 24 to 27.4, "
    "and from 28 on (7,4) is ahead (`figure-000-1.png`). In single draws it is so from 18 to 50 "
    "on, in 2 of 20 not at all; the printed budget lies in that range."
)
_SIZES_IONOSPHERE: Final = (
    "On the mean of 20 draws (6,5) takes over at 32, with a lead of 0.1 to 1.7 up to 36 "
    "(`figure-000-4.png`). In single draws it does so at 26 to 48, in 1 of 20 not at all, and the "
    "median is 34."
)
_ABOVE_47: Final = (
    "Paper 000 itself says elsewhere that DR.WA is consistently better. In ours 2 or 3 draws of 20 "
    "are better than DR.WA at each of these budgets, the best by 3.4 (94.3 at 47): a matter of the "
    "draw (`ionosphere-draws.png`)."
)
_TRAINING_NOISE: Final = (
    "As a loss it fits: noise in training costs at most 1.0, at epsilon = 10. As a difference it "
    "does not, since (ODA, ODA) is printed with (7,2) only, where our draws give 73 to 94, and "
    "from 12 on (ODP, ODA) with (8,4) is ahead of their mean, 83.5 (`figure-000-3.png`). With "
    "(7,4) for both the loss is 7.9 at 10 and 1.9 at 20."
)
_TESTING_NOISE: Final = (
    "Noise in testing costs far more than noise in training, 25 points against 1 at epsilon = 10, "
    "so of the two sentences that give 3.57 only that of 000 can come near (correction 14 in "
    "`docs/errata.md`)."
)
_TEST_DATA: Final = (
    "At epsilon = 10 and (7,4) a test record keeps each class with probability 0.54 only, so noise "
    "in testing must cost something. With (7,4) for both it costs 19.1 at 10, 2.6 at 30 and 0.4 at "
    "50: almost the same for large budgets only."
)
_CLEAN: Final = (
    "A tie at 50. (ODA, ODA) is printed with (5,2), which (ODP, ODP) may take too; "
    "where hardly any class is changed the two are the same model (`figure-000-6.png`)."
)
_ALIKE: Final = (
    "The printed sizes differ: (ODP, ODP) may also take (5,2), which is better by 1.5 to 2.1 "
    "from 36 on. With (2,2) and (3,2) for both the largest difference is 0.2."
)

REASONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("ionosphere raw largest", "ionosphere raw overall", "ionosphere raw mean"), _IONOSPHERE_RAW
    ),
    "musk2 raw largest": _MUSK_RAW,
    "wdbc pw all": _PW_WDBC,
    "wdbc pw attributes": _PW_WDBC,
    "ionosphere pw all": _PW_IONOSPHERE,
    "ionosphere pw attributes": _PW_IONOSPHERE,
    "musk2 pw all": _PW_MUSK,
    "musk2 pw attributes": _PW_MUSK,
    **{
        f"{data} {word} over pw": reason
        for data, reason in (
            ("wdbc", _PW_WDBC),
            ("ionosphere", _PW_IONOSPHERE),
            ("musk2", _PW_MUSK),
        )
        for word in ("WA", "Rand", "PW")
    },
    "wdbc sizes": _SIZES_WDBC,
    "ionosphere many": _SIZES_IONOSPHERE,
    "wdbc wa": _LABEL_SHARE,
    "ionosphere level wa": _LABEL_SHARE,
    "wdbc level rand": _ONE_DRAW,
    "ionosphere level rand": _ONE_DRAW,
    "wdbc level pw": _GOOD_PW,
    "wdbc level pw twice": _GOOD_PW,
    "ionosphere level pw": _GOOD_PW,
    "ionosphere level pw twice": _GOOD_PW,
    "wdbc rand over pw total": _RAND_AND_PW,
    "wdbc rand over pw twice": _RAND_AND_PW,
    "ionosphere rand over pw total": _RAND_AND_PW,
    "ionosphere rand over pw twice": _RAND_AND_PW,
    "ionosphere above 47": _ABOVE_47,
    "wdbc 3.57": _TRAINING_NOISE,
    "wdbc 3.57 in 001": _TESTING_NOISE,
    "wdbc test data": _TEST_DATA,
    "ionosphere clean (ODP, ODP)": _CLEAN,
    "ionosphere alike": _ALIKE,
    "musk2 level pw": _MUSK_LEVELS,
    "musk2 level pw twice": _MUSK_LEVELS,
    "musk2 level wa": _MUSK_LEVELS,
    "musk2 level rand": _MUSK_LEVELS,
    "musk2 rand over pw total": _MUSK_ORDER,
    "musk2 rand over pw twice": _MUSK_ORDER,
    "musk2 alike (ODP, ODP)": _MUSK_PHASES,
    "musk2 alike (ODA, ODP)": _MUSK_PHASES,
}
