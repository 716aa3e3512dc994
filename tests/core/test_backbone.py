"""A second tree of modules over the same values."""

import threading
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

import trimtab
from reference import nets
from trimtab.core.backbone import Backbone, everywhere, in_norm_layers

IMAGES = torch.rand(4, 3, 16, 16, generator=torch.Generator().manual_seed(0))


def test_values_are_shared_and_modules_are_not() -> None:
    model = nets.net("bn")
    backbone = Backbone(model)
    for name, parameter in model.named_parameters():
        twin = backbone.model.get_parameter(name)
        assert twin is not parameter
        assert twin.data_ptr() == parameter.data_ptr()
        assert not twin.requires_grad
    assert backbone.model is not model
    assert model.training
    assert not backbone.model.training


def test_source_predictions_equal_the_models_own(norm: str) -> None:
    model = nets.net(norm)
    expected = model.eval()(IMAGES)
    assert torch.equal(Backbone(model)(IMAGES).logits, expected)


def test_tied_weights_stay_tied() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.Linear(4, 4))
    model[2].weight = model[0].weight
    backbone = Backbone(model)
    assert backbone.model[2].weight is backbone.model[0].weight  # type: ignore[index]


@pytest.mark.parametrize("tied", [True, False])
def test_a_tied_scale_that_is_given_once_holds_at_both_places(tied: bool) -> None:
    model = nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 4), nn.LayerNorm(4))
    if tied:
        model[2].weight = model[0].weight
    x, scale = torch.randn(5, 4), torch.full((4,), 3.0)
    found = Backbone(model)(x, {"0.weight": scale}).logits
    model[0].weight.data = scale
    assert torch.equal(found, model(x))


