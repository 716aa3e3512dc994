"""The training loop."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from trimtab.models.tiny import TINY
from trimtab.models.train.batches import TrainingBatch, TrainingSet
from trimtab.models.train.loop import train, training_loss
from trimtab.models.train.recipe import RECIPES, Recipe, learning_rate
from trimtab.models.validation import VALIDATION

RECIPE = Recipe(epochs=3, batch_size=8, peak_lr=0.05, max_shift=1)


def data() -> TrainingSet:
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (24, 8, 8, 3), dtype=torch.uint8, generator=generator)
    return TrainingSet(images, torch.arange(24, dtype=torch.uint8) % 3)


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3)
    )


def trained(path: Path) -> dict[str, Tensor]:
    model = network()
    train(model, data(), RECIPE, path)
    return model.state_dict()


class StopHereError(Exception):
    pass


def test_an_interrupted_training_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    whole = trained(tmp_path / "whole.pt")
    steps = iter(range(100))

    def interrupt() -> None:
        if next(steps) == 4:
            raise StopHereError

    with pytest.raises(StopHereError):
        train(network(), data(), RECIPE, tmp_path / "part.pt", advance=interrupt)
    resumed = trained(tmp_path / "part.pt")
    assert all(torch.equal(resumed[name], value) for name, value in whole.items())


def test_a_finished_training_is_not_trained_again(tmp_path: Path) -> None:
    first = trained(tmp_path / "done.pt")
    again = trained(tmp_path / "done.pt")
    assert all(torch.equal(again[name], value) for name, value in first.items())


def test_a_checkpoint_of_another_length_is_refused(tmp_path: Path) -> None:
    trained(tmp_path / "done.pt")
    with pytest.raises(ValueError, match=r"done\.pt belongs to a training of 3 epochs, .* 5"):
        train(network(), data(), replace(RECIPE, epochs=5), tmp_path / "done.pt")


def test_it_learns(tmp_path: Path) -> None:
    losses: list[float] = []
    recipe = replace(RECIPE, epochs=12, max_shift=0)
    train(network(), data(), recipe, tmp_path / "c.pt", report=lambda _, loss: losses.append(loss))
    assert len(losses) == 12
    assert losses[-1] < 0.7 * losses[0]


def test_agreeing_with_the_teacher_leaves_only_the_labels_share() -> None:
    logits = torch.randn(4, 10)
    labels = torch.arange(4)
    alone = training_loss(logits, TrainingBatch(logits, labels, None), RECIPE)
    taught = training_loss(logits, TrainingBatch(logits, labels, logits), RECIPE)
    torch.testing.assert_close(taught, (1 - RECIPE.teacher_weight) * alone)


def test_the_rate_rises_to_its_peak_and_falls_to_nothing() -> None:
    rates = [learning_rate(RECIPE, step / 100) for step in range(101)]
    assert max(rates) == rates[25] == RECIPE.peak_lr
    assert rates[:26] == sorted(rates[:26])
    assert rates[25:] == sorted(rates[25:], reverse=True)
    assert rates[100] == pytest.approx(0)


def test_every_shipped_network_has_a_recipe() -> None:
    assert set(RECIPES) == {*TINY, *VALIDATION}


def test_recipes_for_the_same_data_hold_out_the_same_training_images() -> None:
    scenes = {name for name in RECIPES if name.startswith("scenes_")}
    assert {RECIPES[name].held_out for name in RECIPES.keys() - scenes} == {2000}
    assert {RECIPES[name].held_out for name in scenes} == {500}


def test_a_restart_adds_a_second_cycle_of_half_the_height() -> None:
    once = replace(RECIPE, epochs=10)
    twice = replace(RECIPE, epochs=16, restart=10)
    for epoch in range(10):
        assert learning_rate(twice, epoch / 16) == pytest.approx(learning_rate(once, epoch / 10))
    second = [learning_rate(twice, (10 + 6 * step / 100) / 16) for step in range(101)]
    assert max(second) == pytest.approx(RECIPE.peak_lr / 2)
    assert second[100] == pytest.approx(0)
