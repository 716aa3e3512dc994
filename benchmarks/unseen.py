"""Networks that chose no constant: trained within minutes, and adapted with and without the guard.

``python benchmarks/unseen.py --weights FOLDER --out benchmarks/results/unseen.json`` trains
small networks on clean CIFAR-10, unlike the shipped ones (pre-activations with leaky ReLUs; grouped
convolutions behind a pooled stem; inverted bottlenecks; dense blocks with ELUs; a plain stack with
norms behind activations; group norms; six epochs, no teacher), and follows the fifteen corruptions
with 200 images each in batches of 64. What FOLDER or the file holds already is not done again.
"""

import argparse
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

import trimtab
from trimtab import streams
from trimtab.bench.data import open_source_data
from trimtab.bench.scoring import Scorer
from trimtab.core.files import write_whole
from trimtab.reproduce.experiments.beyond import SETTINGS

METHODS = (
    "source",
    "bn1",
    "tent",
    "roid",
    "bn1, guarded",
    "tent, guarded",
    "roid, guarded",
    "trimtab",
)
SEEDS, IMAGES, BATCH = (1, 2, 3), 200, 64
EPOCHS, TRAINING_BATCH, TRAINING_SEED, MARGIN = 6, 128, 7, 4
MEAN, DEVIATION = (0.4914, 0.4822, 0.4465), (0.247, 0.243, 0.261)

KEY = ("network", "scenario", "method", "seed")


def relu(values: Tensor) -> Tensor:
    """A leaky one."""
    return functional.leaky_relu(values, 0.1)


class PreActivationBlock(nn.Module):
    """Norm, activation, convolution, twice, around a shortcut."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.n1, self.n2 = nn.BatchNorm2d(inside), nn.BatchNorm2d(outside)
        self.c1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.c2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        changes = stride != 1 or inside != outside
        self.sc = nn.Conv2d(inside, outside, 1, stride, bias=False) if changes else None

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = relu(self.n1(inputs))
        shortcut = inputs if self.sc is None else self.sc(hidden)
        return shortcut + self.c2(relu(self.n2(self.c1(hidden))))


class PreActivations(nn.Module):
    """A residual network of 11 layers."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 24, 3, 1, 1, bias=False)
        sizes = ((24, 24, 1), (24, 48, 2), (48, 48, 1), (48, 96, 2), (96, 96, 1))
        self.body = nn.Sequential(*(PreActivationBlock(*size) for size in sizes))
        self.n, self.fc = nn.BatchNorm2d(96), nn.Linear(96, 10)

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = relu(self.n(self.body(self.stem(normalised(inputs)))))
        return self.fc(hidden.mean((2, 3)))


class GroupedBlock(nn.Module):
    """Two convolutions, the second in four groups, around a shortcut."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.c1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.c2 = nn.Conv2d(outside, outside, 3, 1, 1, groups=4, bias=False)
        self.b1, self.b2 = nn.BatchNorm2d(outside), nn.BatchNorm2d(outside)
        project = nn.Conv2d(inside, outside, 1, stride, bias=False)
        self.sc = nn.Sequential(project, nn.BatchNorm2d(outside))

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = functional.relu(self.b1(self.c1(inputs)))
        return functional.relu(self.sc(inputs) + self.b2(self.c2(hidden)))


class PooledStem(nn.Module):
    """Seven layers of convolutions at 16 to 4 px."""

    def __init__(self) -> None:
        super().__init__()
        stem = nn.Conv2d(3, 32, 3, 1, 1, bias=False)
        self.stem = nn.Sequential(stem, nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2))
        sizes = ((32, 48, 1), (48, 96, 2), (96, 128, 2))
        self.body = nn.Sequential(*(GroupedBlock(*size) for size in sizes))
        self.fc = nn.Linear(128, 10)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.fc(self.body(self.stem(normalised(inputs))).mean((2, 3)))


class DepthwiseBlock(nn.Module):
    """Channels are multiplied, filtered one by one and gathered again (inverted bottleneck)."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        wide = 4 * inside
        self.body = nn.Sequential(
            nn.Conv2d(inside, wide, 1, bias=False),
            nn.BatchNorm2d(wide),
            nn.ReLU6(),
            nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False),
            nn.BatchNorm2d(wide),
            nn.ReLU6(),
            nn.Conv2d(wide, outside, 1, bias=False),
            nn.BatchNorm2d(outside),
        )
        self.keeps = stride == 1 and inside == outside

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs + self.body(inputs) if self.keeps else self.body(inputs)


