"""Hidden Markov smoothing of predictions along time, for non-i.i.d. streams (temporal prior)."""

from trimtab.components.temporal_prior.prior import TemporalPrior

__all__ = ["TemporalPrior"]
