"""From a name to a network."""

import hashlib
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from trimtab import models
from trimtab.core.backbone import Backbone
from trimtab.models import loading
from trimtab.models.entry import ModelEntry, Preprocessing
from trimtab.models.local_weights import file_hash
from trimtab.models.normalization import Normalized
from trimtab.models.tiny import TINY
from trimtab.models.validation import VALIDATION


def tiny_classifier(num_classes: int = 4) -> nn.Module:
    """Stands for a user's own network."""
    return nn.Sequential(nn.Flatten(), nn.Linear(12, num_classes))


def not_a_network() -> str:
    return "no module"


HERE = f"{__name__}:tiny_classifier"


SHIPPED = {name: entry for name, entry in models.MODELS.items() if entry.shipped}


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_shipped_weights_have_the_stated_hash_and_load(name: str) -> None:
    entry = SHIPPED[name]
    assert file_hash(loading.weight_path(entry)) == entry.sha256
    backbone = models.load(name)
    assert isinstance(backbone, Backbone)
    assert backbone.num_classes == entry.num_classes
    assert backbone.has_batch_norm == (entry.norm_layers == "batch norm")
    sides = () if entry.task is None else (32, 32)
    assert backbone(torch.rand(2, 3, 32, 32)).logits.shape == (2, entry.num_classes, *sides)


def test_what_is_shipped_is_small() -> None:
    sizes = {name: loading.weight_path(entry).stat().st_size for name, entry in SHIPPED.items()}
    assert sum(size for name, size in sizes.items() if name.startswith("cifar10")) < 6e6
    assert sum(size for name, size in sizes.items() if name.startswith("fashion")) < 2e6
    assert all(sizes[name] <= 400_000 for name in VALIDATION)
    assert sum(size for name, size in sizes.items() if name.startswith("scenes")) < 1e6


def test_damaged_shipped_weights_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy.safetensors"
    content = bytearray(loading.weight_path(TINY["fashion_resnet20_bn"]).read_bytes())
    content[-1] ^= 1
    copy.write_bytes(content)
    monkeypatch.setattr(loading, "weight_path", lambda _entry: copy)
    with pytest.raises(ValueError, match=r"copy\.safetensors is damaged: its SHA-256 is"):
        models.load("fashion_resnet20_bn")


def test_loads_a_users_file(tmp_path: Path) -> None:
    source = models.MODELS["cifar_resnet20"].make(10)
    torch.save(
        {"state_dict": {f"module.{k}": v for k, v in source.state_dict().items()}}, tmp_path / "w"
    )
    model = models.build("cifar_resnet20", weights=tmp_path / "w")
    inputs = torch.rand(2, 3, 32, 32)
    torch.testing.assert_close(model(inputs), source.eval()(inputs), rtol=0, atol=0)


def test_translates_the_other_spelling_of_wide_resnets(tmp_path: Path) -> None:
    source = models.MODELS["wrn40_2"].make(10)
    state = source.state_dict()
    spelled = {
        name.replace("convShortcut", "conv_shortcut"): value for name, value in state.items()
    }
    assert spelled.keys() != state.keys()
    save_file(spelled, tmp_path / "w")
    model = models.build("wrn40_2", weights=tmp_path / "w")
    pairs = zip(model.parameters(), source.parameters(), strict=True)
    assert all(torch.equal(loaded, written) for loaded, written in pairs)


def test_a_file_of_other_shapes_names_itself_and_the_mismatch(tmp_path: Path) -> None:
    save_file(models.MODELS["cifar_resnet20"].make(100).state_dict(), tmp_path / "w")
    with pytest.raises(
        ValueError, match=r"'linear\.weight' should have the shape \(10, 64\), it has"
    ):
        models.load("cifar_resnet20", weights=tmp_path / "w")
    assert models.load("cifar_resnet20", weights=tmp_path / "w", num_classes=100).num_classes == 100


def test_normalisation_lives_inside() -> None:
    inputs = torch.rand(2, 3, 32, 32)
    model = models.build("fashion_resnet20_gn")
    bare = TINY["fashion_resnet20_gn"].make(10).eval()
    bare.load_state_dict(load_file(loading.weight_path(TINY["fashion_resnet20_gn"])))
    torch.testing.assert_close(model(inputs), bare((inputs - 0.2190) / 0.3318))


def test_the_robustbench_standard_network_is_not_normalised() -> None:
    assert not isinstance(models.build("cifar_resnet20", weights="random"), Normalized)
    assert models.MODELS["wrn28_10"].preprocessing == Preprocessing(32)


def test_another_normalisation_can_be_stated() -> None:
    mean, std = (0.1, 0.2, 0.3), (0.4, 0.5, 0.6)
    model = models.build("cifar_resnet20", weights="random", normalization=(mean, std))
    assert isinstance(model, Normalized)
    assert model.normalize.mean.flatten().tolist() == pytest.approx(mean)


def test_a_file_that_states_another_normalisation_is_refused(tmp_path: Path) -> None:
    state = models.MODELS["cifar_resnet20"].make(10).state_dict()
    halves = torch.full((1, 3, 1, 1), 0.5)
    save_file({**state, "mu": halves, "sigma": halves.clone()}, tmp_path / "w")
    with pytest.raises(ValueError, match=r"the weight file says its inputs have mean \(0\.5, 0\.5"):
        models.build("cifar_resnet20", weights=tmp_path / "w")
    half = (0.5, 0.5, 0.5)
    models.build("cifar_resnet20", weights=tmp_path / "w", normalization=(half, half))


