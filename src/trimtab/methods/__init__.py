"""One paper a file: each a factory that returns a Method. ``build`` makes one from words."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from trimtab.components.augmentation_consistency import AugmentationConsistency
from trimtab.components.certainty_diversity import CertaintyDiversity
from trimtab.components.entropy import Entropy
from trimtab.components.prior_correction import PriorCorrection
from trimtab.components.soft_likelihood_ratio import SoftLikelihoodRatio
from trimtab.components.source_ensembling import SourceEnsembling
from trimtab.core.component import Component
from trimtab.core.method import Method
from trimtab.core.spec import call_by_name, terms
from trimtab.methods.roid import roid
from trimtab.methods.source import source
from trimtab.methods.tent import tent

METHODS: Mapping[str, Callable[..., Method]] = MappingProxyType(
    {
        "roid": roid,
        "source": source,
        "tent": tent,
    }
)

COMPONENTS: Mapping[str, Callable[..., Component]] = MappingProxyType(
    {
        "augmentation_consistency": AugmentationConsistency,
        "certainty_diversity": CertaintyDiversity,
        "entropy": Entropy,
        "prior_correction": PriorCorrection,
        "soft_likelihood_ratio": SoftLikelihoodRatio,
        "source_ensembling": SourceEnsembling,
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
