"""Corrupted images that are made once."""

import numpy as np
import torch

from trimtab import streams
from trimtab.streams.remembered import Remembered


def test_images_are_the_same_and_made_once() -> None:
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (20, 32, 32, 3)).astype(np.uint8)
    images = streams.LabelledImages(pixels, np.arange(20) % 3)
    made: list[int] = []
    kept = Remembered(images, names=("fog", "contrast"))
    corruptor = kept.corruptor

    def counting(clean: torch.Tensor, *words: object, **options: object) -> torch.Tensor:
        made.append(len(clean))
        return corruptor(clean, *words, **options)  # type: ignore[arg-type]

    object.__setattr__(kept, "corruptor", counting)
    plain = streams.Corrupted(images, names=("fog", "contrast"))
    for seed, new in ((0, 24), (0, 0), (1, 24)):
        made.clear()
        for words in ("mixed", "continual"):
            chosen = streams.scenario(words)
            options = {"seed": seed, "batch_size": 7, "images_per_domain": 12}
            both = zip(chosen.stream(kept, **options), chosen.stream(plain, **options), strict=True)
            assert all(torch.equal(left.inputs, right.inputs) for left, right in both)
        assert sum(made) == new


def test_no_more_is_kept_than_there_is_room_for() -> None:
    images = streams.LabelledImages(np.zeros((9, 8, 8, 3), np.uint8), np.zeros(9, np.int64))
    kept = Remembered(images, names=("contrast",), most_bytes=4 * 8 * 8 * 3)
    kept.pixels("contrast", 1, np.arange(9), 0)
    assert kept.num_kept == 4
    assert len(kept.pixels("contrast", 1, np.arange(9), 0)) == 9
