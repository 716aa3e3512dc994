"""Tables by name: what a package brings, entry points, and ``package.module:attribute``."""

import sys
from importlib.metadata import EntryPoint

import pytest
from torch import nn

import plugin
import trimtab
from trimtab import models, reproduce, streams
from trimtab.bench import suite
from trimtab.registry import Registry, imported
from trimtab.streams.data import DATASETS


@pytest.fixture
def registry() -> Registry[object]:
    return Registry("fruit", {"apple": dict, "plum": "plugin:NUMBER"})


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package is installed that brings a pear, an apple of its own and a rotten thing."""
    points = [
        EntryPoint(name, value, "trimtab.fruits")
        for name, value in {
            "pear": "plugin:method",
            "apple": "plugin:Idea",
            "bad": "no.such:x",
        }.items()
    ]
    asked = {"trimtab.fruits": points}
    monkeypatch.setattr("trimtab.registry.entry_points", lambda group: asked.get(group, []))


def test_entries_are_found_by_name_and_texts_are_imported(registry: Registry[object]) -> None:
    assert registry["apple"] is dict
    assert registry["plum"] == registry.find("plum") == plugin.NUMBER
    assert list(registry) == ["apple", "plum"]
    assert "pear" not in registry
    assert registry.get("pear") is None


def test_a_further_entry_is_one_more_line(registry: Registry[object]) -> None:
    registry["pear"] = plugin.method
    assert registry.find("pear") is plugin.method
    assert len(registry) == 3
    del registry["pear"]
    assert list(registry) == ["apple", "plum"]


@pytest.mark.usefixtures("installed")
def test_entry_points_are_entries_and_never_hide_our_own(registry: Registry[object]) -> None:
    assert list(registry) == ["apple", "plum", "pear", "bad"]
    assert len(registry) == 4
    assert registry["pear"] is plugin.method
    assert registry["apple"] is dict
    assert registry.make("pear", {"lr": 0.1}).optimizer.lr == 0.1


@pytest.mark.usefixtures("installed")
def test_a_broken_plugin_says_which_package_to_mend(registry: Registry[object]) -> None:
    with pytest.raises(
        ValueError, match=r"fruit 'bad' of .* \(no.such:x\) cannot be loaded: No mod"
    ):
        registry.find("bad")


def test_an_attribute_of_a_module_is_found(registry: Registry[object]) -> None:
    assert registry.find("plugin:NUMBER") == plugin.NUMBER
    assert registry.find("plugin:Idea.name") is plugin.Idea.name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("aple", "unknown fruit 'aple': .*package.module:attribute; did you mean 'apple'"),
        ("no.such.module:x", "there is no module 'no' on Python's path"),
        ("plugin:nothing", "plugin has no 'nothing'"),
        ("plugin:", "plugin has no ''"),
    ],
)
def test_what_cannot_be_found_is_named(registry: Registry[object], name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        registry.find(name)


def test_an_error_inside_a_module_is_not_hidden(tmp_path, monkeypatch) -> None:
    (tmp_path / "half_there.py").write_text("import surely_not_installed")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    with pytest.raises(ModuleNotFoundError, match="surely_not_installed"):
        imported("half_there:x")


def test_calls_are_checked_before_they_are_made(registry: Registry[object]) -> None:
    with pytest.raises(
        ValueError, match=r"unknown option of plugin:method 'rl'.*did you mean 'lr'"
    ):
        registry.make("plugin:method", {"rl": 1})
    with pytest.raises(ValueError, match="fruit 'plum' must be callable, got 3"):
        registry.make("plum", {})


def test_methods_components_and_scenarios_of_ones_own_go_by_words() -> None:
    method = trimtab.build("plugin:method(lr=0.25) + plugin:Idea(strength=2.0)")
    assert method.optimizer.lr == 0.25
    assert method.components[-1] == plugin.Idea(2.0)
    assert streams.scenario("plugin:Backwards(severity=3)") == plugin.Backwards(severity=3)
    assert len(DATASETS.make("plugin:images", {"count": 6})) == 6
    assert isinstance(models.build("plugin:model", num_classes=3), nn.Module)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("plugin:images", "must return a trimtab.Method, got"),
        ("tent + plugin:method", "must return a component, got"),
    ],
)
def test_a_plugin_of_the_wrong_kind_is_refused(words: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trimtab.build(words)


def test_suites_and_experiments_of_ones_own_are_found() -> None:
    chosen = suite.load("plugin:SUITE")
    assert [spec.method for spec in chosen.runs] == ["plugin:method(lr=0.25)"]
    with pytest.raises(ValueError, match="must be the path of a TOML file, got 3"):
        suite.load("plugin:NUMBER")
    with pytest.raises(ValueError, match="must be an Experiment, got 3"):
        reproduce.load("plugin:NUMBER")
    with pytest.raises(ValueError, match="must return a Scenario, got"):
        streams.scenario("plugin:method")
    with pytest.raises(ValueError, match="must be a callable that returns a network, got 3"):
        models.describe("plugin:NUMBER")
