'''The command line: one file per verb, a typed function that calls one library function.

A verb is written like this, as `verb` in a file that has its name::

    from supm.cli._output import Target, emit
    from supm.cli._types import Epsilon


    def verb(data: str, /, *, epsilon: Epsilon, json: Target = None) -> None:
        """Say what it does, in one line that the list of verbs repeats.

        More about it, in full sentences, if there is more.

Parameters
----------
        data : str
            What the help says of DATA.
        epsilon : float
            What the help says of --epsilon.
        json : str, optional
            Write the figures; - prints them.

Examples
--------
        ::

            supm measure public.csv --epsilon 2
        """
        from supm.somewhere import measured

        emit(measured(data, epsilon=epsilon), json)

- The docstring is the help, and the page of the verb in the documentation.
- A file of a verb imports at its top only what is cheap; the library is imported inside.
- `supm.cli._types` has the types that verbs share, `supm.cli._output` those of files. Each reads
  its text and says in a `ValueError` what it must be: "a whole number in [1, 5]".
- Parameters have the names that the library gives them, so that an error of the library names the
  option. Where an option is called otherwise, its annotation says so, as in
  ``attributes: Annotated[list[str] | None, Parameter(name="--known")]``; and where the library
  knows it under further names, they follow as plain text: ``"form of the train phase"``.
- A verb returns None or 0 if all went well, and 1 if it measured that something is broken.
- A verb with acts (`study create`) is an `App` with its name; each act is a command of it.

Nothing private is printed: not by a verb, not by an error, not by a bar of progress.
'''

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Final

import supm
from supm._errors import ParameterError, SupmError
from supm._lazy import package_error

__all__ = ["main"]

VERBS: Final = {
    "demo": "tell the whole story on public data: tables and a picture",
    "simulate": "measure on PUBLIC data what accuracy a budget would buy",
    "schema": "write a schema from PUBLIC data",
    "plan": "say what each owner would be asked, and what it would cost them",
    "compare": "measure on PUBLIC data how far randomizers are off",
    "audit": "measure whether the promised epsilon is kept",
    "statement": "print the guarantee of a model, a release or a study",
    "serve": "run the aggregator and its pages",
    "study": "create, list, show and close studies in the aggregator's database",
    "reduce": "choose what a running study goes on with",
    "train": "train a model on the reports of a running study",
    "predict": "ask a study's model, or a release, about records",
    "contribute": "take part in a study with your own record, which does not leave",
    "wallet": "see and limit what you have spent on studies",
    "federate": "learn from several tables that stay where they are",
    "publish": "enter a file into a log that anybody can check",
    "verify": "check that a file was published, unaltered, and with which guarantee",
    "log": "make, show, prove from and check a log of releases",
    "synthesize": "make rows without noise from an archive of noised records",
}
"""The verbs in the order of the help, each with the first line of its own help."""

_DESCRIPTION: Final = "Machine learning from people's data with nobody trusted to hold it."
_EXAMPLES: Final = """\
examples:
  supm demo                                             the whole story on public data
  supm simulate public.csv --target ill --epsilon 1,4   what accuracy would a budget buy?
  supm schema public.csv --target ill -o schema.json    describe the columns of public data
  supm plan --schema schema.json --owners 1000 --epsilon 2
                                                        what would each owner be asked?
  supm statement model.json                             what was promised to whom?
  supm compare public.csv --epsilon 1,4                 which randomizer errs least?
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
        code = _run(sys.argv[1:] if argv is None else list(argv))
        sys.stdout.flush()
    except ParameterError as error:
        return _complain(error, _WRONG_USAGE)
    except KeyboardInterrupt:
        return _complain("interrupted.", _INTERRUPTED)
    except BrokenPipeError:
        _forget_output()
        return _UNREAD
    except (SupmError, ModuleNotFoundError) as error:
        return _complain(_known(error), _FAILED)
    except OSError as error:
        _forget_output()
        where = error.filename or "the output"
        return _complain(f"{where} cannot be written: {error.strerror}.", _WRONG_USAGE)
    return code


def _run(typed: list[str]) -> int:
    if typed[:1] in (["--help"], ["-h"]):
        print(_overview())
        return 0
    if typed[:1] == ["--version"]:
        print(f"supm {supm.__version__}")
        return 0
    from supm.cli import _frame

    return _frame.run(typed, VERBS)


def _overview() -> str:
    """Return the help without loading a single verb."""
    verbs = "\n".join(f"  {name:11} {words}" for name, words in VERBS.items())
    options = "  -h, --help  show this, or the help of a verb\n  --version   show the version"
    return (
        f"usage: supm VERB …\n\n{_DESCRIPTION}\n\nverbs:\n{verbs}\n\noptions:\n{options}\n\n"
        f"{_EXAMPLES.rstrip()}"
    )


def _known(error: SupmError | ModuleNotFoundError) -> Exception:
    """Return what can be said in a sentence; a package that is absent by mistake cannot."""
    if isinstance(error, SupmError):
        return error
    told = package_error(error)
    if told is error:
        raise error
    return told


def _forget_output() -> None:
    """Drop what is still in the buffer, which would raise again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(what: object, code: int) -> int:
    from supm.reporting.text import printable

    print(f"supm: error: {printable(str(what))}", file=sys.stderr)
    return code
