"""Walks from corruption to corruption keep the source model's accuracy."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from trimtab.streams import calibration, scenario
from trimtab.streams.calibration import LEVELS, Calibration
from trimtab.streams.corruptions import corrupt
from trimtab.streams.data import LabelledImages
from trimtab.streams.domains import Corrupted, Stored
from trimtab.streams.embedded import load

NAMES = ("gaussian_noise", "contrast", "brightness")


def grid(first: float, second: float) -> calibration.Grid:
    """Accuracy that falls by so much for each level of either corruption."""
    i, j = np.mgrid[:LEVELS, :LEVELS]
    return np.asarray(0.9 - first * i - second * j)


def measured(*slopes: tuple[float, float]) -> Calibration:
    pairs = calibration.neighbours(NAMES)
    return Calibration(
        "a model", 100, 10, dict(zip(pairs, (grid(*s) for s in slopes), strict=False))
    )


SLOPES = ((0.1, 0.05), (0.05, 0.05), (0.1, 0.1))
PLAIN = measured(*SLOPES)


@pytest.mark.parametrize("share", [0.9, 0.75, 0.5])
def test_accuracy_along_a_walk_is_the_targets(share: float) -> None:
    target = PLAIN.target(share)
    assert target == pytest.approx(0.1 + share * 0.8)
    for pair, (first, second) in zip(
        PLAIN.pairs, [(0.1, 0.05), (0.05, 0.05), (0.1, 0.1)], strict=True
    ):
        walk = PLAIN.severities(pair, target, 50)
        reachable = walk.max(1) < LEVELS - 1 - 1e-9  # elsewhere it is as hard as it can be
        found = 0.9 - walk @ np.array([first, second])
        np.testing.assert_allclose(found[reachable], target, atol=1e-9)
        assert (found[~reachable] >= target - 1e-9).all()
        assert walk[0, 0] > walk[0, 1]
        assert walk[-1, 1] > walk[-1, 0]
        assert reachable.any()


def test_a_pair_that_cannot_be_as_hard_is_as_hard_as_it_can_be() -> None:
    easy = measured((0.01, 0.01), (0.01, 0.01), (0.01, 0.01))
    walk = easy.severities(easy.pairs[0], 0.2, 20)
    np.testing.assert_allclose(walk.max(1), LEVELS - 1)


def test_accuracy_that_rises_again_is_not_followed() -> None:
    bumpy = grid(0.1, 0.1)
    bumpy[5, :] = 0.9  # a lucky severity
    found = Calibration("a model", 10, 10, {NAMES[:2]: bumpy}).severities(NAMES[:2], 0.45, 10)
    assert found[:, 0].max() <= 4.5


def saved(tmp_path: Path) -> Path:
    PLAIN.save(tmp_path / "walk.json")
    return tmp_path / "walk.json"


def test_a_saved_calibration_is_the_same(tmp_path: Path) -> None:
    again = calibration.load(saved(tmp_path))
    assert (again.model, again.images, again.classes) == ("a model", 100, 10)
    assert again.pairs == PLAIN.pairs
    for pair in again.pairs:
        np.testing.assert_allclose(again.grids[pair], PLAIN.grids[pair], atol=1e-4)


def clean() -> Corrupted:
    return Corrupted(load(), NAMES)


@pytest.mark.slow
def test_a_stream_shows_the_severities_of_the_walk(tmp_path: Path) -> None:
    text = f"walk(calibration='{saved(tmp_path)}', images_per_domain=400, speed='slow', legs=4)"
    stream = scenario(text).stream(clean(), seed=1)
    assert [len(part) for part in stream.stretches] == [2000] * 4
    first = stream.stretches[0].domain[0]
    for number, part in enumerate(stream.stretches):
        pair = PLAIN.pairs[(first + number) % 3]
        assert {stream.domain_names[d] for d in part.domain} == {pair[0]}
        assert {stream.domain_names[d] for d in part.second_domain} == {pair[1]}
        expected = PLAIN.severities(pair, PLAIN.target(0.5), 2000)
        levels = np.stack([part.severity, part.second_severity], 1)
        assert np.abs(levels - expected).max() <= 1
        np.testing.assert_allclose(levels.mean(0), expected.mean(0), atol=0.06)
        assert len(set(part.image[:1000].tolist())) == 1000  # none comes again so soon


def test_the_second_corruption_lies_above_the_first(tmp_path: Path) -> None:
    text = f"walk(calibration='{saved(tmp_path)}', images_per_domain=8, speed='fast', legs=1)"
    stream = scenario(text).stream(clean(), seed=0, batch_size=8)
    batch, part = next(iter(stream)), stream.stretches[0]
    for row in range(8):
        number = part.image[row : row + 1]
        image = torch.from_numpy(load().pixels(number))
        both = ((part.domain, part.severity), (part.second_domain, part.second_severity))
        for domain, severity in both:
            if severity[row]:
                name = stream.domain_names[domain[row]]
                image = corrupt(image, name, int(severity[row]), seed=0, indices=number)
        torch.testing.assert_close(batch.inputs[row], image[0].permute(2, 0, 1).float() / 255)


def test_the_seed_decides_the_walk(tmp_path: Path) -> None:
    text = f"walk(calibration='{saved(tmp_path)}', images_per_domain=8, legs=1)"
    first, again, other = (scenario(text).stream(clean(), seed=seed) for seed in (1, 1, 2))
    inputs = [torch.cat([batch.inputs for batch in stream]) for stream in (first, again, other)]
    assert torch.equal(inputs[0], inputs[1])
    assert not torch.equal(inputs[0], inputs[2])


def test_measuring_counts_what_is_right() -> None:
    domains = clean()

    def brightest(batch: Tensor) -> Tensor:
        """Ten classes by brightness."""
        return -(batch.mean((1, 2, 3))[:, None] * 10 - torch.arange(10)).abs()

    pair = ("contrast", "brightness")
    found = calibration.measure({"it": brightest}, domains, [pair], images=20)["it"]
    assert (found.classes, found.images, found.pairs) == (10, 20, (pair,))
    labels: LabelledImages = domains.clean
    chosen = calibration.order(labels.labels, None, 0, "calibration")[:20]  # type: ignore[attr-defined]
    for first, second in ((0, 0), (3, 0), (0, 5), (4, 2)):
        hits = 0
        for number in chosen:
            image = domains.pixels("contrast", first, np.array([number]), 0)
            image = domains.corrupt(image, "brightness", second, np.array([number]), 0)
            logits = brightest(image.permute(0, 3, 1, 2).float() / 255)
            hits += int(logits.argmax()) == int(labels.labels[number])
        assert found.grids[pair][first, second] == pytest.approx(hits / 20)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("", "walk needs calibration="),
        (
            "calibration='a', difficulty='odd'",
            "unknown difficulty .odd.: the known ones are easy",
        ),
        (
            "calibration='a', speed='odd'",
            "unknown speed .odd.: the known ones are fast",
        ),
        ("calibration='a', legs=0", "legs must be a whole number from 1, got 0"),
    ],
)
def test_settings_that_make_no_walk_are_refused(settings: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scenario(f"walk({settings})")


def test_an_unknown_calibration_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"or one of .*fashion_resnet20_gn.*; got 'nowhere'"):
        scenario("walk(calibration='nowhere')").stream(clean())


def test_stored_domains_cannot_be_walked(tmp_path: Path) -> None:
    stored = Stored(NAMES, lambda domain, severity: load())
    with pytest.raises(ValueError, match="walk needs clean images"):
        scenario(f"walk(calibration='{saved(tmp_path)}')").stream(stored)


def test_a_calibration_of_other_corruptions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the calibration has brightness, and the stream does not"):
        scenario(f"walk(calibration='{saved(tmp_path)}')").stream(Corrupted(load(), NAMES[:2]))
