"""What is published: the files of the wheel, and that it starts where nothing else is."""

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from hatchling import build

import trimtab

ROOT = Path(__file__).parents[2]
MOST_MEGABYTES = 12.0

pytestmark = pytest.mark.xdist_group("package")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return folder / build.build_wheel(str(folder))


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as files:
        return set(files.namelist())


@pytest.fixture(scope="module")
def metadata(wheel: Path, names: set[str]) -> Message:
    [name] = [name for name in names if name.endswith(".dist-info/METADATA")]
    with zipfile.ZipFile(wheel) as files:
        return Parser().parsestr(files.read(name).decode())


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(names: set[str]) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    shipped = {name for name in names if ".dist-info/" not in name}
    assert shipped == {line.removeprefix("src/") for line in listed.stdout.splitlines()}
    assert "trimtab/py.typed" in shipped


def test_the_wheel_is_small(wheel: Path) -> None:
    assert wheel.stat().st_size < MOST_MEGABYTES * 2**20


def test_the_metadata_says_what_it_is(metadata: Message, names: set[str]) -> None:
    assert metadata["Version"] == trimtab.__version__
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Author"] == "Trimtab maintainers"
    assert metadata["Requires-Python"] == ">=3.10"
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_the_citation_is_of_this_version() -> None:
    assert f"version: {trimtab.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {trimtab.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_line_under_the_readmes_title_is_true(metadata: Message, names: set[str]) -> None:
    [line] = re.findall(r"^Python .*$", (ROOT / "README.md").read_text(), re.MULTILINE)
    oldest = str(metadata["Requires-Python"]).removeprefix(">=")
    [torch] = [need for need in metadata.get_all("Requires-Dist", []) if need.startswith("torch>=")]
    assert "trimtab/py.typed" in names
    licence, version = metadata["License-Expression"], metadata["Version"]
    assert line == (
        f"Python {oldest}+ · torch {torch.removeprefix('torch>=')}+ · typed · {licence} · "
        f"version {version}"
    )


def test_the_source_distribution_can_be_built_from(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        archive = tmp_path / build.build_sdist(str(tmp_path))
    with tarfile.open(archive) as files:
        inside = {name.split("/", 1)[1] for name in files.getnames()}
    needed = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "src/trimtab/version.py"}
    assert needed <= inside
    assert not [name for name in inside if name.startswith(("tests", ".venv", "docs"))]


class Environment:
    """A new environment that has the wheel, and what the wheel depends on, but not this checkout.

    Nothing is downloaded: the libraries are those of the environment that runs the tests, behind
    the wheel's own files on the path.
    """

    def __init__(self, folder: Path, wheel: Path) -> None:
        venv.create(folder / "empty", with_pip=False)
        self.folder = folder
        self.scripts = folder / "empty" / ("Scripts" if os.name == "nt" else "bin")
        python = str(self.scripts / "python")
        pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
        self.said(*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel))
        self.bare = self.said(python, "-c", "import trimtab; print(trimtab.__version__)").strip()
        [packages] = (folder / "empty").glob("lib/python*/site-packages")
        (packages / "libraries.pth").write_text(sysconfig.get_path("purelib"))

    def said(self, *command: str, typed: str = "") -> str:
        """What a command prints."""
        clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        done = subprocess.run(
            command, capture_output=True, text=True, env=clean, cwd=self.folder, input=typed
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(self, name: str, *words: str, typed: str = "") -> str:
        """What a script of the environment prints."""
        return self.said(str(self.scripts / name), *words, typed=typed)


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("environment"), wheel)


@pytest.mark.slow
def test_it_starts_in_an_environment_with_nothing_else(environment: Environment) -> None:
    assert environment.bare == trimtab.__version__
    told = environment.run("python", "-c", "import trimtab; print(trimtab.__file__)")
    assert str(environment.folder) in told
    assert "predict" in environment.run("trimtab", "--help")


TYPED = """
import code, sys, warnings
warnings.simplefilter("ignore")
console = code.InteractiveConsole()
console.showtraceback = console.showsyntaxerror = lambda *_, **__: sys.exit(sys.exc_info()[1])
for line in sys.stdin.read().splitlines():
    console.push(line)
print("\\nlines typed:", console.locals["adapter"].counters.samples)
"""
"""Reads lines as a terminal does, one by one, and ends with the first that fails."""


def typed_lines(page: str) -> list[str]:
    """The Python lines of a page, with the empty line behind each block that a terminal needs."""
    lines: list[str] = []
    for example in re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        for line in example.splitlines():
            if lines and lines[-1].startswith("    ") and not line.startswith((" ", ")")):
                lines.append("")
            lines.append(line)
        lines.append("")
    return lines


@pytest.mark.slow
def test_the_lines_of_the_readme_can_be_copied_one_by_one(environment: Environment) -> None:
    lines = typed_lines((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(lines) > 40
    told = environment.run("python", "-c", TYPED, typed="\n".join(lines))
    assert re.search(r"source \d+\.\d%, ROID \d+\.\d% right", told)
    assert "lines typed: 300" in told


@pytest.mark.slow
def test_a_run_and_its_page_can_be_made_there(environment: Environment) -> None:
    words = "--method roid --model fashion_resnet20_bn --data fashion_mnist --scenario mixed"
    environment.run("trimtab", "run", *words.split(), "--images-per-domain", "2", "--store", "mine")
    environment.run("trimtab", "report", "mine")
    assert "What the networks saw" in (environment.folder / "mine" / "report.html").read_text()