class Twice(nn.Module):
    """A network that knows one of its layers by two names, and uses it twice."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.norm = nn.BatchNorm2d(8)
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3), self.norm, nn.ReLU(), nn.Conv2d(8, 8, 3), self.norm
        )
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.head(self.body(x))
        return found


@pytest.mark.parametrize("method", ["tent", "bn_ema", "cotta(views=2)"])
def test_a_layer_with_two_names_has_the_source_s_values_again_after_each_pass(method: str) -> None:
    backbone = Backbone(Twice())
    adapter = trimtab.adapt(backbone, method)
    source = trimtab.adapt(backbone, "source")(IMAGES)
    for _ in range(3):
        adapter(IMAGES.repeat(8, 1, 1, 1) / 2)
    assert adapter.params or adapter.statistics
    assert torch.equal(trimtab.adapt(backbone, "source")(IMAGES), source)


def test_streams_of_a_network_with_a_layer_of_two_names_step_together_as_alone() -> None:
    fleet, alone = trimtab.fleet(Twice(), "tent"), trimtab.fleet(Twice(), "tent")
    for _ in range(3):
        batches = {"a": IMAGES.repeat(5, 1, 1, 1), "b": IMAGES.repeat(4, 1, 1, 1) + 1}
        found = fleet.step(batches)
        for name, batch in batches.items():
            expected: object = alone[name](batch)
            torch.testing.assert_close(found[name], expected, rtol=1e-5, atol=1e-5)


def tied_norms() -> nn.Module:
    """Two group norms with one scale."""
    torch.manual_seed(0)
    first, second = nn.GroupNorm(2, 8), nn.GroupNorm(2, 8)
    second.weight = first.weight
    return nn.Sequential(
        nn.Conv2d(3, 8, 3), first, nn.ReLU(), nn.Conv2d(8, 8, 3), second,
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5),
    )  # fmt: skip


@pytest.mark.parametrize("method", ["tent", "roid", "cotta(views=2)"])
def test_a_scale_that_two_layers_share_is_trained_as_one(method: str) -> None:
    adapter = trimtab.adapt(tied_norms(), method)
    for batch in (IMAGES, IMAGES * 0.9):
        adapter(batch)
    assert "1.weight" in adapter.params
    assert "4.weight" not in adapter.params
    assert adapter.counters.updates == 2


def test_an_export_has_a_shared_scale_in_both_layers() -> None:
    adapter = trimtab.adapt(tied_norms(), "tent")
    adapter(IMAGES)
    expected = adapter.backbone(IMAGES, adapter.params).logits
    torch.testing.assert_close(adapter.export()(IMAGES), expected)


class Averaging(nn.Module):
    """A network that counts its calls and follows its outputs, also while it only predicts."""

    calls: Tensor
    usual: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.body = Twice()
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("usual", torch.ones(5))

    def forward(self, x: Tensor) -> Tensor:
        self.calls = self.calls + 1
        logits: Tensor = self.body(x)
        self.usual.lerp_(logits.detach().mean(0), 0.1)
        return logits * self.usual


@pytest.mark.parametrize("method", ["tent", "roid", "cotta(views=2)", "source"])
def test_what_a_model_writes_into_its_buffers_changes_neither_it_nor_other_streams(
    method: str,
) -> None:
    model = Averaging()
    backbone = Backbone(model)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    expected = trimtab.adapt(backbone, "source")(IMAGES)
    adapter = trimtab.adapt(backbone, method)
    for _ in range(3):
        adapter.predict(IMAGES / 2)
        adapter(IMAGES / 2)
    assert torch.equal(trimtab.adapt(backbone, "source")(IMAGES), expected)
    for tree in (model, backbone.model):
        for name, value in tree.state_dict().items():
            assert torch.equal(value, before[name]), name


def test_weight_norm_and_parametrisations_survive() -> None:
    model = nn.Sequential(
        nn.utils.parametrizations.weight_norm(nn.Linear(4, 8)),
        nn.LayerNorm(8),
        nn.utils.parametrizations.spectral_norm(nn.Linear(8, 3)),
    )
    x = torch.randn(5, 4)
    adapter = trimtab.adapt(model, "tent")
    torch.testing.assert_close(adapter(x), model.eval()(x))
    assert adapter.counters.updates == 1


@pytest.mark.filterwarnings("ignore:.*weight_norm.*:FutureWarning")
def test_old_style_weight_norm_survives() -> None:
    model = nn.Sequential(nn.utils.weight_norm(nn.Linear(4, 8)), nn.LayerNorm(8), nn.Linear(8, 3))
    x = torch.randn(5, 4)
    model(x).sum().backward()  # its weight is no leaf now
    torch.testing.assert_close(trimtab.adapt(model, "tent")(x), model.eval()(x))


@pytest.mark.slow
def test_a_compiled_model_is_used_through_its_original() -> None:
    model = nets.net("gn")
    compiled = torch.compile(model, backend="eager")
    adapter = trimtab.adapt(compiled, "tent")  # type: ignore[arg-type]
    torch.testing.assert_close(adapter(IMAGES), model.eval()(IMAGES))
    assert adapter.counters.updates == 1


def test_features_are_the_input_of_the_last_linear_layer_to_run() -> None:
    model = nets.net("ln")
    backbone = Backbone(model)
    backbone.probe(IMAGES)
    prediction = backbone(IMAGES)
    assert prediction.features is not None
    torch.testing.assert_close(prediction.features, model.encoder(IMAGES))


def test_the_user_may_name_the_classifier() -> None:
    model = nn.Sequential(nn.Conv2d(3, 8, 16), nn.GroupNorm(2, 8), nn.Conv2d(8, 5, 1), nn.Flatten())
    backbone = Backbone(model, classifier="2")
    assert backbone.probe(IMAGES).features.shape == (1, 8)  # type: ignore[union-attr]


def test_an_unknown_classifier_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ValueError, match="'head'; the model has: encoder"):
        Backbone(nets.net("bn"), classifier="head")


def test_outputs_may_carry_their_logits() -> None:
    class Wrapped(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = nets.net("ln")

        def forward(self, x: Tensor) -> SimpleNamespace:
            return SimpleNamespace(logits=self.net(x))

    assert trimtab.adapt(Wrapped(), "roid")(IMAGES).shape == (4, 7)


def test_filters_choose_parameters_by_layer() -> None:
    backbone = Backbone(nets.net("bn"))
    assert list(backbone.parameters(in_norm_layers)) == [
        "encoder.1.weight",
        "encoder.1.bias",
        "encoder.4.weight",
        "encoder.4.bias",
    ]
    assert len(backbone.parameters(everywhere)) == 8


def test_the_number_of_classes_is_checked() -> None:
    with pytest.raises(ValueError, match="num_classes is 10, but the model has 7"):
        trimtab.adapt(nets.net("bn"), "roid", num_classes=10)(IMAGES)


def test_a_model_that_returns_no_logits_is_refused() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))
    with pytest.raises(ValueError, match=r"logits of shape \(batch, classes\)"):
        trimtab.adapt(model, "roid")(IMAGES)


def test_fingerprints_tell_models_apart() -> None:
    torch.manual_seed(0)
    first, second = Backbone(nets.net("bn")), Backbone(nets.net("bn"))
    assert first.fingerprint.layout == second.fingerprint.layout
    assert first.fingerprint.values != second.fingerprint.values
    assert Backbone(nets.net("gn")).fingerprint.layout != first.fingerprint.layout


def test_threads_may_share_a_backbone(recorded: dict[str, Tensor], images: Tensor) -> None:
    backbone = Backbone(nets.trained("bn", recorded))
    expected = [trimtab.adapt(backbone, "tent", seed=i)(images[:16]) for i in range(4)]
    adapters = [trimtab.adapt(backbone, "tent", seed=i) for i in range(4)]
    results: dict[int, Tensor] = {}

    def work(index: int) -> None:
        results[index] = adapters[index](images[:16])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(results[i], expected[i]) for i in range(4))


def test_a_backbone_of_a_backbone_is_refused_in_words_that_help() -> None:
    backbone = Backbone(nets.net("bn"))
    with pytest.raises(ValueError, match="is a Backbone already"):
        Backbone(backbone)  # type: ignore[arg-type]
