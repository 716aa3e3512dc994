"""What a TENT and a ROID step cost, as multiples of a plain forward, and where the time goes.

``python benchmarks/step.py`` times, for each network, a plain forward in evaluation mode, the
passes that a step cannot do without (bare torch, no trimtab), and the steps themselves. All are
interleaved in one process, so that whatever else the machine does meets all of them; each number
is the median over rounds. Every step is timed from the same state, restored before it.

Times of networks at 224 px are for random weights: they do not depend on the values, and what
share of a batch ROID keeps is counted and given to the bare passes too.

Beside them stand the step of the public code (test-time-adaptation by Marsden and Döbler), as
recorded multiples of a contiguous plain forward, and a floor: what convolutions, matrix products
and attention take in the step, as if all else were free. ``--compile`` times steps with
``compile=True`` too, after the graphs were made.
"""

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

import trimtab
from trimtab import models
from trimtab.components.augmentation_consistency import AugmentationConsistency
from trimtab.core import learner
from trimtab.core.adapter import Adapter
from trimtab.core.learner import Learner
from trimtab.core.norm import is_norm_layer
from trimtab.core.passes import Alone

CLOCK = time.perf_counter
"""With one thread on a busy machine, the processor's own time says more: ``--clock cpu``."""

LAYOUTS = {
    "contiguous": (torch.contiguous_format, torch.contiguous_format),
    "channels-last": (torch.channels_last, torch.channels_last),
    "channels-last inputs": (torch.contiguous_format, torch.channels_last),
}
"""Memory formats of the weights and of the inputs; trimtab never copies weights."""

PEER = {
    "resnet20": {"tent": 2.36, "roid": 3.58},
    "resnet50": {"tent": 2.35, "roid": 3.54},
    "vit_b_16": {"tent": 2.58, "roid": 4.01},
}
"""The public code's step in plain forwards (contiguous), measured once in one process with ours:
random images, one thread, processor time, batches of 200, 12 and 8."""

MATRIX_WORK = ("conv", "addmm", "aten::mm", "bmm", "linear", "attention")
"""Parts of names of operations that no fusing makes cheaper."""

PARTS: dict[str, tuple[Any, str]] = {
    "forward": (Learner, "predict"),
    "augment": (AugmentationConsistency, "views"),
    "second forward": (Learner, "further_pass"),
    "backward": (Alone, "backward"),
    "optimiser + ensembling": (learner, "update"),
    "output": (Learner, "correct"),
}
"""Parts of a step by what does them."""


@dataclass(frozen=True)
class Case:
    """One network and the batch it gets."""

    model: str
    weights: str | None
    batch: int
    side: int


CASES = {
    "resnet20": Case("cifar10_resnet20_bn", None, 200, 32),
    "resnet50": Case("resnet50", "random", 64, 224),
    "vit_b_16": Case("vit_b_16", "random", 64, 224),
    "resnet20_gn": Case("cifar10_resnet20_gn", None, 200, 32),
}


def network(case: Case) -> nn.Module:
    """The case's network; a head of zeros gets values, since equal logits leave nothing out."""
    torch.manual_seed(0)
    made = models.build(case.model, weights=case.weights)
    head = [layer for layer in made.modules() if isinstance(layer, nn.Linear)][-1]
    if not bool(head.weight.any()):
        nn.init.normal_(head.weight, std=0.1)
    return made


def bare_network(network: nn.Module, *, batch_statistics: bool) -> nn.Module:
    """The network with gradients for its norm layers alone, in the state that steps use."""
    network.eval().requires_grad_(False)
    for layer in network.modules():
        if is_norm_layer(layer):
            layer.requires_grad_(True)
        if batch_statistics and isinstance(layer, _BatchNorm):
            layer.running_mean = layer.running_var = None
    return network


def bare_passes(network: nn.Module, inputs: Tensor, kept: int) -> None:
    """Forward and backward on the batch, and on ``kept`` of its samples again."""
    loss = network(inputs).log_softmax(1).square().mean()
    if kept:
        loss = loss + network(inputs[:kept]).log_softmax(1).square().mean()
    loss.backward()
    network.zero_grad(set_to_none=True)


