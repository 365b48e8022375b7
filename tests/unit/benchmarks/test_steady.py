"""
The row of steady rounds, on a cluster of a few nodes.
"""

from benchmarks.contract import load_contract
from benchmarks.steady import SteadyCluster, measure_steady


def small():
    contract = load_contract("steady")
    cluster = contract.cluster.model_copy(update={"nodes": 20})
    running = contract.running.model_copy(update={"pods": 160})
    update = {"cluster": cluster, "running": running, "repeat": 3}
    return contract.model_copy(update=update)


def test_every_round_binds_the_gang_that_came():
    cluster = SteadyCluster(small())
    for planned in (cluster.round(), cluster.afresh(), cluster.round()):
        bound = {step.op for step in planned.plan.operations}

        assert {"Bind"} == bound
        assert 4 == len(planned.plan.operations)
        assert {"snapshot", "problem", "verify", "total"} <= planned.seconds.keys()


def test_both_rows_are_measured_and_the_one_with_what_is_kept_promises():
    empty, warm = measure_steady(small())

    assert ("steady empty", "steady warm") == (empty.name, warm.name)
    assert ["seconds", "pods bound"] == [promise.what for promise in warm.ranges]
    assert warm.holds