class InvertedBottlenecks(nn.Module):
    """Twenty layers of a mobile network."""

    def __init__(self) -> None:
        super().__init__()
        stem = nn.Conv2d(3, 24, 3, 2, 1, bias=False)
        self.stem = nn.Sequential(stem, nn.BatchNorm2d(24), nn.ReLU6())
        sizes = ((24, 24, 1), (24, 32, 1), (32, 32, 1), (32, 64, 2), (64, 64, 1), (64, 96, 1))
        self.body = nn.Sequential(*(DepthwiseBlock(*size) for size in sizes))
        self.fc = nn.Linear(96, 10)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.fc(self.body(self.stem(normalised(inputs))).mean((2, 3)))


class PlainStack(nn.Module):
    """Five convolutions in a row, each with its norm behind the activation."""

    def __init__(self) -> None:
        super().__init__()
        sizes = ((3, 32, 1), (32, 64, 2), (64, 96, 2), (96, 128, 2), (128, 128, 1))
        layers: list[nn.Module] = []
        for inside, outside, stride in sizes:
            layers.append(nn.Conv2d(inside, outside, 3, stride, 1))
            layers += [nn.GELU(), nn.BatchNorm2d(outside)]
        self.body, self.fc = nn.Sequential(*layers), nn.Linear(128, 10)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.fc(self.body(normalised(inputs)).mean((2, 3)))


