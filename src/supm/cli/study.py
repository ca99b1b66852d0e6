"""The verb study: create, list, show and close studies in the aggregator's database."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from supm._errors import SupmError
from supm.cli._arguments import epsilon, whole
from supm.cli._files import check_target, write_json
from supm.cli._options import METHODS, add_study_options
from supm.cli._output import agreed, counted, paragraph, table
from supm.cli._service import (
    DATABASE,
    UsageError,
    add_database,
    check_database,
    check_kind_of_database,
    check_new,
    needs_server_packages,
    say_status,
    shown_database,
    write_private,
)
from supm.cli._study_limits import by_phase, limit_lines, moment_to_come, whole_number

if TYPE_CHECKING:
    from supm.messages import Study
    from supm.service.store import Opened, Store

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  supm study create --schema schema.json --owners 10000 --epsilon 2 --purpose "Who falls ill?"
  supm study create --schema schema.json --epsilon 4 --minimum 500 --deadline 2030-12-01 \\
      --token-file token.txt --invitations 100 --invitations-file codes.txt \\
      --by "St Mary's hospital" --contact study@hospital.example
  supm study list
  supm study show NAME
  supm study close NAME
"""
_ONCE = "Analyst token, shown this once and stored hashed"
_FOR_GOOD = (
    "A closed study stays closed: it takes no more reports, its model answers no more, and what "
    "waits to be counted is dropped."
)
_WIDEST = 40


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "study",
        help="create, list, show and close studies",
        description="Studies in the aggregator's database. `supm serve` offers those of the same\n"
        "--db to owners.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    acts = parser.add_subparsers(title="what to do", metavar="ACT", required=True)
    _add_create(acts)
    listed = _added(acts, "list", "list all studies", _list)
    listed.add_argument("--json", metavar="FILE", help="write them; - prints them")
    for name, what, run in (("show", "show one study", _show), ("close", "close for good", _close)):
        act = _added(acts, name, what, run)
        act.add_argument("name", metavar="NAME", help="the study's name")
        if name == "close":
            act.add_argument("--yes", action="store_true", help="close it without asking")
        act.add_argument("--json", metavar="FILE", help="write its state; - prints it")


