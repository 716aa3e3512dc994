"""A video or a camera: every frame is predicted as it comes, and learned from in windows of 32.

    python examples/camera.py [VIDEO]

Without VIDEO, a clip of the images that come with the package is written to ``clip.mp4`` first. A
camera is the same loop: put ``cv2.VideoCapture(0).read()`` in the place of ``imageio``'s iterator.
"""

import sys
from pathlib import Path

import imageio.v3
import torch

import trimtab
from trimtab.streams.embedded import CLASSES

STATE = Path("camera.safetensors")

model, stream = trimtab.load_demo("fashion_resnet20_gn", images_per_domain=6, batch_size=6)
if len(sys.argv) > 1:
    clip = Path(sys.argv[1])
else:
    clip = Path("clip.mp4")
    shown = torch.cat([batch.inputs for batch in stream]).mul(255).byte().permute(0, 2, 3, 1)
    imageio.v3.imwrite(clip, shown.numpy(), plugin="pyav", codec="mpeg4", fps=10)

adapter = trimtab.adapt(model, "roid", window=32)
if STATE.exists():
    adapter.load(STATE)  # yesterday's camera goes on

for number, frame in enumerate(imageio.v3.imiter(clip, plugin="pyav")):
    pixels = torch.from_numpy(frame).permute(2, 0, 1)[None] / 255  # (1, 3, height, width) in [0, 1]
    pixels = torch.nn.functional.interpolate(pixels, (32, 32), mode="bilinear")
    probabilities = adapter(pixels).softmax(1)[0]
    if number % 15 == 0:
        best = int(probabilities.argmax())
        print(f"frame {number}: {CLASSES[best]} ({probabilities[best]:.0%})")

adapter.save(STATE)
print(adapter)
