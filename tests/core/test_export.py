"""What Python and torch expect of an adapter: repr, module, export, pickle, names."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import trimtab
from reference import nets
from trimtab.core.advice import TrimtabWarning


def test_names_can_be_completed() -> None:
    assert set(trimtab.__all__) <= set(dir(trimtab))
    assert all(getattr(trimtab, name) is not None for name in dir(trimtab))


def test_a_repr_says_method_model_samples_and_updates(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained("gn", recorded), "tent + source_ensembling")
    adapter(images[:16])
    assert repr(adapter) == (
        "<Adapter: tent + source_ensembling on Net, 16 samples seen, 1 updates>"
    )
    assert repr(adapter.backbone) == "<Backbone: Net, 1,535 parameters, 7 classes>"


def test_a_pickle_is_refused_with_the_remedy(recorded: dict[str, Tensor], images: Tensor) -> None:
    adapter = trimtab.adapt(nets.trained("gn", recorded), "tent")
    with pytest.raises(TypeError, match=r"adapter\.save\(path\)"):
        pickle.dumps(adapter)
    with pytest.raises(TypeError, match=r"make trimtab\.Backbone\(model\) there"):
        pickle.dumps(adapter.backbone)
    assert torch.equal(copy.deepcopy(adapter)(images[:16]), adapter(images[:16]))


def test_a_module_of_a_stream_learns_in_evaluation_mode_too(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded)
    adapter, plain = trimtab.adapt(model, "tent"), trimtab.adapt(model, "tent")
    pipeline = nn.Sequential(nn.Identity(), adapter.as_module()).eval().to("cpu").float()
    for batch in images[:48].split(16):
        assert torch.equal(pipeline(batch), plain(batch))
    assert adapter.counters.updates == 3
    looking = adapter.as_module(learn=False)
    assert torch.equal(looking(images[:16]), plain.predict(images[:16]))
    assert adapter.counters.updates == 3
    assert "3 updates" in repr(pipeline)


def test_a_module_of_a_stream_stays_where_it_is(recorded: dict[str, Tensor]) -> None:
    module = trimtab.adapt(nets.trained("gn", recorded), "tent").as_module()
    for move in (nn.Module.half, lambda m: m.to("meta"), nn.Module.double):
        with pytest.raises(ValueError, match=r"move the model to .* and adapt it there"):
            move(module)
    assert not list(module.parameters())


def test_a_module_of_a_stream_has_its_state_in_its_state_dict(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded)
    first, second = trimtab.adapt(model, "tent"), trimtab.adapt(model, "tent")
    first(images[:16])
    second.as_module().load_state_dict(first.as_module().state_dict())
    assert torch.equal(first(images[16:32]), second(images[16:32]))


def test_an_export_is_the_adapted_network_and_no_more(
    norm: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained(norm, recorded)
    adapter = trimtab.adapt(model, "bn_ema" if norm == "bn" else "tent")
    for batch in images[:48].split(16):
        adapter(batch)
    plain = adapter.export()
    assert [type(layer) for layer in plain.modules()] == [type(layer) for layer in model.modules()]
    assert plain.state_dict().keys() == model.state_dict().keys()
    before = adapter.params, adapter.statistics
    expected = adapter.backbone(images[48:64], *before).logits
    with torch.no_grad():
        torch.testing.assert_close(plain(images[48:64]), expected)
        for tensor in plain.parameters():
            tensor.zero_()  # nothing is shared
    assert torch.equal(adapter.backbone(images[48:64], *before).logits, expected)
    assert not any(layer._forward_pre_hooks for layer in plain.modules())


def test_an_export_has_the_streams_values_by_all_names_of_a_layer(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded)
    model.again = model.encoder[1]
    adapter = trimtab.adapt(model, "tent")
    adapter(images[:16])
    plain = adapter.export()
    assert plain.again is plain.get_submodule("encoder.1")
    with torch.no_grad():
        expected = adapter.backbone(images[:16], adapter.params).logits
        torch.testing.assert_close(plain(images[:16]), expected)


def test_an_export_says_what_it_leaves_out(recorded: dict[str, Tensor], images: Tensor) -> None:
    adapter = trimtab.adapt(nets.trained("bn", recorded), "roid")
    adapter(images[:16])
    with pytest.warns(TrimtabWarning) as said:
        adapter.export()
    texts = [str(warning.message) for warning in said]
    assert "leaves out what corrects outputs along the stream: prior_correction" in texts[0]
    assert "pass a batch to store its statistics" in texts[1]


def test_an_export_takes_the_statistics_of_a_batch(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained("bn", recorded), "tent")
    adapter(images[:16])
    expected = adapter.predict(images[16:48])
    plain = adapter.export(images[16:48])
    with torch.no_grad():
        torch.testing.assert_close(plain(images[16:48]), expected, atol=1e-4, rtol=1e-4)
    with pytest.raises(ValueError, match="inputs must have shape"):
        adapter.export(images[:4, :2])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")  # the exporter's
def test_an_export_runs_elsewhere(
    recorded: dict[str, Tensor], images: Tensor, tmp_path: Path
) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    adapter = trimtab.adapt(nets.trained("bn", recorded), "tent")
    adapter(images[:16])
    plain = adapter.export(images[:64])
    path = tmp_path / "adapted.onnx"
    program = torch.onnx.export(plain, (images[:16],), dynamo=True, verbose=False)
    assert program is not None
    program.save(path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    found = session.run(None, {name: images[16:32].numpy()})[0]
    with torch.no_grad():
        np.testing.assert_allclose(found, plain(images[16:32]).numpy(), atol=1e-4)
