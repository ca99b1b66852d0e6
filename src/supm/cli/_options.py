"""The options that shape a study, which `supm plan` and `supm simulate` share."""

from __future__ import annotations

import argparse
import inspect

from supm.cli._arguments import trust, whole
from supm.cli._help import sections
from supm.cli._types import Wishes

__all__ = ["METHODS", "add_study_options"]

METHODS = sections(inspect.getdoc(Wishes) or "")["Notes"]
_REDUCTIONS = ("regroup", "rank", "rand", "waldp", "pw", "wa")
_FORMS = ("sample", "joint", "odp", "pw", "oda", "raw")
_MOST_TOLD = 1 << 20


def add_study_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that shape a study.

    Parameters
    ----------
    parser : ArgumentParser
        Where to add them.
    """
    parser.add_argument(
        "--trust",
        type=trust,
        metavar="u,u,u",
        help="where reduce, train and test happen: u untrusted, t trusted, d the owner's device "
        "(test only); u,u,u by default",
    )
    parser.add_argument(
        "--mode",
        choices=("strict", "faithful"),
        default="strict",
        help="our protocol (default), or that of the papers, corrected",
    )
    parser.add_argument(
        "--keep",
        type=whole(1, 1 << 20),
        metavar="K",
        help="how many attributes are kept; by a public rule otherwise",
    )
    parser.add_argument(
        "--classes", type=whole(2, 1 << 16), metavar="L", help="how many classes each has"
    )
    parser.add_argument(
        "--known",
        dest="attributes",
        action="append",
        metavar="NAME",
        help="use this attribute instead of searching; repeat it for more (in Python: "
        "plan(attributes=…))",
    )
    for name, option, what in (
        ("sampled", "sampled", "before training"),
        ("told", "attributes-per-report", "to train"),
    ):
        parser.add_argument(
            f"--{option}",
            dest=name,
            type=whole(1, _MOST_TOLD),
            metavar="S",
            help=f"how many attributes an owner tells {what}, drawn at random; by a public rule "
            "otherwise",
        )
    _add_methods(parser)


def _add_methods(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--reduce",
        choices=_REDUCTIONS,
        metavar="HOW",
        help=f"what is learned before training: {', '.join(_REDUCTIONS)} (see below)",
    )
    for phase, forms in (("train", _FORMS), ("test", ("answer", *_FORMS, "device"))):
        parser.add_argument(
            f"--{phase}",
            choices=forms,
            metavar="FORM",
            help=f"what leaves an owner to {phase}: {', '.join(forms)} (see below)",
        )
