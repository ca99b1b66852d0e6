"""The command line: one file per verb, each calling the library.

What a verb needs is imported when it runs, so that ``supm --help`` answers at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import supm
from supm._errors import ParameterError, SupmError
from supm.cli import (
    audit,
    contribute,
    demo,
    federate,
    log,
    plan,
    predict,
    publish,
    reduce,
    schema,
    serve,
    simulate,
    statement,
    study,
    synthesize,
    train,
    verify,
    wallet,
)
from supm.cli._arguments import Parser
from supm.cli._output import printable

__all__ = ["main"]

_DESCRIPTION = "Machine learning from people's data with nobody trusted to hold it."
_EXAMPLES = """\
examples:
  supm demo                                             the whole story on public data
  supm simulate public.csv --target ill --epsilon 1,4   what accuracy would a budget buy?
  supm schema public.csv --target ill -o schema.json    describe the columns of public data
  supm plan --schema schema.json --owners 1000 --epsilon 2
                                                        what would each owner be asked?
  supm statement model.json                             what was promised to whom?
  supm audit --all                                      is every shipped promise true?
  supm study create --schema schema.json --epsilon 2    make a study, and get its token
  supm serve                                            run the aggregator and its pages
  supm reduce --study URL; supm train --study URL       take the analyst's steps
  supm predict new.csv --study URL                      ask the model, with randomised records
  supm contribute mine.csv --study URL                  take part with your own record
  supm wallet show                                      what have I spent?
  supm federate create --schema schema.json --protocol lda --epsilon 1 --delta 1e-5 --parties 3
                                                        let several tables learn together
  supm publish release.json --log releases.db           enter a release into a log
  supm verify release.json --key releases.pub           was it published, unaltered?
  supm synthesize noisy.csv --schema archive.json -o rows.csv --report quality.html
                                                        rows from records that were noised long ago
"""
_FAILED, _WRONG_USAGE, _INTERRUPTED, _UNREAD = 1, 2, 130, 141


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


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        0 if all went well; 1 if it failed: a promise is broken, or the content of a file is not
        what it should be; 2 if the arguments are wrong or a file cannot be read or written; 130 if
        it was interrupted, 141 if nobody reads the output any more.

    Examples
    --------
    >>> main(["--version"])
    supm 0.1.0.dev0
    0
    """
    try:
        code = _run(argv)
        sys.stdout.flush()
    except ParameterError as error:
        return _complain(_in_options(str(error)), _WRONG_USAGE)
    except KeyboardInterrupt:
        return _complain("interrupted.", _INTERRUPTED)
    except BrokenPipeError:
        _forget_output()
        return _UNREAD
    except SupmError as error:
        return _complain(error, _FAILED)
    except OSError as error:
        _forget_output()
        where = error.filename or "the output"
        return _complain(f"{where} cannot be written: {error.strerror}.", _WRONG_USAGE)
    return code


def _run(argv: Sequence[str] | None) -> int:
    try:
        arguments = _parser().parse_args(argv)
        code: int = arguments.run(arguments)
    except SystemExit as asked:
        # argparse has printed the help, the version or what is wrong.
        return int(asked.code or 0)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="supm",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"supm {supm.__version__}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    last = (publish, verify, log, synthesize)
    first = (demo, simulate, schema, plan, audit, statement)
    for verb in (*first, serve, study, reduce, train, predict, contribute, wallet, federate, *last):
        verb.add_to(verbs)
    return parser


def _in_options(sentence: str) -> str:
    """Name an option as it was typed and not as the library calls the parameter."""
    name, verb, rest = sentence.partition(" must be ")
    return f"{_OPTIONS.get(name, name)}{verb}{rest}"


def _forget_output() -> None:
    """Drop what is still in the buffer, which would raise again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(what: object, code: int) -> int:
    print(f"supm: error: {printable(str(what))}", file=sys.stderr)
    return code
