import pytest

from benchmarks.cases.days import DAY, trace_of
from benchmarks.contract import load_contract

DAYS = load_contract("days")


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
