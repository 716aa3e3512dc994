"""ONNX models as backbones, run by onnxruntime: forward passes only (extra ``trimtab[onnx]``)."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from trimtab.core.forward_only import ForwardBackbone
from trimtab.core.outputs import Output

PASSED_THROUGH = ("Identity", "Cast")
"""Operations between a classifier and the output that change no class."""


class OnnxBackbone(ForwardBackbone):
    """A classifier in an ONNX file, adapted by methods that train nothing.

    The classifier at its end, a matrix product with stored weights, is cut off and made here, so
    that methods see features and the classifier's rows. Where there is none, because it is
    quantised, say, methods see logits only.

    Args:
        path: The file. Its first input are the images, its first output the logits.
        num_classes: Checked against the logits; found from the first batch when not given.
        threads: Of onnxruntime; None leaves it to it.
        providers: Of onnxruntime, in the order of preference; by default the processor's.
        normalization: How inputs come to be what the model takes, as for a Backbone.
        output: Of the first output: ``"probabilities"`` where it holds some.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        num_classes: int | None = None,
        *,
        threads: int | None = None,
        providers: tuple[str, ...] = ("CPUExecutionProvider",),
        normalization: Any = None,
        output: Output = None,
    ) -> None:
        onnx, runtime = _packages()
        model = onnx.load(path)
        head = _cut_classifier(onnx, model)
        options = runtime.SessionOptions()
        if threads is not None:
            options.intra_op_num_threads = threads
        graph = model.SerializeToString()
        session = runtime.InferenceSession(graph, options, providers=list(providers))
        super().__init__(
            _Session(session),
            head,
            num_classes,
            identity=graph,
            normalization=normalization,
            output=output,
            what=f"{Path(path).name} is an ONNX model, which makes forward passes only",
        )


class _Session:
    """Runs a session on tensors, in batches of the size that it was exported for, if of one."""

    def __init__(self, session: Any) -> None:
        first = session.get_inputs()[0]
        self.session, self.name = session, first.name
        self.dtype = torch.float16 if "float16" in first.type else torch.float32
        self.size = first.shape[0] if isinstance(first.shape[0], int) else None

    def __call__(self, inputs: Tensor) -> Tensor:
        size = self.size or len(inputs)
        return torch.cat([self._run(part, size) for part in inputs.split(size)])

    def _run(self, part: Tensor, size: int) -> Tensor:
        missing = size - len(part)
        full = torch.cat([part, part[-1:].expand(missing, *part.shape[1:])]) if missing else part
        array = full.detach().cpu().to(self.dtype).contiguous().numpy()
        outputs = self.session.run(None, {self.name: array})
        return torch.from_numpy(outputs[0]).float()[: len(part)]


def _packages() -> tuple[Any, Any]:
    try:
        return importlib.import_module("onnx"), importlib.import_module("onnxruntime")
    except ImportError as error:
        raise ImportError(
            f"ONNX models need the packages onnx and onnxruntime ({error}); "
            "install them with: pip install 'trimtab[onnx]'"
        ) from error


def _cut_classifier(onnx: Any, model: Any) -> tuple[Tensor, Tensor | None] | None:
    """Let the model end at its classifier's input; weight and bias, or None where none is found."""
    graph = model.graph
    makers = {name: node for node in graph.node for name in node.output}
    node = makers.get(graph.output[0].name)
    while node is not None and node.op_type in PASSED_THROUGH:
        node = makers.get(node.input[0])
    found = _product(onnx, node, makers, _constants(onnx, graph)) if node is not None else None
    if found is None:
        return None
    features, weight, bias = found
    del graph.output[:]
    graph.output.append(onnx.helper.make_tensor_value_info(features, onnx.TensorProto.FLOAT, None))
    return weight, bias


def _constants(onnx: Any, graph: Any) -> dict[str, Tensor]:
    """Stored tensors by name; transposed ones too, as exporters keep weights."""
    read = onnx.numpy_helper.to_array
    found = {tensor.name: torch.from_numpy(read(tensor).copy()) for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            found[node.output[0]] = torch.from_numpy(read(node.attribute[0].t).copy())
        elif node.op_type == "Transpose" and node.input[0] in found:
            stored = found[node.input[0]]
            order = next((list(a.ints) for a in node.attribute if a.name == "perm"), None)
            found[node.output[0]] = stored.permute(order) if order else stored.T
    return found


def _product(
    onnx: Any, node: Any, makers: dict[str, Any], constants: dict[str, Tensor]
) -> tuple[str, Tensor, Tensor | None] | None:
    """Input, weight (classes, features) and bias of a classifier that ends in this node."""
    bias = None
    if node.op_type == "Add":
        known = [name for name in node.input if name in constants]
        others = [name for name in node.input if name not in constants]
        if len(known) != 1 or constants[known[0]].dim() != 1 or others[0] not in makers:
            return None
        bias, node = constants[known[0]], makers[others[0]]
    if node.op_type not in ("Gemm", "MatMul") or node.input[1] not in constants:
        return None
    weight = constants[node.input[1]]
    settings = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    plain = settings.get("alpha", 1.0) == settings.get("beta", 1.0) == 1.0
    if weight.dim() != 2 or not weight.is_floating_point() or not plain or settings.get("transA"):
        return None
    if node.op_type == "Gemm" and len(node.input) > 2:
        bias = constants.get(node.input[2])
        if bias is None:
            return None
    return node.input[0], weight if settings.get("transB") else weight.T, bias
