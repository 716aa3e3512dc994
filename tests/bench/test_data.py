"""Images by the words of a spec."""

from pathlib import Path

import numpy as np
import pytest

from trimtab.bench.data import open_data, open_source_data
from trimtab.streams.corruptions import BENCHMARK


def test_the_embedded_images_need_nothing() -> None:
    assert len(open_data("fashion_mnist")) == 3000


def test_source_images_are_none_of_those_that_streams_show() -> None:
    shown = {image.tobytes() for image in open_data("fashion_mnist").images}
    source = [image.tobytes() for image in open_source_data("fashion_mnist").images]  # type: ignore[attr-defined]
    assert len(source) == 1000
    assert not shown & set(source)


def test_data_without_source_images_says_so() -> None:
    with pytest.raises(ValueError, match="no source images are known for imagenet_c"):
        open_source_data("imagenet_c")


def test_published_data_is_looked_for_in_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIMTAB_DATA", str(tmp_path))
    with pytest.raises(OSError, match=str(tmp_path / "CIFAR-10-C")):
        open_data("cifar10_c")


def test_clean_images_are_named_beside_the_corrupted_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIMTAB_DATA", str(tmp_path))
    (tmp_path / "CIFAR-10-C").mkdir()
    np.save(tmp_path / "CIFAR-10-C" / "labels.npy", np.zeros(50, dtype=np.int64))
    for name in BENCHMARK:
        np.save(tmp_path / "CIFAR-10-C" / f"{name}.npy", np.zeros((50, 32, 32, 3), dtype=np.uint8))
    domains = open_data("cifar10_c(clean='fashion_mnist')")
    assert len(domains.labels("clean")) == 3000
    with pytest.raises(ValueError, match=r"clean images, give them as clean=\.\.\."):
        open_data("cifar10_c").labels("clean")


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean 'fashion_mnist'"):
        open_data("fashion_mnst")


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown option of imagenet_c 'image'"):
        open_data("imagenet_c(image=3)")