def test_an_unknown_name_lists_the_known_ones_and_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"unknown model 'resnet51'.*did you mean 'resnet50'"):
        models.load("resnet51")


def test_a_network_without_shipped_weights_says_where_they_are_from() -> None:
    with pytest.raises(ValueError, match=r"no weights of wrn28_10 are shipped .*RobustBench"):
        models.load("wrn28_10")


def test_a_file_in_the_folder_of_weights_is_found_by_the_networks_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIMTAB_WEIGHTS", str(tmp_path))
    assert models.fingerprint("cifar_resnet20") is None
    state = models.MODELS["cifar_resnet20"].make(10).state_dict()
    torch.save({"state_dict": state}, tmp_path / "cifar_resnet20.pth")
    loaded = models.build("cifar_resnet20").state_dict()
    for name, tensor in state.items():
        assert any(key.endswith(name) and value.equal(tensor) for key, value in loaded.items())
    assert models.fingerprint("cifar_resnet20") == file_hash(tmp_path / "cifar_resnet20.pth")[:16]


def test_the_tables_own_hash_is_the_fingerprint_of_known_weights() -> None:
    assert models.fingerprint("fashion_vit") == models.describe("fashion_vit").fingerprint
    assert models.fingerprint("resnet50") == models.describe("resnet50").fingerprint


def test_weights_that_cannot_be_fetched_say_what_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))

    def unreachable(*_: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr(torch.hub, "download_url_to_file", unreachable)
    with pytest.raises(OSError, match=r"at .*resnet18-f37072fd\.pth and at https.* \(no network\)"):
        models.load("resnet18")
    assert list(tmp_path.rglob("*.pth")) == []


def test_fetched_weights_are_checked_by_their_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    served = tmp_path / "served.safetensors"
    save_file(tiny_classifier(10).state_dict(), served)
    digest = hashlib.sha256(served.read_bytes()).hexdigest()
    monkeypatch.setattr(
        torch.hub,
        "download_url_to_file",
        lambda _url, to, _hash: Path(to).write_bytes(served.read_bytes()),
    )
    good = _entry(digest[:8])
    monkeypatch.setitem(models.MODELS, "served", good)
    assert models.load("served").num_classes == 10
    monkeypatch.setitem(models.MODELS, "served", _entry("00000000"))
    with pytest.raises(ValueError, match="is damaged: its SHA-256 is"):
        models.load("served")


def _entry(sha256: str) -> ModelEntry:
    return ModelEntry(
        "served",
        tiny_classifier,
        "linear",
        "none",
        Preprocessing(2),
        dataset="none",
        num_classes=10,
        clean_accuracy=None,
        origin="here",
        sha256=sha256,
        url="https://example.org/served.safetensors",
    )


def test_takes_any_callable_of_the_users() -> None:
    assert models.build(HERE)(torch.rand(3, 3, 2, 2)).shape == (3, 4)
    backbone = models.load(HERE, num_classes=6)
    assert backbone(torch.rand(3, 3, 2, 2)).logits.shape == (3, 6)


def test_a_callable_can_have_weights_from_a_file(tmp_path: Path) -> None:
    source = tiny_classifier()
    save_file(source.state_dict(), tmp_path / "w")
    inputs = torch.rand(3, 3, 2, 2)
    torch.testing.assert_close(models.build(HERE, weights=tmp_path / "w")(inputs), source(inputs))


def test_a_callable_must_exist_and_return_a_module() -> None:
    with pytest.raises(ValueError, match="has no 'nothing'"):
        models.build(f"{__name__}:nothing")
    with pytest.raises(ValueError, match="must return a torch module, got a str"):
        models.build(f"{__name__}:not_a_network")


def test_a_mask_keeps_the_classes_of_an_imagenet_variant() -> None:
    backbone = models.load("mobilenet_v3_small@imagenet_r", weights="random")
    assert backbone.num_classes == 200
    assert backbone(torch.rand(1, 3, 64, 64)).logits.shape == (1, 200)


def test_a_masked_network_is_described_by_its_own_classes_and_the_same_weights() -> None:
    entry, base = models.describe("resnet50@imagenet_d109"), models.describe("resnet50")
    assert (entry.name, entry.num_classes) == ("resnet50@imagenet_d109", 109)
    assert (entry.norm_layers, entry.fingerprint) == (base.norm_layers, base.fingerprint)


def test_a_mask_must_be_known_and_fit() -> None:
    with pytest.raises(ValueError, match="no class mask is called 'imagenet_x'; known: imagenet_r"):
        models.build("resnet18@imagenet_x")
    with pytest.raises(ValueError, match="the mask needs ImageNet's 1000 classes, not 10"):
        models.build("fashion_resnet20_bn@imagenet_r")


def test_every_entry_states_what_the_network_eats() -> None:
    for entry in models.MODELS.values():
        assert entry.preprocessing.input_size, entry.name
        assert entry.norm_layers, entry.name
        assert entry.origin, entry.name
        assert entry.shipped <= (entry.sha256 is not None), entry.name
