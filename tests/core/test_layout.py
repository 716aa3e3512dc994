"""Memory layout and samples at a time change the cost of a step, not its result."""

import pytest
import torch
from torch import Tensor, nn

import trimtab
from trimtab.core import layout
from trimtab.core.backbone import Backbone
from trimtab.core.prediction import Prediction, SeparatePredictions

CPU = torch.device("cpu")


class Convolutional(nn.Module):
    """Two convolutions with a norm layer each; flattens as it is told."""

    def __init__(self, norm: type[nn.Module] = nn.BatchNorm2d, *, by_view: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.by_view = by_view
        size = (2, 8) if norm is nn.GroupNorm else (8,)
        self.first, self.first_norm = nn.Conv2d(3, 8, 3), norm(*size)
        self.second, self.second_norm = nn.Conv2d(8, 8, 3, stride=2), norm(*size)
        self.head = nn.Linear(8 * 6 * 6, 5)

    def forward(self, images: Tensor) -> Tensor:
        hidden = self.first_norm(self.first(images)).relu()
        hidden = self.second_norm(self.second(hidden)).relu()
        flat = hidden.view(len(images), -1) if self.by_view else hidden.flatten(1)
        return self.head(flat)  # type: ignore[no-any-return]


class Patchwise(nn.Module):
    """Layer norms and linear layers over patches of 16 px."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.norms = nn.ModuleList([nn.LayerNorm(768), nn.LayerNorm(64)])
        self.hidden, self.head = nn.Linear(768, 64), nn.Linear(64, 5)

    def forward(self, images: Tensor) -> Tensor:
        patches = images.unfold(2, 16, 16).unfold(3, 16, 16).permute(0, 2, 3, 1, 4, 5)
        tokens = self.norms[0](patches.flatten(1, 2).flatten(2))
        return self.head(self.norms[1](self.hidden(tokens)).mean(1))  # type: ignore[no-any-return]


def images(samples: int, side: int) -> Tensor:
    return torch.rand(samples, 3, side, side, generator=torch.Generator().manual_seed(1))


def run(model: nn.Module, method: str, batches: Tensor) -> tuple[Tensor, trimtab.Adapter]:
    adapter = trimtab.adapt(model, method)
    return torch.cat([adapter(batch) for batch in batches.split(8)]), adapter


def test_batch_norm_networks_prefer_channels_last_and_group_norm_networks_do_not() -> None:
    assert layout.prefers_channels_last(Convolutional(), CPU)
    assert not layout.prefers_channels_last(Convolutional(nn.GroupNorm), CPU)
    assert not layout.prefers_channels_last(Patchwise(), CPU)


def test_a_single_channel_is_laid_out_too() -> None:
    shown = layout.channels_last(torch.rand(2, 1, 6, 6))
    assert shown.stride() == (36, 1, 6, 1)
    assert nn.Conv2d(1, 4, 3)(shown).is_contiguous(memory_format=torch.channels_last)


def test_inputs_keep_their_values_and_other_shapes_their_layout() -> None:
    shown = images(2, 6)
    assert torch.equal(layout.channels_last(shown), shown)
    assert layout.channels_last(shown).is_contiguous(memory_format=torch.channels_last)
    table = torch.rand(4, 3)
    assert layout.channels_last(table) is table


@pytest.mark.parametrize("method", ["tent", "roid", "eta", "bn1"])
def test_channels_last_gives_the_results_of_the_plain_path(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = images(40, 16)
    fast, _ = run(Convolutional(), method, batches)
    monkeypatch.setattr(layout, "prefers_channels_last", lambda model, device: False)
    plain, _ = run(Convolutional(), method, batches)
    assert torch.allclose(fast, plain, atol=1e-5, rtol=1e-5)


def test_a_network_that_needs_its_own_layout_gets_it() -> None:
    backbone = Backbone(Convolutional(by_view=True))
    adapter = trimtab.adapt(backbone, "roid")
    shown: list[bool] = []
    backbone.model.register_forward_pre_hook(lambda _, args: shown.append(args[0].is_contiguous()))
    assert torch.isfinite(adapter(images(8, 16))).all()
    assert shown[0] is False  # tried once, when the stream began
    assert all(shown[1:])


def test_a_sample_of_a_wrong_shape_decides_no_layout() -> None:
    fresh, tried = Backbone(Convolutional()), Backbone(Convolutional())
    tried.model.load_state_dict(fresh.model.state_dict())
    with pytest.raises(ValueError, match="takes no samples of shape"):
        trimtab.adapt(tried, "bn1")(torch.rand(2, 5, 16, 16))
    batch = images(8, 16)
    assert torch.equal(trimtab.adapt(tried, "bn1")(batch), trimtab.adapt(fresh, "bn1")(batch))


@pytest.mark.parametrize("method", ["tent", "roid", "sar", "eta", "cotta"])
def test_single_samples_give_the_results_of_the_plain_path(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = images(24, 80)
    fast, one_by_one = run(Patchwise(), method, batches)
    monkeypatch.setattr(layout, "suits_single_samples", lambda inputs: False)
    plain, at_once = run(Patchwise(), method, batches)
    assert torch.allclose(fast, plain, atol=1e-5, rtol=1e-5)
    for name, param in at_once.params.items():
        assert torch.allclose(one_by_one.params[name], param, atol=1e-5, rtol=1e-5)
    assert one_by_one.counters == at_once.counters


def test_no_gradient_passes_the_network_for_samples_that_are_left_out() -> None:
    passed: list[str] = []

    def sample(name: str) -> Prediction:
        logits = torch.ones(1, 3, requires_grad=True) * 2
        logits.register_hook(lambda _: passed.append(name))
        return Prediction(logits, None)

    parts = SeparatePredictions.of([sample("a"), sample("b"), sample("c")])
    chosen = parts.rows(torch.tensor([0, 2]))
    assert torch.equal(chosen.logits, parts.logits[[0, 2]])
    chosen.logits.sum().backward()
    assert sorted(passed) == ["a", "c"]


def test_small_images_and_many_threads_go_through_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert layout.suits_single_samples(images(2, 80))
    assert not layout.suits_single_samples(images(2, 32))
    monkeypatch.setattr(torch, "get_num_threads", lambda: 32)
    assert not layout.suits_single_samples(images(2, 80))


def test_transformers_prefer_single_samples_and_convolutional_networks_do_not() -> None:
    assert layout.prefers_single_samples(Patchwise())
    assert not layout.prefers_single_samples(Convolutional())
    assert not layout.prefers_single_samples(Convolutional(nn.GroupNorm))
