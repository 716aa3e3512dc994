"""What experiments are done on: images, networks, and how much of everything."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from trimtab import models
from trimtab.bench.data import SOURCE_PARTS
from trimtab.bench.spec import RunSpec
from trimtab.core.ranges import check_whole
from trimtab.core.spec import single_term
from trimtab.models.masks import MASKS
from trimtab.report.metrics import DOMAIN_ERROR, ERROR, Metric
from trimtab.report.published import papers_batch_size, papers_images, papers_options

NETWORKS: dict[str, tuple[str, ...]] = {
    "fashion_mnist": ("fashion_resnet20_bn", "fashion_resnet20_gn", "fashion_vit"),
    "cifar10": ("cifar10_resnet20_bn", "cifar10_resnet20_gn", "cifar10_vit"),
    "cifar10_c": ("wrn28_10", "resnet26_gn"),
    "cifar100_c": ("resnext29_4x32d",),
    "imagenet_c": ("resnet50", "swin_b", "vit_b_16"),
    "imagenet_r": ("resnet50@imagenet_r", "swin_b@imagenet_r", "vit_b_16@imagenet_r"),
    "imagenet_sketch": ("resnet50", "swin_b", "vit_b_16"),
    "imagenet_d109": ("resnet50@imagenet_d109", "swin_b@imagenet_d109", "vit_b_16@imagenet_d109"),
}
"""The networks of the paper by dataset, and those that come along."""

METHODS = (
    "source",
    "bn1",
    "tent",
    "eata",
    "sar",
    "cotta",
    "rotta",
    "adacontrast",
    "rmt",
    "lame",
    "roid",
)
"""The rows of the paper's tables."""

FEW_METHODS = ("source", "bn1", "tent", "eata", "lame", "roid")


@dataclass(frozen=True)
class Setup:
    """Images, networks and sizes.

    Args:
        data: Labelled images, by name.
        networks: Of any kind; experiments take those that suit them.
        images_per_domain: None takes as many as the paper: mostly all.
        seeds: Each is a run.
        methods: Rows of the comparisons.
        quick: Whether sweeps take fewer steps.
    """

    data: str = "fashion_mnist"
    networks: tuple[str, ...] = NETWORKS["fashion_mnist"]
    images_per_domain: int | None = 1000
    batch_size: int = 64
    seeds: tuple[int, ...] = (1, 2, 3)
    methods: tuple[str, ...] = METHODS
    quick: bool = False

    def __post_init__(self) -> None:
        check_whole("images_per_domain", self.images_per_domain, "image")
        check_whole("batch_size", self.batch_size, "image")
        unseeded = [seed for seed in self.seeds if seed < 0]
        if unseeded or not self.seeds:
            raise ValueError(f"seeds must be numbers from 0 on, one or more, got {self.seeds}")

    @property
    def coupled(self) -> tuple[str, ...]:
        """Networks with batch norm, whose samples influence each other."""
        return tuple(name for name in self.networks if _has_batch_norm(name))

    @property
    def uncoupled(self) -> tuple[str, ...]:
        """Networks that see each sample for itself: those for correlated classes."""
        return tuple(name for name in self.networks if not _has_batch_norm(name))

    @property
    def main(self) -> str:
        """The network for analyses of one: with batch norm if there is one."""
        return (*self.coupled, *self.networks)[0]

    @property
    def metric(self) -> Metric:
        """How the paper averages errors: over domains, which are of unequal size in one dataset."""
        return DOMAIN_ERROR if self.data_name == "imagenet_d109" else ERROR

    @property
    def data_name(self) -> str:
        """The data without its options."""
        return single_term(self.data).name

    def run(self, method: str, model: str, scenario: str, **fields: Any) -> list[RunSpec]:
        """A run for each seed; ``fields`` of RunSpec replace the setup's own."""
        given = {**papers_options(self.data_name, method), **fields.pop("options", {})}
        name, options = self._with_source_data(method, given)
        settings: dict[str, Any] = {
            "method": name,
            "model": model,
            "data": self.data,
            "scenario": scenario,
            "options": options,
            "images_per_domain": self._images(scenario),
            "batch_size": self.batch_size,
        }
        return [RunSpec(**{**settings, "seed": seed, **fields}) for seed in self.seeds]

    def compare(self, networks: Sequence[str], scenario: str, **fields: Any) -> list[RunSpec]:
        """Every method on every one of the networks."""
        return [
            spec
            for model in networks
            for method in self.methods
            for spec in self.run(method, model, scenario, **fields)
        ]

    def _with_source_data(self, method: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Source images for the two baselines that want some, where the data has any."""
        if method not in ("eata", "rmt"):
            return method, options
        if self.data_name in SOURCE_PARTS:
            return method, {"source_data": "source", **options}
        return ("eta" if method == "eata" else method), options

    def _images(self, scenario: str) -> int | None:
        # Data with options of its own says itself which images it takes.
        return self.images_per_domain or papers_images(self.data, scenario)


def setup_for(data: str, networks: Sequence[str] | None = None, **sizes: Any) -> Setup:
    """The setup for a dataset: the paper's networks and batch size, unless others are given."""
    name = single_term(data).name
    found = tuple(_masked(network, name) for network in networks or NETWORKS.get(name, ()))
    if not found:
        raise ValueError(f"no networks are known for {data}; give some with --model")
    for network in found:
        models.describe(network)
    plain = Setup(data, found, batch_size=papers_batch_size(name))
    if name not in ("fashion_mnist", "cifar10"):
        plain = replace(plain, images_per_domain=None)
    return replace(plain, **sizes)


def _masked(network: str, data: str) -> str:
    """An ImageNet network for data with some of ImageNet's classes keeps only those."""
    if data not in MASKS or "@" in network or models.describe(network).num_classes != 1000:
        return network
    return f"{network}@{data}"


def small(setup: Setup) -> Setup:
    """The same in minutes: few images, one seed, fewer methods and steps of sweeps."""
    return replace(setup, images_per_domain=200, seeds=(1,), methods=FEW_METHODS, quick=True)


def _has_batch_norm(network: str) -> bool:
    return "batch norm" in models.describe(network).norm_layers
