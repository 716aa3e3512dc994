"""One stream over several processes.

    torchrun --nproc-per-node 2 examples/torchrun.py

Every rank reads its own images; together they are one batch of one stream, and every rank ends with
the same state. On GPUs say "nccl", and put model and images on the rank's device.
"""

from datetime import timedelta

import torch
import torch.distributed as dist

import trimtab


def main() -> None:
    dist.init_process_group("gloo", timeout=timedelta(minutes=1))
    rank, ranks = dist.get_rank(), dist.get_world_size()
    model, stream = trimtab.load_demo(images_per_domain=20)
    adapter = trimtab.adapt(model, "roid", process_group=dist.group.WORLD)
    right = 0
    for batch in stream:
        inputs = batch.inputs.tensor_split(ranks)[rank]  # yours would come from its own loader
        labels = batch.labels.tensor_split(ranks)[rank]
        right += int((adapter(inputs).argmax(1) == labels).sum())
    total = torch.tensor(right)
    dist.all_reduce(total)
    if rank == 0:
        print(f"ROID on {ranks} ranks: {int(total) / stream.num_images:.1%} right")
        adapter.save("stream.safetensors")  # any number of ranks can go on from it
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