@contextmanager
def watched(spent: dict[str, float]) -> Iterator[None]:
    """Add to ``spent`` what each part of a step takes, in seconds."""

    def timing(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **options: Any) -> Any:
            start = CLOCK()
            try:
                return function(*args, **options)
            finally:
                spent[part] = spent.get(part, 0.0) + CLOCK() - start

        return timed

    with ExitStack() as stack:
        for part, (owner, name) in PARTS.items():
            stack.enter_context(patch.object(owner, name, timing(part, getattr(owner, name))))
        yield


@dataclass
class Stream:
    """An adapter and the state that each timed step begins from."""

    adapter: Adapter
    inputs: Tensor
    state: dict[str, Any]
    kept: int

    @classmethod
    def warm(cls, adapter: Adapter, inputs: Tensor) -> "Stream":
        """A stream past its first step, which is not like the others."""
        adapter(inputs)
        state = adapter.state_dict()
        before = adapter.counters.forward_samples
        adapter(inputs)
        kept = adapter.counters.forward_samples - before - len(inputs)
        return cls(adapter, inputs, state, kept)

    def step_seconds(self, spent: dict[str, list[float]] | None = None) -> float:
        """The duration of one step; its parts are appended to ``spent``."""
        self.adapter.load_state_dict(self.state)
        parts: dict[str, float] = {}
        if spent is None:
            return seconds(lambda: self.adapter(self.inputs))
        with watched(parts):
            whole = seconds(lambda: self.adapter(self.inputs))
        for part in PARTS:
            spent.setdefault(part, []).append(parts.get(part, 0.0))
        spent.setdefault("rest", []).append(whole - sum(parts.values()))
        return whole


def floor_share(step: Callable[[], Any]) -> float:
    """Share of a step's time that convolutions, matrix products and attention take."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        step()
    spent = {event.key: event.self_cpu_time_total for event in profile.key_averages()}
    matrix = sum(t for key, t in spent.items() if any(word in key for word in MATRIX_WORK))
    return matrix / sum(spent.values())


def seconds(work: Callable[[], Any]) -> float:
    """How long some work takes."""
    start = CLOCK()
    work()
    return CLOCK() - start


def measure(
    case: Case, rounds: int, layouts: list[str], advance: Callable[[], None], compiled: bool
) -> dict[str, Any]:
    """Medians of all that is timed for one network, in seconds."""
    torch.manual_seed(0)
    inputs = torch.rand(case.batch, 3, case.side, case.side)
    backbone = trimtab.Backbone(network(case))
    tent = Stream.warm(trimtab.adapt(backbone, "tent"), inputs)
    roid = Stream.warm(trimtab.adapt(backbone, "roid"), inputs)
    times: dict[str, list[float]] = {}
    parts: dict[str, list[float]] = {}
    jobs: dict[str, Callable[[], float]] = {}
    for layout in layouts:
        of_weights, of_inputs = LAYOUTS[layout]
        bare = network(case).to(memory_format=of_weights)
        plain = network(case).to(memory_format=of_weights)
        shown = inputs.contiguous(memory_format=of_inputs)
        bare = safe(bare_network(bare, batch_statistics=True))
        jobs |= bare_jobs(plain, bare, shown, roid.kept, layout)
    jobs |= {
        "tent step": lambda: tent.step_seconds(),
        "roid step": lambda: roid.step_seconds(parts),
    }
    first: dict[str, float] = {}
    for method in ("tent", "roid") if compiled else ():
        adapter = trimtab.adapt(backbone, method, compile=True)
        adapter(inputs)  # plain where it makes one pass
        first[method] = seconds(partial(adapter, inputs))
        jobs[f"{method} step, compiled"] = Stream.warm(adapter, inputs).step_seconds
    for number in range(rounds + 1):
        for name, job in jobs.items():
            duration = job()
            if number:  # the first round warms up
                times.setdefault(name, []).append(duration)
        advance()
    parts = {part: values[1:] for part, values in parts.items()}
    return {
        **asdict(case),
        "kept": roid.kept,
        "compiling": first,
        "floor": {
            name: floor_share(partial(stream.adapter, inputs)) * statistics.median(times[job])
            for name, stream, job in (("tent", tent, "tent step"), ("roid", roid, "roid step"))
        },
        "seconds": {name: statistics.median(values) for name, values in times.items()},
        "fastest": {name: min(values) for name, values in times.items()},
        "parts": {name: statistics.median(values) for name, values in parts.items()},
    }


def safe(network: nn.Module) -> nn.Module:
    """The network with the guard that keeps torch's group norm from crashing on channels-last."""
    from trimtab.core import norm

    for layer in network.modules():
        if isinstance(layer, nn.GroupNorm):
            layer.register_forward_pre_hook(norm.contiguous_where_backward_crashes)
    return network


