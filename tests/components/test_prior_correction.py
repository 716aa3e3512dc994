"""Both forms of the prior correction."""

import pytest
import torch

from components.steps import step
from trimtab.components.prior_correction import PriorCorrection, smoothed_prior

LOGITS = torch.randn(20, 6, generator=torch.Generator().manual_seed(3)) * 2

POSTERIORS = [
    PriorCorrection("posterior"),
    PriorCorrection("posterior", temperature=4, iterations=10, strength=2),
]


def test_the_logits_form_multiplies_by_the_smoothed_prior() -> None:
    prior = LOGITS.softmax(1).mean(0)
    smoothing = (1 / 6) / prior.max()
    expected = LOGITS * (prior + smoothing) / (1 + 6 * smoothing)
    torch.testing.assert_close(PriorCorrection().correct(LOGITS, step(LOGITS), {}), expected)


def test_the_posterior_form_is_the_papers_equation() -> None:
    posterior = LOGITS.softmax(1) * smoothed_prior(LOGITS.softmax(1))
    expected = posterior / posterior.sum(1, keepdim=True)
    corrected = PriorCorrection("posterior").correct(LOGITS, step(LOGITS), {})
    torch.testing.assert_close(corrected.softmax(1), expected)


@pytest.mark.parametrize("rule", POSTERIORS)
def test_the_posterior_form_does_not_care_for_a_shift_of_the_logits(rule: PriorCorrection) -> None:
    shifted = LOGITS + torch.randn(20, 1) * 10
    torch.testing.assert_close(
        rule.correct(shifted, step(shifted), {}),
        rule.correct(LOGITS, step(LOGITS), {}),
        atol=1e-4,
        rtol=1e-4,
    )


@pytest.mark.parametrize("rule", POSTERIORS)
def test_a_uniform_prior_leaves_the_ranking_alone(rule: PriorCorrection) -> None:
    balanced = torch.cat([LOGITS[:1].roll(shift, 1) for shift in range(6)])
    corrected = rule.correct(balanced, step(balanced), {})
    assert torch.equal(corrected.argsort(1), balanced.argsort(1))


def test_iterations_sharpen_a_prior_towards_what_is_there() -> None:
    logits = torch.randn(64, 6) + torch.tensor([2.0, 0, 0, 0, 0, 0])
    once = PriorCorrection("posterior").correct(logits, step(logits), {})
    often = PriorCorrection("posterior", iterations=10).correct(logits, step(logits), {})
    assert often.softmax(1)[:, 0].mean() > once.softmax(1)[:, 0].mean()


def test_iterations_are_a_fixed_point_search() -> None:
    window = LOGITS.log_softmax(1)
    prior = smoothed_prior(window.exp())
    for _ in range(3):
        joint = window.exp() * prior
        prior = smoothed_prior(joint / joint.sum(1, keepdim=True))
    expected = window.exp() * prior
    corrected = PriorCorrection("posterior", iterations=3).correct(LOGITS, step(LOGITS), {})
    torch.testing.assert_close(corrected.softmax(1), expected / expected.sum(1, keepdim=True))


def test_the_prior_is_taken_over_the_recent_window() -> None:
    rule = PriorCorrection("posterior")
    whole = rule.correct(LOGITS, step(LOGITS), {})
    last = rule.correct(LOGITS[-1:], step(LOGITS[-1:], recent=LOGITS), {})
    torch.testing.assert_close(last, whole[-1:])


def test_one_class_alone_gets_65_times_the_weight_of_the_others() -> None:
    probs = torch.zeros(64, 1000)
    probs[:, 3] = 1
    prior = smoothed_prior(probs)
    assert float(prior[3] / prior[0]) == pytest.approx(65, rel=1e-4)


@pytest.mark.parametrize("bad", [{"form": "other"}, {"temperature": 0.0}, {"iterations": -1}])
def test_settings_are_checked(bad: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must be"):
        PriorCorrection(**bad)  # type: ignore[arg-type]
