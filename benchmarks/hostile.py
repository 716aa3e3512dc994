"""Hostile batches: streams of all methods, norms, options and guards against whatever may come.

``python benchmarks/hostile.py --batches 100000 --out benchmarks/results/hostile.json`` takes that
many batches, in streams of a few each, and counts what happened. Every stream is drawn from its
number alone, so a run can be stopped and goes on where its file ends, and a failure can be looked
at again with ``--only NUMBER``.

What must hold: no exception but ValueError; logits are finite, one row a sample; after a refusal
(ValueError) or an error in the network the state is bit-equal; after any batch the state is finite
and its window not overfull; a saved state goes on as the stream does.
"""

import argparse
import json
import os
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE")

import torch
from rich.console import Console
from rich.progress import Progress
from torch import Tensor, nn

import trimtab
from trimtab.core.adapter import Adapter
from trimtab.core.files import write_whole

BATCHES_A_STREAM = 20
SAVE_EVERY = 25
"""Streams between two writes of the counts."""
NORMS = ("bn", "gn", "ln")
SIDE, CLASSES = 8, 5
FACTORS = (0.0, -1.0, 3.0, 16.5, 255.0, 1e4, 1e10, 1e19, 1e20, 1e30, 3e38)
ADDITIONS = sorted(set(trimtab.COMPONENTS) - {"fisher_penalty", "source_replay"})
"""Components that words can describe."""


class BrokenError(AssertionError):
    """Something that must hold does not."""


class Interruption(KeyboardInterrupt):
    """Raised by the network, as Ctrl-C would be."""


class Dice:
    """Draws from a number's own random state."""

    def __init__(self, seed: int) -> None:
        self.generator = torch.Generator().manual_seed(seed)

    def below(self, count: int) -> int:
        return int(torch.randint(count, (), generator=self.generator))

    def one_of(self, things: Any) -> Any:
        return things[self.below(len(things))]

    def chance(self, probability: float) -> bool:
        return float(torch.rand((), generator=self.generator)) < probability

    def images(self, count: int, side: int = SIDE) -> Tensor:
        return torch.rand(count, 3, side, side, generator=self.generator)


def network(norm: str, dice: Dice) -> nn.Module:
    """A tiny classifier with random weights."""
    layers: dict[str, Callable[[int], nn.Module]] = {
        "bn": nn.BatchNorm2d,
        "gn": lambda width: nn.GroupNorm(2, width),
    }
    if norm == "ln":
        body: list[nn.Module] = [nn.Flatten(), nn.Linear(3 * SIDE * SIDE, 12), nn.LayerNorm(12)]
        body += [nn.GELU(), nn.Linear(12, 12), nn.LayerNorm(12)]
    else:
        make = layers[norm]
        body = [nn.Conv2d(3, 6, 3, padding=1), make(6), nn.ReLU()]
        body += [nn.Conv2d(6, 12, 3, stride=2, padding=1), make(12), nn.ReLU()]
        body += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    made = nn.Sequential(*body, nn.Linear(12, CLASSES))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=dice.generator))
    return made


def method_options(name: str, dice: Dice) -> dict[str, Any]:
    """Options that keep a method quick and reach its corners."""
    source = [(dice.images(6), torch.arange(6) % CLASSES)]
    known: dict[str, dict[str, Any]] = {
        "adacontrast": {"queue_size": 16, "bank_size": 12, "refine_from": 8},
        "cotta": {"views": 2},
        "eata": {"source_data": source},
        "memo": {"views": 2},
        "rmt": dice.one_of(({}, {"source_data": source, "replay": True, "warm_up_samples": 6})),
        "rotta": {"memory_size": 4},
        "santa": dice.one_of(({}, {"source_data": source})),
    }
    return known.get(name, {})


def stream(number: int, dice: Dice) -> tuple[str, Adapter]:
    """The stream of this number and its description."""
    torch.manual_seed(number)  # for the layers' own first weights
    name = list(trimtab.METHODS)[number % len(trimtab.METHODS)]
    norm = NORMS[number // len(trimtab.METHODS) % len(NORMS)]
    spec = name
    if dice.chance(0.3):
        spec += f" + {dice.one_of(ADDITIONS)}"
    options = {
        "window": dice.one_of((None, None, 1, 3, 8)),
        "micro_batch": dice.one_of((None, None, 1, 3)),
        "adapt_every": dice.one_of((1, 1, 2)),
        "budget": dice.one_of((None, None, 1.0, 1.7)),
        "guard": dice.one_of((None, False, True)),
        "seed": dice.below(1000),
    }
    backbone = trimtab.Backbone(network(norm, dice))
    own = method_options(name, dice)
    try:
        return f"{spec} {norm} {options}", trimtab.adapt(backbone, spec, **options, **own)
    except ValueError:  # not every component goes with every method
        return f"{name} {norm} {options}", trimtab.adapt(backbone, name, **options, **own)


def hostile(dice: Dice) -> tuple[str, Any]:
    """A batch and what it is called."""
    batch = dice.images(dice.one_of((1, 1, 2, 3, 5, 9)))
    row = dice.below(len(batch))
    kind = dice.one_of(("honest",) * 6 + (*KINDS,))
    return kind, batch if kind == "honest" else KINDS[kind](batch, row, dice)


def _with(batch: Tensor, row: int, value: float) -> Tensor:
    batch[row, 0, 0, 0] = value
    return batch


def _scaled_row(batch: Tensor, row: int, dice: Dice) -> Tensor:
    batch[row] *= dice.one_of(FACTORS)
    return batch


KINDS: dict[str, Callable[[Tensor, int, Dice], Any]] = {
    "one row scaled": _scaled_row,
    "all scaled": lambda x, row, dice: x * dice.one_of(FACTORS),
    "constant": lambda x, row, dice: torch.full_like(x, dice.one_of((0.0, 0.5, 1.0))),
    "one pixel": lambda x, row, dice: _with(x, row, dice.one_of((50.0, -1e6, 1e30))),
    "repeated": lambda x, row, dice: x[:1].expand(7, -1, -1, -1),
    "denormal": lambda x, row, dice: x * 1e-42,
    "NaN": lambda x, row, dice: _with(x, row, float("nan")),
    "infinite": lambda x, row, dice: _with(x, row, float("-inf")),
    "empty": lambda x, row, dice: x[:0],
    "another size": lambda x, row, dice: dice.images(2, SIDE - 1),
    "another type": lambda x, row, dice: x.double(),
    "bytes": lambda x, row, dice: (255 * x).byte(),
    "one sample without a batch": lambda x, row, dice: x[0],
    "sparse": lambda x, row, dice: x.to_sparse(),
    "meta": lambda x, row, dice: x.to("meta"),
    "no tensor": lambda x, row, dice: x.tolist(),
    "channels last": lambda x, row, dice: x.contiguous(memory_format=torch.channels_last),
    "needs gradients": lambda x, row, dice: x.requires_grad_(),
}


def same(left: Any, right: Any) -> bool:
    """Whether two captured states are bit-equal."""
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, Tensor):
        return left.dtype == right.dtype and torch.equal(left, right)
    return bool(left == right)


