"""
What gangs that wait for parts of GPUs are told: how much less devices have room for.
"""

import pytest

from models.devices.gpu_parts import with_shares
from models.policy import Policy
from models.resources import GPU
from models.snapshot import Snapshot
from models.why.verdicts import Verdict
from solver import decide, why_waits
from tests.helpers.build import gang
from tests.helpers.rounds.parts import fraction, memory, mig, part_gang, sharing

NODES = (sharing("a", 3), sharing("b", 3), sharing("m", 1, cut=(0,)))
RUNNING = (
    part_gang("r0", fraction(700), ("a", 0), ("a", 1)),
    part_gang("r1", fraction(750), ("b", 0), ("b", 1)),
    part_gang("r2", memory(68 * 1024), ("a", 2), ("b", 2)),
    part_gang("r3", mig("1g.10gb"), ("m", (0, 3))),
    part_gang("r4", mig("1g.10gb"), ("m", (0, 6))),
)
TOLD = {
    "a fraction": (
        fraction(500),
        1,
        "needs 0.5 of one GPU; 6 GPUs have room for 0.3 or less",
    ),
    "several": (
        fraction(500),
        3,
        "needs 3 × 0.5 of one GPU; 6 GPUs have room for 0.3 or less",
    ),
    "several devices": (
        fraction(300, 3),
        1,
        (
            "needs 0.3 of each of 3 GPUs; "
            "the most GPUs with room for that on one node are 2"
        ),
    ),
    "memory": (
        memory(30 * 1024),
        1,
        "needs 30 GiB of one GPU; the most free on one is 24 GiB",
    ),
    "compute and memory": (
        memory(20 * 1024, 900),
        1,
        "needs 0.9 of the compute and 20 GiB of one GPU; no GPU has both free",
    ),
    "another contract": (
        fraction(100, contract="kai"),
        1,
        "needs 0.1 of one GPU; no GPU has any free for it",
    ),
    "an instance": (
        mig("3g.40gb"),
        1,
        "needs MIG 3g.40gb; no device has memory slices 0-3 or 4-7 free",
    ),
    "several instances": (
        mig("2g.20gb", 3),
        1,
        "needs 3 × MIG 2g.20gb; no node has room for 3 at once",
    ),
}


@pytest.mark.parametrize("strategy", ["greedy", "solver"])
@pytest.mark.parametrize("name", TOLD)
def test_reasons_and_cores_tell_parts_apart(name, strategy):
    part, pods, told = TOLD[name]
    waits = part_gang("waits", part, minimum=pods)
    snapshot = Snapshot(nodes=NODES, gangs=(*RUNNING, waits))
    policy = Policy(tiers=("entitled", "borrowing"))
    plan = decide(snapshot, policy, strategy=strategy)
    (line,) = [line for line in plan.gangs if line.name == "default/waits"]
    why = why_waits(snapshot, policy, plan, line.name)

    assert told == line.waiting.message
    assert (Verdict.DEVICES, told) == (why.verdict, why.sentence)


def test_of_what_devices_have_too_few_places_for_the_places_are_said():
    waits = part_gang("waits", mig("4g.40gb"), minimum=3)
    snapshot = Snapshot(nodes=(sharing("m", 2, cut=(0, 1)),), gangs=(waits,))
    plan = decide(snapshot, Policy())

    why = why_waits(snapshot, Policy(), plan, "default/waits")

    assert "needs 3 × MIG 4g.40gb; there is room for 2" == why.sentence


@pytest.mark.parametrize("strategy", ["greedy", "solver"])
def test_who_gets_the_room_of_an_instance_is_named_with_gpus(strategy):
    most = part_gang("most", fraction(800), age=3600)
    waits = part_gang("waits", mig("3g.40gb"))
    snapshot = Snapshot(nodes=(sharing("m", 1, cut=(0,)),), gangs=(most, waits))
    plan = decide(snapshot, Policy(), strategy=strategy)
    (line,) = [line for line in plan.gangs if line.name == "default/waits"]

    assert (
        "could start alone; this plan gives what it needs to default/most: "
        "0.8 of 1 GPUs free where it fits, and it needs MIG 3g.40gb; "
        "no device then has memory slices 0-3 or 4-7 free"
    ) == line.waiting.message


def test_whole_gpus_that_a_part_opens_are_given_to_it():
    part = part_gang("part", fraction(500), age=3600)
    whole = gang("whole", requests={GPU: 1, "pods": 1, "gpu-share": 7000})
    snapshot = Snapshot(nodes=(sharing("a", 1),), gangs=(part, whole))
    plan = decide(snapshot, Policy(tiers=("pods",)), strategy="greedy")
    told = {line.name: line.waiting for line in plan.gangs if line.waiting}

    amount = "0.5 of 1 GPUs free where it fits, and it needs 1"
    assert amount in told["default/whole"].message


def test_who_gets_parts_gets_as_much_as_they_take_on_their_nodes():
    sizes = (40 * 1024, 80 * 1024)
    one, two = memory(30 * 1024), memory(30 * 1024, devices=2)
    asked = [dict(with_shares({"pods": 1, x.resource: 1}, sizes)) for x in (one, two)]
    first = gang("first", requests=asked[0], minimum=4, replicas=4, age=3600)
    later = gang("later", requests=asked[1])
    snapshot = Snapshot(nodes=(sharing("v", 2),), gangs=(first, later))
    plan = decide(snapshot, Policy(), strategy="greedy")
    told = {line.name: line.waiting for line in plan.gangs if line.waiting}

    amount = "default/first: 1.5 of 2 GPUs free where it fits"
    assert amount in told["default/later"].message
