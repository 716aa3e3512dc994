"""Passes by torch.compile: the plain results, one graph for all streams, and plain where not."""

import shutil
import threading
import warnings
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor, nn

import trimtab
from trimtab import methods
from trimtab.core import compiled
from trimtab.core.advice import TrimtabWarning
from trimtab.core.backbone import Backbone
from trimtab.core.compiled import Compiled, Graphs
from trimtab.core.compiling import Trial
from trimtab.core.norm import BATCH, NormPolicy

BACKEND = "aot_eager"


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning)  # of torch itself
        yield
    torch.compiler.reset()


class Net(nn.Module):
    """Two convolutions with a norm each; may do what a graph cannot hold."""

    def __init__(self, norm: type[nn.Module] = nn.BatchNorm2d, *, breaks: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        sizes = (2, 8) if norm is nn.GroupNorm else (8,)
        self.first, self.first_norm = nn.Conv2d(3, 8, 3), norm(*sizes)
        self.second, self.second_norm = nn.Conv2d(8, 8, 3, stride=2), norm(*sizes)
        self.head = nn.Linear(8, 5)
        self.breaks = breaks

    def forward(self, images: Tensor) -> Tensor:
        hidden = self.first_norm(self.first(images)).relu()
        if self.breaks and float(hidden.detach().sum()) < 0:
            hidden = -hidden
        hidden = self.second_norm(self.second(hidden)).relu()
        return self.head(hidden.mean((2, 3)))  # type: ignore[no-any-return]


def batches(*sizes: int) -> list[Tensor]:
    random = torch.Generator().manual_seed(1)
    return [torch.rand(size, 3, 12, 12, generator=random) for size in sizes]


def graphs_of(backbone: Backbone, backend: str = BACKEND) -> Graphs:
    found: Graphs = backbone.shared["graphs", backend]
    return found


def made(backbone: Backbone, backend: str = BACKEND) -> int:
    return sum(graph.call is not None for graph in graphs_of(backbone, backend).known.values())


@pytest.mark.slow
@pytest.mark.parametrize("norm", [nn.BatchNorm2d, nn.GroupNorm])
def test_results_are_those_of_the_plain_path_and_streams_share_a_graph(
    norm: type[nn.Module],
) -> None:
    backbone, recipe = Backbone(Net(norm)), methods.build("roid")
    plain = recipe.start(backbone)
    expected = [plain(batch) for batch in batches(16, 9, 24)]
    for _ in range(2):
        stream = recipe.start(backbone, passes=Compiled(backbone, backend=BACKEND))
        for batch, logits in zip(batches(16, 9, 24), expected, strict=True):
            torch.testing.assert_close(stream(batch), logits, rtol=1e-5, atol=1e-5)
        for name, value in plain.params.items():
            torch.testing.assert_close(stream.params[name], value, rtol=1e-5, atol=1e-5)
        assert stream.counters == plain.counters
        assert made(backbone) == 1


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler")
def test_the_real_compiler_gives_the_results_of_the_plain_path() -> None:
    torch.manual_seed(0)
    layers = nn.Flatten(), nn.Linear(432, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 5)
    backbone, recipe = Backbone(nn.Sequential(*layers)), methods.build("tent")
    plain, stream = recipe.start(backbone), recipe.start(backbone, passes=Compiled(backbone))
    for batch in batches(16, 16, 12):
        torch.testing.assert_close(stream(batch), plain(batch), rtol=1e-5, atol=1e-5)
    assert made(backbone, "inductor") == 1


def test_a_network_that_cannot_be_compiled_stays_plain_with_one_warning() -> None:
    backbone, recipe = Backbone(Net(breaks=True)), methods.build("tent")
    plain = recipe.start(backbone)
    stream = recipe.start(backbone, passes=Compiled(backbone, backend=BACKEND))
    shown = batches(16, 16, 12)
    assert torch.equal(stream(shown[0]), plain(shown[0]))
    with pytest.warns(TrimtabWarning, match=r"passes stay plain, torch\.compile cannot make them"):
        assert torch.equal(stream(shown[1]), plain(shown[1]))
    assert torch.equal(stream(shown[2]), plain(shown[2]))  # an error, were there a second warning
    assert made(backbone) == 0


def test_a_graph_that_differs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*args: object) -> Tensor:
        logits: Tensor = torch.func.functional_call(*args)  # type: ignore[arg-type]
        return logits * 1.01

    monkeypatch.setattr(torch, "compile", lambda *_, **__: wrong)
    backbone, recipe = Backbone(Net()), methods.build("tent")
    stream = recipe.start(backbone, passes=Compiled(backbone, backend=BACKEND))
    plain = recipe.start(backbone)
    first, second = batches(16, 16)
    assert torch.equal(stream(first), plain(first))
    with pytest.warns(TrimtabWarning, match="results differ by 2e-02"):
        assert torch.equal(stream(second), plain(second))


