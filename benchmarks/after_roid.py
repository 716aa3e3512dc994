"""Methods after ROID in one run with ROID: ``python benchmarks/after_roid.py table --out FILE``.

``table``: methods x networks x settings. ``long``: recurring domains and walks of equal difficulty,
with and without the guard. ``compare``: what label-free estimates choose, and what it costs.
Each line of the file is one result; what is there is not done again, and ``--seconds`` ends a run
before a time limit does, so that it can be resumed.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import trimtab
from trimtab.bench.data import open_source_data
from trimtab.models import load
from trimtab.models.loading import build
from trimtab.predict.compare import compare
from trimtab.streams import load as load_images
from trimtab.streams import scenario
from trimtab.streams.remembered import Remembered

SETTINGS = (
    "continual",
    "correlated",
    "mixed",
    "mixed_correlated(delta=0.1)",
    "mixed_correlated(delta=0.01)",
)
NETWORKS = ("resnet20_gn", "vit", "resnet20_bn")
METHODS = (
    "source", "roid", "tent", "come", "zerosiam", "spa", "asr", "rmemsafe", "reservoir", "neo",
    "t3a", "foa", "pea", "trimtab",
)  # fmt: skip
COMPARED = ("bn1", "neo", "tent", "roid", "trimtab")
LONG_METHODS = ("source", "tent", "roid", "asr", "rmemsafe", "reservoir", "trimtab")
PREFIX = {"fashion_mnist": "fashion", "cifar10": "cifar10"}
BINS = 15
SOURCE_IMAGES = 256

Job = dict[str, Any]


def table_jobs(data: str) -> Iterator[Job]:
    for setting in SETTINGS:
        for network in NETWORKS:
            for method in METHODS:
                yield {"data": data, "network": network, "setting": setting, "method": method}


def long_jobs(data: str) -> Iterator[Job]:
    for network in NETWORKS:
        name = f"{PREFIX[data]}_{network}"
        walk = f"walk(calibration='{name}', difficulty='{{}}', speed='fast', legs=45)"
        streams = ("recurring(rounds=20)", walk.format("medium"), walk.format("hard"))
        for setting in streams:
            for method in LONG_METHODS:
                for guard in (False, True) if method != "source" else (False,):
                    job = {"data": data, "network": network, "setting": setting}
                    yield {**job, "method": method, "guard": guard}


def compare_jobs(data: str) -> Iterator[Job]:
    """Streams of domains that were not seen while the rule was chosen, and one in class order."""
    single = "single(domain='{}')"
    domains = ("shot_noise", "motion_blur", "frost", "brightness", "jpeg_compression")
    for setting in (*map(single.format, domains), "single(domain='frost', delta=0.1)"):
        for network in NETWORKS:
            yield {"data": data, "network": network, "setting": setting, "method": "compare"}


@cache
def images(data: str) -> Remembered:
    return Remembered(load_images(data), most_bytes=256 * 1024**2)


@cache
def backbone(name: str) -> trimtab.Backbone:
    return load(name)


class Batches:
    """The latest stream, so that methods share its images."""

    key: tuple[Any, ...] = ()
    batches: list[tuple[Tensor, Tensor]]

    def of(self, job: Job, per_domain: int, seed: int) -> list[tuple[Tensor, Tensor]]:
        key = (job["data"], job["setting"], per_domain, seed)
        if key != self.key:
            stream = scenario(job["setting"]).stream(
                images(job["data"]), seed=seed, images_per_domain=per_domain
            )
            self.batches = [(batch.inputs, batch.labels) for batch in stream]
            self.key = key
        return self.batches


@cache
def source_data(data: str) -> list[Tensor]:
    """Clean images of the training set, without labels, for methods that need some."""
    stream = scenario("single(domain='clean')").stream(
        open_source_data(data), seed=0, images_per_domain=SOURCE_IMAGES
    )
    return [batch.inputs for batch in stream]


def started(job: Job) -> trimtab.Adapter:
    """The method on its network; with prompts, or with blocks that can be aligned."""
    name, options = f"{PREFIX[job['data']]}_{job['network']}", {}
    network: Any = backbone(name)
    if job["method"] in ("foa", "pea"):
        options["source_data"] = source_data(job["data"])
        wrap = trimtab.aligned if job["method"] == "pea" else trimtab.prompted
        network = wrap(build(name)) if wrap is trimtab.aligned or "vit" in name else network
    return trimtab.adapt(network, job["method"], guard=job.get("guard", False), **options)


def followed(job: Job, batches: list[tuple[Tensor, Tensor]]) -> dict[str, Any]:
    """Error, calibration error, cost and memory of a method on a stream."""
    adapter = started(job)
    right, sure, seconds = [], [], time.process_time()
    for inputs, labels in batches:
        confidence, predicted = adapter(inputs).softmax(1).max(1)
        right.append(predicted == labels)
        sure.append(confidence)
    seconds = time.process_time() - seconds
    hits, confidence = torch.cat(right).float(), torch.cat(sure)
    last = hits[-len(hits) // 20 :]
    counters = adapter.counters
    state = adapter.state_dict()
    return {
        "images": len(hits),
        "error": round(100 * (1 - float(hits.mean())), 2),
        "last_error": round(100 * (1 - float(last.mean())), 2),
        "ece": round(100 * calibration_error(hits, confidence), 2),
        "forwards": round(counters.forward_samples / counters.samples, 2),
        "backwards": round(counters.backward_samples / counters.samples, 2),
        "ms": round(1000 * seconds / len(hits), 3),
        "kilobytes": round(sum(t.nbytes for t in tensors(state)) / 1024, 1),
        "resets": counters.resets,
    }


def tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from tensors(part)


def calibration_error(hits: Tensor, confidence: Tensor) -> float:
    places = (confidence * BINS).long().clamp(max=BINS - 1)
    gaps = [
        (hits[places == b].mean() - confidence[places == b].mean()).abs() * (places == b).sum()
        for b in range(BINS)
        if bool((places == b).any())
    ]
    return float(torch.stack(gaps).sum()) / len(hits)


def chosen(job: Job, batches: list[tuple[Tensor, Tensor]]) -> dict[str, Any]:
    """What label-free estimates choose, and the true errors of all that was compared."""
    network = backbone(f"{PREFIX[job['data']]}_{job['network']}")
    found = compare(network, [inputs for inputs, _ in batches], COMPARED)
    errors = {
        method: followed({**job, "method": method}, batches)["error"]
        for method in ("source", *COMPARED)
    }
    return {"choice": found.choice, "errors": errors, "estimates": found.record()["estimates"]}


KINDS: dict[str, tuple[Callable[[str], Iterator[Job]], Callable[..., dict[str, Any]]]] = {
    "table": (table_jobs, followed),
    "long": (long_jobs, followed),
    "compare": (compare_jobs, chosen),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--data", default="fashion_mnist", choices=PREFIX)
    parser.add_argument("--images-per-domain", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--only", nargs="*", default=[], help="texts that a job has to hold")
    parser.add_argument("--without", nargs="*", default=[], help="texts that it must not hold")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    jobs, work = KINDS[args.kind]
    done = {key(json.loads(line)) for line in lines(args.out)}
    shared, started = Batches(), time.monotonic()
    for job in jobs(args.data):
        job |= {"images_per_domain": args.images_per_domain, "seed": args.seed}
        words = json.dumps(job)
        named = job["method"] in trimtab.METHODS or args.kind == "compare"
        wanted = all(w in words for w in args.only) and not any(w in words for w in args.without)
        if not named or not wanted or key(job) in done:
            continue
        if time.monotonic() - started > args.seconds:
            return
        result = work(job, shared.of(job, args.images_per_domain, args.seed))
        with args.out.open("a") as file:
            file.write(json.dumps({**job, **result}) + "\n")


def key(row: Job) -> tuple[Any, ...]:
    names = ("data", "network", "setting", "method", "guard", "images_per_domain", "seed")
    return tuple(row.get(name) for name in names)


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


if __name__ == "__main__":
    main()
