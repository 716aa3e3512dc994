"""The guard acts where adapting harms, leaves alone what helps, and finds its way back."""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

import pytest
import torch
from torch import Tensor, nn

import trimtab
from trimtab import Guard, Health
from trimtab.core.adapter import Adapter
from trimtab.core.component import OutputRule, Start, Step
from trimtab.core.guard import concentration
from trimtab.core.guard.glance import SURPRISED_SAMPLES
from trimtab.core.guard.judging import SUSPICION
from trimtab.core.guard.look import COLUMNS
from trimtab.core.method import Method
from trimtab.core.norm import SOURCE

CLASSES = 5


class Painted(nn.Module):
    """Reads the class that is painted into an image, flips included."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(1, CLASSES)
        self.scale = nn.Linear(CLASSES, CLASSES, bias=False)
        with torch.no_grad():
            self.scale.weight.copy_(4 * torch.eye(CLASSES))

    def forward(self, x: Tensor) -> Tensor:
        return self.scale(self.norm(x).mean((2, 3)))  # type: ignore[no-any-return]


class Spoils(OutputRule):
    """Says one class of everything while ``switch`` is on."""

    switch: ClassVar[list[bool]] = [False]

    def correct(self, logits: Tensor, step: Step, memory: dict[str, Tensor]) -> Tensor:
        one_class = torch.eye(CLASSES)[:1].repeat(len(logits), 1)
        return one_class if self.switch[0] else logits


def images(count: int, seed: int, kinds: int = CLASSES) -> Tensor:
    random = torch.Generator().manual_seed(seed)
    labels = torch.randint(kinds, (count,), generator=random)
    made = 0.3 * torch.rand(count, CLASSES, 4, 4, generator=random)
    made[torch.arange(count), labels] += 1
    return made


@pytest.fixture
def stream() -> Adapter:
    Spoils.switch = [False]
    return trimtab.adapt(Painted(), Method((Spoils(),), norm=SOURCE), guard=True)


def feed(adapter: Adapter, batches: int, seed: int = 0) -> list[Tensor]:
    return [adapter(images(32, 100 * seed + n)) for n in range(batches)]


def spent(adapter: Adapter) -> int:
    return adapter.counters.forward_samples + 2 * adapter.counters.backward_samples


def test_what_does_no_harm_is_left_alone(stream: Adapter) -> None:
    feed(stream, 20)
    health = stream.health
    assert (health.predicting, health.alarms, health.scaled) == ("adapted", 0, 0)
    assert health.agreement == 1
    assert health.harm == pytest.approx(0, abs=1e-6)


def test_a_collapse_is_answered_by_the_source(
    stream: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    feed(stream, 20)
    Spoils.switch[0] = True
    with caplog.at_level(logging.WARNING, "trimtab"):
        answers = feed(stream, 12, seed=1)
    assert stream.health.predicting == "source"
    assert "harm after" in caplog.text
    with torch.no_grad():
        expected = stream.backbone(images(32, 111)).logits
    assert torch.equal(answers[11], expected)


def test_there_is_a_way_back(stream: Adapter) -> None:
    feed(stream, 20)
    Spoils.switch[0] = True
    feed(stream, 12, seed=1)
    Spoils.switch[0] = False
    feed(stream, 60, seed=2)
    health = stream.health
    returns = 2  # one from the first trial, which rules that only correct outputs begin with
    assert (health.predicting, health.alarms, health.returns) == ("adapted", 1, returns)


def test_what_only_corrects_outputs_has_to_prove_itself_first(stream: Adapter) -> None:
    Spoils.switch[0] = True
    answers = feed(stream, 20)
    with torch.no_grad():
        expected = [stream.backbone(images(32, n)).logits for n in range(20)]
    assert torch.equal(torch.cat(answers), torch.cat(expected))
    assert (stream.health.predicting, stream.health.alarms) == ("source", 0)
    Spoils.switch[0] = False
    feed(stream, 100, seed=1)
    assert stream.health.predicting == "adapted"


def test_what_only_corrects_outputs_is_compared_on_every_batch_at_no_cost(stream: Adapter) -> None:
    feed(stream, 40)
    assert stream.health.predicting == "adapted"
    Spoils.switch[0] = True
    before = spent(stream)
    answer = feed(stream, 1, seed=1)[0]
    with torch.no_grad():
        assert torch.equal(answer, stream.backbone(images(32, 100)).logits)
    assert spent(stream) - before <= 2 * 32  # its own pass, and one of a view at most


class Tinkers(OutputRule):
    """Says another class of three samples in a batch, while ``switch`` is on."""

    switch: ClassVar[list[bool]] = [False]

    def correct(self, logits: Tensor, step: Step, memory: dict[str, Tensor]) -> Tensor:
        tinkered = torch.cat([logits[:3].roll(1, 1), logits[3:]])
        return tinkered if self.switch[0] else logits


@pytest.mark.parametrize("remembers", [False, True])
def test_corrections_without_memory_answer_where_they_show_that_they_help(
    remembers: bool,
) -> None:
    """Merits in other batches are none in this one, unless something was learned there."""
    Tinkers.switch = [False]
    rules = (Tinkers(), Counts()) if remembers else (Tinkers(),)
    adapter = trimtab.adapt(Painted(), Method(rules, norm=SOURCE), guard=True)
    feed(adapter, 12)
    assert adapter.health.predicting == "adapted"
    Tinkers.switch[0] = True
    answer = feed(adapter, 1, seed=1)[0]
    with torch.no_grad():
        by_source = torch.equal(answer, adapter.backbone(images(32, 100)).logits)
    assert by_source is not remembers


def test_of_two_kinds_of_batches_in_turns_a_trial_sees_both(stream: Adapter) -> None:
    Spoils.switch[0] = True
    for _ in range(3):
        feed(stream, 20)
        assert int(stream.state.guard["trial_every"]) % 2


def test_statistics_that_move_are_not_taken_for_the_source() -> None:
    Spoils.switch = [False]
    network = nn.Sequential(nn.BatchNorm2d(CLASSES), Painted())
    method = trimtab.build("bn_ema").plus(Spoils())
    adapter = trimtab.adapt(network, method, guard=True)
    inputs = 3 * images(32, 0) - 1
    answer = adapter(inputs)
    with torch.no_grad():
        assert torch.equal(answer, adapter.backbone(inputs).logits)


def test_a_guard_that_does_not_act_only_watches(stream: Adapter) -> None:
    adapter = trimtab.adapt(stream.backbone, stream.method, guard=Guard(acts=False))
    Spoils.switch[0] = True
    answers = feed(adapter, 12)
    assert (torch.cat(answers).argmax(1) == 0).all()
    assert adapter.health.predicting == "adapted"
    assert (adapter.health.evidence or 0) > Guard().alarm


def test_no_accuracy_is_claimed_where_no_view_was_taken(stream: Adapter) -> None:
    feed(stream, 4)
    health = stream.health
    assert (health.agreement, health.harm) == (1.0, 0.0)
    assert (health.accuracy, health.source_accuracy) == (None, None)
    Spoils.switch[0] = True
    feed(stream, 4, seed=1)
    assert stream.health.accuracy is not None
    assert stream.health.source_accuracy == 1.0


def test_a_run_of_one_class_is_no_collapse() -> None:
    Spoils.switch = [False]
    adapter = trimtab.adapt(Painted(), Method((Spoils(),), norm=SOURCE), guard=True)
    feed(adapter, 10)
    Spoils.switch[0] = True  # says class 0, and class 0 it is
    for n in range(20):
        adapter(images(32, n, kinds=1))
    assert adapter.health.alarms == 0


def test_few_classes_are_no_news_once_they_were_looked_at() -> None:
    few, many = torch.arange(32) % 2, torch.arange(32) % CLASSES
    rows = torch.zeros(32, len(COLUMNS))
    rows[:, COLUMNS.index("source_class")] = many.float()
    rows[:, COLUMNS.index("class")] = many.float()
    logits = torch.eye(CLASSES)[few]
    assert concentration.shows(logits, rows)
    rows[:, COLUMNS.index("class")] = few.float()
    assert not concentration.shows(logits, rows)


class Rotates(OutputRule):
    """Says the next class while ``switch`` is on, as surely as the right one."""

    switch: ClassVar[list[bool]] = [False]

    def correct(self, logits: Tensor, step: Step, memory: dict[str, Tensor]) -> Tensor:
        return logits.roll(1, 1) if self.switch[0] else logits


def learning(rule: OutputRule) -> Adapter:
    method = Method((*trimtab.build("tent").components, rule), norm=SOURCE)
    return trimtab.adapt(Painted(), method, guard=True)


@pytest.mark.parametrize("calm", [20, 30, 40, 50])
def test_harm_is_looked_at_soon_whatever_was_spent_on_looks_before(calm: int) -> None:
    Rotates.switch = [False]
    adapter = learning(Rotates())
    feed(adapter, calm)
    assert adapter.health.accuracy is None  # no view was worth its passes
    Rotates.switch[0] = True
    feed(adapter, 5, seed=1)
    assert adapter.health.accuracy is not None


def test_a_batch_without_the_class_in_question_is_looked_at_too() -> None:
    """The source is doubted in a class of the batches before, of which this one has no sample."""
    Rotates.switch = [False]
    method = Method((*trimtab.build("tent").components, Rotates()), norm=SOURCE)
    adapter = trimtab.adapt(Painted(), method, guard=Guard(cost=0.9))
    feed(adapter, 8)
    Rotates.switch[0] = True
    last = images(256, 0)
    adapter(last[last.mean((2, 3)).argmax(1) == CLASSES - 1])
    before = adapter.health.looked_at
    assert adapter(images(8, 1, kinds=CLASSES - 1)).isfinite().all()
    assert adapter.health.looked_at > before


class Wavers(OutputRule):
    """Says other classes while ``switch`` is on, and is not sure of them."""

    switch: ClassVar[list[bool]] = [False]

    def correct(self, logits: Tensor, step: Step, memory: dict[str, Tensor]) -> Tensor:
        return 0.1 * logits.roll(1, 1) if self.switch[0] else logits


@pytest.mark.parametrize("calm", [12, 20, 33])
def test_a_fall_of_confidence_is_looked_at_at_once(calm: int) -> None:
    Wavers.switch = [False]
    adapter = learning(Wavers())
    feed(adapter, calm)
    assert adapter.health.accuracy is None
    Wavers.switch[0] = True
    feed(adapter, 1, seed=1)
    assert adapter.health.accuracy is not None


def test_what_surprises_is_glanced_at_with_more_samples() -> None:
    Spoils.switch = [False]
    adapter = learning(Spoils())
    feed(adapter, 20)
    before = adapter.health.looked_at
    adapter(0.2 * images(32, 0))
    assert adapter.health.looked_at - before >= SURPRISED_SAMPLES


def test_from_suspicion_on_the_source_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Guard, "alarm", 1e9)
    Spoils.switch = [False]
    adapter = learning(Spoils())
    feed(adapter, 20)
    Spoils.switch[0] = True
    answers = feed(adapter, 8, seed=1)
    health = adapter.health
    assert (health.predicting, health.alarms) == ("adapted", 0)
    assert (health.evidence or 0) > SUSPICION
    inputs = images(32, 107)
    with torch.no_grad():
        assert torch.equal(answers[7], adapter.backbone(inputs).logits)


class Counts(OutputRule):
    """Counts batches."""

    tells_of_stream = True

    def new_memory(self, start: Start) -> dict[str, Tensor]:
        return {"seen": torch.zeros(())}

    def correct(self, logits: Tensor, step: Step, memory: dict[str, Tensor]) -> Tensor:
        memory["seen"].add_(1)
        return logits


class CountsToo(Counts):
    """The same, as if that came from weights."""

    tells_of_stream = False


def test_what_tells_of_the_stream_goes_on_when_weights_are_taken_back() -> None:
    Spoils.switch = [False]
    method = trimtab.build("tent").plus(Spoils(), Counts(), CountsToo())
    adapter = trimtab.adapt(Painted(), replace(method, norm=SOURCE), guard=True)
    feed(adapter, 3)
    Spoils.switch[0] = True
    while adapter.health.alarms == 0:
        feed(adapter, 1, seed=adapter.counters.samples)
    seen = {name: int(memory["seen"]) for name, memory in adapter.state.memory.items() if memory}
    assert seen["counts"] == adapter.counters.samples // 32
    assert seen["counts_too"] < seen["counts"]


def test_what_learns_the_stream_sees_every_batch_of_the_first_trial() -> None:
    Spoils.switch = [True]
    method = trimtab.build("tent").plus(Spoils(), Counts())
    adapter = trimtab.adapt(Painted(), replace(method, norm=SOURCE), guard=True)
    while adapter.health.alarms == 0:
        feed(adapter, 1, seed=adapter.counters.samples)
    before = int(adapter.state.memory["counts"]["seen"])
    feed(adapter, 3, seed=1)
    assert int(adapter.state.memory["counts"]["seen"]) == before + 3


class Reads(OutputRule):
    """Reads the painted class itself."""

    def correct(self, logits: Tensor, step: Step, memory: dict[str, Tensor]) -> Tensor:
        return step.inputs.mean((2, 3))


class ReadsOn(Reads):
    """The same, as if it had learned that from the stream."""

    tells_of_stream = True


@pytest.mark.parametrize(("rule", "soon"), [(ReadsOn(), "adapted"), (Reads(), "source")])
def test_what_learns_the_stream_returns_once_it_has_proved_itself(
    rule: OutputRule, soon: str
) -> None:
    class OneCorner(Painted):
        def forward(self, x: Tensor) -> Tensor:
            return x[:, :, 0, 0].roll(1, 1)  # mirrored, it is another corner

    random = torch.Generator().manual_seed(0)
    adapter = trimtab.adapt(OneCorner(), Method((rule,), norm=SOURCE), guard=True)
    for n in range(3):
        adapter(images(32, n) + 3 * torch.rand(32, CLASSES, 4, 4, generator=random))
    assert adapter.health.predicting == soon


class AssumesRuns(OutputRule):
    """Says the next class of everything."""

    assumes_runs = True

    def correct(self, logits: Tensor, step: Step, memory: dict[str, Tensor]) -> Tensor:
        return logits.roll(1, 1)


def in_a_row(count: int, seed: int) -> Tensor:
    """Images in the order of their classes."""
    made = images(count, seed)
    return made[made.mean((2, 3)).argmax(1).argsort()]


def test_a_rule_that_assumes_runs_has_no_say_where_there_are_none() -> None:
    adapter, plain = learning(AssumesRuns()), trimtab.adapt(Painted(), "tent", guard=False)
    for n in range(20):
        assert torch.equal(adapter(images(32, n)), plain(images(32, n)))
    assert adapter.health.agreement == 1  # and neither is it compared


def test_a_rule_that_assumes_runs_answers_a_batch_that_shows_some() -> None:
    adapter, plain = learning(AssumesRuns()), trimtab.adapt(Painted(), "tent", guard=False)
    assert torch.equal(adapter(in_a_row(64, 0)), plain(in_a_row(64, 0)).roll(1, 1))


def test_a_biased_source_is_no_sign_of_runs_where_nothing_could_erase_them() -> None:
    """The order of neighbours tells runs that batch norms erase; here there are no batch norms."""
    for rule, followed in ((AssumesRuns(), False), (Spoils(), True)):
        adapter = learning(rule)
        feed(adapter, 2)
        assert bool(len(adapter.state.guard["lately"])) is followed


def test_views_of_a_rule_that_has_no_say_are_without_it_too() -> None:
    """Otherwise it would contradict itself wherever it is looked at."""

    Tinkers.switch = [True]
    found = []
    for rules in ((Tinkers(),), (Tinkers(), AssumesRuns())):
        method = Method((*trimtab.build("tent").components, *rules), norm=SOURCE)
        adapter = trimtab.adapt(Painted(), method, guard=Guard(allowed_harm=0.5))
        feed(adapter, 6)
        found.append(adapter.health.accuracy)
    assert found[0] is not None
    assert found[0] == found[1]


def test_a_guard_that_does_not_act_lets_every_rule_have_its_say() -> None:
    method = Method((*trimtab.build("tent").components, AssumesRuns()), norm=SOURCE)
    watched = trimtab.adapt(Painted(), method, guard=Guard(acts=False))
    plain = trimtab.adapt(Painted(), method, guard=False)
    assert torch.equal(watched(images(32, 0)), plain(images(32, 0)))


def test_with_batch_norms_rules_that_assume_runs_have_their_say_as_ever() -> None:
    network = nn.Sequential(nn.BatchNorm2d(CLASSES), Painted())
    inputs = images(32, 0) / 2
    answers = [trimtab.adapt(network, "roid", guard=guard)(inputs) for guard in (True, False)]
    assert torch.equal(*answers)


def test_rules_that_assume_runs_are_the_last_ones_of_methods_that_learn() -> None:
    def names(method: Method) -> list[str]:
        return [rule.name for rule in method.rules_for_runs]

    assert names(trimtab.build("roid")) == ["prior_correction"]
    assert names(trimtab.build("roid").plus(Spoils())) == []  # may build on what it corrects
    assert names(trimtab.build("tent").plus(Spoils(), AssumesRuns())) == ["assumes_runs"]
    for spec in ("tent", "lame", "source + prior_correction", "trimtab", "cotta"):
        assert names(trimtab.build(spec)) == []


@pytest.mark.parametrize("batches", [3, 7])
def test_what_is_known_of_runs_goes_on_after_a_restore(batches: int) -> None:
    adapter, other = learning(AssumesRuns()), learning(AssumesRuns())
    for n in range(batches):
        adapter(in_a_row(40, n) if n < 5 else images(40, n))
    other.load_state_dict(adapter.state_dict())
    for n in range(6):
        inputs = in_a_row(12, n) if n % 2 else images(12, n)
        assert torch.equal(adapter.predict(inputs), other(inputs))
        adapter(inputs)
    assert torch.equal(adapter.state.guard["runs"], other.state.guard["runs"])


def test_a_window_that_fills_up_within_a_batch_does_not_change_which_rules_have_a_say() -> None:
    method = Method((*trimtab.build("tent").components, AssumesRuns()), norm=SOURCE)
    adapter = trimtab.adapt(Painted(), method, guard=True, window=24)
    plain = trimtab.adapt(Painted(), "tent", guard=False, window=24)
    for n in range(6):
        assert torch.equal(adapter(images(40, n)), plain(images(40, n)))


class FollowsTheFirst(OutputRule):
    """Says, of every sample, a class that is as far off as the first sample's is from class 0."""

    def correct(self, logits: Tensor, step: Step, memory: dict[str, Tensor]) -> Tensor:
        return logits.roll(int(logits[0].argmax()), 1)