def _added(
    acts: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    what: str,
    run: Any,  # noqa: ANN401  what argparse hands on
) -> argparse.ArgumentParser:
    parser = acts.add_parser(
        name,
        help=what,
        epilog=f"{_EXAMPLES}\n{METHODS}" if name == "create" else _EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_database(parser)
    parser.set_defaults(run=run)
    return parser


def _add_create(acts: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _added(acts, "create", "make a study and its token", _create)
    parser.add_argument("--schema", required=True, metavar="FILE", help="what is public")
    parser.add_argument(
        "--owners", type=whole(1, 1 << 40), metavar="N", help="how many owners to expect"
    )
    parser.add_argument(
        "--epsilon", required=True, type=epsilon, metavar="E", help="what an owner may spend"
    )
    add_study_options(parser)
    parser.add_argument("--purpose", default="", metavar="TEXT", help="what the study is for")
    for name, noun, what in (
        ("by", "NAME", "who runs it"),
        ("contact", "TEXT", "how owners reach who runs it"),
    ):
        parser.add_argument(f"--{name}", default="", metavar=noun, help=f"{what}; owners see it")
    when = "until when (UTC), such as 2030-12-01 or 2030-12-01T18:00+01:00"
    for name, what in (("minimum", "how many reports a step needs"), ("deadline", when)):
        parser.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="[PHASE=]" + ("N" if name == "minimum" else "TIME"),
            help=f"{what}: for reduce and train, or for the phase that is named; may be repeated",
        )
    parser.add_argument(
        "--invitations", type=whole(1, 1 << 20), metavar="N", help="make so many one-time codes"
    )
    for name, what in (("invitations", "the codes"), ("token", "the token, instead of printing")):
        parser.add_argument(
            f"--{name}-file",
            metavar="FILE",
            help=f"write {what}; a new file that only you may read",
        )
    parser.add_argument("--json", metavar="FILE", help="write name, page and token; - prints them")


@contextmanager
def _opened(arguments: argparse.Namespace, *, new: bool = False) -> Iterator[Store]:
    with needs_server_packages():
        from supm.service.errors import UnknownStudy  # noqa: PLC0415  loaded when the verb runs
        from supm.service.store import Store  # noqa: PLC0415  the same

    check_kind_of_database(arguments.db)
    if not new:
        check_database(arguments.db)
    store = Store.open(arguments.db)
    try:
        yield store
    except UnknownStudy:
        where = shown_database(arguments.db)
        message = f"no study has this name in {where}; supm study list shows those that there are."
        raise SupmError(message) from None
    finally:
        store.close()


def _create(arguments: argparse.Namespace) -> int:
    from supm._validation import check_text  # noqa: PLC0415  the same
    from supm.cli._study_options import (  # noqa: PLC0415  loaded when the verb runs
        notice_limits,
        planned,
        read_schema,
    )

    with needs_server_packages():
        from supm.service.store.values import LONGEST  # noqa: PLC0415  the same

    _check_files(arguments)
    for option, text in (("--by", arguments.by), ("--contact", arguments.contact)):
        check_text(option, text, LONGEST)
    schema = read_schema(arguments.schema)
    study = planned(
        schema, arguments.epsilon, arguments, owners=arguments.owners, purpose=arguments.purpose
    )
    notice_limits(study)
    _tell(_stored(study, arguments), arguments)
    return 0


def _check_files(arguments: argparse.Namespace) -> None:
    if (arguments.invitations is None) != (arguments.invitations_file is None):
        message = (
            "--invitations must be given with --invitations-file: how many codes, and where to."
        )
        raise UsageError(message)
    secret = {
        "--invitations-file": arguments.invitations_file,
        "--token-file": arguments.token_file,
    }
    check_target("--json", arguments.json)
    if arguments.token_file is None and arguments.json != "-":
        secret["--json"] = arguments.json
    named = [arguments.json, arguments.invitations_file, arguments.token_file]
    places = [Path(each).resolve() for each in named if each not in (None, "-")]
    for option, path in secret.items():
        check_target(option, path)
        if path is not None:
            check_new(option, path)
    if len(set(places)) < len(places):
        message = "--json, --invitations-file and --token-file must name different files."
        raise UsageError(message)


@contextmanager
def _secrets(arguments: argparse.Namespace, token: str, codes: list[str]) -> Iterator[None]:
    """Write what nobody could use the study without, and take it back where it is not made."""
    made: list[str] = []
    try:
        for option, path, lines in (
            ("--invitations-file", arguments.invitations_file, codes),
            ("--token-file", arguments.token_file, [token]),
        ):
            if path is not None:
                write_private(option, path, "".join(f"{line}\n" for line in lines))
                made.append(path)
        yield
    except BaseException:
        for path in made:
            Path(path).unlink(missing_ok=True)
        raise


def _stored(study: Study, arguments: argparse.Namespace) -> dict[str, Any]:
    with needs_server_packages():
        from supm.service.security import (  # noqa: PLC0415  loaded when the verb runs
            hash_invitation,
            hash_token,
            new_invitation,
            new_token,
        )
    minimums = by_phase("--minimum", arguments.minimum, whole_number)
    deadlines = by_phase("--deadline", arguments.deadline, moment_to_come)
    token, codes = new_token(), [new_invitation() for _ in range(arguments.invitations or 0)]
    with _opened(arguments, new=True) as store, _secrets(arguments, token, codes):
        opened = store.create(
            study,
            token_hash=hash_token(token),
            minimums={phase: int(count) for phase, count in minimums.items()},
            deadlines=deadlines,
            invitations=[hash_invitation(code) for code in codes],
            by=arguments.by,
            contact=arguments.contact,
        )
    return {
        "name": opened.name,
        "page": f"/studies/{opened.name}",
        "dashboard": f"/studies/{opened.name}/dashboard",
        "state": str(opened.state),
        "document": study.hash,
        "invitations": len(codes),
        "token": token,
    }


def _tell(made: dict[str, Any], arguments: argparse.Namespace) -> None:
    if arguments.token_file:
        del made["token"]
    if arguments.json == "-":
        write_json(made, "-")
        return
    print(f"Study {made['name']} is {made['state']}.")
    print(f"Page for owners: {made['page']} (dashboard: {made['dashboard']})")
    serve = "supm serve" if arguments.db == DATABASE else "supm serve with the same --db"
    print(f"Run {serve}, then open http://127.0.0.1:8000{made['page']}")
    if arguments.invitations_file:
        codes = counted(made["invitations"], "invitation")
        print(f"{codes} in {arguments.invitations_file}; give one to each owner.")
    if arguments.token_file:
        print(f"The analyst's token is in {arguments.token_file}; only its hash is stored.")
    elif arguments.json is None:
        print(f"{_ONCE}: {made['token']}")
    if arguments.json is not None:
        from json import dumps  # noqa: PLC0415  with the token, so not a file for everybody

        if "token" not in made:
            Path(arguments.json).unlink(missing_ok=True)
        write_private("--json", arguments.json, dumps(made, indent=2) + "\n")
        print(f"All of this is in {arguments.json}.")


def _list(arguments: argparse.Namespace) -> int:
    check_target("--json", arguments.json)
    with _opened(arguments) as store:
        found = [_status(store, each) for each in store.studies()]
    if arguments.json:
        write_json({"studies": found}, arguments.json)
    if arguments.json != "-":
        head = ["name", "state", "target", "purpose", "epsilon", "reports"]
        rows = [_row(each) for each in found]
        print(table(head, rows, left=4) if rows else "There are no studies in this database.")
    return 0


def _row(form: dict[str, Any]) -> list[str]:
    purpose = shorten(form["purpose"], _WIDEST, placeholder="…") or "-"
    reports = f"{sum(form['reports'].values()):,}"
    told = [form["name"], form["state"], form["target"], purpose]
    return [*told, f"{form['epsilon']:g}", reports]


def _show(arguments: argparse.Namespace) -> int:
    check_target("--json", arguments.json)
    with _opened(arguments) as store:
        opened = store.find(arguments.name)
        form = _status(store, opened)
    _report(form, opened, arguments)
    return 0


def _close(arguments: argparse.Namespace) -> int:
    check_target("--json", arguments.json)
    aloud = sys.stderr if arguments.json == "-" else sys.stdout
    with _opened(arguments) as store:
        from supm.service.actions import close  # noqa: PLC0415  loaded when the verb runs
        from supm.service.store.values import State  # noqa: PLC0415  the same

        if store.find(arguments.name).state is not State.CLOSED:
            print(paragraph(_FOR_GOOD), file=aloud)
            no = "Nothing was closed."
            if not agreed("Close the study?", aloud, yes=arguments.yes, otherwise=no):
                return 1
        opened = close(store, arguments.name)
        form = _status(store, opened)
    _report(form, opened, arguments)
    return 0


def _status(store: Store, opened: Opened) -> dict[str, Any]:
    from supm.service.status import status  # noqa: PLC0415  loaded when the verb runs

    return status(store, opened)


def _report(form: dict[str, Any], opened: Opened, arguments: argparse.Namespace) -> None:
    if arguments.json:
        write_json(form, arguments.json)
    if arguments.json != "-":
        say_status(form)
        for line in limit_lines(form, opened):
            print(paragraph(line))
