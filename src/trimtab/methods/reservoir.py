"""ReservoirTTA: parameters for each style of inputs (Vray et al., 2025, arXiv:2505.14511)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from trimtab.components.augmentation_consistency import AugmentationConsistency
from trimtab.components.certainty_diversity import CertaintyDiversity
from trimtab.components.prior_correction import PriorCorrection
from trimtab.components.soft_likelihood_ratio import SoftLikelihoodRatio
from trimtab.components.source_ensembling import SourceEnsembling
from trimtab.core.attempt import Attempt
from trimtab.core.backbone import Tensors
from trimtab.core.card import Card
from trimtab.core.learner import Learner
from trimtab.core.looks import NUM_LOOKS, Looks, distance, looks_of
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice
from trimtab.core.ranges import check_counts, check_positive
from trimtab.core.structured import Structured

CARD = Card(
    title="ReservoirTTA",
    paper="Vray et al., 2025, arXiv:2505.14511",
    idea=(
        "ROID with up to 16 sets of parameters and optimiser moments over one backbone: a batch is "
        "predicted and learned from with the set whose inputs looked most like it, so that a "
        "domain that comes back finds what was learned in it. "
        "The paper's idea; ours are the style, five numbers of a batch's texture and colour where "
        "the authors take a VGG's features and about 1,000 source images, and the start of a new "
        "set, which is where the stream stands. Neither the full paper nor the code was compared."
    ),
    helps="Streams whose domains come back; on a first visit it is ROID.",
    hurts="Mixed domains, whose batches all look alike, gain nothing.",
    forwards="1 and one more for each kept sample",
    backwards="2 for each kept sample",
)

MEMORY = "reservoir"
STYLE_SAMPLES = 16
"""Samples whose looks tell the style; smaller batches count with those before them."""
CERTAIN = 0.75
"""Share of the distance of another style within which samples make a set's style better known."""
KNOWN_SAMPLES = 1024.0
"""Samples for which what is known of a set's style counts at most."""


@dataclass(frozen=True)
class Reservoir(Learner):
    """The common loop, with the parameters of the set that the inputs' style chooses.

    Args:
        sets: Most sets of parameters.
        apart: Distance from which a style is another one, in deviations of a sample's looks.
    """

    sets: int = 16
    apart: float = 1.0

    def __post_init__(self) -> None:
        check_counts(self, "sets")
        check_positive(self, "apart")

    def warm_up(self, attempt: Attempt) -> None:
        """Room for all sets; the first one is the source's."""
        zeros, state = torch.zeros(self.sets, dtype=torch.float64), attempt.state
        assert state.sample_shape is not None
        memory = {
            "present": torch.tensor(0),
            "used": torch.tensor(1),
            "far_samples": torch.tensor(0),
            "has_moments": zeros.clone(),
            "samples": zeros.clone(),
            "mean": zeros[:, None].repeat(1, NUM_LOOKS),
            "variance": zeros[:, None].repeat(1, NUM_LOOKS),
            "latest": torch.zeros(2 * NUM_LOOKS + 1, dtype=torch.float64),
        }
        for key, tensor in {**state.params, **state.statistics}.items():
            memory[f"set/{key}"] = self._room(tensor)
        for place, tensor in enumerate(state.trained()):
            slots = attempt.method.optimizer.slots(tensor, state.sample_shape)
            memory |= {f"moment/{place}/{key}": self._room(slot) for key, slot in slots.items()}
        state.memory[MEMORY] = memory

    def _room(self, tensor: Tensor) -> Tensor:
        return torch.zeros(self.sets, *tensor.shape, dtype=tensor.dtype, device=tensor.device)

    def advance(self, attempt: Attempt, inputs: Tensor) -> Tensor:
        if not isinstance(inputs, Structured):
            self._choose(attempt, inputs)
        return super().advance(attempt, inputs)

    def _choose(self, attempt: Attempt, inputs: Tensor) -> None:
        """Make the set present whose style is nearest, or begin another one."""
        memory = attempt.state.memory[MEMORY]
        batch = Looks.of(looks_of(inputs))
        style = _unpacked(memory["latest"]).with_more(batch, max(0, STYLE_SAMPLES - len(inputs)))
        memory["latest"].copy_(_packed(style))
        known = [_style(memory, place) for place in range(int(memory["used"]))]
        far = [distance(style, other) if other.samples else 0.0 for other in known]
        nearest = min(range(len(far)), key=far.__getitem__)
        is_far = far[nearest] >= self.apart and len(known) < self.sets
        memory["far_samples"].add_(len(inputs)).mul_(int(is_far))
        if is_far and int(memory["far_samples"]) < STYLE_SAMPLES:
            return  # on the way from one style to another; the present set serves
        if is_far:
            nearest = len(known)
            memory["used"] += 1
            _put_away(attempt, nearest)  # a new set starts where the stream stands
        if nearest != int(memory["present"]):
            _put_away(attempt, int(memory["present"]))
            _take_out(attempt, nearest)
            memory["present"].fill_(nearest)
        if is_far or far[nearest] < CERTAIN * self.apart:
            _learn_style(memory, nearest, style if is_far else batch)