def test_agreement_within_a_batch_proves_nothing() -> None:
    """Its view of a whole batch agrees with itself; in other company it says something else."""
    adapter = trimtab.adapt(Painted(), Method((FollowsTheFirst(),), norm=SOURCE), guard=True)
    feed(adapter, 20)
    assert adapter.health.predicting == "source"


@pytest.mark.slow
def test_looks_cost_no_more_than_their_share() -> None:
    def passes(guard: bool | Guard) -> float:
        adapter = trimtab.adapt(Painted(), "tent", guard=guard)
        feed(adapter, 20)  # the first looks are extra
        before = spent(adapter)
        feed(adapter, 60, seed=1)
        return spent(adapter) - before

    assert passes(False) < passes(Guard(cost=0.06)) <= 1.08 * passes(False)


def test_a_budget_pays_for_looks_too() -> None:
    adapter = trimtab.adapt(Painted(), "tent", guard=True, budget=2.0)
    feed(adapter, 60)
    assert spent(adapter) <= 2.02 * adapter.counters.samples


def test_listeners_hear_of_each_look_and_cannot_break_a_stream(
    caplog: pytest.LogCaptureFixture,
) -> None:
    adapter = trimtab.adapt(Painted(), "tent", guard=True)
    heard: list[Health] = []

    def broken(_: Health) -> None:
        raise RuntimeError("disk full")

    adapter.on_health(broken)
    adapter.on_health(heard.append)
    feed(adapter, 12)
    assert heard
    assert heard[-1].looked_at == adapter.health.looked_at
    assert "disk full" in caplog.text


