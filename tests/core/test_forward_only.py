"""Methods that train nothing adapt whatever predicts: TorchScript, quantised nets, functions."""

import pytest
import torch
from torch import Tensor, nn

import trimtab
from reference import nets
from same import assert_same

pytestmark = pytest.mark.filterwarnings("ignore")  # torch warns of its tracer and quantiser

FORWARD_ONLY = ("source", "neo", "t3a", "lame", "source + temporal_prior", "neo + laplacian")


def logits(model: nn.Module | trimtab.Backbone, method: str, images: Tensor) -> Tensor:
    adapter = trimtab.adapt(model, method)
    return torch.cat([adapter(batch) for batch in images.split(16)])


def body_and_head(model: nets.Net) -> trimtab.ForwardBackbone:
    model.eval()
    return trimtab.ForwardBackbone(model.encoder, model.classifier)


def test_what_is_no_head_is_refused() -> None:
    with pytest.raises(ValueError, match=r"head must be an nn\.Linear or a pair .*, got int"):
        trimtab.ForwardBackbone(nn.Identity(), 10)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", FORWARD_ONLY)
def test_a_function_and_a_head_are_as_good_as_the_model(
    method: str, model: nets.Net, images: Tensor
) -> None:
    expected = logits(model, method, images)
    torch.testing.assert_close(logits(body_and_head(model), method, images), expected)


def test_a_function_may_give_logits_and_features(model: nets.Net, images: Tensor) -> None:
    model.eval()

    def both(inputs: Tensor) -> tuple[Tensor, Tensor]:
        features = model.encoder(inputs)
        return model.classifier(features), features

    found = logits(trimtab.ForwardBackbone(both), "lame", images)
    torch.testing.assert_close(found, logits(model, "lame", images))


def test_a_head_may_be_weights_alone(model: nets.Net, images: Tensor) -> None:
    weight = model.classifier.weight.detach()
    backbone = trimtab.ForwardBackbone(model.eval().encoder, (weight, None))
    features = model.encoder(images[:16])
    torch.testing.assert_close(
        trimtab.adapt(backbone, "source")(images[:16]), (features @ weight.T).detach()
    )


@pytest.mark.parametrize("method", ["source", "source + temporal_prior"])
def test_torchscript_is_adapted(method: str, model: nets.Net, images: Tensor) -> None:
    traced = torch.jit.trace(model.eval(), images[:2])
    torch.testing.assert_close(logits(traced, method, images), logits(model, method, images))


def test_what_needs_the_head_of_torchscript_says_so(model: nets.Net, images: Tensor) -> None:
    traced = torch.jit.trace(model.eval(), images[:2])
    with pytest.raises(ValueError, match="feature_centering needs features"):
        trimtab.adapt(traced, "neo")(images[:4])


def quantised(model: nets.Net) -> nn.Module:
    net: nn.Module = torch.ao.quantization.quantize_dynamic(model.eval(), {nn.Linear})
    return net


def test_a_dynamically_quantised_net_is_centred(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("ln", recorded)
    net, bias = quantised(model), model.classifier.bias.detach()
    adapter = trimtab.adapt(net, "neo", prior_samples=0)
    plain = [net(batch).detach() for batch in images.split(16)]
    for number, batch in enumerate(images.split(16)):
        shift = (torch.cat(plain[: number + 1]) - bias).mean(0)
        torch.testing.assert_close(adapter(batch), plain[number] - shift)


@pytest.mark.parametrize("method", ["t3a", "lame"])
def test_methods_that_need_features_see_those_of_a_quantised_net(
    method: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("ln", recorded)
    found, expected = (logits(net, method, images) for net in (quantised(model), model.eval()))
    difference = (found - expected).abs().mean() / expected.std()
    assert 0 < difference < 0.2  # eight bits are not thirty-two


@pytest.mark.parametrize("method", ["tent", "roid", "sar", "cotta", "trimtab"])
def test_methods_that_train_refuse(method: str, model: nets.Net) -> None:
    with pytest.raises(ValueError, match=r"makes forward passes only, and this method trains"):
        trimtab.adapt(body_and_head(model), method)


def test_torchscript_is_refused_by_methods_that_train(model: nets.Net, images: Tensor) -> None:
    traced = torch.jit.trace(model.eval(), images[:2])
    with pytest.raises(ValueError, match=r"is scripted or traced by torch\.jit, which makes"):
        trimtab.adapt(traced, "tent")


def test_a_saved_stream_goes_on_and_another_model_is_refused(
    model: nets.Net, images: Tensor
) -> None:
    backbone = body_and_head(model)
    adapter = trimtab.adapt(backbone, "neo + temporal_prior")
    adapter(images[:16])
    again = trimtab.adapt(body_and_head(model), "neo + temporal_prior")
    again.load_state_dict(adapter.state_dict())
    assert torch.equal(again(images[16:32]), adapter(images[16:32]))
    assert_same(again.state_dict(), adapter.state_dict())
    with torch.no_grad():
        model.encoder[0].weight.add_(1)  # type: ignore[operator]
    other = trimtab.adapt(body_and_head(model), "neo + temporal_prior")
    with pytest.raises(ValueError, match="backbone"):
        other.load_state_dict(adapter.state_dict())


def test_a_fleet_of_streams_shares_it(model: nets.Net, images: Tensor) -> None:
    backbone = body_and_head(model)
    fleet = trimtab.fleet(backbone, "neo")
    batches = {"a": images[:8], "b": images[8:16]}
    found = fleet.step(batches)
    for name, batch in batches.items():
        torch.testing.assert_close(found[name], trimtab.adapt(backbone, "neo")(batch))


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(ValueError, match="function must be callable, got int"):
        trimtab.ForwardBackbone(3)  # type: ignore[arg-type]


def test_a_function_without_features_is_told_how_to_have_some(images: Tensor) -> None:
    function = trimtab.ForwardBackbone(lambda x: x.mean((2, 3)))
    for method in ("neo", "t3a", "lame", "foa"):
        with pytest.raises(ValueError, match="ForwardBackbone return a pair of logits and feat"):
            trimtab.adapt(function, method)(images[:4])
