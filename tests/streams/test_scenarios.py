from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from streams.pictures import pictures
from trimtab.streams import Corrupted, LabelledImages, corrupt, scenario
from trimtab.streams.corruptions import BENCHMARK
from trimtab.streams.domains import separate
from trimtab.streams.scenarios import SCENARIOS, Drifting
from trimtab.streams.walk import Walk

THREE = ("gaussian_noise", "contrast", "pixelate")
IMAGES = LabelledImages(pictures(60, 16, 16), np.tile(np.arange(6), 10))
SMALL = Corrupted(IMAGES, THREE)
WORDS = [word for word, kind in SCENARIOS.items() if kind is not Walk]  # which needs a calibration


@pytest.mark.parametrize("word", WORDS)
def test_every_image_of_every_domain_appears_exactly_once_per_visit(word):
    stream = scenario(word).stream(SMALL, seed=1, batch_size=7)
    visits = {"gradual": 9, "recurring": 2, "single": 1}.get(word, 1)
    seen = Counter((int(d), int(i)) for b in stream for d, i in zip(b.domain, b.index, strict=True))
    if word == "drifting":
        assert Counter(i for _, i in seen.elements()) == dict.fromkeys(range(60), 3)
        return
    domains = {"single": [0], "alternating": [0, 1, 2, 3]}.get(word, [0, 1, 2])
    expected = {
        (domain, image): 3 if stream.domain_names[domain] == "clean" else visits
        for domain in domains
        for image in range(60)
    }
    assert seen == expected


@pytest.mark.parametrize("word", WORDS)
def test_the_seed_decides_the_whole_stream(word):
    def content(seed):
        stream = scenario(word).stream(SMALL, seed=seed, batch_size=16, images_per_domain=20)
        batches = list(stream)
        assert len(batches) == len(stream)
        assert sum(map(len, batches)) == stream.num_images
        return torch.cat([batch.inputs for batch in batches])

    first = content(3)
    assert torch.equal(first, content(3))
    assert not torch.equal(first, content(4))


@pytest.mark.parametrize("word", WORDS)
def test_the_batch_size_changes_only_the_cuts(word):
    small, large = (
        list(scenario(word).stream(SMALL, batch_size=size, images_per_domain=12))
        for size in (5, 64)
    )
    for part in ("inputs", "labels", "domain", "severity", "index"):
        joined = [torch.cat([getattr(b, part) for b in batches]) for batches in (small, large)]
        assert torch.equal(*joined)


def test_inputs_and_labels_belong_to_the_images():
    for batch in scenario("continual").stream(SMALL, batch_size=10, seed=2):
        numbers = batch.index.numpy()
        name = THREE[int(batch.domain[0])]
        pixels = corrupt(IMAGES.pixels(numbers), name, 5, seed=2, indices=numbers)
        expected = pixels.permute(0, 3, 1, 2).float() / 255
        assert torch.equal(batch.inputs, expected)
        assert batch.inputs.is_contiguous()
        assert batch.labels.tolist() == IMAGES.labels[numbers].tolist()


@pytest.mark.parametrize("word", ["continual", "correlated", "gradual", "recurring", "alternating"])
def test_batches_do_not_straddle_domains(word):
    for batch in scenario(word).stream(SMALL, batch_size=7, images_per_domain=10):
        assert len(batch.domain.unique()) == 1
        assert len(batch.severity.unique()) == 1
        assert len(batch) in (7, 3)


def test_the_first_batch_of_each_domain_is_marked_and_only_one_scenario_asks_for_a_reset():
    for word, resets in (("continual", False), ("reset_each_shift", True)):
        batches = list(scenario(word).stream(SMALL, batch_size=30))
        assert [batch.starts_domain for batch in batches] == [True, False] * 3
        assert [batch.reset for batch in batches] == [resets, False] * 3


def test_correlated_batches_are_class_pure():
    for batch in scenario("correlated").stream(SMALL, batch_size=10):
        assert len(batch.labels.unique()) == 1


def test_mixed_batches_hold_all_domains():
    stream = scenario("mixed").stream(SMALL, batch_size=60)
    assert all(len(batch.domain.unique()) == 3 for batch in stream)


def test_mixed_correlated_batches_hold_all_domains_and_one_class():
    for batch in scenario("mixed_correlated").stream(SMALL, batch_size=30):
        assert len(batch.domain.unique()) == 3
        assert len(batch.labels.unique()) == 1


def test_gradual_rises_and_falls_in_every_domain():
    batches = list(scenario("gradual").stream(SMALL, batch_size=10, images_per_domain=10))
    assert [int(batch.severity[0]) for batch in batches] == [1, 2, 3, 4, 5, 4, 3, 2, 1] * 3
    assert [batch.starts_domain for batch in batches] == ([True] + [False] * 8) * 3


def test_alternating_shows_clean_images_after_every_domain():
    stream = scenario("alternating").stream(SMALL, batch_size=60)
    assert stream.domain_names == (*THREE, "clean")
    clean = [batch for batch in stream if stream.domain_names[batch.domain[0]] == "clean"]
    assert len(clean) == 3
    pixels = IMAGES.pixels(clean[0].index.numpy())
    assert torch.equal(
        clean[0].inputs.mul(255).round(), torch.from_numpy(pixels).permute(0, 3, 1, 2).float()
    )


def test_recurring_repeats_the_sequence_with_new_orders():
    batches = list(scenario("recurring(rounds=3)").stream(SMALL, batch_size=60))
    assert [int(batch.domain[0]) for batch in batches] == [0, 1, 2] * 3
    assert not torch.equal(batches[0].index, batches[3].index)