def test_a_method_can_have_a_guard_of_its_own_and_go_without() -> None:
    model = Painted()
    guarded = replace(trimtab.build("tent"), guarded=True)
    assert trimtab.adapt(model, guarded).guard == Guard()
    assert trimtab.adapt(model, guarded, guard=False).guard is None
    assert trimtab.adapt(model, "trimtab").guard == Guard()
    assert trimtab.adapt(model, "trimtab", guard=False).guard is None
    assert trimtab.adapt(model, "tent").guard is None


@pytest.mark.parametrize("wrong", ["yes", 3])
def test_what_is_no_guard_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="guard must be True, False or a"):
        trimtab.adapt(Painted(), "tent", guard=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"acts": "no"}, {"view": 3}])
def test_settings_that_are_no_switch_and_no_function_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must be"):
        Guard(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("view", "got"),
    [
        (lambda x: x[:1], "got 1 samples"),
        (lambda x: x[:, :1], "got 32 samples with 1 channels"),
        (lambda x: x.double(), "got 32 samples with 5 channels of torch.float64"),
        (lambda x: None, "got NoneType"),
    ],
)
def test_a_view_of_other_samples_is_refused(
    view: Callable[[Tensor], Tensor], got: str, stream: Adapter
) -> None:
    adapter = trimtab.adapt(stream.backbone, stream.method, guard=Guard(view=view))
    Spoils.switch = [True]  # views are taken where the models differ
    with pytest.raises(ValueError, match=f"must return what it is given, .*{got}"):
        feed(adapter, 1)


