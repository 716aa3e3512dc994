"""Label-free harm of samples: by how much the source model's prediction seems righter.

Where both models say the same there is none. Elsewhere a prediction seems right as far as the model
says the same of a view of the sample. A model that says one class of everything is stable too, so
that is corrected for; and in a run of one class, what departs from it is wrong, however stable.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from trimtab.core.shares import class_shares, effective_classes

SHARE_SAMPLES = 32
"""Latest samples, at least a whole batch, that tell how often each class is predicted."""
FEW, MANY = 0.3, 0.5
"""Share of all classes that the source model shows: up to the first it may see a run, so that
concentration proves nothing against the adapted model; from the second on it does."""
FAVOURED = 2.0
"""Merit that a class loses for each share of samples that a model gives it more often than the
other model, where it favours that class for no reason that the stream gives."""
RUN, SURE_RUN = 0.25, 0.5
"""By which a class that both models say is more frequent than usual: below the first is no run
of it, from the second on there is one for certain."""
LONE_RUN, SURE_LONE_RUN = 0.6, 0.8
"""The same of a class that the source model alone says."""
LIKELY = 0.05
"""Likelihood of a class in a run, below which it hardly counts."""
KNOWN_SAMPLES, USUAL_SAMPLES = 192, 1024
"""The first samples all tell alike how often each class comes; then so many of the latest do."""


@dataclass(frozen=True)
class Order:
    """What is known of the order of classes.

    Args:
        sure: How certain it is that classes come in runs, from 0 to 1.
        excess: By how much the adapted model says each class of the latest samples more often than
            it usually does, shape (classes,), from 0 on.
        erased: How certain it is that batch norms erase runs, from 0 to 1.
        veiled: How far a veil over the inputs explains what the source says, from 0 to 1.
    """

    sure: float
    excess: Tensor
    erased: float = 0.0
    veiled: float = 0.0


@dataclass(frozen=True)
class Said:
    """Classes that both models say of samples, shape (samples,), and of those before them.

    Args:
        earlier: Classes by the adapted and by the source model, shape (earlier samples, 2), the
            latest first.
        classes: How many there are.
    """

    own: Tensor
    source: Tensor
    earlier: Tensor
    classes: int

    @property
    def latest(self) -> tuple[Tensor, Tensor]:
        """Of the latest samples, shape (samples,) each, on the CPU."""
        before = self.earlier[: max(0, SHARE_SAMPLES - len(self.own))].long()
        return (
            torch.cat([self.own.cpu(), before[:, 0]]),
            torch.cat([self.source.cpu(), before[:, 1]]),
        )

    def harms(
        self,
        stable: Tensor,
        source_stable: Tensor,
        doubts: Tensor | None,
        favoured: float = 1.0,
    ) -> Tensor:
        """By how much the source seems righter, for each sample, from -1 to 1.

        Stability counts for less, the more often a model says its class than the other one does:
        for the adapted model as far as the source shows many classes, for the source as far as
        the adapted model is stable itself (else it is that one which scatters), and as far as the
        source is in doubt.

        Args:
            stable: Whether the adapted model says the same of a view, shape (samples,).
            source_stable: The same of the source.
            doubts: In what the source says of each class, shape (classes,), from 0 to 1.
            favoured: Merit that a class of the adapted model loses for each share of samples that
                it is said of more often.
        """
        own, source = self.latest
        shares, source_shares = (class_shares(said, self.classes) for said in (own, source))
        variety = effective_classes(source_shares) / min(self.classes, len(source))
        excess = (shares - source_shares).to(self.own.device)
        crowding = favoured * ramp(variety, FEW, MANY) * excess[self.own].clamp(min=0.0)
        scatter = (-excess[self.source]).clamp(min=0.0)
        source_merit = 1 - float(stable.float().mean()) ** 6 * scatter
        if doubts is not None:
            source_merit = source_merit.minimum(1 - doubts.to(self.own.device)[self.source])
        harms = source_stable.float() * source_merit - stable.float() * (1 - crowding).clamp(
            min=0.0
        )
        return torch.where(self.own == self.source, torch.zeros_like(harms), harms)

    def biased(self, usual: Tensor) -> Tensor:
        """Doubt in classes that the source says all the time, and the adapted model does not, shape
        (classes,), from 0 to 1: a bias, as far as the source shows many classes beside.

        Args:
            usual: How often the source says each class, shape (classes,).
        """
        own, source = self.latest
        shares, source_shares = (class_shares(said, self.classes) for said in (own, source))
        variety = effective_classes(source_shares) / min(self.classes, len(source))
        excess = (usual.minimum(source_shares) - shares).clamp(min=0.0)
        return (FAVOURED * ramp(variety, FEW, MANY) * excess).clamp(max=1.0)

    def in_order(self, harms: Tensor, order: Order, doubts: Tensor | None) -> Tensor:
        """The harms of samples where classes come in runs that the source shows more plainly.

        There a class is likely as far as the source says it, and the adapted model says it more
        often than it usually does; of two that the models say of a sample, the likelier is right.
        Where runs are erased the adapted model says nothing of them, and a class is as likely as
        the source says it of other samples.

        Args:
            doubts: In what the source says of each class, shape (classes,), from 0 to 1.
        """
        own, source = self.latest
        shares, source_shares = (class_shares(said, self.classes) for said in (own, source))
        known = max(order.sure, order.erased) > 0
        if not known or shares.square().sum() >= source_shares.square().sum():
            return harms
        likely = (order.excess * source_shares).sqrt().to(self.own.device)
        found = self._likelier(likely[self.source], likely[self.own], doubts)
        harms = harms.lerp(found, order.sure)
        said = source_shares.to(self.own.device)
        of_others = (said[self.source] * len(source) - 1) / max(len(source) - 1, 1)
        found = self._likelier(of_others, said[self.own], None)
        return harms.lerp(found, order.erased * (1 - order.veiled))

    def _likelier(self, theirs: Tensor, ours: Tensor, doubts: Tensor | None) -> Tensor:
        """Harms by how likely both models' classes of samples are, all of shape (samples,); what
        speaks for a class of the source counts as far as that is not in doubt."""
        found = (theirs - ours) / (theirs + ours + LIKELY)
        found = torch.where(self.own == self.source, torch.zeros_like(found), found)
        if doubts is None:
            return found
        trust = 1 - doubts.to(self.own.device)[self.source]
        return torch.where(found > 0, found * trust, found)

    def in_a_run(self, harms: Tensor, usual: Tensor, certain: Tensor | float) -> Tensor:
        """The harms of samples where one class is suddenly frequent: what departs from it is wrong.

        Either both models see that run, or the source sees it and was found to be no collapse.

        Args:
            usual: How often the source says each class, shape (classes,).
            certain: How sure it is of each class that the source did not collapse onto it, shape
                (classes,), at most 1; 0 where that was not asked.
        """
        own, source = self.latest
        shares = class_shares(source, self.classes)
        label = int((shares - usual).argmax())
        both = float(((own == label) & (source == label)).float().mean())
        sure = ramp(both - float(usual[label]), RUN, SURE_RUN)
        alone = ramp(float((shares - usual)[label]), LONE_RUN, SURE_LONE_RUN)
        trusted = float(torch.as_tensor(certain).expand(self.classes)[label])
        sure = max(sure, alone * max(trusted, 0.0)) * min(1.0, len(own) / SHARE_SAMPLES)
        leaving = (self.source == label).float() - (self.own == label).float()
        return harms.lerp(torch.where(leaving == 0, harms, leaving), sure)


def usual_classes(known: Tensor, said: Tensor, classes: int, before: float) -> Tensor:
    """How often the source says each class once it has said these, shape (classes,).

    Args:
        before: How many samples ``known`` was made of.
    """
    latest = class_shares(said, classes)
    horizon = USUAL_SAMPLES if before >= KNOWN_SAMPLES else before + len(said)
    weight = min(1.0, len(said) / horizon)
    return known.lerp(latest, weight) if len(known) else latest


def ramp(value: float, low: float, high: float) -> float:
    """0 up to ``low``, 1 from ``high`` on."""
    return min(max((value - low) / (high - low), 0.0), 1.0)
