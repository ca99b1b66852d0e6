"""The program for stock SuperNodes: its folder, and both sides of it without a network."""

from __future__ import annotations

import csv
import json
import os
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from supm import simulation
from supm._errors import FederationError, ParameterError
from supm.datasets import load_wdbc
from supm.engines import run_study
from supm.engines.program import run_source, write_program
from supm.federation import Federated, FederatedStudy, plan_federation
from supm.schema import read_csv

if not os.environ.get("SUPM_REQUIRE_ALL"):
    pytest.importorskip("flwr", reason="pip install 'supm[federated]' to run the tests of Flower")

from flwr.app import Context, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import ServerApp
from flwr.supercore.task_identity import TaskIdentity

from supm.engines.flower.programs import party_program, server_program
from supm.engines.flower.taking_part import ASK, record_of

NAMES = ["party 0", "party 1"]
POLICY = {"version": 1, "epsilon": 1, "delta": 1e-5, "total": {"epsilon": 4, "delta": 1e-4}}
PARTY = {"version": 1, "study": "study.json", "policy": "policy.json", "simulation": True}
NOT_ANSWERED = r"^this party did not answer; see its own log\.$"


@pytest.fixture(autouse=True)
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FederatedStudy:
    """Put two halves of WDBC beside a study of them, with a file for each party."""
    monkeypatch.chdir(tmp_path)
    data = load_wdbc()
    for start, name in enumerate(NAMES):
        with Path(f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(data.columns)
            columns = [column[start::2] for column in data.columns.values()]
            writer.writerows(zip(*columns, strict=True))
        Path(name).mkdir()
        Path(name, "policy.json").write_text(json.dumps(POLICY))
        write_party(name)
    made = plan_federation(data.schema, "pca", epsilon=1, delta=1e-5, components=2, parties=2)
    Path("study.json").write_text(made.to_json() + "\n")
    # What Flower sets in the processes of its programs.
    for number in ("_run_id", "_node_id", "_task_id"):
        monkeypatch.setattr(TaskIdentity, number, 1)
    return made


def run_here(study: FederatedStudy, seed: int) -> Federated:
    tables = {name: study.read_rows(read_csv(f"{name}.csv")) for name in NAMES}
    return run_study(study, tables, simulation(seed))


def write_party(name: str, **more: Any) -> Path:
    form = PARTY | {"name": name, "data": f"../{name}.csv", "study": "../study.json"} | more
    path = Path(name, "party.json").absolute()
    path.write_text(json.dumps({key: each for key, each in form.items() if each is not None}))
    return path


def context(node: dict[str, Any], run: dict[str, Any]) -> Context:
    return Context(run_id=1, node_id=2, node_config=node, state=RecordDict(), run_config=run)


class GridHere:
    """Hand messages to programs of this process, as a SuperLink does to SuperNodes."""

    def __init__(self, nodes: dict[int, Context]) -> None:
        self._nodes, self._app = nodes, party_program()
        self._replies: dict[str, Message] = {}

    def get_node_ids(self) -> Iterable[int]:
        return list(self._nodes)

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        names = []
        for message in messages:
            names.append(f"message {len(self._replies)}")
            message.metadata.__dict__["_message_id"] = names[-1]
            reply = self._app(message, self._nodes[message.metadata.dst_node_id])
            self._replies[names[-1]] = reply
        return names

    def pull_messages(self, names: Iterable[str]) -> Iterable[Message]:
        return [self._replies[name] for name in names]


def run(config: dict[str, Any], names: Sequence[str] = NAMES) -> None:
    files = [str(Path(name, "party.json").absolute()) for name in names]
    nodes = {11 + n: context({"party-file": each}, config) for n, each in enumerate(files)}
    grid: Any = GridHere(nodes)
    server_program(Path("study.json"))(grid, context({}, config))


def settings(**more: Any) -> dict[str, Any]:
    return {"release": str(Path("there.json").absolute()), "seed": "", "nodes": ""} | more


def test_the_folder_names_both_components_and_holds_the_study(study: FederatedStudy) -> None:
    text = Path("study.json").read_text()
    write_program(Path("app"), study, release=Path('odd "name" ü.json'), seed=2**127)
    project = tomllib.loads(Path("app/pyproject.toml").read_text())
    told = project["tool"]["flwr"]["app"]
    assert told["components"] == {
        "serverapp": "supm_federation.server:app",
        "clientapp": "supm_federation.client:app",
    }
    assert told["config"]["release"] == str(Path('odd "name" ü.json').absolute())
    assert told["config"]["seed"] == str(2**127)
    assert project["project"]["dependencies"] == []
    assert Path("app/supm_federation/study.json").read_text() == text
    for side, kind in (("server", ServerApp), ("client", ClientApp)):
        assert isinstance(run_path(f"app/supm_federation/{side}.py")["app"], kind)
    with pytest.raises(ParameterError, match="folder must be a new folder"):
        write_program(Path("app"), study, release=Path("there.json"))


def test_without_a_seed_nothing_is_simulated(study: FederatedStudy) -> None:
    write_program(Path("app"), study, release=Path("there.json"))
    told = tomllib.loads(Path("app/pyproject.toml").read_text())["tool"]["flwr"]["app"]["config"]
    assert not run_source(told).simulation
    assert run_source({"seed": 7}).simulation
    for wrong in ("x", "-1", "1.5", str(2**128 + 1), "9" * 10_000, True):
        with pytest.raises(ParameterError, match="seed must be empty, or a whole number"):
            run_source({"seed": wrong})


@pytest.mark.parametrize("nodes", ["", "12 11"])
def test_both_sides_publish_what_one_process_publishes(nodes: str, study: FederatedStudy) -> None:
    here, other = (run_here(study, seed).release.to_json() for seed in (7, 8))
    run(settings(seed="7", nodes=nodes))
    assert Path("there.json").read_text() == here + "\n" != other + "\n"
    for name in NAMES:
        [spent] = json.loads(Path(name, "policy.spent.json").read_text())["spent"]
        assert 0.99 < spent["epsilon"] <= 1


def test_a_party_that_draws_in_private_gives_another_release() -> None:
    for name in NAMES:
        write_party(name, simulation=None)
    run(settings())
    form = json.loads(Path("there.json").read_text())
    assert form["statement"]["simulation"] is False
    # The same study once more is beyond what the policy allows for it.
    with pytest.raises(FederationError):
        run(settings())


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"release": "there.json"}, "release must be a whole path"),
        ({"release": "/no/such/folder/there.json"}, "release must be a file in a folder"),
        ({"nodes": "11"}, "nodes must be empty, or the different numbers of 2 SuperNodes"),
        ({"nodes": "11 11"}, "nodes must be empty"),
        ({"nodes": "11 x"}, "nodes must be empty"),
        ({"wait": 0.0}, "wait must be"),
        ({"seed": "x"}, "seed must be"),
    ],
)
def test_a_run_that_cannot_be_is_not_begun(more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        run(settings(**more))
    assert not Path("party 0/policy.spent.json").exists()


def test_too_few_and_too_many_supernodes_are_no_circle() -> None:
    with pytest.raises(FederationError, match="1 of 2 SuperNodes are there after 1 seconds"):
        run(settings(wait=1), NAMES[:1])
    with pytest.raises(FederationError, match="3 SuperNodes are there, and the study is for 2"):
        run(settings(), [*NAMES, *NAMES[:1]])


def refused(node: dict[str, Any], **more: Any) -> None:
    """Ask a party, which must raise a sentence without anything of its machine."""
    asked = Message(record_of(b"hello"), dst_node_id=2, message_type=ASK)
    with pytest.raises(FederationError, match=NOT_ANSWERED) as caught:
        party_program()(asked, context(node, settings(**more)))
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("path", [None, "party.json", 3, "/no/such/party.json"])
def test_without_a_party_file_there_is_no_answer(
    path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    refused({} if path is None else {"party-file": path})
    told = capsys.readouterr().out
    assert told.startswith("supm: party-file must be ")
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"version": 2}, "a party file of version 1 is such as"),
        ({"data": None}, "a party file of version 1 is such as"),
        ({"policy": 3}, "a party file of version 1 is such as"),
        ({"simulation": "yes"}, "a party file of version 1 is such as"),
        ({"secret": 1}, "secret"),
        ({"data": "absent.csv"}, "must be a file that can be read"),
        ({"study": "absent.json"}, "must be a file that can be read"),
        ({"policy": "party.json"}, "policy"),
    ],
)
def test_a_bad_party_file_is_one_sentence_in_the_log_of_its_own_machine(
    more: dict[str, Any], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_party("party 0", **more)
    capsys.readouterr()
    refused({"party-file": str(path)})
    told = capsys.readouterr().out
    assert sentence in told
    assert told.count("\n") == 1


def test_a_value_of_the_table_is_in_no_message_and_no_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = Path("party 0.csv").read_text().splitlines()
    lines[1] = "thirtyseven" + lines[1][lines[1].index(",") :]
    Path("party 0.csv").write_text("\n".join(lines))
    capsys.readouterr()
    refused({"party-file": str(Path("party 0/party.json").absolute())})
    assert "thirtyseven" not in capsys.readouterr().out


def test_who_takes_part_in_no_simulation_does_not_answer_in_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = write_party("party 0", simulation=None)
    refused({"party-file": str(path)}, seed="7")
    assert "this party takes part in none" in capsys.readouterr().out


def test_an_error_that_is_not_ours_is_known_by_its_kind_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        own = "the record of patient 17"
        raise RuntimeError(own)

    monkeypatch.setattr("supm.federation.FederatedStudy.read_rows", fail)
    capsys.readouterr()
    refused({"party-file": str(Path("party 0/party.json").absolute())})
    assert capsys.readouterr().out == "supm: RuntimeError\n"