def test_a_view_that_is_not_finite_is_refused(stream: Adapter) -> None:
    """It would agree with no prediction of either model, so that harm would never be seen."""
    blind = Guard(view=lambda x: x * float("nan"))
    adapter = trimtab.adapt(stream.backbone, stream.method, guard=blind)
    Spoils.switch = [True]
    with pytest.raises(ValueError, match="view must be finite"):
        feed(adapter, 1)


def test_what_cannot_listen_is_refused(stream: Adapter) -> None:
    with pytest.raises(ValueError, match="a listener must be a function of a Health, got 'log'"):
        stream.on_health("log")  # type: ignore[arg-type]


def test_an_alarm_speaks_of_the_samples_up_to_its_batch(
    stream: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    feed(stream, 20)
    Spoils.switch[0] = True
    for n in range(12):
        feed(stream, 1, seed=n + 1)
        if stream.health.alarms:
            break
    assert f"harm after {stream.counters.samples} samples" in caplog.text


def test_a_state_belongs_to_its_guard() -> None:
    model = trimtab.Backbone(Painted())
    guarded, plain = (trimtab.adapt(model, "tent", guard=g) for g in (True, False))
    feed(guarded, 2)
    with pytest.raises(ValueError, match="its guard is"):
        plain.load_state_dict(guarded.state_dict())


def test_inputs_that_cannot_be_mirrored_are_guarded_without_views() -> None:
    model = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 3))
    adapter = trimtab.adapt(model, "tent", guard=True)
    for n in range(6):
        adapter(torch.rand(16, 8, generator=torch.Generator().manual_seed(n)))
    assert adapter.health.looked_at > 0


def test_structured_inputs_are_guarded_too() -> None:
    class Pair(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tail = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 3))

        def forward(self, left: Tensor, right: Tensor) -> Tensor:
            return self.tail(left + right)  # type: ignore[no-any-return]

    adapter = trimtab.adapt(Pair(), "tent", guard=True)
    random = torch.Generator().manual_seed(0)
    for _ in range(6):
        adapter({side: torch.rand(16, 8, generator=random) for side in ("left", "right")})
    assert adapter.health.looked_at > 0


def test_health_without_a_guard_knows_counters_and_beliefs() -> None:
    adapter = trimtab.adapt(Painted(), "tent")
    feed(adapter, 3)
    health = adapter.health
    assert (health.samples, health.updates, health.evidence) == (96, 3, None)
    assert health.predicting == "adapted"