class Rounded(torch.autograd.Function):
    """Passes values on; the gradients of one pass after the other are off by ``shares``."""

    shares: ClassVar[list[float]] = []

    @staticmethod
    def forward(ctx: Any, logits: Tensor) -> Tensor:
        return logits.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad * (1 + Rounded.shares.pop(0))


class Rough(Net):
    def forward(self, images: Tensor) -> Tensor:
        return Rounded.apply(super().forward(images))  # type: ignore[no-any-return]


def is_used(model: nn.Module) -> bool:
    """Whether a graph of the model stands its trial."""
    backbone, (batch,) = Backbone(model), batches(16)
    backbone.probe(batch[:1])
    params = {"head.bias": torch.zeros(5).requires_grad_()}
    trial = Trial(backbone, batch, params, dict(backbone.statistics), BATCH, True, BACKEND)
    trial.run()
    return trial.problem is None


@pytest.mark.parametrize(
    ("of_the_graph", "own", "used"), [(1.5e-3, 1e-3, True), (1e-3, 0.0, False), (0.1, 0.2, False)]
)
def test_gradients_may_differ_as_far_as_the_plain_pass_does_from_itself(
    monkeypatch: pytest.MonkeyPatch, of_the_graph: float, own: float, used: bool
) -> None:
    monkeypatch.setattr(torch, "compile", lambda *_, **__: _plainly)
    parts = [0.0, of_the_graph] * 8  # of each two samples, by the plain pass and by the graph
    monkeypatch.setattr(Rounded, "shares", [0.0, of_the_graph, own, *parts])
    assert is_used(Rough()) == used


@pytest.mark.parametrize(("off_parts", "used"), [(3, True), (5, False)])
def test_gradients_of_most_samples_decide_where_a_few_crossed_a_kink(
    monkeypatch: pytest.MonkeyPatch, off_parts: int, used: bool
) -> None:
    """A ReLU whose input rounds to the other side of 0 had a group-norm network refused."""
    monkeypatch.setattr(torch, "compile", lambda *_, **__: _plainly)
    parts = [share for part in range(8) for share in (0.0, 3e-3 if part < off_parts else 0.0)]
    monkeypatch.setattr(Rounded, "shares", [0.0, 3e-3, 0.0, *parts])
    assert is_used(Rough()) == used


def test_automatic_graphs_wait_until_they_are_likely_to_pay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    monkeypatch.setattr(torch, "compile", lambda *_, **__: asked.append(1) or _plainly)
    monkeypatch.setattr(compiled, "SAMPLES_TO_PAY", 40)
    backbone, recipe = Backbone(Net()), methods.build("tent")
    stream = recipe.start(backbone, passes=Compiled(backbone, "auto", backend=BACKEND))
    counts = []
    for batch in batches(16, 16, 16, 16):
        stream(batch)
        finish(backbone)
        counts.append(len(asked))
    assert counts == [0, 0, 1, 1]


def finish(backbone: Backbone) -> None:
    """Wait for a graph that a thread is making."""
    making = graphs_of(backbone).making
    if making is not None:
        making.thread.join()


