import pytest

from benchmarks.cases.days import DAY, trace_of
from benchmarks.contract import load_contract
from benchmarks.days import again, measure_days

DAYS = load_contract("days")


@pytest.mark.drawn
@pytest.mark.parametrize("drawn", DAYS.traces, ids=lambda drawn: drawn.name)
def test_a_trace_has_the_load_that_it_says(drawn):
    trace = trace_of(DAYS, drawn)
    room = drawn.nodes * DAYS.per_node * drawn.days * DAY

    assert trace.gpu_seconds / room == pytest.approx(drawn.load, rel=0.06)
    assert trace.span <= drawn.days * DAY
    assert trace == trace_of(DAYS, drawn)


def test_each_half_has_small_and_large_clusters_and_every_mix():
    for half in "ab":
        traces = [drawn for drawn in DAYS.traces if drawn.half == half]

        assert len(traces) == 5
        assert {drawn.mix for drawn in traces} == {*DAYS.mixes}
        assert min(drawn.nodes for drawn in traces) == 6
        assert max(drawn.nodes for drawn in traces) >= 64


def test_another_seed_draws_another_trace_of_the_same_sort():
    drawn = DAYS.traces[0]
    other = trace_of(DAYS, again(drawn, 1))

    assert drawn == again(drawn, 0)
    assert trace_of(DAYS, drawn).jobs != other.jobs


@pytest.mark.drawn
def test_several_seeds_tell_means_and_what_greedy_comes_to():
    short = DAYS.model_copy(
        update={
            "traces": (DAYS.traces[3].model_copy(update={"days": 1, "load": 0.4}),),
            "reach": DAYS.reach.model_copy(update={"tail": 10.0}),
        }
    )
    one, mean = measure_days(short, seeds=3)

    assert {"meanWait", "longest", "p99Large"} == {*one.facts}
    assert mean.facts["meanWaitToGreedyLow"] <= mean.facts["meanWaitToGreedy"]
    assert 2 == len(mean.ranges)
