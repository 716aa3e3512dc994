"""The command line answers at once and says what is wrong without a traceback."""

import os
import subprocess
import sys

import pytest

from trimtab.cli.main import COMMANDS, main


def trimtab(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "trimtab", *words], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_imports_no_torch(command: str) -> None:
    code = (
        "import sys\nfrom trimtab.cli.main import main\n"
        f"try:\n    main({[*command.split(), '--help']!r})\n"
        "except SystemExit:\n    pass\n"
        "assert 'torch' not in sys.modules and 'numpy' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "usage: trimtab" in done.stdout


def test_help_takes_less_than_a_third_of_a_second_of_the_processor() -> None:
    def seconds() -> float:
        before = os.times()
        assert trimtab("--help").returncode == 0
        after = os.times()  # a clock on the wall would measure what else the machine does
        return sum(after[2:4]) - sum(before[2:4])

    assert min(seconds() for _ in range(5)) < 0.3


@pytest.mark.slow
def test_mistakes_go_to_stderr_without_a_traceback() -> None:
    done = trimtab("bench", "no-such-suite")
    assert done.returncode == 2
    assert done.stderr.startswith("trimtab: unknown suite 'no-such-suite'")
    assert "Traceback" not in done.stderr


def test_debug_shows_the_traceback() -> None:
    with pytest.raises(ValueError, match="unknown suite"):
        main(["--debug", "bench", "no-such-suite"])


def test_an_unknown_command_is_refused() -> None:
    assert trimtab("bnech").returncode == 2


@pytest.mark.parametrize(("words", "where"), [(["demo"], "trimtab demo"), ([], "trimtab")])
def test_an_unknown_option_leads_to_the_help_of_its_command(
    words: list[str], where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*words, "--bogus"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said == f"trimtab: unrecognized arguments: --bogus; see {where} --help\n"
