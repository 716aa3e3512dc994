"""Where a server says it listens, and the page that lists its endpoints."""

import argparse
import re
import socket

import httpx
import pytest

from trimtab.cli.main import main
from trimtab.server.listening import address, listen, port_number


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
