"""Files that others run: KServe, Docker, Grafana. What they name has to exist."""

import argparse
import json
import re
import shlex
from pathlib import Path

import yaml
from torch import Tensor, nn

from server.running import service
from trimtab.server.command import add_arguments

DEPLOY = Path(__file__).parents[2] / "deploy"


def parsed(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(words)


def entry_point() -> list[str]:
    text = (DEPLOY / "Dockerfile").read_text()
    words = json.loads(re.findall(r"^ENTRYPOINT (\[.*\])$", text, re.MULTILINE)[0])
    assert words[:2] == ["trimtab", "serve"]
    return [str(word) for word in words[2:]]


def test_the_image_starts_a_server_and_copies_what_exists() -> None:
    args = parsed(entry_point())
    assert (args.host, args.port, args.store) == ("0.0.0.0", 8080, "/streams")
    text = (DEPLOY / "Dockerfile").read_text()
    for line in re.findall(r"^COPY (.*)$", text, re.MULTILINE):
        for name in shlex.split(line)[:-1]:
            assert (DEPLOY.parent / name).exists()


def test_the_inference_service_gives_options_that_are_understood() -> None:
    stated = yaml.safe_load((DEPLOY / "kserve.yaml").read_text())
    assert stated["apiVersion"] == "serving.kserve.io/v1beta1"
    assert stated["kind"] == "InferenceService"
    predictor = stated["spec"]["predictor"]
    assert predictor["maxReplicas"] == 1
    container = predictor["containers"][0]
    args = parsed([*entry_point(), *container["args"]])
    assert args.name == stated["metadata"]["name"]
    assert container["readinessProbe"]["httpGet"]["port"] == args.port
    assert container["volumeMounts"][0]["mountPath"] == args.store
    assert predictor["volumes"][0]["name"] == container["volumeMounts"][0]["name"]


def test_the_dashboard_asks_for_metrics_that_there_are(
    net: nn.Module, images: Tensor, tmp_path: Path
) -> None:
    served = service(net, images, tmp_path)
    served.metrics.answered(429, 0.1, True)
    known = set(re.findall(r"^(\w+)\{", served.metrics.text().decode(), re.MULTILINE))
    dashboard = json.loads((DEPLOY / "grafana.json").read_text())
    queries = [t["expr"] for panel in dashboard["panels"] for t in panel["targets"]]
    asked = {name for query in queries for name in re.findall(r"(\w+)\{", query)}
    assert len(asked) >= 15
    assert asked <= known
    assert served.streams.store is not None
    served.streams.store.close()


def test_no_metric_is_labelled_with_a_stream(net: nn.Module, images: Tensor) -> None:
    text = service(net, images).metrics.text().decode()
    labels = set(re.findall(r"(\w+)=\"", text))
    assert labels <= {"model", "method", "reason", "le"}