def test_automatic_graphs_are_made_while_plain_passes_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made_by, allowed, used = [], threading.Event(), []

    def slow(*args: object) -> object:
        if threading.current_thread() is not threading.main_thread():
            made_by.append(threading.current_thread())
            assert allowed.wait(60)
        else:
            used.append(args[0])
        return _plainly(*args)

    monkeypatch.setattr(torch, "compile", lambda *_, **__: slow)
    monkeypatch.setattr(compiled, "SAMPLES_TO_PAY", 20)
    backbone, recipe = Backbone(Net()), methods.build("tent")
    stream = recipe.start(backbone, passes=Compiled(backbone, "auto", backend=BACKEND))
    plain = recipe.start(Backbone(Net()))
    *waiting, last = batches(16, 16, 16, 16)
    for batch in waiting:  # none of them waits for the graph
        assert torch.equal(stream(batch), plain(batch))
    assert made(backbone) == 0
    assert used == []
    allowed.set()
    finish(backbone)
    assert torch.equal(stream(last), plain(last))
    assert len(made_by) == made(backbone) == 1
    assert used
    assert used[0] is not backbone.model  # the thread has not touched the stream's own modules


def test_a_graph_that_a_thread_cannot_make_is_told_of_by_the_next_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object, **__: object) -> object:
        raise RuntimeError("no compiler")

    monkeypatch.setattr(torch, "compile", broken)
    monkeypatch.setattr(compiled, "SAMPLES_TO_PAY", 20)
    backbone, recipe = Backbone(Net()), methods.build("tent")
    stream = recipe.start(backbone, passes=Compiled(backbone, "auto", backend=BACKEND))
    first, second, third, last = batches(16, 16, 16, 16)
    stream(first)
    stream(second)
    finish(backbone)
    with pytest.warns(TrimtabWarning, match="cannot make them: RuntimeError: no compiler"):
        stream(third)
    stream(last)  # an error, were there a second warning
    assert made(backbone) == 0


@pytest.mark.slow
def test_a_graph_from_a_thread_gives_the_results_of_the_plain_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiled, "SAMPLES_TO_PAY", 20)
    backbone, recipe = Backbone(Net()), methods.build("roid")
    stream = recipe.start(backbone, passes=Compiled(backbone, "auto", backend=BACKEND))
    plain = recipe.start(backbone)
    for batch in batches(16, 16, 9, 24):
        torch.testing.assert_close(stream(batch), plain(batch), rtol=1e-5, atol=1e-5)
        finish(backbone)
    for name, value in plain.params.items():
        torch.testing.assert_close(stream.params[name], value, rtol=1e-5, atol=1e-5)
    assert made(backbone) == 1


def _plainly(*args: object) -> object:
    return torch.func.functional_call(*args)  # type: ignore[arg-type]


def test_kinds_of_passes_that_never_return_are_not_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    monkeypatch.setattr(torch, "compile", lambda *_, **__: asked.append(1) or _plainly)
    passes = Compiled(backbone := Backbone(Net()), backend=BACKEND)
    (batch,) = batches(16)
    for share in (0.1, 0.2, 0.3):
        policy = NormPolicy(share)
        passes.forward(batch, {}, backbone.statistics, policy, grad=False)
    keeping = NormPolicy(1.0, keep_weight=0.5)
    for _ in range(3):
        kept = {name: value.clone() for name, value in backbone.statistics.items()}
        passes.forward(batch, {}, kept, keeping, grad=False)
    assert asked == []


def test_wrong_words_and_several_processes_are_refused() -> None:
    with pytest.raises(ValueError, match=r'compile must be True, False or "auto", got 3'):
        trimtab.adapt(Net(), "tent", compile=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="compile= is for one process"):
        trimtab.adapt(Net(), "tent", compile=True, process_group=object())  # type: ignore[arg-type]
    assert isinstance(trimtab.adapt(Net(), "tent", compile="auto").passes, Compiled)
