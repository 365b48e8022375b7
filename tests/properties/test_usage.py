"""
What is always true of weights after what queues used.
"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.policy import Policy
from models.resources import CPU, GPU
from solver.shares.fair_share import fair_shares, with_memory
from solver.verify.shares.weighed_queues import weighed
from tests.helpers.build import queue
from tests.properties.test_fairshare import forests, shares_of, totals

POLICY = Policy.model_validate({"shares": {"halfLife": "7d"}})
used = st.sampled_from([0, 0, 1, 999_999, 10**6]) | st.integers(0, 10**12)


@st.composite
def users(draw):
    """
    Draw queues with a demand, and what each of them used.
    """
    queues, wanted = draw(forests())
    known = [replace(q, usage={GPU: draw(used), CPU: draw(used)}) for q in queues]
    return known, wanted


@given(users(), totals)
def test_the_judge_divides_as_the_planner_does(found, total):
    queues, wanted = found
    planned = with_memory(queues, 7 * 86400)

    assert fair_shares(planned, {GPU: total}, wanted) == fair_shares(
        weighed(queues, POLICY), {GPU: total}, wanted
    )


@pytest.mark.drawn
@given(forests(), totals)
def test_shares_without_usage_are_those_without_memory(forest, total):
    queues, wanted = forest

    assert shares_of(queues, total, wanted) == shares_of(
        weighed(queues, POLICY), total, wanted
    )


@given(users(), totals, st.integers(2, 1000))
def test_only_parts_of_usage_matter(found, total, times):
    """
    Who counts in other units, or looks a half-life later, finds the same.
    """
    queues, wanted = found
    more = [replace(q, usage={GPU: q.usage[GPU] * times}) for q in queues]

    assert shares_of(with_memory(queues, 1), total, wanted) == shares_of(
        with_memory(more, 1), total, wanted
    )


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(1, 5))
def test_of_two_equal_queues_the_one_that_used_less_shares_no_less(one, other, weight):
    queues = [
        queue("one", weight=weight, usage={GPU: one}),
        queue("other", weight=weight, usage={GPU: other}),
    ]
    wanted = {name: {GPU: 100} for name in ("one", "other")}
    shares = shares_of(with_memory(queues, 1), 60, wanted)

    assert one == other or (one < other) <= (shares["one"] >= shares["other"])