def bare_jobs(
    plain: nn.Module, bare: nn.Module, inputs: Tensor, kept: int, layout: str
) -> dict[str, Callable[[], float]]:
    """The jobs without trimtab, for one memory layout."""

    def forward() -> None:
        with torch.inference_mode():
            plain(inputs)

    return {
        f"plain forward, {layout}": lambda: seconds(forward),
        f"tent passes, {layout}": lambda: seconds(lambda: bare_passes(bare, inputs, 0)),
        f"roid passes, {layout}": lambda: seconds(lambda: bare_passes(bare, inputs, kept)),
    }


def best(result: dict[str, Any], job: str, statistic: str = "seconds") -> float:
    """Seconds of a job without trimtab, at the layout where it is fastest."""
    return min(value for name, value in result[statistic].items() if name.startswith(f"{job}, "))


def ratios(result: dict[str, Any], statistic: str = "seconds") -> dict[str, float]:
    """What the tables show: multiples of the plain forward and of the own passes."""
    found, plain = result[statistic], best(result, "plain forward", statistic)
    more = {}
    for method in ("tent", "roid"):
        name, job = method.upper(), f"{method} step, compiled"
        if statistic == "seconds":
            more[f"{name}'s floor"] = result["floor"][method] / plain
        if job in found:
            more[f"{name} step, compiled"] = found[job] / plain
    return more | {
        "TENT step": found["tent step"] / plain,
        "TENT's passes": best(result, "tent passes", statistic) / plain,
        "TENT step / passes": found["tent step"] / best(result, "tent passes", statistic),
        "ROID step": found["roid step"] / plain,
        "ROID's passes": best(result, "roid passes", statistic) / plain,
        "ROID step / passes": found["roid step"] / best(result, "roid passes", statistic),
    }


def against_peer(name: str, result: dict[str, Any]) -> dict[str, float]:
    """Each step as a share of the public code's, by a plain forward of contiguous images."""
    found = result["seconds"]
    plain = found.get("plain forward, contiguous")
    if plain is None or name not in PEER:
        return {}
    return {
        job: found[job] / plain / peer
        for method, peer in PEER[name].items()
        for job in (f"{method} step", f"{method} step, compiled")
        if job in found
    }


def show(console: Console, name: str, result: dict[str, Any]) -> None:
    """Two tables: the steps, and the parts of a ROID step."""
    plain = best(result, "plain forward")
    steps = Table("step", "x plain forward", title=f"{name}, batch {result['batch']}")
    steps.add_row("plain forward", f"1 = {plain * 1000:.0f} ms")
    for row, value in ratios(result).items():
        steps.add_row(row, f"{value:.2f}")
    for row, value in against_peer(name, result).items():
        steps.add_row(f"{row} / the public code's", f"{value:.2f}")
    for part, value in result["parts"].items():
        steps.add_row(f"  ROID: {part}", f"{value / plain:.3f}")
    console.print(steps)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES)[:3])
    parser.add_argument("--batch", type=int, help="images a batch, where 64 take too long")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--layouts", nargs="+", choices=LAYOUTS, default=list(LAYOUTS))
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--compile", action="store_true", help="with torch.compile, too")
    parser.add_argument("--json", type=Path, help="where to write the numbers")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    if args.clock == "cpu":
        global CLOCK
        CLOCK = time.process_time
    console, results = Console(), {}
    with Progress(console=console) as progress:
        for name in args.cases:
            case = CASES[name]
            if args.batch and case.side > 32:
                case = Case(case.model, case.weights, args.batch, case.side)
            task = progress.add_task(name, total=args.rounds + 1)
            advance = partial(progress.advance, task)
            results[name] = measure(case, args.rounds, args.layouts, advance, args.compile)
    for name, result in results.items():
        show(console, name, result)
    if args.json:
        machine = {
            "threads": args.threads,
            "clock": args.clock,
            "torch": torch.__version__,
            "cpu": platform.machine(),
        }
        ours = {
            name: {
                **result,
                "ratios": ratios(result),
                "against_public_code": against_peer(name, result),
            }
            for name, result in results.items()
        }
        args.json.write_text(json.dumps({"machine": machine, "cases": ours}, indent=2) + "\n")


if __name__ == "__main__":
    main()
