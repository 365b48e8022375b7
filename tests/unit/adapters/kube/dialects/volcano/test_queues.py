"""
Queues of Volcano: what they keep, who may use them, and what they ask for in vain.
"""

import pytest

from models.resources import LONGEST_SECONDS
from tests.helpers.kube.dialects import (
    claim,
    queue,
    world,
)
from tests.helpers.kube.volcano_objects import VERSIONS, VOLCANO, group


def queues(*specs, dialect=VOLCANO, warnings=None):
    text = "".join(
        f"""
---
apiVersion: {VERSIONS[dialect.name]}
kind: Queue
metadata: {{name: {name}}}
spec: {spec}
status: {status}
"""
        for name, spec, status in specs
    )
    objects, _ = world(text)
    return {
        found.name: queue(found)
        for found in dialect.queues(objects, [] if warnings is None else warnings)
    }


OPEN = "{state: Open}"

PLAIN = queues(("q", "{}", OPEN))["q"]

QUEUES = {
    "weight": ("{weight: 3}", {"nvidia.com/gpu": [0, None, 3]}),
    "capability": (
        "{capability: {nvidia.com/gpu: 8}}",
        {"nvidia.com/gpu": [0, 8, 1], "cpu": [0, None, 1]},
    ),
    "deserved": (
        "{deserved: {nvidia.com/gpu: 4}}",
        {"nvidia.com/gpu": [4, None, 1]},
    ),
    "guarantee": (
        "{guarantee: {resource: {nvidia.com/gpu: 2}}}",
        {"nvidia.com/gpu": [2, None, 1]},
    ),
    "parts of GPUs": (
        "{capability: {nvidia.com/gpu: '2.5'}, deserved: {nvidia.com/gpu: 2}}",
        {"gpu-share": [14_000, 17_500, 1]},
    ),
    "another resource": (
        "{capability: {amd.com/gpu: 8}}",
        {"amd.com/gpu": [0, 8, 1]},
    ),
}


def test_what_a_queue_is_guaranteed_is_kept_for_it():
    text = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: q}
spec: {deserved: {cpu: 6}, guarantee: {resource: {cpu: 2}}}
"""
    (found,) = VOLCANO.queues(world(text)[0], [])

    assert found.rule("cpu").lend == 4000
    assert found.rule("cpu").kept == 2000


@pytest.mark.parametrize("name", QUEUES)
def test_a_field_of_a_queue_changes_its_rules(name):
    spec, expected = QUEUES[name]

    assert PLAIN["resources"] == {
        "cpu": [0, None, 1],
        "memory": [0, None, 1],
        "nvidia.com/gpu": [0, None, 1],
    }
    found = queues(("q", spec, OPEN))["q"]["resources"]
    assert expected.items() <= found.items()
    assert found != PLAIN["resources"]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("{}", True),
        (OPEN, True),
        ("{state: Closed}", False),
        ("{state: Closing}", False),
        ("{state: Unknown}", False),
    ],
)
def test_only_an_open_queue_takes_gangs(state, expected):
    assert queues(("q", "{}", state))["q"]["open"] is expected


def test_a_queue_says_its_parent_priority_and_whether_it_gives_back():
    found = queues(
        ("root", "{}", OPEN),
        ("a", "{priority: 7, reclaimable: false}", OPEN),
        ("b", "{parent: a}", OPEN),
        ("c", "{parent: root}", OPEN),
    )

    assert [found[name]["parent"] for name in ("root", "a", "b", "c")] == [
        None,
        "root",
        "a",
        "root",
    ]
    assert found["a"]["priority"] == 7
    assert found["a"]["runtimes"] == [0, LONGEST_SECONDS]
    assert found["b"]["runtimes"] == [0, 0]


def test_without_the_queue_root_a_queue_has_no_parent():
    assert queues(("c", "{parent: root}", OPEN))["c"]["parent"] is None


@pytest.mark.parametrize(
    "spec",
    [
        "{weight: 0}",
        "{weight: 70000}",
        "{priority: -1}",
        "{capability: {cpu: lots}}",
        "{deserved: {cpu: 4}, capability: {cpu: 2}}",
        "{deserved: {cpu: 4}, guarantee: {resource: {cpu: 5}}}",
        "{dequeueStrategy: random}",
    ],
)
def test_a_queue_that_is_not_valid_is_closed_and_warned_of(spec):
    warnings = []

    assert queues(("q", spec, OPEN), warnings=warnings)["q"]["open"] is False
    assert warnings[0].startswith("Queue q cannot be read, so it is taken as closed: ")
    assert "spec." in warnings[0]


@pytest.mark.parametrize(
    ("spec", "refused", "warned"),
    [
        ("{}", False, False),
        ("{dequeueStrategy: fifo}", False, True),
        ("{dequeueStrategy: traverse}", False, False),
        ("{extendClusters: [{name: x}]}", False, True),
        (
            (
                "{affinity: {nodeGroupAffinity: "
                "{requiredDuringSchedulingIgnoredDuringExecution: [a]}}}"
            ),
            True,
            False,
        ),
        (
            (
                "{affinity: {nodeGroupAntiAffinity: "
                "{preferredDuringSchedulingIgnoredDuringExecution: [a]}}}"
            ),
            False,
            True,
        ),
    ],
)
def test_what_a_queue_asks_for_in_vain_is_told_to_its_gangs(spec, refused, warned):
    text = f"""
---
apiVersion: {VERSIONS["volcano"]}
kind: Queue
metadata: {{name: q}}
spec: {spec}
"""
    found = claim(VOLCANO, group("{queue: q}"), text)

    assert (found.refused is not None, bool(found.warnings)) == (refused, warned)
