"""The options that shape a study, which `supm plan` and `supm simulate` share."""

from __future__ import annotations

import argparse

from supm.cli._arguments import trust, whole

__all__ = ["METHODS", "add_study_options"]

METHODS = """\
how attributes are chosen (--reduce):
  rank    by joint reports of one attribute and the target; the default of strict mode
  rand    at random, nobody is asked; the default of faithful mode
  waldp   by classes through randomized response
  pw      by numbers through the piecewise mechanism
  wa      by classes as they are; only where reduce is trusted, and the default there

what leaves an owner (--train, --test):
  joint   all classes as one symbol, randomised as a whole; the default of strict mode
  odp     each class through a randomized response of its own; the default of faithful mode
  pw      each number through the piecewise mechanism
  oda     each class as it is; only where the phase is trusted, and the default there
  raw     each number as it is; only where the phase is trusted, for comparison
  device  nothing: the model comes to the record (--test only, the same as --trust u,u,d)

A form that protects more than the trust asks for is allowed.
"""
_REDUCTIONS = ("rank", "rand", "waldp", "pw", "wa")
_FORMS = ("joint", "odp", "pw", "oda", "raw")


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
    _add_methods(parser)


def _add_methods(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--reduce",
        choices=_REDUCTIONS,
        metavar="HOW",
        help=f"how attributes are chosen: {', '.join(_REDUCTIONS)} (see below)",
    )
    for phase, forms in (("train", _FORMS), ("test", (*_FORMS, "device"))):
        parser.add_argument(
            f"--{phase}",
            choices=forms,
            metavar="FORM",
            help=f"what leaves an owner to {phase}: {', '.join(forms)} (see below)",
        )
