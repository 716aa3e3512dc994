"""Health without labels, snapshots, and going back.

    python examples/health_and_rollback.py

A guard compares adapted predictions with the source model's now and then. With ``guard=True`` it
also falls back by itself; here it only watches, and you decide.
"""

# %%
from itertools import islice

import torch

import trimtab

model, stream = trimtab.load_demo("fashion_resnet20_bn", images_per_domain=50)
# A learning rate far too high, so that there is something to see.
adapter = trimtab.adapt(model, "tent", lr=0.05, guard=trimtab.Guard(acts=False))
seen: list[trimtab.Health] = []
adapter.on_health(seen.append)  # called after every look; trimtab.monitor has writers for it

# %% A good stretch, and a copy of the state after it.
batches = list(islice(stream, 4))
for batch in batches:
    adapter(batch.inputs)
adapter.snapshot("before the night")

# %% A bad one: the lens is covered.
torch.manual_seed(0)
for _ in range(10):
    adapter(0.05 * torch.rand(50, 3, 32, 32))

# %% What is known of the stream now; harm and accuracy are estimates, made without labels.
health = adapter.health
print(f"{len(seen)} looks; evidence of harm {health.evidence:.1f} nats")
print(f"agreement with the source model {health.agreement:.0%}")
print(f"classes predicted {health.classes:.1f}, by the source {health.source_classes:.1f}")


# %% In the morning: back to what it was.
def accuracy() -> float:
    right = [(adapter.predict(b.inputs).argmax(1) == b.labels).float().mean() for b in batches]
    return float(torch.stack(right).mean())


after = accuracy()
adapter.rollback("before the night")
print(f"accuracy after the night {after:.1%}, after going back {accuracy():.1%}")
print("kept moments:", [snapshot.name for snapshot in adapter.history])