def test_a_single_domain_can_come_again_in_new_orders():
    batches = list(scenario("single(domain='snow', rounds=2)").stream(IMAGES, batch_size=60))
    assert {int(domain) for batch in batches for domain in batch.domain} == {7}
    assert [batch.starts_domain for batch in batches] == [True, False]
    assert not torch.equal(batches[0].index, batches[1].index)
    with pytest.raises(ValueError, match="rounds must be a whole number from 1, got 0"):
        scenario("single(rounds=0)")


def test_the_same_order_everywhere_is_a_switch():
    def orders(text):
        return [batch.index.tolist() for batch in scenario(text).stream(SMALL, batch_size=60)]

    independent, same = orders("continual"), orders("continual(same_order=True)")
    assert independent[0] != independent[1]
    assert same[0] == same[1] == same[2]


def test_drifting_passes_smoothly_from_one_domain_to_the_next():
    many = Corrupted(LabelledImages(np.zeros((400, 4, 4, 3), np.uint8), np.zeros(400, int)), THREE)
    stretch = Drifting().stretches(many, THREE, seed=0)[0]
    first = np.where(stretch.domain == 0, stretch.severity, 0) + np.where(
        stretch.second_domain == 0, stretch.second_severity, 0
    )
    means = first[:400].reshape(8, 50).mean(axis=1)
    assert means[:4].tolist() == [5] * 4
    assert (np.diff(means[3:]) < 0).all()
    assert (stretch.severity >= stretch.second_severity).all()
    assert stretch.severity.max() == 5
    both = (stretch.severity > 0) & (stretch.second_severity > 0)
    assert 0.2 < both.mean() < 0.4


def test_drifting_images_carry_both_corruptions():
    stream = scenario("drifting(overlap=1.0)").stream(SMALL, batch_size=180)
    stretch = stream.stretches[0]
    row = int(np.flatnonzero(stretch.second_severity > 0)[0])
    batch = next(iter(stream))
    number = stretch.image[row : row + 1]
    once = corrupt(
        IMAGES.pixels(number),
        THREE[stretch.domain[row]],
        int(stretch.severity[row]),
        indices=number,
    )
    twice = corrupt(
        once, THREE[stretch.second_domain[row]], int(stretch.second_severity[row]), indices=number
    )
    assert torch.equal(batch.inputs[row], twice[0].permute(2, 0, 1).float() / 255)


def test_clean_images_become_the_fifteen_domains():
    stream = scenario("continual").stream(IMAGES, batch_size=64, images_per_domain=2)
    assert stream.domain_names == BENCHMARK
    assert len(stream) == 15


def test_domains_with_their_own_images_keep_their_own_labels():
    own = separate(
        {
            "a": LabelledImages(pictures(5, 8, 8), np.zeros(5, int)),
            "b": LabelledImages(pictures(9, 8, 8, seed=1), np.ones(9, int)),
        }
    )
    batches = list(scenario("mixed").stream(own, batch_size=14))
    assert torch.equal(batches[0].labels, batches[0].domain)
    assert len(batches[0]) == 14
    with pytest.raises(ValueError, match="drifting needs clean images"):
        scenario("drifting").stream(own)
    with pytest.raises(ValueError, match="give them as clean="):
        scenario("alternating").stream(own)


settings = st.fixed_dictionaries(
    {},
    optional={
        "images_per_domain": st.integers(1, 10**6),
        "same_order": st.booleans(),
        "severity": st.integers(1, 5),
        "delta": st.none() | st.floats(0, 1e6),
    },
)


@given(st.sampled_from(sorted(WORDS)), settings)
def test_the_text_of_a_scenario_parses_back_to_an_equal_one(word, values):
    made = SCENARIOS[word](**values)
    assert scenario(str(made)) == made


def test_the_text_names_only_what_was_changed():
    assert str(scenario("mixed_correlated(delta=0.01)")) == "mixed_correlated(delta=0.01)"
    assert str(scenario("correlated(delta=0)")) == "correlated"
    assert str(scenario("single(domain='fog')")) == "single(domain='fog')"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("continuall", "unknown scenario 'continuall'.*did you mean 'continual'"),
        ("mixed(detla=1)", "unknown option of mixed 'detla'.*did you mean 'delta'"),
        ("mixed(delta=-1)", "delta must be 0 or more, got -1"),
        ("mixed(severity=7)", "severity must be one of 1, 2, 3, 4, 5, got 7"),
        ("mixed(images_per_domain=0)", "images_per_domain must be a whole number from 1, got 0"),
        (
            "mixed(images_per_domain=2.5)",
            "images_per_domain must be a whole number from 1, got 2.5",
        ),
        ("mixed(same_order='no')", "same_order must be True or False, got 'no'"),
        ("mixed(delta='a')", "has a value of the wrong kind"),
        ("recurring(rounds=0)", "rounds must be a whole number from 1, got 0"),
        ("drifting(overlap=0)", r"overlap must lie in \(0, 1\], got 0"),
    ],
)
def test_a_wrong_text_says_what_was_expected(text, message):
    with pytest.raises(ValueError, match=message):
        scenario(text)


def test_too_many_images_per_domain_and_unknown_domains_are_errors():
    with pytest.raises(
        ValueError, match="images_per_domain is 61, but gaussian_noise has 60 images"
    ):
        scenario("continual").stream(SMALL, images_per_domain=61)
    with pytest.raises(ValueError, match="unknown domain 'fogg'"):
        scenario("single(domain='fogg')").stream(IMAGES)
    with pytest.raises(ValueError, match="batch_size must be at least 1, got 0"):
        scenario("continual").stream(SMALL, batch_size=0)
