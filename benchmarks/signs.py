"""Which label-free signs tell harm: rank correlation with the true loss against the source.

``python benchmarks/signs.py --out benchmarks/results/signs.json`` follows streams of the four
validation corruptions, made of training images that no network was trained on, with several
methods; cuts them into windows of 256 samples, and compares each sign with how many more mistakes
the adapted model made there than the source model. It takes about half an hour of one core.
*Stability* is weighed by the guard's own code, as if every batch were looked at; only that it does
not ask the source twice where that says a class too often.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from scipy.stats import spearmanr

import trimtab
from trimtab import models
from trimtab.core.files import write_whole
from trimtab.core.guard.merit import Said as Models
from trimtab.core.guard.merit import usual_classes
from trimtab.streams.cifar10 import cifar10
from trimtab.streams.corruptions import VALIDATION
from trimtab.streams.data import LabelledImages
from trimtab.streams.hostile import Frames, Source

WINDOW, BATCH, CLASSES = 256, 64, 10
HELD_OUT = 2000
"""Last training images, which every recipe leaves out."""
NETWORKS = ("validation_plain_bn", "validation_gn_weak")
METHODS = ("tent", "tent(lr=0.01)", "roid", "lame", "sar", "bn1", "cotta(views=4)", "trimtab")
STREAMS = ("continual", "mixed", "one class", "correlated", "noise", "clean")

Said = npt.NDArray[np.int64]


def frames(name: str, source: Source) -> list[Frames]:
    """The stretches of a stream."""
    labels = source.images.labels
    if name == "continual":
        return [source.show(source.draw(500, d), d) for d in VALIDATION]
    if name == "correlated":
        drawn = [source.draw(500, d) for d in VALIDATION]
        ordered = [image[np.argsort(labels[image], kind="stable")] for image in drawn]
        return [source.show(image, d) for image, d in zip(ordered, VALIDATION, strict=True)]
    if name == "mixed":
        parts = [source.show(source.draw(500, d), d) for d in VALIDATION]
        inputs, truth = torch.cat([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
        order = np.random.default_rng(source.seed).permutation(len(truth))
        return [(inputs[torch.from_numpy(order)], truth[order])]
    clean = source.show(source.draw(700, "clean"))
    if name == "one class":
        return [source.show(source.draw(1100, "one", 3)), clean]
    if name == "noise":
        noise = torch.rand(640, 3, 32, 32, generator=torch.Generator().manual_seed(source.seed))
        spatter = source.show(source.draw(600, "spatter"), "spatter")
        return [(noise, np.full(640, -1)), clean, spatter]
    return [source.show(source.draw(1500, "clean"))]


def follow(network: str, method: str, stream: str, source: Source) -> dict[str, Said]:
    """What was said of each sample and of its mirror image, by both models; and the truth."""
    backbone = models.load(network)
    adapter = trimtab.adapt(backbone, method, guard=False)
    found: dict[str, list[Any]] = {name: [] for name in ("truth", "s", "s_view", "a", "a_view")}
    for inputs, truth in frames(stream, source):
        for start in range(0, len(truth), BATCH):
            batch = inputs[start : start + BATCH]
            mirrored = batch.flip(3)
            with torch.no_grad():
                found["s"].append(backbone(batch).logits.argmax(1).numpy())
                found["s_view"].append(backbone(mirrored).logits.argmax(1).numpy())
            found["a_view"].append(adapter.predict(mirrored).argmax(1).numpy())
            found["a"].append(adapter(batch).argmax(1).numpy())
            found["truth"].append(truth[start : start + BATCH])
    said = {name: np.concatenate(values) for name, values in found.items()}
    return said | {"harm": weighed({name: torch.from_numpy(said[name]) for name in found})}


def weighed(said: dict[str, torch.Tensor]) -> npt.NDArray[Any]:
    """Harm of each sample as the guard weighs it, batch after batch."""
    usual, found = torch.zeros(0), []
    for start in range(0, len(said["truth"]), BATCH):
        a, a_view, s, s_view = (
            said[n][start : start + BATCH] for n in ("a", "a_view", "s", "s_view")
        )
        before = slice(max(0, start - BATCH), start)
        earlier = torch.stack([said["a"][before], said["s"][before]], 1).flip(0)
        models_say = Models(a, s, earlier, CLASSES)
        doubts = models_say.biased(usual) if len(usual) else None
        harms = models_say.harms(a == a_view, s == s_view, doubts)
        found.append(models_say.in_a_run(harms, usual, 0.0) if len(usual) else harms)
        usual = usual_classes(usual, s, CLASSES, before=start)
    return torch.cat(found).numpy()


def signs(said: dict[str, Said], part: slice) -> dict[str, float]:
    """Signs of harm in a window: larger is worse."""
    s, a, s_view, a_view = (said[name][part] for name in ("s", "a", "s_view", "a_view"))
    shares = np.bincount(a, minlength=CLASSES) / len(a)
    source_shares = np.bincount(s, minlength=CLASSES) / len(s)
    variety = _effective(source_shares) / CLASSES
    stable, source_stable = (a == a_view) * 1.0, (s == s_view) * 1.0
    chance, source_chance = (shares**2).sum(), (source_shares**2).sum()
    kappa = (stable.mean() - chance) / (1 - chance + 1e-3)
    source_kappa = (source_stable.mean() - source_chance) / (1 - source_chance + 1e-3)
    favourites = np.argsort(source_shares - shares)[:2]
    flow = np.isin(a, favourites) * 1.0 - np.isin(s, favourites)
    concentrated = _effective(shares) < 0.97 * _effective(source_shares)
    return {
        "disagreement": float((a != s).mean()),
        "source stability less own": float(source_stable.mean() - stable.mean()),
        "the same beyond chance (kappa)": float(source_kappa - kappa),
        "fewer classes than the source": float(
            np.log(_effective(source_shares) / _effective(shares))
        ),
        "flow into favourites": float(variety**8 * flow.mean() * concentrated),
        "stability": float(said["harm"][part].mean()),
    }


def _effective(shares: npt.NDArray[np.float64]) -> float:
    known = shares[shares > 0]
    return float(np.exp(-(known * np.log(known)).sum()))


def windows(said: dict[str, Said]) -> Iterator[tuple[float, dict[str, float]]]:
    """The true loss against the source, a share, and the signs, window by window."""
    for start in range(0, len(said["truth"]) - WINDOW // 2, WINDOW):
        part = slice(start, start + WINDOW)
        truth = said["truth"][part]
        if (truth >= 0).all():
            harm = (said["a"][part] != truth).mean() - (said["s"][part] != truth).mean()
            yield float(harm), signs(said, part)


def table(found: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Rank correlations of each sign: over all windows, by network, by stream."""
    result: dict[str, dict[str, float]] = {}
    for sign in found[0]["signs"]:
        result[sign] = {"all": _correlation(found, sign)}
        for key, names in (("network", NETWORKS), ("stream", STREAMS)):
            for name in names:
                chosen = [window for window in found if window[key] == name]
                if len(chosen) > 2:
                    result[sign][name] = _correlation(chosen, sign)
    return result


