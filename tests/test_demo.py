"""The newcomer's first minutes."""

import pytest

import trimtab


@pytest.mark.slow
def test_roid_beats_the_source_model_on_the_demo() -> None:
    model, stream = trimtab.load_demo(images_per_domain=60, batch_size=60)
    adapter = trimtab.adapt(model, "roid")
    right = source_right = 0
    for batch in stream:
        source_right += int((model(batch.inputs).logits.argmax(1) == batch.labels).sum())
        right += int((adapter(batch.inputs).argmax(1) == batch.labels).sum())
    assert stream.num_images == 15 * 60
    assert right > source_right + 0.1 * stream.num_images
