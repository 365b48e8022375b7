"""
Parts of GPUs in files: read, written back, and every mistake told at once.
"""

import json

import pytest

from adapters.files import scenario_of
from adapters.files.writing.snapshot_writer import snapshot_document
from models.devices.gpu_parts import GpuDevice, GpuPart, part_of
from models.errors import InputRejectedError
from models.gangs import pod_sets
from models.resources import GPU, GPU_SHARE
from tests.adapters.documents import scenario

NODE = {
    "name": "n",
    "allocatable": {GPU: 2},
    "gpuMemory": "80Gi",
    "mig": {"model": "H100-80GB", "devices": [1]},
}


def document(*gangs, node=(), **fields):
    made = [
        {"name": f"g{at}", "min": 1} | dict(fields) for at, fields in enumerate(gangs)
    ]
    return scenario(nodes=[NODE | dict(node)], gangs=made, **fields)


def problems(found):
    with pytest.raises(InputRejectedError) as caught:
        scenario_of("test", found)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ({"fraction": 0.5}, GpuPart(cores=500, share=500)),
        ({"fraction": "0.125", "devices": 2}, GpuPart("phalanx", 125, 125, count=2)),
        ({"memory": "20Gi", "contract": "kai"}, GpuPart("kai", memory=20480)),
        ({"memory": 1000, "cores": 0.3}, GpuPart(cores=300, memory=1000)),
        ({"share": 1}, GpuPart(share=1000)),
        ({"mig": "3g.40gb", "count": 2}, GpuPart(profile="3g.40gb", count=2)),
    ],
    ids=str,
)
def test_a_part_is_read_and_written_back(said, part):
    found = scenario_of("test", document({"gpu": said})).snapshot
    again = scenario_of("test", snapshot_document(found)).snapshot
    (leaf,) = pod_sets(found.gangs[0].tree)

    assert part == part_of(leaf.requests)
    assert found == again


def test_devices_of_pods_are_read_and_written_back():
    half = {"node": "n", "pods": 2, "devices": [0]}
    cut = {"node": "n", "devices": [{"device": 1, "start": 4}]}
    found = scenario_of(
        "test",
        document(
            {"min": 2, "gpu": {"fraction": 0.5}, "running": [half]},
            {"gpu": {"mig": "3g.40gb"}, "running": [cut]},
        ),
    ).snapshot
    again = json.loads(json.dumps(snapshot_document(found)))

    assert (GpuDevice(0),) == found.gangs[0].tree.pods[1].devices
    assert (GpuDevice(1, 4),) == found.gangs[1].tree.pods[0].devices
    assert found == scenario_of("test", again).snapshot


def test_what_queues_say_of_gpus_holds_for_parts_where_there_are_any():
    queues = [{"name": "default", "resources": {GPU: {"quota": 1, "limit": 2}}}]
    whole, parts = (
        scenario_of("test", document(gang, queues=queues)).snapshot
        for gang in ({"requests": {GPU: 1}}, {"gpu": {"fraction": 0.5}})
    )

    assert 1 == whole.queues[0].rule(GPU).quota
    assert (7000, 14000) == (
        parts.queues[0].rule(GPU_SHARE).quota,
        parts.queues[0].rule(GPU_SHARE).limit,
    )
    written = snapshot_document(parts)["given"]["queues"][0]
    assert {GPU: {"quota": 1, "limit": 2}} == written["resources"]


def test_a_queue_that_says_part_of_a_gpu_lets_all_count_parts():
    rules = {"quota": 0.5, "limit": "2500m", "lendingLimit": 0.25}
    queues = [
        {"name": "default", "resources": {GPU: {"quota": 1, "limit": 2}}},
        {"name": "small", "resources": {GPU: rules}},
    ]
    gang = {"requests": {GPU: 1}}
    found = scenario_of("test", document(gang, queues=queues)).snapshot
    again = json.loads(json.dumps(snapshot_document(found)))

    assert [{GPU_SHARE}] * 2 == [queue.resources.keys() for queue in found.queues]
    assert (7000, 14000) == _bounds(found.queues[0])
    assert (3500, 17500) == _bounds(found.queues[1])
    assert 1750 == found.queues[1].rule(GPU_SHARE).kept
    assert 7000 == found.gangs[0].tree.requests[GPU_SHARE]
    assert found == scenario_of("test", again).snapshot


def _bounds(queue):
    rule = queue.rule(GPU_SHARE)
    return rule.quota, rule.limit


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        ({"quota": 0.3333}, "parts of GPUs count in thousandths of one"),
        ({"limit": 0.5, "quota": "half"}, "not a quantity"),
        ({"limit": 0.5, "quota": -1}, "is negative"),
        ({"limit": float("nan")}, "not a quantity"),
        ({"models": {"H100": {"quota": 0.5}}}, "only whole pieces exist"),
    ],
)
def test_a_queue_says_no_odd_part_of_a_gpu(rule, wrong):
    queues = [{"name": "default", "resources": {GPU: rule}}]
    with pytest.raises(InputRejectedError) as caught:
        scenario_of("test", document({"requests": {GPU: 1}}, queues=queues))

    (said,) = map(str, caught.value.problems)
    assert wrong in said


