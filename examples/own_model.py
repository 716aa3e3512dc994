"""A timm network of your own, and a DataLoader.

    python examples/own_model.py [FOLDER]

FOLDER has images in sub-folders, as torchvision's ImageFolder wants them. Without it, noise is
used, and weights are random: that shows how it is done, not how well it does.
"""

# %%
import sys
from pathlib import Path

import timm
from torch.utils.data import DataLoader
from torchvision.datasets import FakeData, ImageFolder

import trimtab

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else None

# %% Your model, and the preparation that it was trained with: scaled, cropped, normalised.
model = timm.create_model("resnet10t", pretrained=False, num_classes=10)
config = timm.data.resolve_model_data_config(model)
if FOLDER is None:
    config["input_size"] = (3, 64, 64)
prepare = timm.data.create_transform(**config, is_training=False)
if FOLDER is None:
    images = FakeData(64, (3, 80, 80), num_classes=10, transform=prepare)
else:
    images = ImageFolder(FOLDER, prepare)
loader = DataLoader(images, batch_size=16, num_workers=0)

# %% Batches are normalised already, so say how; "model" asks timm's configuration.
adapter = trimtab.adapt(model, "roid", num_classes=10, normalization="model")
for inputs, _ in loader:  # labels are not needed
    logits = adapter(inputs)
    print(logits.argmax(1).tolist())

# %% The model is as it was; what was learned is in the stream.
print(adapter)
adapter.save("own_model.safetensors")