class GroupNormBlock(nn.Module):
    """Two convolutions with norms of groups of eight channels around a shortcut."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.c1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.c2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.n1, self.n2 = (nn.GroupNorm(outside // 8, outside) for _ in range(2))
        project = nn.Conv2d(inside, outside, 1, stride, bias=False)
        self.sc = nn.Sequential(project, nn.GroupNorm(outside // 8, outside))

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = functional.silu(self.n1(self.c1(inputs)))
        return functional.silu(self.sc(inputs) + self.n2(self.c2(hidden)))


class GroupNorms(nn.Module):
    """Seven layers of convolutions without batch norms behind patches of 2 x 2 px."""

    def __init__(self) -> None:
        super().__init__()
        stem = nn.Conv2d(3, 48, 2, 2, bias=False)
        self.stem = nn.Sequential(stem, nn.GroupNorm(6, 48))
        sizes = ((48, 48, 1), (48, 96, 2), (96, 160, 2))
        self.body = nn.Sequential(*(GroupNormBlock(*size) for size in sizes))
        self.fc = nn.Linear(160, 10)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.fc(self.body(self.stem(normalised(inputs))).mean((2, 3)))


class DenseLayer(nn.Module):
    """Norm, activation, convolution: sixteen more channels beside those that came in."""

    def __init__(self, inside: int) -> None:
        super().__init__()
        self.n, self.c = nn.BatchNorm2d(inside), nn.Conv2d(inside, 16, 3, 1, 1, bias=False)

    def forward(self, inputs: Tensor) -> Tensor:
        return torch.cat([inputs, self.c(functional.elu(self.n(inputs)))], 1)


class DenseBlocks(nn.Module):
    """Eleven layers, each of which sees all before it, between poolings."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, channels = nn.Conv2d(3, 24, 3, 2, 1, bias=False), 24
        layers: list[nn.Module] = []
        for block in range(3):
            for _ in range(3):
                layers.append(DenseLayer(channels))
                channels += 16
            if block < 2:
                narrow = nn.Conv2d(channels, channels // 2, 1, bias=False)
                layers += [nn.BatchNorm2d(channels), nn.ELU(), narrow, nn.AvgPool2d(2)]
                channels //= 2
        self.body, self.n = nn.Sequential(*layers), nn.BatchNorm2d(channels)
        self.fc = nn.Linear(channels, 10)

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = functional.elu(self.n(self.body(self.stem(normalised(inputs)))))
        return self.fc(hidden.mean((2, 3)))


NETWORKS = {
    "pre-activations": (PreActivations, 0.4),
    "pooled stem": (PooledStem, 0.3),
    "inverted bottlenecks": (InvertedBottlenecks, 0.3),
    "dense blocks": (DenseBlocks, 0.3),
    "plain stack": (PlainStack, 0.1),
    "group norms": (GroupNorms, 0.2),
}
"""Networks, and the highest learning rate of their training."""


def normalised(inputs: Tensor) -> Tensor:
    """Images as the networks want them."""
    mean, deviation = (inputs.new_tensor(values).view(3, 1, 1) for values in (MEAN, DEVIATION))
    return (inputs - mean) / deviation


def trained(name: str, folder: Path) -> nn.Module:
    """A network with the weights that the folder has, or will have."""
    kind, rate = NETWORKS[name]
    torch.manual_seed(TRAINING_SEED)
    network, path = kind(), folder / f"{name}.pt"
    if not path.exists():
        train(network, rate)
        folder.mkdir(parents=True, exist_ok=True)
        torch.save(network.state_dict(), path)
    network.load_state_dict(torch.load(path, weights_only=True))
    return network.eval()


def train(network: nn.Module, rate: float) -> None:
    """Six epochs of cross entropy on shifted and mirrored images."""
    data = open_source_data("cifar10")
    count = len(data)
    pixels = torch.from_numpy(np.ascontiguousarray(data.pixels(np.arange(count))))
    pixels, labels = pixels.permute(0, 3, 1, 2).contiguous(), torch.as_tensor(data.labels).long()
    network.to(memory_format=torch.channels_last).train()
    optimizer = torch.optim.SGD(
        network.parameters(), 0.1, momentum=0.9, weight_decay=5e-4, nesterov=True
    )
    steps = EPOCHS * (count // TRAINING_BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, rate, total_steps=steps, pct_start=0.25
    )
    for epoch in range(EPOCHS):
        for rows in torch.randperm(count).split(TRAINING_BATCH)[: count // TRAINING_BATCH]:
            loss = functional.cross_entropy(network(shifted(pixels[rows])), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(f"epoch {epoch + 1} of {EPOCHS}: loss {loss.detach():.2f}", flush=True)


def shifted(pixels: Tensor) -> Tensor:
    """Images in [0, 1], half of them mirrored, all moved by up to four pixels."""
    images = pixels.float() / 255
    mirrored = torch.rand(len(images)) < 0.5
    images[mirrored] = images[mirrored].flip(-1)
    images = functional.pad(images, (MARGIN,) * 4)
    down, right = torch.randint(0, 2 * MARGIN + 1, (2,))
    moved = images[:, :, down : down + 32, right : right + 32]
    return moved.contiguous(memory_format=torch.channels_last)


def followed(network: nn.Module, scenario: str, method: str, seed: int) -> dict[str, Any]:
    """Error and calibration error in %, and alarms."""
    name, _, guarded = method.partition(", ")
    choice = {} if name == "trimtab" else {"guard": bool(guarded)}
    adapter = trimtab.adapt(network, name, seed=seed, **choice)
    stream = streams.scenario(scenario).stream(
        streams.load("cifar10"), seed=seed, batch_size=BATCH, images_per_domain=IMAGES
    )
    scorer = Scorer(10, stream.domain_names)
    for batch in stream:
        logits = adapter(batch.inputs)
        scorer.update(logits, batch.labels, batch.domain, logits)
    scores = scorer.scores(0.0)
    alarms = adapter.health.alarms if adapter.guard is not None else 0
    return {
        "error": round(100 * scores.error, 2),
        "ece": round(100 * scores.ece, 2),
        "alarms": alarms,
    }


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Markdown: mean error over seeds, a row for each network and method."""
    yield "| network | method | " + " | ".join(SETTINGS) + " |"
    yield "|---|---|" + "---:|" * len(SETTINGS)
    for network, method in product(NETWORKS, METHODS):
        cells = []
        for scenario in SETTINGS:
            place = (network, scenario, method)
            errors = [row["error"] for row in rows if tuple(row[key] for key in KEY[:3]) == place]
            cells.append(f"{sum(errors) / len(errors):.1f}" if errors else "")
        yield f"| {network} | {method} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, required=True, help="folder of trained weights")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=NETWORKS)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    args = parser.parse_args()
    torch.set_num_threads(1)
    trimtab.keep_freed_memory()
    rows = json.loads(args.out.read_text()) if args.out.exists() else []
    done = {tuple(row[key] for key in KEY) for row in rows}
    for name in args.networks:
        network = trained(name, args.weights)
        for case in product([name], SETTINGS, args.methods, args.seeds):
            if case not in done:
                rows.append(dict(zip(KEY, case, strict=True)) | followed(network, *case[1:]))
                lines = ",\n".join(json.dumps(row) for row in rows)
                write_whole(args.out, f"[\n{lines}\n]\n".encode())
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
