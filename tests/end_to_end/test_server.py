"""``trimtab serve`` as a process: the documentation's examples, load, SIGTERM, SIGKILL."""

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

import trimtab
from trimtab.cli.main import main
from trimtab.fleets.names import file_stem

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "server.md").read_text()


@dataclass
class Running:
    """A server's process, where it listens and where it keeps states."""

    process: "subprocess.Popen[str]"
    port: int
    store: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The embedded default, with a store."""
    store = tmp_path_factory.mktemp("streams")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ["serve", "--port", str(port), "--store", str(store), "--save-seconds", "1000"]
    command = [sys.executable, "-m", "trimtab", *words]
    with subprocess.Popen(command, text=True, stderr=subprocess.PIPE) as process:
        found = Running(process, port, store)
        while not _is_ready(found.url):
            assert process.poll() is None
            time.sleep(0.1)
        yield found
        process.kill()


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/v2/health/ready").is_success
    except httpx.TransportError:
        return False


def examples(language: str) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)
    return [text for text in found if "127.0.0.1:8080" in text]


def test_the_guides_curl_examples_work(server: Running) -> None:
    script = next(text for text in examples("sh") if "curl" in text)
    script = script.replace("127.0.0.1:8080", f"127.0.0.1:{server.port}")
    done = subprocess.run(
        ["bash", "-ec", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert '"name":"logits"' in done.stdout
    assert '"id":"cam-1"' in done.stdout


def test_the_guides_python_examples_work(server: Running) -> None:
    names: dict[str, Any] = {}
    for text in examples("py"):
        text = text.replace("127.0.0.1:8080", f"127.0.0.1:{server.port}")
        exec(compile(text, "server.md", "exec"), names)
        names.pop("client").close()
    with trimtab.Client(server.url) as client:
        known = {stream["id"] for stream in client.streams()}
    assert "cam-2" in known
    assert "cam-3" not in known


def test_a_load_test_finds_the_server_well(
    server: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, numbers = tmp_path / "page.html", tmp_path / "numbers.json"
    words = ["--streams", "6", "--requests", "60", "--life", "8", "--hostile", "0.3"]
    words += ["--page", str(page), "--json", str(numbers)]
    assert main(["load-test", server.url, *words]) == 0
    found = json.loads(numbers.read_text())
    assert found["statuses"] == {"200": found["samples"]}
    assert sum(found["hostile"].values()) + found["samples"] == 60
    assert "samples per second" in capsys.readouterr().out
    assert "<circle" in page.read_text()


def test_a_load_test_of_another_machine_has_to_be_allowed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["load-test", "http://192.0.2.7:8080"]) != 0
    assert "--allow-remote" in capsys.readouterr().err


def test_a_load_test_of_what_is_no_server_says_so_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["load-test", "http://127.0.0.1:9"]) == 2  # the port to discard what comes
    assert capsys.readouterr().err.startswith("trimtab: a server of Trimtab was expected at")


def test_sigterm_saves_every_stream(server: Running) -> None:
    """The last test of this server."""
    with trimtab.Client(server.url) as client:
        client.infer([[[[0.5] * 32] * 32] * 3], stream="last", number=41)
        assert client.stream("last")["durable_through"] is None
    server.process.send_signal(signal.SIGTERM)
    _, logs = server.process.communicate(timeout=60)
    manifest = trimtab.read_manifest(server.store / f"{file_stem('last')}.safetensors")
    assert manifest["learned_through"] == 41
    lines = [json.loads(line) for line in logs.splitlines() if line.startswith("{")]
    asked = [line for line in lines if line.get("path", "").endswith("/infer")]
    assert asked[-1]["stream"] == "last"
    assert asked[-1]["status"] == 200
    assert asked[-1]["request_id"]


def test_killed_at_random_moments_every_stream_is_what_it_says_it_learned() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "server_kills.py")]
    words = ["--kills", "4", "--streams", "3", "--life", "12"]
    done = subprocess.run(
        [*command, *words], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["kills"] == 4
    assert found["requests_learned"] > 0
    assert found["difference_to_the_replayed_rounds"] == 0
