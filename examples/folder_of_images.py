"""Predict a folder of images into a table, and go on where it ended.

    python examples/folder_of_images.py [FOLDER]

Without FOLDER, twenty pictures of clothes that come with the package are written to ``clothes/``.
``trimtab predict FOLDER`` does the same on the command line.
"""

import csv
import sys
from pathlib import Path

from PIL import Image

import trimtab
from trimtab.streams.embedded import CLASSES, embedded_images

if len(sys.argv) > 1:
    folder = Path(sys.argv[1])
else:
    folder = Path("clothes")
    folder.mkdir(exist_ok=True)
    for number, pixels in enumerate(embedded_images()[0][:20]):
        Image.fromarray(pixels).save(folder / f"{number:02}.png")

# Your network: a name of `trimtab models`, "timm/NAME", or a module with size=.
summary = trimtab.predict_images(
    folder, model="fashion_resnet20_bn", method="trimtab", classes=CLASSES, out="clothes.csv"
)
print(f"{summary.predicted} predicted, {summary.earlier} were there, {len(summary.bad)} unreadable")

with summary.out.open(newline="") as table:
    for row in list(csv.DictReader(table))[:5]:
        print(f"{row['image']}: {row['name']} ({float(row['confidence']):.0%})")

# The state stands beside the table: run this again, and only new images are predicted.
print("goes on from", summary.state)
