from __future__ import annotations

import csv
import datetime as dt
import ipaddress
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.service.conftest import GUARD

from supm.cli import main
from supm.datasets import load_wdbc
from supm.messages import Study
from supm.owner import Owner
from supm.service.status import serving_words

pytestmark = pytest.mark.usefixtures("wdbc")
Start = Callable[..., tuple[str, "subprocess.Popen[bytes]"]]


@pytest.fixture
def start(wdbc: Path) -> Iterator[Start]:
    """Return a function that runs `supm serve` in a process of its own."""
    processes: list[subprocess.Popen[bytes]] = []
    folder = wdbc.resolve().parent

    def begin(*options: str) -> tuple[str, subprocess.Popen[bytes]]:
        place = folder / f"address{len(processes)}.json"
        command = [sys.executable, "-m", "supm", "serve", "--port", "0", "--json", str(place)]
        with (folder / "log.txt").open("ab") as log:
            process = subprocess.Popen([*command, *options], cwd=folder, stderr=log)  # noqa: S603  the tests' own words
        processes.append(process)
        while not place.exists() or not place.read_text().endswith("}\n"):
            assert process.poll() is None, (folder / "log.txt").read_text()
            time.sleep(0.05)
        return json.loads(place.read_text())["url"], process

    yield begin
    for process in processes:
        process.kill()
        process.wait()


