"""Records what ``imagecorruptions-imaug`` makes of a test picture (needs the extra ``compare``).

Run from the repository: ``python tests/streams/corruptions/record_reference.py``. The tests read
the recording, so that they need neither that package nor numba and OpenCV.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from streams.corruptions.statistics import DETERMINISTIC, statistics
from streams.pictures import pictures

RANDOM = (
    "gaussian_noise",
    "shot_noise",
    "impulse_noise",
    "speckle_noise",
    "glass_blur",
    "motion_blur",
    "snow",
    "fog",
)
DRAWS = 300


def record(target: Path) -> None:
    """Pixels of the deterministic ones; mean and standard error of statistics of the others."""
    from imagecorruptions import corrupt

    warnings.simplefilter("ignore")
    picture = pictures(1, 48, 64)[0]
    found = {"picture": picture}
    for name in DETERMINISTIC:
        found[name] = np.stack(
            [corrupt(picture, corruption_name=name, severity=s) for s in range(1, 6)]
        )
    np.random.seed(0)
    for name in RANDOM:
        levels = []
        for severity in range(1, 6):
            drawn = [
                corrupt(picture, corruption_name=name, severity=severity) for _ in range(DRAWS)
            ]
            levels.append(statistics(np.stack(drawn), picture))
        found[name] = np.stack(levels)
    np.savez_compressed(target, **found)


if __name__ == "__main__":
    record(Path(__file__).with_name("reference.npz"))
