"""One paper a file: each a factory that returns a Method. ``build`` makes one from words."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from trimtab.components.augmentation_consistency import AugmentationConsistency
from trimtab.components.certainty_diversity import CertaintyDiversity
from trimtab.components.class_balanced_memory import ClassBalancedMemory
from trimtab.components.entropy import Entropy
from trimtab.components.marginal_entropy import MarginalEntropy
from trimtab.components.mean_teacher import MeanTeacher
from trimtab.components.prior_correction import PriorCorrection
from trimtab.components.prototype_contrast import PrototypeContrast
from trimtab.components.pseudo_label_contrast import PseudoLabelContrast
from trimtab.components.soft_likelihood_ratio import SoftLikelihoodRatio
from trimtab.components.source_anchor import SourceAnchor
from trimtab.components.source_ensembling import SourceEnsembling
from trimtab.components.source_replay import SourceReplay
from trimtab.components.stochastic_restore import StochasticRestore
from trimtab.core.component import Component
from trimtab.core.method import Method
from trimtab.core.spec import call_by_name, terms
from trimtab.methods.adacontrast import adacontrast
from trimtab.methods.cotta import cotta
from trimtab.methods.memo import memo
from trimtab.methods.rmt import rmt
from trimtab.methods.roid import roid
from trimtab.methods.rotta import rotta
from trimtab.methods.santa import santa
from trimtab.methods.source import source
from trimtab.methods.tent import tent

METHODS: Mapping[str, Callable[..., Method]] = MappingProxyType(
    {
        "adacontrast": adacontrast,
        "cotta": cotta,
        "memo": memo,
        "rmt": rmt,
        "roid": roid,
        "rotta": rotta,
        "santa": santa,
        "source": source,
        "tent": tent,
    }
)

COMPONENTS: Mapping[str, Callable[..., Component]] = MappingProxyType(
    {
        "augmentation_consistency": AugmentationConsistency,
        "certainty_diversity": CertaintyDiversity,
        "class_balanced_memory": ClassBalancedMemory,
        "entropy": Entropy,
        "marginal_entropy": MarginalEntropy,
        "mean_teacher": MeanTeacher,
        "prior_correction": PriorCorrection,
        "prototype_contrast": PrototypeContrast,
        "pseudo_label_contrast": PseudoLabelContrast,
        "soft_likelihood_ratio": SoftLikelihoodRatio,
        "source_anchor": SourceAnchor,
        "source_ensembling": SourceEnsembling,
        "source_replay": SourceReplay,
        "stochastic_restore": StochasticRestore,
    }
)


def build(spec: str, **options: object) -> Method:
    """The method that words describe: ``"tent + source_ensembling(momentum=0.99)"``.

    The first word is a method, each further one a component to add; ``options`` are the
    method's, as if written in its brackets.
    """
    first, *rest = terms(spec)
    method = call_by_name("method", METHODS, first.name, {**first.arguments, **options})
    components = [call_by_name("component", COMPONENTS, t.name, t.arguments) for t in rest]
    return method.plus(*components)