def told(found: list[dict[str, Any]]) -> dict[str, float]:
    """Shares of windows that *stability* or concentration calls harmful: of those with more than 5
    points of harm, and of those where adapting helps by more than 2."""
    called = [
        (max(w["signs"]["stability"], w["signs"]["flow into favourites"]) > 0.02, w["harm"])
        for w in found
    ]
    harmed, helped = ([c for c, h in called if h > 0.05], [c for c, h in called if h < -0.02])
    return {
        "harm found": round(float(np.mean(harmed)), 3) if harmed else 0.0,
        "help called harm": round(float(np.mean(helped)), 3) if helped else 0.0,
    }


def _correlation(found: list[dict[str, Any]], sign: str) -> float:
    pairs = [(window["signs"][sign], window["harm"]) for window in found]
    return round(float(spearmanr(*zip(*pairs, strict=True))[0]), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    args = parser.parse_args()
    torch.set_num_threads(1)
    trimtab.keep_freed_memory()
    pixels, labels = cifar10("train")
    images = LabelledImages(pixels[-HELD_OUT:], labels[-HELD_OUT:].astype(np.int64))
    source, found = Source(images, args.seed, VALIDATION), []
    for method in args.methods:
        for network in NETWORKS:
            if method == "bn1" and "bn" not in network:
                continue
            for stream in STREAMS:
                said = follow(network, method, stream, source)
                what = {"network": network, "stream": stream}
                found += [what | {"harm": harm, "signs": s} for harm, s in windows(said)]
                print(method, network, stream, len(found), flush=True)
                made = {"windows": len(found), "correlations": table(found), **told(found)}
                write_whole(args.out, (json.dumps(made, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