def created(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[str, str]:
    command = ["study", "create", "--schema", "wdbc.json", "--epsilon", "8", "--json", "-"]
    assert main([*command, *options]) == 0
    form = json.loads(capsys.readouterr().out)
    return form["name"], form["token"]


def contribute(url: str, name: str, people: int) -> None:
    data = load_wdbc()
    with httpx.Client(
        base_url=f"{url}/api/v1/studies/{name}", trust_env=False, timeout=GUARD
    ) as client:
        study = Study.from_json(client.get("/document").text)
        phase = httpx.get(f"{url}/api/v1/studies/{name}", trust_env=False, timeout=GUARD).json()[
            "open_phase"
        ]
        question = study.question(phase)
        assert question is not None
        reports = []
        for place in range(people):
            record = {each: column[place] for each, column in data.columns.items()}
            owner = Owner()
            if owner.group(study) == question.group:
                report = owner.answer(study, phase, record)
                reports.append({"id": report.id, "symbols": report.symbols})
        head = {"version": 1, "study": study.hash, "phase": phase, "group": question.group}
        sent = client.post("/reports/batch", json={**head, "reports": reports})
        assert sent.json()["accepted"] == len(reports)


def test_the_commands_run_a_study_from_end_to_end(
    start: Start, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, token = created(capsys, "--reduce", "rank", "--keep", "2", "--minimum", "5")
    url, process = start()
    address = f"{url}/studies/{name}"
    contribute(url, name, 60)
    monkeypatch.setenv("SUPM_TOKEN", token)
    assert main(["reduce", "--study", address, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "collecting to train"
    contribute(url, name, 60)
    Path("token.txt").write_text(f"{token}\n")
    monkeypatch.setenv("SUPM_TOKEN", "wrong")
    assert main(["train", "--study", address]) == 1
    assert "the token is not this study's" in capsys.readouterr().err
    with_file = ["train", "--study", address, "--token-file", "token.txt"]
    assert main([*with_file, "--balanced", "--no-serve"]) == 0
    assert "It is trained" in capsys.readouterr().out
    assert main(["predict", "wdbc.csv", "--study", address]) == 1
    assert main(with_file) == 1
    serve = {"authorization": f"Bearer {token}"}
    httpx.post(f"{url}/api/v1/studies/{name}/serve", headers=serve, trust_env=False, timeout=GUARD)
    capsys.readouterr()
    few()
    assert main(["predict", "few.csv", "--study", address, "--yes", "--json", "-"]) == 0
    answers = json.loads(capsys.readouterr().out)["answers"]
    assert len(answers) == 5
    assert {each["answer"] for each in answers} <= {"malignant", "benign"}
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0
    log = Path("log.txt").read_text()
    assert "POST /api/v1/studies/{name}/train 200" in log
    assert all(secret not in log for secret in (name, token, "127.0.0.1", "wrong"))


def few() -> None:
    with Path("wdbc.csv").open() as file:
        rows = list(csv.reader(file))[:6]
    place = rows[0].index("diagnosis")
    with Path("few.csv").open("w", newline="") as file:
        csv.writer(file).writerows([row[:place] + row[place + 1 :] for row in rows])


def test_on_the_device_the_model_comes_and_nothing_leaves(
    start: Start, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, token = created(capsys, "--trust", "u,u,d")
    url, _ = start()
    contribute(url, name, 100)
    monkeypatch.setenv("SUPM_TOKEN", token)
    assert main(["train", "--study", f"{url}/studies/{name}"]) == 0
    few()
    capsys.readouterr()
    assert main(["predict", "few.csv", "--study", f"{url}/studies/{name}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["row", "diagnosis", "probability"]
    assert len(lines) == 6
    assert "POST /api/v1/studies/{name}/predict" not in Path("log.txt").read_text()


def test_reports_outlive_a_server_that_is_killed(
    start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    name, _ = created(capsys)
    url, process = start()
    contribute(url, name, 20)
    process.send_signal(signal.SIGKILL)
    process.wait()
    url, _ = start()
    found = httpx.get(f"{url}/api/v1/studies/{name}", trust_env=False, timeout=GUARD).json()
    assert found["reports"] == {"train": 20}


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "It serves 0 studies of sqlite:///x.db; supm study create makes one."),
        (1, "It serves 1 study of sqlite:///x.db:\n  http://h:1/studies/s0 (closed)"),
        (12, "http://h:1/studies/s9 (closed)\n  and 2 more: supm study list"),
    ],
)
def test_it_says_what_it_serves_and_where(number: int, words: str) -> None:
    studies = [(f"s{place}", "closed") for place in range(number)]
    said = "\n".join(serving_words("http://h:1", studies, "sqlite:///x.db"))
    assert said.endswith(words)


def test_it_serves_with_tls(start: Start) -> None:
    certificate()
    url, _ = start("--certificate", "host.pem", "--key", "host.key")
    assert url.startswith("https://127.0.0.1:")
    context = ssl.create_default_context(cafile="host.pem")
    found = httpx.get(f"{url}/api/v1/health", verify=context, trust_env=False, timeout=GUARD)
    assert found.json() == {"status": "ok"}
    assert "max-age" in found.headers["strict-transport-security"]


def test_a_port_that_is_taken_is_said_in_one_sentence(start: Start) -> None:
    url, _ = start()
    port = url.rsplit(":", 1)[1]
    found = subprocess.run(  # noqa: S603  the tests' own words
        [sys.executable, "-m", "supm", "serve", "--port", port],
        capture_output=True,
        check=False,
        env=os.environ,
    )
    assert found.returncode == 1
    said = found.stderr.decode()
    assert f"port {port} of 127.0.0.1 is taken or not allowed" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--host", "192.0.2.9"], 1, "192.0.2.9 is no address of this machine; see --host."),
        (["--host", "no.such.invalid"], 1, "no.such.invalid is no address of this machine"),
        (["--port", "{taken}"], 1, "is taken or not allowed; choose another with --port."),
        (["--certificate", "no.pem", "--key", "wdbc.csv"], 2, "--certificate must be a file that"),
        (["--log", "no.db"], 2, "--log must be a file that is there, got 'no.db'."),
        (["--db", "people.csv"], 2, "--db must be sqlite:///FILE"),
    ],
)
def test_what_cannot_be_served_makes_no_database(
    options: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        given = [each.format(taken=port) for each in options]
        assert main(["serve", "--db", "sqlite:///new.db", *given]) == code
    said = capsys.readouterr().err.splitlines()[-1]
    assert words in said
    assert not Path("new.db").exists()


def certificate() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
    now = dt.datetime.now(dt.UTC)

    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(here, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    Path("host.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    Path("host.key").write_bytes(private)
