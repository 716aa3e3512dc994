"""An experiment that is killed on the way goes on where it was."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from trimtab.cli.main import main

pytestmark = pytest.mark.slow


def arguments(store: Path) -> list[str]:
    words = ["reproduce", "priors", "--quick", "--images", "50", "--workers", "1"]
    return [*words, "--store", str(store)]


def kept(store: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (store / "studies").glob("*.json")}


def test_a_killed_experiment_goes_on_and_ends_like_an_uninterrupted_one(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert main(arguments(whole)) == 0

    command = [sys.executable, "-m", "trimtab", *arguments(broken)]
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
    while not kept(broken):
        time.sleep(0.02)
        assert process.poll() is None, "the experiment ended before it could be killed"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    survived = kept(broken)
    assert len(survived) < len(kept(whole))
    assert not (broken / "reproduce-priors.html").exists()

    times = {name: (broken / "studies" / name).stat().st_mtime_ns for name in survived}
    assert main(arguments(broken)) == 0
    assert kept(broken) == kept(whole)
    assert times == {name: (broken / "studies" / name).stat().st_mtime_ns for name in times}
    assert (broken / "reproduce-priors.html").exists()