def _put_away(attempt: Attempt, place: int) -> None:
    state, memory = attempt.state, attempt.state.memory[MEMORY]
    for key, tensor in {**state.params, **state.statistics}.items():
        memory[f"set/{key}"][place] = tensor.detach()
    memory["has_moments"][place] = float(bool(state.moments))
    for number, slots in state.moments.items():
        for key, value in slots.items():
            memory[f"moment/{number}/{key}"][place] = value


def _take_out(attempt: Attempt, place: int) -> None:
    state, memory = attempt.state, attempt.state.memory[MEMORY]
    taken = {key: memory[f"set/{key}"][place].clone() for key in (*state.params, *state.statistics)}
    state.params = {key: taken[key].requires_grad_() for key in state.params}
    state.statistics = {key: taken[key] for key in state.statistics}
    moments: dict[int, Tensors] = {}
    for key in memory if memory["has_moments"][place] else ():
        kind, _, slot = key.partition("/")
        if kind == "moment":
            number, _, name = slot.partition("/")
            moments.setdefault(int(number), {})[name] = memory[key][place].clone()
    state.moments = moments


def _learn_style(memory: Tensors, place: int, batch: Looks) -> None:
    style = _style(memory, place).with_more(batch, KNOWN_SAMPLES)
    memory["samples"][place] = style.samples
    memory["mean"][place] = torch.from_numpy(style.mean)
    memory["variance"][place] = torch.from_numpy(style.variance)


def _style(memory: Tensors, place: int) -> Looks:
    mean, variance = (memory[key][place].cpu().numpy() for key in ("mean", "variance"))
    return Looks(float(memory["samples"][place]), mean, variance)


def _packed(looks: Looks) -> Tensor:
    parts = (torch.as_tensor(part, dtype=torch.float64).reshape(-1) for part in looks)
    return torch.cat([*parts])


def _unpacked(packed: Tensor) -> Looks:
    mean, variance = packed[1:].clone().cpu().numpy().reshape(2, NUM_LOOKS)
    return Looks(float(packed[0]), mean, variance)


def reservoir(
    *,
    lr: float | None = None,
    optimizer: Kind | None = None,
    ensembling: float = 0.99,
    sets: int = 16,
    apart: float = 1.0,
) -> Method:
    """ROID with parameters for each style of inputs that a stream has shown.

    A stream remembers ``sets`` times the norm parameters and their moments. For another method:
    ``dataclasses.replace(trimtab.build("tent"), learner=Reservoir())``.

    Args:
        lr: Learning rate; by default 1e-3 with Adam, 2.5e-4 with SGD.
        optimizer: ``"adam"`` or ``"sgd"``; by default the one for the size of the images.
        ensembling: Share of the adapted weights that stays at each update.
        sets: Most sets of parameters; once all are used, the nearest serves.
        apart: Distance from which a style is another one, in deviations of a sample's looks.
    """
    components = (
        SoftLikelihoodRatio(),
        AugmentationConsistency(),
        CertaintyDiversity(),
        SourceEnsembling(ensembling),
        PriorCorrection(),
    )
    choice = OptimizerChoice(optimizer, lr)
    return Method(components, optimizer=choice, learner=Reservoir(sets, apart))
