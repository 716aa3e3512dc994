"""Example images: small PNGs of every domain, kept beside the results."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from trimtab.bench.example_files import ExampleFiles, Shown
from trimtab.bench.examples import examples, keep_examples, thumbnail
from trimtab.bench.png import png
from trimtab.bench.spec import RunSpec
from trimtab.streams import CORRUPTIONS

SPEC = RunSpec("roid", "fashion_resnet20_bn", "fashion_mnist", "mixed", images_per_domain=2)
SHOWN = Shown("fashion_mnist", 5)


def pixels(file: bytes) -> np.ndarray:  # type: ignore[type-arg]
    return np.asarray(Image.open(io.BytesIO(file)))


def test_a_png_is_what_an_image_library_reads() -> None:
    image = torch.arange(3 * 4 * 5).reshape(3, 4, 5) / 255
    assert (pixels(thumbnail(image)) == (255 * image).permute(1, 2, 0).byte().numpy()).all()
    with pytest.raises(ValueError, match="expected 3 x 2 x 2 = 12 bytes, got 11"):
        png(2, 2, bytes(11))


def test_large_images_are_made_small() -> None:
    assert pixels(thumbnail(torch.rand(3, 224, 112))).shape == (64, 32, 3)


def test_there_is_one_image_for_each_domain_of_the_stream() -> None:
    found = examples([SPEC, replace(SPEC, scenario="continual")])
    assert list(found) == [SHOWN]
    assert len(found[SHOWN]) == 15
    assert set(found[SHOWN]) <= set(CORRUPTIONS)
    assert len(set(found[SHOWN].values())) == 15
    assert pixels(found[SHOWN]["fog"]).shape == (32, 32, 3)


def test_they_are_kept_once_and_read_without_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = RunSpec("roid", "fashion_vit", "arrays(folder='nowhere')", "mixed")
    keep_examples(tmp_path, [SPEC, elsewhere])
    kept = ExampleFiles(tmp_path).read()
    assert kept == examples([SPEC])  # other data are not at hand

    def again(*_: object) -> None:
        raise AssertionError("made twice")

    monkeypatch.setattr("trimtab.bench.examples._one_each", again)
    keep_examples(tmp_path, [SPEC])
