"""Agreement with people and corrected rates, against the worked values and the simulation of statistics.md 3.6–3.7."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import InputError
from core.judge.agreement import agreement, cohen_kappa, gwet_ac1
from core.judge.corrected_rates import corrected_rate, ppi_plus_plus, rogan_gladen
from core.judge.fitting import fit_threshold


def labels(table: list[list[int]]) -> tuple[list[str], list[str]]:
    """Item labels (people, judge) of a table over pass and fail."""
    names = ["pass", "fail"]
    cells = [(h, j) for i, h in enumerate(names) for k, j in enumerate(names) for _ in range(table[i][k])]
    return [h for h, _ in cells], [j for _, j in cells]


def test_the_prevalence_paradox() -> None:
    report = agreement(*labels([[80, 5], [10, 5]]), passing=["pass"])
    assert report.raw.value == pytest.approx(0.85)
    assert report.kappa == pytest.approx(0.318, abs=5e-4)
    assert report.ac1 == pytest.approx(0.808, abs=5e-4)
    assert report.specificity.value == pytest.approx(1 / 3)
    assert report.sensitivity.value == pytest.approx(80 / 85)
    assert not report.trusted
    assert any("specificity" in reason for reason in report.reasons)


def test_a_good_judge_on_enough_items_is_trusted() -> None:
    report = agreement(*labels([[60, 2], [2, 36]]), passing=["pass"])
    assert report.trusted
    assert report.reasons == ()
    assert report.kappa_interval is not None
    assert report.kappa_interval.low < (report.kappa or 0) < report.kappa_interval.high


def test_a_good_judge_on_few_items_is_not() -> None:
    report = agreement(*labels([[10, 0], [0, 9]]), passing=["pass"])
    assert report.kappa == 1.0
    assert {reason.split(";")[0] for reason in report.reasons} >= {
        "19 labelled items",
        "9 failures among them",
    }


def test_one_label_only_leaves_kappa_undefined() -> None:
    report = agreement(["pass"] * 40, ["pass"] * 40, passing=["pass"])
    assert (report.kappa, report.kappa_interval, report.ac1) == (None, None, None)
    assert (report.specificity.value, report.specificity.n) == (None, 0)
    assert not report.trusted


def test_coefficients_agree_with_the_textbook_formula_item_by_item() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        table = rng.integers(0, 30, (3, 3)) + 1.0
        n = table.sum()
        po = sum(table[i, i] for i in range(3)) / n
        pe = sum(table[i].sum() * table[:, i].sum() for i in range(3)) / n**2
        prevalence = [(table[i].sum() + table[:, i].sum()) / (2 * n) for i in range(3)]
        chance = sum(p * (1 - p) for p in prevalence) / 2
        assert float(cohen_kappa(table)) == pytest.approx((po - pe) / (1 - pe))
        assert float(gwet_ac1(table)) == pytest.approx((po - chance) / (1 - chance))


def test_the_order_of_items_changes_nothing() -> None:
    human, judge = labels([[30, 6], [5, 20]])
    assert agreement(human, judge, passing=["pass"]) == agreement(human[::-1], judge[::-1], passing=["pass"])


@pytest.mark.parametrize(("human", "judge"), [([], []), (["a"], ["a", "b"]), (["a"], ["b"])])
def test_what_cannot_be_compared_is_refused(human: list[str], judge: list[str]) -> None:
    with pytest.raises(InputError):
        agreement(human, judge, passing=["pass"])


# --- corrected rates ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "m", "width"), [(100, 30, 0.295), (200, 50, 0.222), (500, 100, 0.152)])
def test_corrected_rates_cover_the_truth(n: int, m: int, width: float) -> None:
    """True rate .60, sensitivity .95, specificity .70: 95 % intervals as in the table of statistics.md 3.7."""
    rng = np.random.default_rng(n)
    draws = 1500
    covered, widths, covered_rg = 0, 0.0, 0
    for _ in range(draws):
        truth = rng.random(n) < 0.6
        said = np.where(truth, rng.random(n) < 0.95, rng.random(n) < 0.3)
        y, f = truth.astype(float), said.astype(float)
        ppi = ppi_plus_plus(list(y[:m]), list(f[:m]), list(f[m:]))
        assert ppi.low is not None
        assert ppi.high is not None
        covered += ppi.low <= 0.6 <= ppi.high
        widths += ppi.high - ppi.low
        good = truth[:m]
        rg = rogan_gladen(
            float(f.mean()), n,
            sensitivity=float(f[:m][good].mean()), n_pass=int(good.sum()),
            specificity=float(1 - f[:m][~good].mean()), n_fail=int((~good).sum()),
        )  # fmt: skip
        assert rg.low is not None
        assert rg.high is not None
        covered_rg += rg.low <= 0.6 <= rg.high
    error = 3 * (0.95 * 0.05 / draws) ** 0.5
    assert covered / draws == pytest.approx(0.942, abs=error + 0.008)
    assert covered_rg / draws > 0.95
    assert widths / draws == pytest.approx(width, abs=0.01)


def test_few_labels_correct_nothing() -> None:
    result = corrected_rate([1.0] * 10, [1.0] * 10, [1.0, 0.0])
    assert (result.method, result.low) == ("uncorrected", None)
    assert result.value == pytest.approx(11 / 12)


def test_labels_without_a_rest_are_their_own_mean() -> None:
    result = corrected_rate([1.0, 0.0] * 20, [1.0, 0.0] * 20, [])
    assert result.value == pytest.approx(0.5)


def test_identical_labels_are_said_to_prove_nothing() -> None:
    result = corrected_rate([1.0] * 30, [1.0] * 30, [1.0] * 50)
    assert (result.value, result.low, result.high) == (1.0, 1.0, 1.0)
    assert "no width" in result.note


def test_a_judge_no_better_than_chance_cannot_be_corrected() -> None:
    result = rogan_gladen(0.5, 100, sensitivity=0.5, n_pass=30, specificity=0.5, n_fail=30)
    assert result.value is None
    assert "chance" in result.note
    assert rogan_gladen(0.5, 100, sensitivity=0.9, n_pass=30, specificity=0.9, n_fail=0).value is None


# --- fitting -----------------------------------------------------------------------------------------------------


def test_a_separating_score_is_fitted_and_usable() -> None:
    rng = np.random.default_rng(0)
    supported = rng.random(120) < 0.5
    scores = np.clip(np.where(supported, 0.8, 0.45) + rng.normal(0, 0.1, 120), 0, 1)
    fit = fit_threshold(list(scores), list(supported), [50] * 120)
    assert 0.5 < fit.threshold < 0.75
    assert fit.usable
    assert fit.low <= fit.balanced_accuracy <= fit.high
    assert fit.balanced_accuracy > 0.85
    assert fit.auroc > 0.95
    assert fit == fit_threshold(list(scores), list(supported), [50] * 120)


def test_a_score_that_is_only_length_is_not_usable() -> None:
    rng = np.random.default_rng(0)
    supported = rng.random(100) < 0.5
    lengths = np.where(supported, 40, 90) + rng.integers(-20, 20, 100)
    fit = fit_threshold(
        [1 - length / 200 for length in lengths], list(supported), [int(length) for length in lengths]
    )
    assert not fit.usable
    assert "decides no verdict" in fit.note


def test_noise_is_not_usable() -> None:
    rng = np.random.default_rng(5)
    fit = fit_threshold(list(rng.random(60)), [bool(n % 2) for n in range(60)], [50] * 60)
    assert not fit.usable


@pytest.mark.parametrize("supported", [[True] * 29, [True] * 40, [True] * 35 + [False] * 9])
def test_too_few_labels_are_refused(supported: list[bool]) -> None:
    with pytest.raises(InputError, match="at least 30"):
        fit_threshold([0.5] * len(supported), supported, [10] * len(supported))
