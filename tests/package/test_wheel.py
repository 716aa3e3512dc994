"""What is published: the files of the wheel, and that it starts where nothing else is."""

import os
import subprocess
import sys
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


def test_the_source_distribution_can_be_built_from(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        archive = tmp_path / build.build_sdist(str(tmp_path))
    with tarfile.open(archive) as files:
        inside = {name.split("/", 1)[1] for name in files.getnames()}
    needed = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "src/trimtab/version.py"}
    assert needed <= inside
    assert not [name for name in inside if name.startswith(("tests", ".venv", "docs"))]


@pytest.mark.slow
def test_it_starts_in_an_environment_with_nothing_else(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "empty", with_pip=False)
    folder = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin")
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def said(*command: str) -> str:
        done = subprocess.run(command, capture_output=True, text=True, env=clean, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    python = str(folder / "python")
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
    said(*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel))
    told = said(python, "-c", "import trimtab; print(trimtab.__version__, trimtab.__file__)")
    assert told.split()[0] == trimtab.__version__
    assert str(tmp_path) in told
    assert "predict" in said(str(folder / "trimtab"), "--help")
