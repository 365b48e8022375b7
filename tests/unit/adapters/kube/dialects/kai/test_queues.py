"""
Queues and topologies of KAI in our units.
"""

import pytest

from adapters.kube.dialects.kai.gangs import DIALECT
from adapters.kube.dialects.kai.queues import levels_in
from models.topology import Topology
from tests.helpers.kube.dialects import (
    queue,
    world,
)
from tests.helpers.kube.kai_objects import RACKS


def queues(*specs, warnings=None):
    text = "".join(
        f"""
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {{name: {name}}}
spec: {spec}
"""
        for name, spec in specs
    )
    objects, _ = world(text)
    return {
        found.name: queue(found)
        for found in DIALECT.queues(objects, [] if warnings is None else warnings)
    }


def test_numbers_that_a_queue_leaves_out_are_zero():
    found = queues(("q", "{resources: {gpu: {quota: 4}}}"))

    assert found["q"] == {
        "parent": None,
        "priority": 100,
        "open": True,
        "resources": {
            "cpu": [0, 0, 0],
            "memory": [0, 0, 0],
            "nvidia.com/gpu": [4, 0, 0],
        },
        "runtimes": [0, 0],
    }


QUEUES = {
    "quota": (
        "{resources: {gpu: {quota: 8, limit: -1}}}",
        {"nvidia.com/gpu": [8, None, 0]},
    ),
    "quota unlimited": (
        "{resources: {gpu: {quota: -1, limit: -1}}}",
        {"nvidia.com/gpu": [None, None, 0]},
    ),
    "parts of GPUs": (
        "{resources: {gpu: {quota: 1.5, limit: 2.9}}}",
        {"gpu-share": [10500, 20300, 0]},
    ),
    "whole GPUs beside a part": (
        "{resources: {gpu: {quota: 2, limit: 2.5}}}",
        {"gpu-share": [14000, 17500, 0]},
    ),
    "a part and no limit": (
        "{resources: {gpu: {quota: 0.5, limit: -1}}}",
        {"gpu-share": [3500, None, 0]},
    ),
    "finer than thousandths": (
        "{resources: {gpu: {quota: 0.3339}}}",
        {"gpu-share": [7 * 333, 0, 0]},
    ),
    "milli-CPU": (
        "{resources: {cpu: {quota: 1500, limit: 2000}}}",
        {"cpu": [1500, 2000, 0]},
    ),
    "millions of bytes": (
        "{resources: {memory: {quota: 1, limit: 2}}}",
        {"memory": [1000000, 2000000, 0]},
    ),
    "overQuotaWeight": (
        "{resources: {gpu: {overQuotaWeight: 3}}}",
        {"nvidia.com/gpu": [0, 0, 3]},
    ),
}


@pytest.mark.parametrize("name", QUEUES)
def test_a_queue_is_read_in_our_units(name):
    spec, expected = QUEUES[name]

    assert expected.items() <= queues(("q", spec))["q"]["resources"].items()


def test_weights_keep_their_ratio():
    found = queues(
        ("a", "{resources: {gpu: {overQuotaWeight: 0.5}}}"),
        ("b", "{resources: {gpu: {overQuotaWeight: 2}}}"),
    )

    weights = [found[name]["resources"]["nvidia.com/gpu"][2] for name in "ab"]
    assert weights == [500, 2000]


def test_a_queue_says_its_parent_priority_and_runtimes():
    found = queues(
        ("top", "{}"),
        (
            "q",
            (
                "{parentQueue: top, priority: 7, preemptMinRuntime: 1m, "
                "reclaimMinRuntime: 2h}"
            ),
        ),
    )

    assert (found["q"]["parent"], found["q"]["priority"]) == ("top", 7)
    assert found["q"]["runtimes"] == [60, 7200]


@pytest.mark.parametrize(
    "spec",
    [
        "{resources: {gpu: {quota: -2}}}",
        "{resources: {gpu: {quota: many}}}",
        "{priority: high}",
        "{reclaimMinRuntime: long}",
    ],
)
def test_a_queue_that_cannot_be_read_is_closed_and_warned_of(spec):
    warnings = []

    assert queues(("q", spec), warnings=warnings)["q"]["open"] is False
    assert warnings[0].startswith("Queue q cannot be read, so it is taken as closed: ")
    assert "spec." in warnings[0]


@pytest.mark.parametrize(
    "levels",
    [
        "[]",
        "rack",
        "[{alias: rack}]",
        "[{nodeLabel: 5}]",
        "[{nodeLabel: rack}, {nodeLabel: rack}]",
    ],
)
def test_a_topology_that_cannot_be_read_is_left_out_and_warned_of(levels):
    objects, _ = world(f"""
apiVersion: kai.scheduler/v1alpha1
kind: Topology
metadata: {{name: racks}}
spec: {{levels: {levels}}}
""")
    warnings = []

    assert [] == list(DIALECT.topologies(objects, warnings))
    assert warnings[0].startswith("Topology racks is left out: spec.levels")


def test_a_topology_is_read_outermost_first():
    objects, _ = world(RACKS)

    assert list(DIALECT.topologies(objects, [])) == [
        Topology(name="racks", levels=("block", "rack"))
    ]


def test_what_a_queue_loses_of_a_part_of_a_gpu_is_named():
    warnings = []
    spec = "{resources: {gpu: {quota: 0.5, limit: 3.3339}, cpu: {quota: 0.5}}}"
    queues(("team", spec), warnings=warnings)

    (said,) = warnings
    place = "Queue team, spec.resources.gpu.limit"
    assert f"{place}: 3.3339 counts as 3.333: GPUs count in thousandths" == said


@pytest.mark.timeout(60)  # where each is looked for among all before it is not done
def test_a_topology_of_very_many_levels_is_read_in_time():
    levels = [{"nodeLabel": f"l{at}"} for at in range(200_000)]

    found = levels_in({"spec": {"levels": levels}})

    assert len(levels) == len(found)
