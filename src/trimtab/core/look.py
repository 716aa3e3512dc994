"""A look: the adapted and the source model side by side on the same samples, without labels."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from trimtab.core.pixel_rows import one_of_each, rows_of
from trimtab.functional import entropy

COLUMNS = (
    "harm",
    "agreement",
    "confidence",
    "source_confidence",
    "entropy",
    "source_entropy",
    "stability",
    "source_stability",
    "class",
    "source_class",
    "shuffled_class",
    "stretched_class",
)
"""What is remembered of each sample that was looked at."""

RING_SAMPLES = 256
"""Latest samples that are remembered."""
SHARE_SAMPLES = 128
"""Samples before a look that tell, together with it, how often each class is predicted."""
UNKNOWN = -1.0
"""Of columns that need a view, where none was taken."""
AGREED = -2.0
"""The same, where that is because both models agree: harm is known, how stable they are is not."""


@dataclass(frozen=True)
class Look:
    """Logits of samples by both models, shape (samples, classes), and of a view of each sample.

    Of a segmentation model logits are (samples, classes, height, width), and what is remembered of
    an image are means over its pixels, and the classes of one of them.

    Args:
        adapted_view: None where no view was taken.
        agreed: Whether that is because both models say the same nearly everywhere.
        source_shuffled: By the source, of the samples' patches in another order; None where that
            was not asked.
        source_stretched: By the source, of the samples in full contrast.
    """

    adapted: Tensor
    source: Tensor
    adapted_view: Tensor | None = None
    source_view: Tensor | None = None
    agreed: bool = False
    source_shuffled: Tensor | None = None
    source_stretched: Tensor | None = None

    @property
    def said(self) -> Tensor:
        """Classes by the adapted model, shape (samples,)."""
        return self.adapted.argmax(1)

    @property
    def source_said(self) -> Tensor:
        """Classes by the source model, shape (samples,)."""
        return self.source.argmax(1)

    @property
    def classes(self) -> int:
        return self.source.shape[1]

    @property
    def compared(self) -> bool:
        """Whether the look tells how stable predictions are."""
        return self.source_view is not None or self.agreed

    @property
    def disagreement(self) -> float:
        """Share of samples on which the models differ: accuracies cannot differ by more."""
        return float((self.said != self.source_said).float().mean())

    def rows(self, earlier: Tensor, first: int = 0, doubts: Tensor | None = None) -> Tensor:
        """What to remember, shape (samples, columns), on the CPU.

        Args:
            earlier: Rows of samples that were looked at before, the latest first.
            first: Number of the first sample among all that were looked at.
            doubts: In what the source says of each class, shape (classes,), from 0 to 1.
        """
        if self.adapted.dim() == 2:
            return self._rows(earlier, doubts)
        each = self._of_pixels()._rows(earlier, doubts)
        rows: Tensor = each.view(len(self.adapted), -1, len(COLUMNS)).mean(1)
        for name, logits in (("class", self.adapted), ("source_class", self.source)):
            rows[:, COLUMNS.index(name)] = one_of_each(logits, first).argmax(1).float().cpu()
        return rows

    def _of_pixels(self) -> Look:
        """The look with a row for each pixel."""
        views = (self.adapted_view, self.source_view)
        own, source = (None if view is None else rows_of(view) for view in views)
        return Look(rows_of(self.adapted), rows_of(self.source), own, source, self.agreed)

    def _rows(self, earlier: Tensor, doubts: Tensor | None) -> Tensor:
        """The same for logits of shape (samples, classes)."""
        said, source_said = self.said, self.source_said
        stable = _same(self.adapted_view, said)
        source_stable = _same(self.source_view, source_said)
        harms = self._harms(stable, source_stable, earlier, doubts)
        if not self.compared:
            harms = torch.zeros_like(harms)
        if self.source_view is None:
            reason = AGREED if self.agreed else UNKNOWN
            stable = source_stable = torch.full_like(harms, reason)
        columns = (
            harms,
            said == source_said,
            confidence(self.adapted),
            confidence(self.source),
            entropy(self.adapted),
            entropy(self.source),
            stable,
            source_stable,
            said,
            source_said,
            _class(self.source_shuffled, harms),
            _class(self.source_stretched, harms),
        )
        return torch.stack([column.float().cpu() for column in columns], 1)

    def _harms(
        self, stable: Tensor, source_stable: Tensor, earlier: Tensor, doubts: Tensor | None
    ) -> Tensor:
        """By how much the source seems righter, for each sample, from -1 to 1.

        A prediction seems right where the model says the same of a view. That is no merit where
        the model says the same of everything, so it counts for less, the more often a model says
        its class than the other one does: for the adapted model as far as the source shows many
        classes (in a run of one class, concentration proves nothing), for the source as far as
        the adapted model is stable itself (else it is that one which scatters). Nor is it a merit
        as far as the source is in doubt.
        """
        said, source_said, classes = self.said, self.source_said, self.classes
        recent = earlier[:SHARE_SAMPLES, [COLUMNS.index("class"), COLUMNS.index("source_class")]]
        own = torch.cat([said.cpu(), recent[:, 0].long()])
        source = torch.cat([source_said.cpu(), recent[:, 1].long()])
        shares, source_shares = class_shares(own, classes), class_shares(source, classes)
        variety = effective_classes(source_shares) / min(classes, len(source))
        steady = float(stable.float().mean())
        excess = (shares - source_shares).to(said.device)
        own_merit = 1 - variety**2 * excess[said].clamp(min=0.0)
        source_merit = 1 - steady**6 * (-excess[source_said]).clamp(min=0.0)
        if doubts is not None:
            source_merit = source_merit.minimum(1 - doubts.to(said.device)[source_said])
        return source_stable.float() * source_merit - stable.float() * own_merit


def _same(view: Tensor | None, said: Tensor) -> Tensor:
    return torch.ones_like(said) if view is None else view.argmax(1) == said


def _class(logits: Tensor | None, like: Tensor) -> Tensor:
    return torch.full_like(like, UNKNOWN) if logits is None else logits.argmax(1)


def class_shares(said: Tensor, classes: int) -> Tensor:
    """How often each class is predicted, shape (classes,)."""
    return torch.bincount(said, minlength=classes).float() / max(len(said), 1)


def effective_classes(shares: Tensor) -> float:
    """How many classes show: the exponential of their shares' entropy; rare ones hardly count."""
    return float(torch.special.entr(shares).sum().exp())


def confidence(logits: Tensor) -> Tensor:
    """Probability of each sample's likeliest class."""
    return logits.softmax(1).amax(1)


def remembered(rows: Tensor, ring: Tensor) -> Tensor:
    """The ring with these rows in front."""
    return torch.cat([rows, ring])[:RING_SAMPLES]
