import numpy as np
import pytest

from adapters.replay.measures.intervals import interval_of_mean, interval_of_ratio

CASES = 4000


def part_that_holds(truth, intervals):
    held = [low <= truth <= high for low, high in intervals]
    return sum(held) / len(held)


@pytest.mark.drawn
@pytest.mark.parametrize("pairs", [3, 4, 5, 10, 20, 40])
def test_an_interval_of_a_mean_holds_the_truth_in_95_of_100_cases(pairs):
    rnd = np.random.default_rng(1)
    found = [interval_of_mean(rnd.normal(3, 2, size=pairs)) for _ in range(CASES)]

    assert 0.93 <= part_that_holds(3, found) <= 0.97


@pytest.mark.drawn
@pytest.mark.parametrize("pairs", [3, 4, 5, 10, 20])
def test_an_interval_of_a_ratio_holds_the_truth_in_95_of_100_cases(pairs):
    rnd = np.random.default_rng(2)
    found = []
    for _ in range(CASES):
        below = rnd.normal(10, 1, size=pairs)
        above = 0.5 * below - 7 + rnd.normal(0, 1, size=pairs)
        found.append(interval_of_ratio(above, below))

    assert all(found)
    assert 0.93 <= part_that_holds(-0.2, found) <= 0.97


def test_waits_that_are_skewed_as_those_of_traces_are_held_as_often():
    rnd = np.random.default_rng(3)
    found = []
    for _ in range(CASES):
        base = rnd.lognormal(0, 0.3, size=4)
        value = base * rnd.lognormal(np.log(0.8), 0.2, size=4)
        found.append(interval_of_ratio(value - base, base))
    truth = 0.8 * np.exp(0.02) - 1

    assert found.count(None) < 0.01 * CASES
    assert 0.93 <= part_that_holds(truth, filter(None, found)) <= 0.97


def test_two_pairs_tell_nothing():
    assert interval_of_mean(np.array([1.0, 2.0])) is None


def test_a_ratio_of_what_may_be_zero_may_be_any():
    assert interval_of_ratio(np.array([1.0, 2, 3]), np.array([-5.0, 0.1, 5])) is None


def test_what_is_always_the_same_is_known():
    low, high = interval_of_mean(np.array([0.1, 0.1, 0.1]))

    assert (low, high) == pytest.approx((0.1, 0.1))
