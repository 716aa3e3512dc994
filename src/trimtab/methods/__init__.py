"""Test-time adaptation methods, one paper a file; ``build`` makes one from words."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from trimtab.components.adaptive_norm import AdaptiveNorm
from trimtab.components.augmentation_consistency import AugmentationConsistency
from trimtab.components.capped_updates import CappedUpdates
from trimtab.components.cautious_updates import CautiousUpdates
from trimtab.components.certainty_diversity import CertaintyDiversity
from trimtab.components.class_balanced_memory import ClassBalancedMemory
from trimtab.components.entropy import Entropy
from trimtab.components.feature_centering import FeatureCentering
from trimtab.components.fisher_penalty import FisherPenalty
from trimtab.components.kalman_ensembling import KalmanEnsembling
from trimtab.components.laplacian import Laplacian
from trimtab.components.marginal_entropy import MarginalEntropy
from trimtab.components.mean_teacher import MeanTeacher
from trimtab.components.median_norm import MedianNorm
from trimtab.components.novel_samples import NovelSamples
from trimtab.components.opinion_entropy import OpinionEntropy
from trimtab.components.periodic_reset import PeriodicReset
from trimtab.components.prior_correction import PriorCorrection
from trimtab.components.prototype_classifier import PrototypeClassifier
from trimtab.components.prototype_contrast import PrototypeContrast
from trimtab.components.pseudo_label_contrast import PseudoLabelContrast
from trimtab.components.recovery import Recovery
from trimtab.components.reliable_samples import ReliableSamples
from trimtab.components.robust_pseudo_label import RobustPseudoLabel
from trimtab.components.selective_reset import SelectiveReset
from trimtab.components.self_bootstrapping import SelfBootstrapping
from trimtab.components.siamese_entropy import SiameseEntropy
from trimtab.components.soft_likelihood_ratio import SoftLikelihoodRatio
from trimtab.components.source_anchor import SourceAnchor
from trimtab.components.source_ensembling import SourceEnsembling
from trimtab.components.source_reliability import SourceReliability
from trimtab.components.source_replay import SourceReplay
from trimtab.components.stochastic_restore import StochasticRestore
from trimtab.components.structure_dependence import StructureDependence
from trimtab.components.temporal_prior import TemporalPrior
from trimtab.components.view_temperature import ViewTemperature
from trimtab.core.component import Component
from trimtab.core.method import Method
from trimtab.core.spec import terms
from trimtab.methods.adacontrast import adacontrast
from trimtab.methods.asr import asr
from trimtab.methods.bn1 import bn1
from trimtab.methods.bn_alpha import bn_alpha
from trimtab.methods.bn_ema import bn_ema
from trimtab.methods.cmf import cmf
from trimtab.methods.come import come
from trimtab.methods.cotta import cotta
from trimtab.methods.deyo import deyo
from trimtab.methods.eata import eata
from trimtab.methods.eta import eta
from trimtab.methods.foa import foa
from trimtab.methods.lame import lame
from trimtab.methods.memo import memo
from trimtab.methods.neo import neo
from trimtab.methods.pea import pea
from trimtab.methods.rdumb import rdumb
from trimtab.methods.reservoir import reservoir
from trimtab.methods.rmemsafe import rmemsafe
from trimtab.methods.rmt import rmt
from trimtab.methods.roid import roid
from trimtab.methods.rotta import rotta
from trimtab.methods.rpl import rpl
from trimtab.methods.santa import santa
from trimtab.methods.sar import sar
from trimtab.methods.source import source
from trimtab.methods.spa import spa
from trimtab.methods.t3a import t3a
from trimtab.methods.tent import tent
from trimtab.methods.trimtab import trimtab
from trimtab.methods.zerosiam import zerosiam
from trimtab.registry import Registry, check_numbers

METHODS: Registry[Callable[..., Method]] = Registry(
    "method",
    {
        "adacontrast": adacontrast,
        "asr": asr,
        "bn1": bn1,
        "bn_alpha": bn_alpha,
        "bn_ema": bn_ema,
        "cmf": cmf,
        "come": come,
        "cotta": cotta,
        "deyo": deyo,
        "eata": eata,
        "eta": eta,
        "foa": foa,
        "lame": lame,
        "memo": memo,
        "neo": neo,
        "pea": pea,
        "rdumb": rdumb,
        "reservoir": reservoir,
        "rmemsafe": rmemsafe,
        "rmt": rmt,
        "roid": roid,
        "rotta": rotta,
        "rpl": rpl,
        "santa": santa,
        "sar": sar,
        "source": source,
        "spa": spa,
        "t3a": t3a,
        "tent": tent,
        "trimtab": trimtab,
        "zerosiam": zerosiam,
    },
)

COMPONENTS: Registry[Callable[..., Component]] = Registry(
    "component",
    {
        "adaptive_norm": AdaptiveNorm,
        "augmentation_consistency": AugmentationConsistency,
        "capped_updates": CappedUpdates,
        "cautious_updates": CautiousUpdates,
        "certainty_diversity": CertaintyDiversity,
        "class_balanced_memory": ClassBalancedMemory,
        "entropy": Entropy,
        "feature_centering": FeatureCentering,
        "fisher_penalty": FisherPenalty,
        "kalman_ensembling": KalmanEnsembling,
        "laplacian": Laplacian,
        "marginal_entropy": MarginalEntropy,
        "mean_teacher": MeanTeacher,
        "median_norm": MedianNorm,
        "novel_samples": NovelSamples,
        "opinion_entropy": OpinionEntropy,
        "periodic_reset": PeriodicReset,
        "prior_correction": PriorCorrection,
        "prototype_classifier": PrototypeClassifier,
        "prototype_contrast": PrototypeContrast,
        "pseudo_label_contrast": PseudoLabelContrast,
        "recovery": Recovery,
        "reliable_samples": ReliableSamples,
        "robust_pseudo_label": RobustPseudoLabel,
        "selective_reset": SelectiveReset,
        "self_bootstrapping": SelfBootstrapping,
        "siamese_entropy": SiameseEntropy,
        "soft_likelihood_ratio": SoftLikelihoodRatio,
        "source_anchor": SourceAnchor,
        "source_ensembling": SourceEnsembling,
        "source_reliability": SourceReliability,
        "source_replay": SourceReplay,
        "stochastic_restore": StochasticRestore,
        "structure_dependence": StructureDependence,
        "temporal_prior": TemporalPrior,
        "view_temperature": ViewTemperature,
    },
)


def build(spec: str, **options: object) -> Method:
    """The method that words describe: ``"tent + source_ensembling(momentum=0.99)"``.

    The first word is a method, each further one a component to add, by name or as
    ``package.module:callable``; ``options`` are the method's, as if written in its brackets.
    """
    first, *rest = terms(spec)
    method = _made(METHODS, first.name, {**first.arguments, **options})
    if not isinstance(method, Method):
        raise ValueError(f"{first.name} must return a trimtab.Method, got {method!r}")
    components = [_made(COMPONENTS, term.name, term.arguments) for term in rest]
    for term, component in zip(rest, components, strict=True):
        if not isinstance(component, Component):
            raise ValueError(f"{term.name} must return a component, got {component!r}")
    return replace(method.plus(*components), name=spec)


def _made(table: Registry[Any], name: str, arguments: dict[str, object]) -> Any:
    """What a table's entry makes of arguments that are of the right kind."""
    factory = table.find(name)
    if callable(factory):
        check_numbers(factory, arguments)
    return table.make(name, arguments)
