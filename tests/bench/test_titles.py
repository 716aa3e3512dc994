"""Names that readers know."""

import pytest

from trimtab import models
from trimtab.bench.titles import DATA, NETWORKS, data_title, model_title, scenario_meaning
from trimtab.streams.data import DATASETS


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("fashion_resnet20_bn", "ResNet-20 (BN)"),
        ("resnet50", "ResNet-50"),
        ("densenet121", "DenseNet-121"),
        ("vit_b_16", "ViT-B/16"),
        ("timm/resnet50.a1_in1k", "timm/resnet50.a1_in1k"),
        ("mine:network", "mine:network"),
    ],
)
def test_networks(name: str, title: str) -> None:
    assert model_title(name) == title


def test_only_what_there_is_has_a_title() -> None:
    assert set(DATA) <= set(DATASETS)
    assert set(NETWORKS) <= set(models.MODELS)
    assert data_title("imagenet_c(images=5000)") == "imagenet_c(images=5000)"


def test_the_four_settings_of_the_paper_are_explained() -> None:
    assert scenario_meaning("mixed_correlated(delta=0.1)").startswith("all domains at once")
    assert scenario_meaning("cyclic") == ""