RUNS = {"node": "n", "devices": [0]}
MISTAKES = {
    "a whole GPU as a part": ({"gpu": {"fraction": 1}}, "fraction", "less than 1"),
    "more than one": ({"gpu": {"fraction": 1.5}}, "fraction", "less than 1"),
    "nothing": ({"gpu": {"fraction": 0}}, "fraction", "more than 0"),
    "no number": ({"gpu": {"fraction": float("nan")}}, "fraction", "not a quantity"),
    "too fine": ({"gpu": {"fraction": 0.3333}}, "fraction", "finer than thousandths"),
    "more than all memory": ({"gpu": {"share": 1.1}}, "share", "0 and at most 1"),
    "a yes for all memory": ({"gpu": {"share": True}}, "share", "not a share"),
    "a list for memory": ({"gpu": {"share": [1]}}, "share", "not a share"),
    "no memory": ({"gpu": {"memory": 0}}, "memory", "more than nothing"),
    "no way": ({"gpu": {}}, "gpu", "it says nothing"),
    "two ways": ({"gpu": {"fraction": 0.5, "mig": "1g.10gb"}}, "gpu", "and mig"),
    "cores alone": ({"gpu": {"cores": 0.5}}, "cores", "need memory"),
    "no such profile": ({"gpu": {"mig": "1g.11gb"}}, "mig", "no GPU has"),
    "instances by device": (
        {"gpu": {"mig": "1g.10gb", "devices": 2}},
        "devices",
        "not counted by device",
    ),
    "count of a share": ({"gpu": {"fraction": 0.5, "count": 2}}, "count", "MIG"),
    "beside whole ones": (
        {"gpu": {"fraction": 0.5}, "requests": {GPU: 1}},
        "gpu",
        "asked for together",
    ),
    "a name of ours": ({"requests": {"gpu-part/x": 1}}, "gpu-part/x", "not the name"),
    "a count of ours": ({"requests": {"gpu-share": 1}}, "gpu-share", "not the name"),
    "unknown contract": ({"gpu": {"fraction": 0.5, "contract": "x"}}, "contract", "x"),
    "no devices": (
        {"gpu": {"fraction": 0.5}, "running": [{"node": "n"}]},
        "running[0].devices",
        "has 1 devices, but 0 are said",
    ),
    "a device that is not there": (
        {"gpu": {"fraction": 0.5}, "running": [RUNS | {"devices": [2]}]},
        "devices[0]",
        "there is no device 2",
    ),
    "an instance without a start": (
        {"gpu": {"mig": "1g.10gb"}, "running": [RUNS]},
        "devices[0]",
        "needs the slice",
    ),
    "an instance that never begins there": (
        {
            "gpu": {"mig": "3g.40gb"},
            "running": [RUNS | {"devices": [{"device": 1, "start": 2}]}],
        },
        "devices[0]",
        "never begins at 2",
    ),
    "an instance where nothing is cut": (
        {
            "gpu": {"mig": "3g.40gb"},
            "running": [RUNS | {"devices": [{"device": 0, "start": 0}]}],
        },
        "devices[0]",
        "may be cut",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_its_place(name):
    fields, place, what = MISTAKES[name]
    told = problems(document(fields))

    assert any(place in one and what in one for one in told), told


def test_all_mistakes_are_told_at_once():
    bad_node = {"mig": {"model": "H100", "devices": [1, 1, 5]}}
    told = problems(document(*(fields for fields, _, _ in MISTAKES.values())))
    more = problems(document({"gpu": {"fraction": 0.5}}, node=bad_node))

    assert len(MISTAKES) <= len(told)
    assert ["devices[1]", "devices[2]", "model"] == sorted(
        one.split("mig.")[1].split(":")[0].split(",")[0] for one in more
    )


RUNS = {"node": "n", "pods": 1, "devices": [0]}
WHOLE = {"requests": {GPU: 1}, "running": [RUNS]}
HALF = {"gpu": {"fraction": 0.5}, "running": [RUNS]}
MOST = {"gpu": {"memory": "60Gi"}, "running": [RUNS]}
BOOKED = {
    "whole twice": ([WHOLE, WHOLE], "it is somebody's already"),
    "whole beside a part": ([HALF, WHOLE], "it is somebody's already"),
    "a part beside a whole": ([WHOLE, HALF], "one pod has all of it"),
    "two contracts": (
        [HALF, HALF | {"gpu": {"fraction": 0.2, "contract": "kai"}}],
        "phalanx shares it, and this is a part under kai",
    ),
    "too much compute": ([HALF, HALF, HALF], "0.5 more of its compute is taken"),
    "too much memory": ([MOST, MOST], "40,960 MiB more are taken than it has"),
    "memory above the device": (
        [MOST | {"gpu": {"memory": "100Gi"}}],
        "20,480 MiB more are taken than it has",
    ),
    "two pods of a leaf": (
        [WHOLE | {"min": 2, "running": [RUNS | {"pods": 2}]}],
        "it is somebody's already",
    ),
}


@pytest.mark.parametrize("name", BOOKED)
def test_a_device_that_is_booked_twice_is_told_with_its_place(name):
    gangs, what = BOOKED[name]
    told = problems(document(*gangs))

    assert 1 == len(told), told
    last = f"gangs[{len(gangs) - 1}].running[0].devices[0]"
    assert last in told[0]
    assert f"device 0 of n: {what}" in told[0]


@pytest.mark.parametrize("name", BOOKED)
def test_what_was_observed_of_a_device_may_be_wrong(name):
    gangs, _ = BOOKED[name]
    found = document(*gangs)
    seen = {key: found[key] for key in ("apiVersion", "given")}

    assert scenario_of("test", seen | {"kind": "Snapshot"}).snapshot.gangs