def demand(holds: bool, what: str) -> None:
    if not holds:
        raise BrokenError(what)


def check_state(adapter: Adapter) -> None:
    state = adapter.state
    groups = [state.params, state.statistics, *state.memory.values(), *state.moments.values()]
    tensors = [tensor for group in groups for tensor in group.values()]
    finite = all(bool(t.isfinite().all()) for t in tensors if t.is_floating_point())
    demand(finite, "the state is not finite")
    demand(all(t.grad is None for t in state.trained()), "a gradient is left behind")
    room = state.window.room
    demand(room is None or room > 0, f"the window is overfull: room {room}")


def call(adapter: Adapter, kind: str, batch: Any, dice: Dice, counts: Counter[str]) -> None:
    """One batch: taken, refused, or interrupted in the network."""
    counts[f"kind: {kind}"] += 1
    before = adapter.state_dict()
    interrupted = dice.chance(0.05)
    if interrupted:
        layer = dice.one_of([m for m in adapter.backbone.model.modules() if not list(m.children())])
        left = [dice.below(6)]

        def interrupt(*_: Any) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise Interruption

        handle = layer.register_forward_pre_hook(interrupt)
    try:
        promised = adapter.predict(batch) if dice.chance(0.1) else None
        demand(promised is None or bool(promised.isfinite().all()), "predict is not finite")
        demand(same(adapter.state_dict(), before), "predict has changed the state")
        logits = adapter(batch)
    except (ValueError, Interruption) as error:
        counts["refused" if isinstance(error, ValueError) else "interrupted"] += 1
        demand(same(adapter.state_dict(), before), f"the state has changed after {error!r}")
        return
    finally:
        if interrupted:
            handle.remove()
    counts["taken"] += 1
    demand(bool(logits.isfinite().all()), "logits are not finite")
    demand(logits.shape == (len(batch), CLASSES), f"logits have shape {tuple(logits.shape)}")
    demand(not logits.requires_grad, "logits need gradients")


def run(number: int) -> Counter[str]:
    """One stream; raises what must not happen."""
    dice, counts = Dice(number), Counter[str]()
    described, adapter = stream(number, dice)
    twin: Adapter | None = None
    try:
        for _ in range(BATCHES_A_STREAM):
            kind, batch = hostile(dice)
            counts["batches"] += 1
            if dice.chance(0.05):
                adapter.reset()
            if dice.chance(0.05):
                twin = adapter.clone()
                twin.load_state_dict(adapter.state_dict())
                demand(same(twin.state_dict(), adapter.state_dict()), "a load changes the state")
            call(adapter, kind, batch, dice, counts)
            check_state(adapter)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and not isinstance(error, Interruption):
            raise
        raise BrokenError(f"stream {number}: {described}: {kind}: {error!r}") from error
    for name in ("refused_samples", "skipped_updates", "updates", "samples"):
        counts[name] += getattr(adapter.counters, name)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=2000)
    parser.add_argument("--out", type=Path, help="counts; a run goes on where this file ends")
    parser.add_argument("--only", type=int, help="this stream alone")
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.only is not None:
        print(dict(run(args.only)))
        return
    done: dict[str, Any] = {"streams": 0, "counts": {}, "broken": []}
    if args.out and args.out.exists():
        done = json.loads(args.out.read_text())
    counts, total = Counter[str](done["counts"]), -(-args.batches // BATCHES_A_STREAM)
    console = Console()
    with Progress(console=console) as progress:
        task = progress.add_task("streams", total=total, completed=done["streams"])
        for number in range(done["streams"], total):
            try:
                counts += run(number)
            except BrokenError as error:
                done["broken"].append(str(error))
                console.print(f"[red]{error}")
                traceback.print_exception(error.__cause__)
            done |= {"streams": number + 1, "counts": dict(sorted(counts.items()))}
            progress.advance(task)
            if args.out and (number + 1 == total or number % SAVE_EVERY == 0):
                write_whole(args.out, (json.dumps(done, indent=2) + "\n").encode())
    console.print(dict(sorted(counts.items())))
    console.print(f"{len(done['broken'])} broken")
    raise SystemExit(bool(done["broken"]))


if __name__ == "__main__":
    main()
