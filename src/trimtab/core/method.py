"""A method is a recipe: components, batch-norm policy, trained parameters, optimiser."""

from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from trimtab.augment.draw_first import DrawFirst
from trimtab.core.adapter import Adapter
from trimtab.core.backbone import (
    Backbone,
    ParameterFilter,
    PositionFilter,
    Tensors,
    in_norm_layers,
)
from trimtab.core.component import Component, NormRule, Objective, OutputRule
from trimtab.core.learner import Learner
from trimtab.core.norm import BATCH, SOURCE, NormPolicy
from trimtab.core.optimizer import OptimizerChoice
from trimtab.core.settings_text import described
from trimtab.core.task import Task

Role = TypeVar("Role", bound=Component)


@dataclass(frozen=True)
class Method:
    """A recipe for adaptation; ``start`` makes a stream of it.

    Args:
        components: The ideas; rules run in this order.
        norm: Which statistics batch norms use.
        trains: Which parameters are trained, where there is something to minimise.
        learner: What a step does with all this; methods with a loop of their own have another.
        guarded: Whether streams have a guard unless they are told otherwise.
        name: What people call it; no part of the recipe.
    """

    components: tuple[Component, ...] = ()
    norm: NormPolicy = BATCH
    trains: ParameterFilter | PositionFilter = in_norm_layers
    optimizer: OptimizerChoice = field(default_factory=OptimizerChoice)
    learner: Learner = field(default_factory=Learner)
    guarded: bool = False
    name: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        names = [component.name for component in self.components]
        if len(set(names)) < len(names):
            raise ValueError(f"components must have different names, got {names}")
        self.learner.check(self)

    def plus(self, *components: Component) -> "Method":
        """The same recipe with these components too; one of a name already there replaces it."""
        by_name = {component.name: component for component in self.components}
        by_name |= {component.name: component for component in components}
        return replace(self, components=tuple(by_name.values()))

    def playing(self, role: type[Role]) -> list[Role]:
        """The components that play a role, in their order."""
        known: dict[type[Component], list[Any]] = self.__dict__.setdefault("_playing", {})
        if role not in known:
            known[role] = [part for part in self.components if isinstance(part, role)]
        return known[role]

    @property
    def learns(self) -> bool:
        """Whether there is something to minimise."""
        return any(isinstance(component, Objective) for component in self.components)

    @property
    def only_corrects(self) -> bool:
        """Whether predictions are the source model's own, corrected afterwards."""
        plain = self.norm == SOURCE and not self.playing(NormRule)
        return plain and not self.learns and self.shifts_classes

    @property
    def tells_of_stream(self) -> tuple[str, ...]:
        """Names of components whose memory tells of the stream alone."""
        return tuple(part.name for part in self.components if part.tells_of_stream)

    @property
    def shifts_classes(self) -> bool:
        """Whether output rules may favour some classes on purpose."""
        return bool(self.playing(OutputRule))

    @property
    def rules_for_runs(self) -> list[OutputRule]:
        """Output rules, the last ones, that are right only where classes are correlated in time;
        none where the method only corrects, nor where it learns the order of classes."""
        rules = self.playing(OutputRule)
        if not self.may_drift:
            return []
        others = [place for place, rule in enumerate(rules, 1) if not rule.assumes_runs]
        return rules[max(others, default=0) :]

    @property
    def may_drift(self) -> bool:
        """Whether classes that it favours more than the source model does speak against it: not
        where it only corrects, nor where it learns the order of classes."""
        return not self.only_corrects and not self.tells_of_stream

    @property
    def views(self) -> int:
        """Most altered copies of a sample that pass the network beside it with gradients."""
        made = [o for o in self.playing(Objective) if type(o).views is not Objective.views]
        shared = [o.shared_view for o in made if o.shared_view is not None]
        same = sum(view in shared[:place] for place, view in enumerate(shared))
        return len(made) - same

    @property
    def augments(self) -> bool:
        """Whether an augmentation of this package, which takes images in [0, 1], is part of it."""
        parts: list[Any] = [*self.components, self.learner]
        settings = [getattr(part, setting.name) for part in parts for setting in fields(part)]
        settings += [objective.shared_view for objective in self.playing(Objective)]
        settings += [one for several in settings if isinstance(several, tuple) for one in several]
        return any(isinstance(setting, DrawFirst) for setting in settings)

    def suited_to(self, task: Task) -> "Method":
        """The recipe for a task; a ValueError that says why, where it makes no sense there."""
        if not task.is_dense:
            return self
        try:
            found = [component.for_dense() for component in self.components]
        except ValueError as error:
            raise ValueError(
                f"{self.name or 'this method'} does not adapt segmentation models: {error}; use "
                "'roid', 'tent', 'eta', 'sar', 'cotta' or 'bn1'"
            ) from error
        kept = tuple(component for component in found if component is not None)
        return replace(self, components=kept)

    def source_params(self, backbone: Backbone) -> Tensors:
        """Source values of what this method trains in a backbone."""
        if backbone.untrainable:
            raise ValueError(
                f"{backbone.untrainable}, and this method trains parameters; use one that trains "
                "nothing ('neo', 't3a', 'lame', 'source + temporal_prior'), or adapt the nn.Module "
                "that it was made from"
            )
        params = backbone.parameters(self.trains)
        if not params:
            name = type(backbone.model).__name__
            raise ValueError(
                f"this method trains norm layers, and {name} has none with parameters; "
                "use a method that trains nothing ('source', 'lame'), or train other parameters: "
                "dataclasses.replace(method, trains=trimtab.everywhere)"
            )
        return params

    def start(self, backbone: Backbone, **options: Any) -> Adapter:
        """A fresh stream."""
        return Adapter(backbone, self, **options)

    @property
    def spec(self) -> str:
        """The recipe as text, the same for equal recipes."""
        return described(self)
