"""BN adaptation that bears label shift: batch statistics as far as batches hold all classes."""

from trimtab.components.adaptive_norm.rule import AdaptiveNorm

__all__ = ["AdaptiveNorm"]
