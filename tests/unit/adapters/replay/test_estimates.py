"""
What jobs say of how long they run.
"""

import pytest

from adapters.replay.estimates import (
    FACTORS,
    LEVELS,
    UP_TO,
    drawn_factor,
    estimates_of,
    with_estimates,
)
from tests.helpers.played import job

JOBS = [job(f"j{at:04d}", submit=at, duration=3 + 37 * at) for at in range(3000)]


def test_a_job_says_a_factor_of_the_truth():
    (found,) = with_estimates([job("a", duration=100)], 1.5, seed=0)

    assert 150 == found.estimate


def test_what_the_trace_says_comes_first():
    known = job("a", duration=100, estimate=7)

    assert [7, 7, None] == [
        with_estimates([known], how, seed=0)[0].estimate for how in (2.0, "drawn", None)
    ]


def test_drawn_estimates_are_never_too_short():
    assert all(each.estimate >= each.duration for each in drawn(seed=1))


def test_drawn_estimates_are_the_same_for_the_same_seed_and_others_for_another():
    assert drawn(seed=1) == drawn(seed=1)
    assert drawn(seed=1) != drawn(seed=2)


def test_half_of_all_jobs_draw_less_than_the_median_of_their_run_time():
    below = sum(
        each.estimate <= each.duration * drawn_factor(each.duration, 0.5)
        for each in drawn(seed=3)
    )

    assert below / len(JOBS) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(("at", "row"), [*enumerate(FACTORS)])
def test_each_level_of_the_table_is_met(at, row):
    duration = (*UP_TO, 86_400)[at]

    assert list(row) == pytest.approx([drawn_factor(duration, x) for x in LEVELS])
    assert sorted(row) == list(row)


@pytest.mark.parametrize("text", ["", "soon", "0", "-1", "nan", "inf", "1001"])
def test_a_factor_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match=r"^"):
        estimates_of(text)


def drawn(seed):
    return with_estimates(JOBS, "drawn", seed)
