r"""A method of your own in a file of your own.

    python examples/own_method.py          # beside the source model
    python examples/own_method.py check    # does it keep the contract? Takes a while.
    cd examples && trimtab run --method own_method:steady_tent --model fashion_resnet20_gn \
        --data fashion_mnist --images-per-domain 20

One idea is a component; a method is a recipe of them.
"""

import sys
from dataclasses import dataclass

import torch

import trimtab
from trimtab.components.entropy import Entropy
from trimtab.components.source_ensembling import SourceEnsembling
from trimtab.core.backbone import Tensors
from trimtab.core.component import Step, Weighting
from trimtab.core.optimizer import OptimizerChoice


@dataclass(frozen=True)
class TopHalf(Weighting):
    """Learn from that half of a batch that the model is surest of."""

    def weights(self, step: Step, memory: Tensors) -> torch.Tensor:
        confidence = step.logits.softmax(1).amax(1)
        return (confidence >= confidence.median()).to(confidence.dtype)


def steady_tent(*, momentum: float = 0.99, lr: float | None = None) -> trimtab.Method:
    """TENT on the surer half, kept near the source."""
    components = (Entropy(), TopHalf(), SourceEnsembling(momentum))
    return trimtab.Method(components, optimizer=OptimizerChoice(None, lr))


def main() -> None:
    model, stream = trimtab.load_demo("fashion_resnet20_bn", images_per_domain=20)
    adapter = trimtab.adapt(model, steady_tent(momentum=0.98))
    source = trimtab.adapt(model, "source")
    for each in (source, adapter):
        right = sum(int((each(b.inputs).argmax(1) == b.labels).sum()) for b in stream)
        print(f"{right} of {stream.num_images} right: {each}")


if __name__ == "__main__":
    if "check" in sys.argv[1:]:
        from trimtab.testing import check_method

        check_method(steady_tent)
    main()
