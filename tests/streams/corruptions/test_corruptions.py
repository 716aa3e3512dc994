import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
import torch
from PIL import Image

from streams.corruptions.statistics import DETERMINISTIC
from streams.pictures import pictures
from trimtab.streams.corruptions import BENCHMARK, CORRUPTIONS, VALIDATION, Corruptor, corrupt
from trimtab.streams.corruptions.severity import LEVELS, table_for

NAMES = list(CORRUPTIONS)


def test_the_fifteen_and_the_four_are_the_published_ones():
    assert len(BENCHMARK) == 15
    assert BENCHMARK[0] == "gaussian_noise"
    assert BENCHMARK[-1] == "jpeg_compression"
    assert set(VALIDATION) == {"speckle_noise", "gaussian_blur", "spatter", "saturate"}
    assert set(LEVELS) == set(CORRUPTIONS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("side", [32, 96])
def test_an_image_looks_the_same_whatever_the_batch(name, side):
    images = pictures(7, side, side)
    together = corrupt(images, name, 5, seed=3)
    for number in range(7):
        alone = corrupt(images[number : number + 1], name, 5, seed=3, indices=[number])
        assert torch.equal(alone[0], together[number])


@pytest.mark.parametrize("name", NAMES)
def test_an_image_looks_the_same_whatever_the_number_of_threads(name):
    images = pictures(400, 32, 32)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = corrupt(images, name, 3)
        torch.set_num_threads(2)
        two = corrupt(images, name, 3)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(one, two)


def _in_worker(images):
    return [corrupt(images, name, 5).numpy() for name in NAMES], os.getpid()


@pytest.mark.slow
def test_another_process_makes_the_same_bytes():
    images = pictures(3)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there, process = pool.submit(_in_worker, images).result()
    assert process != os.getpid()
    for ours, theirs in zip(_in_worker(images)[0], there, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", NAMES)
def test_any_height_and_width_works_and_the_input_stays(name):
    images = pictures(2, 37, 51)
    before = images.copy()
    for level in (1, 5):
        result = corrupt(images, name, level)
        assert result.shape == images.shape
        assert result.dtype == torch.uint8
    np.testing.assert_array_equal(images, before)


RANDOM = [name for name in NAMES if name not in DETERMINISTIC]


@pytest.mark.parametrize("name", RANDOM)
def test_the_seed_and_the_image_number_change_the_draw(name):
    images = np.repeat(pictures(1), 2, axis=0)
    first = corrupt(images, name, 4, seed=0)
    assert not torch.equal(first[0], first[1])
    assert not torch.equal(first, corrupt(images, name, 4, seed=1))
    assert torch.equal(first, corrupt(images, name, 4, seed=0))


# Measured, not derived: with the published parameters these are not ordered by distance.
# imagecorruptions-imaug shows the same for glass_blur, frost and fog at 224 px.
NOT_ORDERED = {
    *(("saturate", "32"), ("saturate", "224"), ("spatter", "32"), ("spatter", "224")),
    *(("elastic_transform", "32"), ("elastic_transform", "224")),
    *(("glass_blur", "32"), ("glass_blur", "224"), ("frost", "32"), ("frost", "224")),
    *(("fog", "224"), ("pixelate", "32")),
}
CASES = [(name, table) for name in NAMES for table in ("32", "224")]


@pytest.mark.parametrize(("name", "table"), [case for case in CASES if case not in NOT_ORDERED])
def test_a_higher_severity_is_further_from_the_clean_image(name, table):
    distances = _distances(name, table)
    assert distances == sorted(distances), distances


@pytest.mark.parametrize("name", ["glass_blur", "frost", "fog", "pixelate", "spatter"])
def test_where_the_tables_are_not_ordered_the_last_level_is_still_above_the_first(name):
    for table in ("32", "224"):
        distances = _distances(name, table)
        assert distances[-1] > distances[0], distances


def _distances(name, table):
    side, count = (32, 60) if table == "32" else (112, 16)
    images = pictures(count, side, side)
    levels = [Corruptor(table)(images, name, level).numpy() for level in range(1, 6)]
    return [np.sqrt(((level.astype(float) - images) ** 2).mean()) for level in levels]


def test_the_table_follows_the_image_size_and_can_be_chosen():
    assert table_for(32, 32) == "32"
    assert table_for(64, 64) == "32"
    assert table_for(96, 96) == table_for(224, 224) == "224"
    images = pictures(1)
    assert torch.equal(corrupt(images, "contrast", 5), Corruptor("32")(images, "contrast", 5))
    assert not torch.equal(corrupt(images, "contrast", 5), Corruptor("224")(images, "contrast", 5))


def test_wrong_input_says_what_was_expected_and_what_came():
    images = pictures(2)
    with pytest.raises(ValueError, match=r"unknown corruption 'gausian_noise'.*'gaussian_noise'"):
        corrupt(images, "gausian_noise", 1)
    with pytest.raises(ValueError, match=r"severity must be one of 1, 2, 3, 4, 5, got 6"):
        corrupt(images, "fog", 6)
    with pytest.raises(ValueError, match=r"expected uint8 images .* got torch.float32"):
        corrupt(images.astype(np.float32), "fog", 1)
    with pytest.raises(ValueError, match="expected 2 indices, one per image, got 3"):
        corrupt(images, "fog", 1, indices=[1, 2, 3])
    with pytest.raises(ValueError, match="unknown severity table '64'"):
        Corruptor("64")


def test_no_images_give_no_images():
    assert corrupt(pictures(1)[:0], "fog", 1).shape == (0, 32, 32, 3)


def test_photographs_of_frost_take_the_place_of_the_textures(tmp_path):
    Image.new("RGB", (20, 50), (10, 20, 30)).save(tmp_path / "frost.png")
    images = np.full((1, 32, 32, 3), 100, np.uint8)
    frosty = Corruptor(table="224", frost_folder=tmp_path)(images, "frost", 2)
    np.testing.assert_array_equal(frosty[0, 5, 5], np.array([80 + 6, 80 + 12, 80 + 18]))
    (tmp_path / "frost.png").unlink()
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="expected photographs of frost"):
        Corruptor(frost_folder=tmp_path / "empty")(images, "frost", 2)
