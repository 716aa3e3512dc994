"""Images by the words of a spec."""

from pathlib import Path

import pytest

from trimtab.bench.data import open_data


def test_the_embedded_images_need_nothing() -> None:
    assert len(open_data("fashion_mnist")) == 4000


def test_published_data_is_looked_for_in_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIMTAB_DATA", str(tmp_path))
    with pytest.raises(OSError, match=str(tmp_path / "CIFAR-10-C")):
        open_data("cifar10_c")


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean 'fashion_mnist'"):
        open_data("fashion_mnst")


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown option of imagenet_c 'image'"):
        open_data("imagenet_c(image=3)")
