"""Inputs that are several tensors, or tokens, or images of several sizes."""

from collections import UserDict
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import trimtab
from reference import nets
from trimtab.core.structured import Form, structured

METHODS = ["tent", "sar", "lame", "source"]


class Text(nn.Module):
    """Tokens and a mask to four classes, in the way of Hugging Face's models."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.norm = nn.LayerNorm(8)
        self.head = nn.Linear(8, 4)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> dict[str, Tensor]:
        states = self.norm(self.embed(input_ids))
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        pooled = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return {"logits": self.head(pooled)}


class Pair(nn.Module):
    """Two images to seven classes."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        return self.model(left) + self.model(right)  # type: ignore[no-any-return]


def text() -> Text:
    torch.manual_seed(0)
    return Text()


def tokens(count: int = 12, length: int = 6, seed: int = 0) -> dict[str, Tensor]:
    made = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, 11, (count, length), generator=made)
    mask = (torch.arange(length) < torch.randint(2, length + 1, (count, 1), generator=made)).long()
    return {"input_ids": ids, "attention_mask": mask}


@pytest.mark.parametrize("method", METHODS)
def test_a_mapping_of_tokens_is_adapted_to(method: str) -> None:
    model, batch = text(), tokens()
    adapter = trimtab.adapt(model, method)
    logits = adapter(UserDict(batch))
    assert logits.shape == (12, 4)
    with torch.no_grad():
        expected = model(**batch)["logits"]
    if method != "lame":
        torch.testing.assert_close(logits.detach(), expected)
    assert (adapter.counters.updates > 0) == (method in ("tent", "sar"))


def test_tokens_alone_are_adapted_to() -> None:
    adapter, ids = trimtab.adapt(text(), "tent"), tokens()["input_ids"]
    assert torch.equal(adapter(ids), trimtab.adapt(text(), "tent")({"input_ids": ids}))
    assert adapter.counters.updates == 1


def test_a_tuple_of_tensors_is_handed_over_in_order(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = Pair(nets.trained("gn", recorded))
    pair = images[:16], images[16:32]
    found = trimtab.adapt(model, "source")(pair)
    with torch.no_grad():
        torch.testing.assert_close(found, model.eval()(*pair))


@pytest.mark.parametrize(
    "options", [{"window": 8}, {"micro_batch": 5}, {"window": 8, "micro_batch": 3}]
)
def test_windows_and_micro_batches_cut_and_join_them(options: dict[str, Any]) -> None:
    adapter, whole = trimtab.adapt(text(), "tent", **options), trimtab.adapt(text(), "tent")
    batch = tokens(8)
    if "window" in options:
        for row in range(0, 8, 2):
            adapter({name: tensor[row : row + 2] for name, tensor in batch.items()})
    else:
        adapter(batch)
    whole(batch)
    assert adapter.counters.updates == whole.counters.updates == 1
    for name, value in whole.params.items():
        torch.testing.assert_close(adapter.params[name], value, atol=1e-5, rtol=1e-5)


def test_a_stream_of_tokens_goes_on_after_a_load(tmp_path: Path) -> None:
    model = text()
    adapter, other = (trimtab.adapt(model, "tent", window=8) for _ in range(2))
    adapter(tokens(11))
    adapter.save(tmp_path / "state")
    other.load(tmp_path / "state")
    more = tokens(9, seed=1)
    assert torch.equal(adapter(more), other(more))
    adapter.reset()
    assert adapter.predict(more).shape == (9, 4)


def test_texts_of_another_length_are_fine() -> None:
    adapter = trimtab.adapt(text(), "tent")
    for length in (6, 9, 3):
        assert adapter(tokens(length=length)).isfinite().all()
    assert adapter.counters.updates == 3


def test_images_of_a_processor_are_plain_images(
    images: Tensor, recorded: dict[str, Tensor]
) -> None:
    model = nets.trained("gn", recorded)
    named = trimtab.adapt(model, "roid")({"x": images[:16]})
    assert torch.equal(named, trimtab.adapt(model, "roid")(images[:16]))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "empty dict"),
        ({"input_ids": [[1, 2]]}, "return_tensors='pt'"),
        ({"input_ids": torch.ones(2, 3).long(), "labels": torch.ones(2).long()}, "sees no labels"),
        ({"input_ids": torch.ones(2, 3).long(), "mask": torch.ones(3, 3).long()}, "one size"),
        ({"input_ids": torch.ones(2, 3).double()}, "must be torch.float32"),
        (7, "a mapping or tuple of tensors, got int"),
        ("text", "a mapping or tuple of tensors, got str"),
    ],
)
def test_what_is_no_batch_is_refused(given: Any, message: str) -> None:
    adapter = trimtab.adapt(text(), "tent")
    with pytest.raises(ValueError, match=message):
        adapter(given)
    assert adapter.sample_shape is None


@pytest.mark.parametrize("method", ["roid", "trimtab", "cotta"])
def test_methods_that_augment_say_what_to_do_about_tokens(method: str) -> None:
    with pytest.raises(ValueError, match=r"pass augment= with a function .* consistency=False"):
        trimtab.adapt(text(), method)(tokens())


def test_methods_that_store_samples_refuse_tokens() -> None:
    with pytest.raises(ValueError, match="this method stores samples"):
        trimtab.adapt(text(), "tent + class_balanced_memory")(tokens())


def test_other_kinds_of_inputs_mid_stream_are_refused() -> None:
    adapter = trimtab.adapt(text(), "tent")
    adapter(tokens())
    with pytest.raises(ValueError, match="other kinds of inputs"):
        adapter(tokens()["input_ids"])
    with pytest.raises(ValueError, match="other kinds of inputs"):
        adapter(torch.rand(4, 6))


def test_a_form_is_read_back_as_it_was_written() -> None:
    batch = structured(tokens())
    assert batch is not None
    assert Form.of(batch.form.state()) == batch.form
    for broken in (None, [["a", [1]]], [["a", [1], "no_type"]], 3):
        with pytest.raises(ValueError, match="its form must be"):
            Form.of(broken)


def test_images_of_other_sizes_are_taken_where_the_network_takes_them(
    norm: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained(norm, recorded), "roid")
    for batch in (images[:16], images[16:32, :, :8], images[32:48, :, 2:, 2:14], images[:16]):
        assert adapter(batch).isfinite().all()
    assert adapter.sample_shape == (3, 16, 16)
    assert adapter.counters.updates == 4
    for wrong in (images[:16, :2], images[:16, 0]):
        with pytest.raises(ValueError, match=r"inputs must have shape \(batch, 3, 16, 16\)"):
            adapter(wrong)


def test_other_sizes_are_refused_where_samples_are_stored(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    small = images[:4, :, :8]
    waiting = trimtab.adapt(nets.trained("gn", recorded), "roid", window=8)
    waiting(images[:4])
    stored = trimtab.adapt(nets.trained("gn", recorded), "rotta", memory_size=4)
    stored(images[:4])
    for adapter in (waiting, stored):
        with pytest.raises(
            ValueError, match="this stream stores samples, which must be of one shape"
        ):
            adapter(small)
