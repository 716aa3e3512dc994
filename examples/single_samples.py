"""Single samples: predicted one by one at once, learned from in windows.

    python examples/single_samples.py

On networks with group or layer norm a window of 50 single samples learns what a batch of 50 learns,
in the memory of one sample. On batch norms, statistics follow the stream instead.
"""

# %%
import trimtab

model, stream = trimtab.load_demo("fashion_resnet20_gn", images_per_domain=10, batch_size=50)

# %% One by one: a prediction at once, an update every 50 samples.
alone = trimtab.adapt(model, "roid", window=50)
together = trimtab.adapt(model, "roid")
right = {"source": 0, "one by one": 0, "batches": 0}
for batch in stream:
    for image, label in zip(batch.inputs, batch.labels, strict=True):
        right["one by one"] += int(alone(image[None]).argmax() == label)
    right["batches"] += int((together(batch.inputs).argmax(1) == batch.labels).sum())
    right["source"] += int((model(batch.inputs).logits.argmax(1) == batch.labels).sum())

# %% How it went. The class prior looks back here, and at the whole batch there: predictions differ.
for name, count in right.items():
    print(f"{name}: {count} of {stream.num_images} right")
print("one by one:", alone.counters)
print("in batches:", together.counters)

# %% What is waiting in a window is part of the state: saved and restored in the middle of one.
alone.save("single_samples.safetensors")
restored = trimtab.adapt(model, "roid", window=50)
restored.load("single_samples.safetensors")
print("the same afterwards:", bool((restored(image[None]) == alone(image[None])).all()))
