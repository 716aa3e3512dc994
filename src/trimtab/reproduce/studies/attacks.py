"""Data poisoning at test time: a share of malicious samples among the honest ones of a batch.

``attacked`` follows DIA (Wu et al., ICML 2023, arXiv:2301.12576): pixels are found by gradient
ascent through batch statistics of the source network, so that honest neighbours are predicted
wrongly. The two others need no gradients, after the ideas of RTTDP (Su et al., ICLR 2025,
arXiv:2410.04682): ``flooded`` repeats images that the source network is sure and wrong of, of all
classes alike; ``blended`` shows halves of two images, of which nothing is sure.
"""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from trimtab.core.backbone import Backbone
from trimtab.core.norm import BATCH
from trimtab.streams.hostile import UNSCORED, Frames, Replace, Source

SHARE = 0.2
"""Of malicious samples in a batch."""
STEPS, STEP_SIZE = 8, 0.06
"""Of the ascent; pixels stay in [0, 1] and are not limited otherwise."""
POOL = 512
"""Images among which gradient-free attackers choose."""


def strangers(name: str, backbone: Backbone, source: Source) -> Replace | None:
    """What malicious samples make of a batch in this stream; None where there are none."""
    if name == "attacked":
        return lambda inputs, labels: _attacked(backbone, inputs, labels)
    if name not in ("flooded", "blended"):
        return None
    pool = source.show(source.draw(POOL, "pool"), source.pick(0))
    chosen = _sure_mistakes(backbone, *pool) if name == "flooded" else _blends(pool[0])
    random = np.random.default_rng(source.seed)

    def join(inputs: Tensor, labels: np.ndarray) -> Frames:
        count = int(SHARE * len(labels))
        inputs, labels = inputs.clone(), labels.copy()
        inputs[:count] = chosen[torch.from_numpy(random.integers(0, len(chosen), count))]
        labels[:count] = UNSCORED
        return inputs, labels

    return join


def _attacked(backbone: Backbone, inputs: Tensor, labels: np.ndarray) -> Frames:
    """Malicious samples that push honest ones off their class, through batch statistics."""
    count = int(SHARE * len(labels))
    truth, labels = torch.from_numpy(labels[count:]), labels.copy()
    labels[:count] = UNSCORED
    if not backbone.has_batch_norm or not count:
        return inputs, labels
    honest, own = inputs[count:], inputs[:count].clone()
    for _ in range(STEPS):
        own.requires_grad_()
        logits = backbone(torch.cat([own, honest]), policy=BATCH).logits
        loss = functional.cross_entropy(logits[count:], truth)
        (grad,) = torch.autograd.grad(loss, own)
        own = (own.detach() + STEP_SIZE * grad.sign()).clamp(0, 1)
    return torch.cat([own, honest]), labels


@torch.no_grad()
def _sure_mistakes(backbone: Backbone, inputs: Tensor, labels: np.ndarray) -> Tensor:
    """Images that are predicted wrongly, the surest of each predicted class."""
    probs = torch.cat([backbone(part).logits.softmax(1) for part in inputs.split(64)])
    sure, said = probs.max(1)
    wrong = said != torch.from_numpy(labels)
    order = torch.argsort(torch.where(wrong, sure, sure - 1), descending=True)
    places = [row for label in range(probs.shape[1]) for row in order[said[order] == label][:3]]
    return inputs[torch.stack(places)]


def _blends(inputs: Tensor) -> Tensor:
    return (inputs + inputs.flip(0)) / 2
