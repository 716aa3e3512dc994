"""Pictures for tests: drawn, so that no file is needed."""

import numpy as np
import numpy.typing as npt


def pictures(count: int, height: int = 32, width: int = 32, seed: int = 0) -> npt.NDArray[np.uint8]:
    """Smooth colours, a red disk, stripes and a little grain."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    drawn = []
    for _ in range(count):
        phase = random.uniform(0, 6, (2, 3))
        wave = np.sin(x[..., None] / 9 + phase[0]) + np.cos(y[..., None] / 7 + phase[1])
        picture = 128 + 50 * wave
        picture[(x - width * 0.3) ** 2 + (y - height * 0.4) ** 2 < (height * 0.2) ** 2] = [
            230,
            40,
            30,
        ]
        picture[(x // 7 + y // 9) % 5 == 0] *= 0.55
        drawn.append(picture + random.normal(0, 5, picture.shape))
    return np.stack(drawn).clip(0, 255).astype(np.uint8)
