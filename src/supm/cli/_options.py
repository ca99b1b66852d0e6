"""The options that shape a study, which `supm plan` and `supm simulate` share."""

from __future__ import annotations

import argparse

from supm.cli._arguments import trust, whole

__all__ = ["METHODS", "add_study_options"]

METHODS = """\
what is learned before training (--reduce):
  regroup  which classes belong together, by sampled reports of a first group; the default of
           strict mode for two labels with --keep, or where the budget is small (below 3.47) and
           many owners are expected; otherwise nothing is asked
  rank     which attributes go with the target, by sampled reports of a first group; the default
           of strict mode with --keep for more labels or a number
  rand     attributes are drawn at random, nobody is asked; the default of faithful mode
  waldp    which attributes go with the target, by classes through randomized response
  pw       the same, by numbers through the piecewise mechanism
  wa       the same, by classes as they are; only where reduce is trusted, and the default there

what leaves an owner (--train, --test):
  sample   a few attributes, drawn at random, as one symbol that is randomised as a whole; the
           default of strict mode to train
  answer   what the model answers, randomised (--test only); the default of strict mode to test
  joint    all kept attributes as one symbol, randomised as a whole; the default of strict mode to
           train where budget and people carry the whole table
  odp      each class through a randomized response of its own; the default of faithful mode
  pw       each number through the piecewise mechanism
  oda      each class as it is; only where the phase is trusted, and the default there
  raw      each number as it is; only where the phase is trusted, for comparison
  device   nothing: the model comes to the record (--test only, the same as --trust u,u,d)

A form that protects more than the trust asks for is allowed.
"""
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
        action="append",
        metavar="NAME",
        help="use this attribute instead of searching; repeat it for more (in Python: "
        "plan(attributes=…))",
    )
    for name, what in (("sampled", "before training"), ("told", "to train")):
        parser.add_argument(
            f"--{name}",
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
