"""A look: the adapted and the source model side by side on the same samples, without labels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trimtab.core.guard.merit import FAVOURED, Order, Said
from trimtab.core.guard.pixel_rows import one_of_each, rows_of
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
UNKNOWN = -1.0
"""Of columns that need a view, where none was taken."""
AGREED = -2.0
"""The same, where harm is known without one: both models agree, or classes tell."""


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
        halfway: By the source's weights, with the batch's statistics in the first half of the batch
            norms and stored ones in the later; None where that was not asked.
        asked: Which samples these two are of, booleans of shape (samples,); None means all.
        corrects: Whether adapted predictions are the source's, corrected. Then their classes tell
            of harm without a view too.
        in_runs: Whether classes come in runs for certain. Then these tell without a view as well.
        may_drift: Whether classes that the adapted model favours speak against it, at once and in
            the long run: not where it only corrects, nor where it learns the order of classes.
        shifts_classes: Whether output rules may favour the class of a run on purpose.
    """

    adapted: Tensor
    source: Tensor
    adapted_view: Tensor | None = None
    source_view: Tensor | None = None
    agreed: bool = False
    source_shuffled: Tensor | None = None
    source_stretched: Tensor | None = None
    halfway: Tensor | None = None
    asked: Tensor | None = None
    corrects: bool = False
    in_runs: bool = False
    may_drift: bool = True
    shifts_classes: bool = False

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
        return self.source_view is not None or self.agreed or self.corrects or self.in_runs

    @property
    def disagreement(self) -> float:
        """Share of samples on which the models differ: accuracies cannot differ by more."""
        return float((self.said != self.source_said).float().mean())

    def rows(
        self,
        earlier: Tensor,
        first: int = 0,
        doubts: Tensor | None = None,
        usual: Tensor | None = None,
        certain: Tensor | float = 0.0,
        order: Order | None = None,
    ) -> Tensor:
        """What to remember, shape (samples, columns), on the CPU.

        Args:
            earlier: Rows of samples that were looked at before, the latest first.
            first: Number of the first sample among all that were looked at.
            doubts: In what the source says of each class, shape (classes,), from 0 to 1.
            usual: How often the source says each class, shape (classes,); empty where not known.
            certain: How sure it is that the source sees each class, shape (classes,), up to 1.
            order: What is known of the order of classes.
        """
        if self.adapted.dim() == 2:
            return self._rows(earlier, doubts, usual, certain, order)
        each = self._of_pixels()._rows(earlier, doubts, usual, certain)
        rows: Tensor = each.view(len(self.adapted), -1, len(COLUMNS)).mean(1)
        for name, logits in (("class", self.adapted), ("source_class", self.source)):
            rows[:, COLUMNS.index(name)] = one_of_each(logits, first).argmax(1).float().cpu()
        return rows

    def _of_pixels(self) -> Look:
        """The look with a row for each pixel."""
        views = (self.adapted_view, self.source_view)
        own, source = (None if view is None else rows_of(view) for view in views)
        plain = Look(rows_of(self.adapted), rows_of(self.source), own, source, self.agreed)
        return replace(plain, corrects=self.corrects, may_drift=self.may_drift)

    def _rows(
        self,
        earlier: Tensor,
        doubts: Tensor | None,
        usual: Tensor | None,
        certain: Tensor | float,
        order: Order | None = None,
    ) -> Tensor:
        """The same for logits of shape (samples, classes)."""
        said, source_said = self.said, self.source_said
        stable = _same(self.adapted_view, said)
        source_stable = _same(self.source_view, source_said)
        both = earlier[:, [COLUMNS.index("class"), COLUMNS.index("source_class")]]
        models = Said(said, source_said, both, self.classes)
        usual = None if usual is None or not len(usual) else usual
        biases = doubts
        if usual is not None and not self.corrects:
            biases = models.biased(usual)
            biases = biases if doubts is None else biases.maximum(doubts)
        favoured = FAVOURED if self.may_drift else 1.0
        harms = models.harms(stable, source_stable, biases, favoured)
        if self.in_runs and self.source_view is None:
            harms, usual = torch.zeros_like(harms), None
        if order is not None:
            harms = models.in_order(harms, order, doubts)
        if usual is not None:
            harms = models.in_a_run(harms, usual, certain)
        if not self.compared:
            harms = torch.zeros_like(harms)
        if self.source_view is None:
            reason = AGREED if self.compared else UNKNOWN
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
            self._class(self.source_shuffled, harms),
            self._class(self.source_stretched, harms),
        )
        return torch.stack([column.float().cpu() for column in columns], 1)

    def _class(self, logits: Tensor | None, like: Tensor) -> Tensor:
        """Classes of those samples that were asked, elsewhere ``UNKNOWN``, shape (samples,)."""
        found = torch.full_like(like, UNKNOWN)
        if logits is not None:
            found[slice(None) if self.asked is None else self.asked] = logits.argmax(1).to(found)
        return found


def _same(view: Tensor | None, said: Tensor) -> Tensor:
    return torch.ones_like(said) if view is None else view.argmax(1) == said


def confidence(logits: Tensor) -> Tensor:
    """Probability of each sample's likeliest class."""
    return logits.softmax(1).amax(1)


def remembered(rows: Tensor, ring: Tensor) -> Tensor:
    """The ring with these rows in front."""
    return torch.cat([rows, ring])[:RING_SAMPLES]
