"""The parser of verbs that are still to be converted; it goes with the last of them."""

from __future__ import annotations

import argparse
from importlib import import_module

from supm._errors import ParameterError
from supm.cli._arguments import Parser

__all__ = ["is_old", "run"]

# What the library calls its parameters, and what they are called here.
_OPTIONS = (
    {
        "attributes": "--known",
        "data": "DATA",
        "mechanism": "NAME",
        "reduction": "--reduce",
    }
    | {
        f"{what} of the {phase} phase": f"--{phase}"
        for what in ("form", "the question")
        for phase in ("reduce", "train", "test")
    }
    | {f"trust of the {phase} phase": "--trust" for phase in ("reduce", "train", "test")}
    | {
        name: f"--{name}"
        for name in (
            *(
                "by",
                "ca",
                "certificate",
                "classes",
                "colluders",
                "components",
                "contact",
                "delta",
                "dropouts",
                "epsilon",
                "folds",
                "keep",
                "key",
                "mode",
                "owners",
                "parties",
                "party-key",
                "penalty",
                "purpose",
                "reduce",
            ),
            *(
                "repeats",
                "sampled",
                "seed",
                "size",
                "target",
                "test",
                "told",
                "train",
                "trust",
                "weights",
            ),
        )
    }
)


def is_old(verb: str) -> bool:
    """Say whether a verb still reads its own arguments."""
    try:
        module = import_module(f"supm.cli.{verb}")
    except ImportError:
        return False
    return hasattr(module, "add_to")


def run(typed: list[str]) -> int:
    """Run a verb that is still to be converted."""
    parser = Parser(prog="supm", formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    import_module(f"supm.cli.{typed[0]}").add_to(verbs)
    try:
        arguments = parser.parse_args(typed)
        code: int = arguments.run(arguments)
    except SystemExit as asked:
        # argparse has printed the help, the version or what is wrong.
        return int(asked.code or 0)
    except ParameterError as error:
        name, verb, rest = str(error).partition(" must be ")
        error.args = (f"{_OPTIONS.get(name, name)}{verb}{rest}",)
        raise
    return code
