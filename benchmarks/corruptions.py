"""Images per second of every corruption, against ``imagecorruptions-imaug`` in the same run.

``pip install 'trimtab[compare]'`` and ``python benchmarks/corruptions.py``. Each corruption runs at
severities 1, 3 and 5. The other package works on one image at a time; ours on batches, on as many
threads as torch uses. Runs take turns and the best of each counts, so that both meet the same
machine. On a machine that others use too, ``--cpu`` counts processor time, summed over threads.
``--pillow`` needs no other package: ``pixelate`` and ``jpeg_compression`` against Pillow's calls.
"""

import argparse
import io
import time
import warnings
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image

from trimtab.streams.corruptions import BENCHMARK, Corruptor, severity

LEVELS = (1, 3, 5)
Pixels = npt.NDArray[np.uint8]


def main() -> None:
    """Print a row for each corruption and the total."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=224, help="image side in pixels")
    parser.add_argument("--images", type=int, default=32, help="images in our batch")
    parser.add_argument("--theirs", type=int, default=4, help="images for the other package")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help="without the other package")
    parser.add_argument("--cpu", action="store_true", help="processor time, not wall time")
    parser.add_argument("--pillow", action="store_true", help="two of them against Pillow")
    args = parser.parse_args()
    clock = time.process_time if args.cpu else time.perf_counter
    warnings.simplefilter("ignore")
    images = scenes(args.images, args.side)
    print(f"{args.side} px, {torch.get_num_threads()} threads; milliseconds per image")
    total = np.zeros(2)
    for name in PILLOW if args.pillow else BENCHMARK:
        runs = [our_run(images, name)]
        if args.pillow:
            runs.append(pillow_run(images[: args.theirs], name))
        elif not args.alone:
            runs.append(their_run(images[: args.theirs], name))
        milliseconds = best_of(runs, args.rounds, clock)
        total[: len(runs)] += milliseconds
        print(row(name, milliseconds))
    if args.pillow:
        return
    print(row("all fifteen", total[: 1 if args.alone else 2]))
    print(f"ours: {len(BENCHMARK) / total[0] * 1e3:.0f} images a second over all fifteen")


def scenes(count: int, side: int) -> Pixels:
    """Smooth coloured fields with grain."""
    random = np.random.default_rng(0)
    y, x = np.mgrid[:side, :side] / side
    waves = random.uniform(2, 12, (count, 1, 1, 3)) * x[..., None] + 9 * y[..., None]
    grain = random.normal(0, 8, (count, side, side, 3))
    return (128 + 90 * np.sin(waves) + grain).clip(0, 255).astype(np.uint8)


def our_run(images: Pixels, name: str) -> Callable[[], int]:
    """One pass of ours over the batch; returns the number of images made."""
    corruptor, batch = Corruptor(), torch.from_numpy(images)

    def run() -> int:
        for level in LEVELS:
            corruptor(batch, name, level)
        return len(LEVELS) * len(batch)

    return run


def their_run(images: Pixels, name: str) -> Callable[[], int]:
    """One pass of the other package; returns the number of images made."""
    from imagecorruptions import corrupt

    def run() -> int:
        for level in LEVELS:
            for image in images:
                corrupt(image, corruption_name=name, severity=level)
        return len(LEVELS) * len(images)

    return run


def by_pillow_jpeg(image: Pixels, quality: int) -> Pixels:
    """The image written as JPEG and read again."""
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file))


def by_pillow_pixels(image: Pixels, share: float) -> Pixels:
    """The image made smaller by boxes and larger by the nearest pixel."""
    height, width = image.shape[:2]
    small = Image.fromarray(image).resize(
        (int(width * share), int(height * share)), Image.Resampling.BOX
    )
    return np.asarray(small.resize((width, height), Image.Resampling.NEAREST))


PILLOW: dict[str, Callable[..., Pixels]] = {
    "pixelate": by_pillow_pixels,
    "jpeg_compression": by_pillow_jpeg,
}


def pillow_run(images: Pixels, name: str) -> Callable[[], int]:
    """One pass of Pillow's own calls; returns the number of images made."""
    table = severity.table_for(*images.shape[1:3])

    def run() -> int:
        for level in LEVELS:
            for image in images:
                PILLOW[name](image, *severity.settings(name, level, table))
        return len(LEVELS) * len(images)

    return run


def best_of(
    runs: list[Callable[[], int]], rounds: int, clock: Callable[[], float]
) -> npt.NDArray[np.float64]:
    """Milliseconds per image of each run's best round, after one that does not count."""
    best = np.full(len(runs), np.inf)
    for run in runs:
        run()
    for _ in range(rounds):
        for place, run in enumerate(runs):
            start = clock()
            made = run()
            best[place] = min(best[place], (clock() - start) / made * 1e3)
    return best


def row(name: str, milliseconds: npt.NDArray[np.float64]) -> str:
    """Name, ours, theirs and how many times faster."""
    cells = "".join(f"{value:10.3f}" for value in milliseconds)
    ratio = f"{milliseconds[1] / milliseconds[0]:9.1f}x" if len(milliseconds) == 2 else ""
    return f"{name:18s}{cells}{ratio}"


if __name__ == "__main__":
    main()
