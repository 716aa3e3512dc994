"""Where a server says it listens, and the page that lists its endpoints."""

import argparse
import re
import socket
from pathlib import Path

import httpx
import pytest

from trimtab.cli.main import main
from trimtab.server.listening import address, listen, port_number
from trimtab.server.sole import sole_server_of


def test_any_free_port_is_told_by_its_number() -> None:
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        assert port > 0
        assert address("127.0.0.1", listening) == f"http://127.0.0.1:{port}"
        assert address("::1", listening) == f"http://[::1]:{port}"
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            pass


@pytest.mark.parametrize("text", ["65536", "99999", "-1", "80x", ""])
def test_what_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="from 0 to 65535"):
        port_number(text)


def test_a_taken_port_is_an_error_and_nothing_is_announced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trimtab.server.logs.write_to_stderr", lambda level: None)
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--port", str(port)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert re.match(rf"trimtab: cannot listen at 127\.0\.0\.1:{port}: .*in use; choose", said.err)


def test_a_folder_of_states_is_served_by_one_server_at_a_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("trimtab.server.logs.write_to_stderr", lambda level: None)
    with sole_server_of(tmp_path):
        assert main(["serve", "--port", "0", "--store", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert f"another server keeps its streams in {tmp_path}; stop it first" in said.err
    with sole_server_of(tmp_path), sole_server_of(tmp_path / "another"), sole_server_of(None):
        pass


def test_the_page_of_endpoints_has_all_of_them_and_loads_nothing_from_elsewhere(url: str) -> None:
    answer = httpx.get(f"{url}/docs")
    assert answer.status_code == 200
    assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
    assert "//" not in answer.text
    assert "<script" not in answer.text
    for path, verbs in httpx.get(f"{url}/openapi.json").json()["paths"].items():
        for verb in verbs:
            assert f"<td>{verb.upper()} {path}</td>" in answer.text
    assert "parameters.sequence_id" in answer.text
