"""
Pools of devices: the newest whole generation, and what is wrong with the others.
"""

import gc
import weakref

import pytest

from adapters.kube.claims.device_pools import PoolReading
from tests.helpers.rounds.devices import cut_gpus, gpu, node_slice


def pools_of(raws):
    return PoolReading().of([*raws])


def names(pools):
    return [[device.name[2] for device in pool.devices] for pool in pools.pools]


def test_of_a_pool_the_newest_generation_counts():
    old = node_slice("n", [gpu(0), gpu(1)], generation=1)
    new = node_slice("n", [gpu(0)], generation=2)

    assert [["gpu-0"]] == names(pools_of([new, old])) == names(pools_of([old, new]))


def test_a_pool_whose_slices_are_not_all_there_is_not_used():
    found = pools_of([node_slice("n", [gpu(0)], of=2), node_slice("m", [gpu(0)])])

    assert [["gpu-0"]] == names(found)
    assert {"n"} == found.faulty
    (said,) = found.warnings
    assert "1 of 2 slices of generation 1 are there" in said


def test_slices_that_disagree_on_how_many_there_are_are_told_both_numbers():
    slices = [node_slice("n", [gpu(0)], of=1), node_slice("n", [gpu(1)], part=1, of=2)]
    (said,) = pools_of(slices).warnings

    assert "2 of 1 or 2 slices of generation 1 are there" in said


class World:
    """
    What is read beside pools.
    """


def read_beside(reading, raws):
    """
    Read pools where much else is read, and give a reference to that.
    """
    world = World()
    reading.of(raws)
    return weakref.ref(world)


@pytest.mark.drawn
@pytest.mark.parametrize(
    "raw",
    [
        node_slice("n", [gpu(0)], of=2),
        node_slice("n", [gpu(0, attributes={"v": {}})]),
        {"metadata": {"name": 7}},
    ],
)
def test_a_fault_that_is_kept_keeps_nothing_of_where_it_was_found(raw):
    reading = PoolReading()
    found = read_beside(reading, [raw])
    gc.collect()

    assert found() is None


def test_gpus_that_may_be_cut_consume_the_counters_of_their_set():
    (pool,) = pools_of(cut_gpus("n", 2)).pools

    assert 2 * (1 + 7 + 4 + 3 + 2 + 1 + 1) == len(pool.devices)
    assert {"gpu-0-counter-set", "gpu-1-counter-set"} == pool.counters.keys()


def consuming(known, amount):
    counters = {"slices": {"value": amount}}
    return [{"counterSet": known, "counters": counters}]


SETS = [{"name": "set", "counters": {"slices": {"value": "8"}}}]
BROKEN = {
    "device gpu-0 is there twice": [gpu(0), gpu(0)],
    "'much' is not a quantity": [gpu(0, capacity={"memory": {"value": "much"}})],
    "'1' is not a version": [gpu(0, attributes={"v": {"version": "1"}})],
    "is not one value of one type": [gpu(0, attributes={"v": {}})],
    "'1' is no 'int'": [gpu(0, attributes={"v": {"int": "1"}})],
    "consumes slices of counter set gone: not there": [
        gpu(0, consumesCounters=consuming("gone", "1"))
    ],
    "consumes slices of counter set set: 9 of 8": [
        gpu(0, consumesCounters=consuming("set", "9"))
    ],
    "consumes slices of counter set set: 90Gi of 8": [
        gpu(0, consumesCounters=consuming("set", "90Gi"))
    ],
    "consumes slices of counter set set: 1e+400 of 8": [
        gpu(0, consumesCounters=consuming("set", "1e400"))
    ],
    "is not a quantity of at least 0": [
        gpu(0, consumesCounters=consuming("set", "-1"))
    ],
}


@pytest.mark.parametrize("why", BROKEN)
def test_a_broken_pool_is_not_used_and_no_other_suffers(why):
    broken = [
        node_slice("n", sharedCounters=SETS, part=0, of=2),
        node_slice("n", BROKEN[why], part=1, of=2),
    ]
    found = pools_of([*broken, node_slice("m", [gpu(0)])])

    assert [["gpu-0"]] == names(found)
    assert any(why in said for said in found.warnings), found.warnings


ALONE = {
    "bindingConditions": gpu(0, bindingConditions=["ready"]),
    "compatibilityGroups": gpu(
        0, consumesCounters=[{"counterSet": "set", "compatibilityGroups": ["a"]}]
    ),
    "shared and consumes counters": gpu(
        0, allowMultipleAllocations=True, consumesCounters=consuming("set", "1")
    ),
}


@pytest.mark.parametrize("why", ALONE)
def test_devices_that_are_left_alone_are_told(why):
    found = pools_of(
        [
            node_slice("n", sharedCounters=SETS, part=0, of=2),
            node_slice("n", [ALONE[why]], part=1, of=2),
        ]
    )

    assert ["gpu-0"] == [d.name[2] for d in found.pools[0].devices if d.unknown]
    assert any(why in said for said in found.warnings), found.warnings


@pytest.mark.parametrize("other", [{"nodeName": "m"}, {"allNodes": True}])
def test_counters_that_several_nodes_share_are_refused(other):
    own = {"nodeName": "n"}
    devices = [
        gpu(at, consumesCounters=consuming("set", "5"), **where)
        for at, where in enumerate((own, other))
    ]
    raws = [
        node_slice("n", sharedCounters=SETS, part=0, of=2),
        node_slice("n", devices, part=1, of=2),
    ]
    for raw in raws:
        del raw["spec"]["nodeName"]
        raw["spec"]["perDeviceNodeSelection"] = True
    found = pools_of([*raws, node_slice("m", [gpu(0)])])

    assert [["gpu-0"]] == names(found)
    assert any("devices of several nodes consume 'set'" in x for x in found.warnings)


def test_devices_that_several_nodes_reach_are_told():
    raw = node_slice("n", [gpu(0)])
    del raw["spec"]["nodeName"]
    raw["spec"]["allNodes"] = True

    (said,) = pools_of([raw]).warnings
    assert "device gpu-0 is reached from several nodes" in said

    raw["spec"]["devices"] = [gpu(0), gpu(1)]

    (said,) = pools_of([raw]).warnings
    assert "devices gpu-0, gpu-1: each is reached from several nodes" in said


def test_a_list_of_taints_that_is_none_is_named_once():
    (said,) = pools_of([node_slice("n", [gpu(0, taints="x")])]).warnings

    assert "spec.devices[0].taints: 'x' is not a list" in said
