"""A stream of images with a prediction for each pixel: windows, micro-batches, memory, states."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import trimtab
from segmentation import nets
from trimtab.core.advice import TrimtabWarning
from trimtab.core.task import Segmentation, on_grid

METHODS = ("tent", "eta", "sar", "roid", "cotta")


def start(method: str, norm: str = "gn", **options: object) -> trimtab.Adapter:
    own = {"views": 3} if method == "cotta" else {}
    options = {"task": "segmentation", **own, **options}
    return trimtab.adapt(nets.net(norm).double(), method, **options)  # type: ignore[arg-type]


def followed(adapter: trimtab.Adapter, images: Tensor, sizes: list[int]) -> Tensor:
    return torch.cat([adapter(part) for part in images.split(sizes)])


def assert_same_weights(first: trimtab.Adapter, second: trimtab.Adapter) -> None:
    for name, value in first.params.items():
        torch.testing.assert_close(value, second.params[name], rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_micro_batches_learn_the_same(method: str) -> None:
    images = nets.images(24).double()
    whole, parts = start(method), start(method, micro_batch=5)
    for adapter in (whole, parts):
        adapter(images[:12])
        adapter(images[12:])
    assert whole.counters.updates > 0
    assert_same_weights(whole, parts)
    assert any(bool((p != whole.source[n]).any()) for n, p in whole.params.items())


@pytest.mark.parametrize("method", METHODS)
def test_a_window_learns_the_same_however_images_arrive(method: str) -> None:
    images = nets.images(24).double()
    first, second = start(method, window=12), start(method, window=12)
    followed(first, images, [12, 12])
    followed(second, images, [5, 4, 3, 7, 5])
    assert first.counters.updates == second.counters.updates > 0
    if method != "cotta":  # whose teacher draws views of each batch as it comes
        assert_same_weights(first, second)


@pytest.mark.parametrize("method", ["tent", "roid"])
def test_learning_sees_a_grid_and_predicts_every_pixel(method: str) -> None:
    images = nets.images(16).double()
    adapter = start(method, task=Segmentation(pixels=30), window=16)
    assert adapter(images[:7]).shape == (7, nets.CLASSES, 12, 10)
    kept = adapter.window.predictions[0].logits
    assert kept.shape[2] * kept.shape[3] <= 30
    assert kept.untyped_storage().nbytes() == kept.numel() * 8  # nothing of the rest is kept
    adapter(images[7:])
    assert adapter.counters.updates == 1


@pytest.mark.parametrize("pixels", [1, 2, 7, 30, 119, 120])
@pytest.mark.parametrize("sides", [(12, 10), (1, 120), (7, 9)])
def test_a_grid_keeps_its_bound_and_is_its_own_grid(pixels: int, sides: tuple[int, int]) -> None:
    logits = torch.arange(2 * 3 * sides[0] * sides[1]).view(2, 3, *sides)
    grid = on_grid(logits, pixels)
    assert 1 <= grid.shape[2] * grid.shape[3] <= max(pixels, 1)
    assert torch.equal(on_grid(grid, pixels), grid)
    assert grid.untyped_storage().data_ptr() == logits.untyped_storage().data_ptr()  # no copy


def test_a_model_may_return_a_mapping_as_torchvisions_do() -> None:
    images = nets.images(16)
    plain = trimtab.adapt(nets.net(), "roid", task="segmentation")
    mapped = trimtab.adapt(nets.Mapped(nets.net()), "roid", task="segmentation")
    assert torch.equal(plain(images), mapped(images))
    assert torch.equal(plain(images), mapped(images))


def test_images_may_change_their_size() -> None:
    adapter = trimtab.adapt(nets.net(), "roid", task="segmentation")
    adapter(nets.images(16))
    assert adapter(nets.images(16, 8, 20)).shape == (16, nets.CLASSES, 8, 20)


@pytest.mark.parametrize("options", [{}, {"window": 12}, {"guard": True}])
def test_a_saved_stream_goes_on(tmp_path: Path, options: dict[str, object]) -> None:
    images = nets.images(48)
    first = trimtab.adapt(nets.net(), "roid", task="segmentation", **options)  # type: ignore[arg-type]
    first(images[:20])
    first.save(tmp_path / "stream.safetensors")
    again = trimtab.adapt(nets.net(), "roid", task="segmentation", **options)  # type: ignore[arg-type]
    again.load(tmp_path / "stream.safetensors")
    for part in images[20:].split(14):
        assert torch.equal(first(part), again(part))


def test_a_state_of_another_grid_is_refused() -> None:
    state = trimtab.adapt(nets.net(), "tent", task="segmentation").state_dict()
    other = trimtab.adapt(nets.net(), "tent", task=Segmentation(pixels=9))
    with pytest.raises(ValueError, match="its task is Segmentation"):
        other.load_state_dict(state)


def test_views_of_pixels_stay_in_their_places() -> None:
    adapter = trimtab.adapt(nets.net(), "roid", task="segmentation")
    (consistency,) = [c for c in adapter.method.components if c.name == "augmentation_consistency"]
    ramp = torch.linspace(0.2, 0.5, 10).expand(4, 3, 12, 10)
    view = consistency.views(ramp, torch.Generator().manual_seed(0))  # type: ignore[attr-defined]
    assert not torch.equal(view, ramp)
    assert bool((view.diff(dim=-1) > 0).all())  # brighter from left to right, as before
    torch.testing.assert_close(view, view[:, :, :1].expand_as(view))  # and rows alike


def test_a_streams_fleet_gives_what_it_gives_alone() -> None:
    backbone = trimtab.Backbone(nets.net("gn"), task="segmentation")
    images = nets.images(32)
    fleet = trimtab.fleet(backbone, "tent", seed=1)
    fleet.open("one", seed=4)
    alone = trimtab.adapt(backbone, "tent", seed=4)
    for part in images.split(16):
        both = fleet.step({"one": part, "two": part.flip(0)})
        torch.testing.assert_close(both["one"], alone(part), rtol=1e-4, atol=1e-4)


def refused(model: nn.Module, message: str, **options: object) -> None:
    with pytest.raises(ValueError, match=message):
        trimtab.adapt(model, "tent", **options)(nets.images(4))  # type: ignore[arg-type]


def test_dense_logits_without_a_task_are_refused_with_the_word_to_say() -> None:
    refused(nets.net(), 'pass task="segmentation"')


def test_logits_of_samples_are_refused_for_segmentation() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(320, 5))
    refused(model, r"logits of shape \(batch, classes, height, width\), got", task="segmentation")


def test_one_logit_per_pixel_and_probabilities_are_refused() -> None:
    refused(nn.Sequential(nn.BatchNorm2d(3), nn.Conv2d(3, 1, 1)), "one logit", task="segmentation")
    certain = nn.Sequential(nets.net(), nn.Softmax(1))
    refused(certain, "returns probabilities", task="segmentation")


def test_an_unknown_task_is_refused() -> None:
    refused(nets.net(), "task must be 'classification', 'segmentation'", task="detection")


def test_augmentations_that_move_pixels_are_refused() -> None:
    from trimtab.augment.augmix import AugMix

    with pytest.raises(ValueError, match="moves pixels away from their labels"):
        trimtab.adapt(nets.net(), "roid", task="segmentation", augment=AugMix())


def test_a_task_of_a_backbone_is_its_own() -> None:
    backbone = trimtab.Backbone(nets.net(), task="segmentation")
    assert trimtab.adapt(backbone, "tent", task="segmentation").backbone is backbone
    with pytest.raises(ValueError, match="belong to the Backbone"):
        trimtab.adapt(backbone, "tent", task="classification")


def test_commands_that_name_a_class_per_image_refuse_segmentation_models() -> None:
    from trimtab.predict.preparation import network

    backbone = trimtab.Backbone(nets.net(), task="segmentation")
    with pytest.raises(ValueError, match="one class for each image, got one for segmentation"):
        network(backbone, None, None)


@pytest.mark.parametrize(("count", "follows"), [(1, True), (3, True), (4, False), (16, False)])
def test_batch_norms_take_statistics_of_four_images(count: int, follows: bool) -> None:
    adapter = trimtab.adapt(nets.net("bn"), "bn1", task="segmentation")
    if follows:
        with pytest.warns(TrimtabWarning, match=f"{count} of the 4 samples"):
            adapter(nets.images(count))
    else:
        adapter(nets.images(count))
    assert (adapter.state.followed_samples == count) is follows
