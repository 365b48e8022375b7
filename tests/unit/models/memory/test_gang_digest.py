"""
Digests of gangs: put together from parts, they are those of the JSON as it was written.
"""

import json
from dataclasses import fields, replace
from hashlib import sha256

from models.devices.gpu_parts import GpuDevice
from models.gangs import ON_A_NODE, Gang, Pod, PodPhase, PodSet, RunKind, pod_sets
from models.memory.aged_gangs import older
from models.memory.gang_digest import GangDigests, written
from tests.helpers.rounds.cases import random_snapshot

LEAF = PodSet(
    name="büro",
    minimum=1,
    replicas=3,
    requests={"nvidia.com/gpu": 8, "cpu": 96_000},
    pods=(
        Pod("a", PodPhase.RUNNING, 'n"1', 300, "u"),
        Pod("b", PodPhase.TERMINATING, "n2", 7, None, (GpuDevice(1, 2),)),
        Pod("c"),
    ),
    exclusive=True,
    after=("other",),
)
TIED = Pod("t", PodPhase.RUNNING, "n1", 9, tied=(0, 2))
GANG = Gang(name="x", tree=LEAF, age=40, stale_since=4, lent_by=("a/b",))
OTHERS = (
    GANG,
    replace(GANG, name="y", min_resources={"cpu": 2}, runs_like=RunKind("q", "o", 8)),
    replace(GANG, name="t", tree=replace(LEAF, pods=(TIED,))),
    replace(GANG, name="z", tree=replace(LEAF, gates=("g",)), once_satisfied=True),
)


def as_json(gang):
    """
    Write a gang as JSON does, field by field.
    """

    def said(value):
        if isinstance(value, Pod):
            row = value.name, value.phase, value.node, value.uid
            tied = (value.tied,) if value.tied else ()
            return (*row, value.devices, *tied) if value.devices or tied else row
        if isinstance(value, Gang):
            names = (entry.name for entry in fields(Gang))
            return [getattr(value, n) for n in names if n not in {"age", "stale_since"}]
        return written(value)

    text = json.dumps(gang, sort_keys=True, separators=(",", ":"), default=said)
    times = [None if gang.stale_since is None else gang.stale_since - gang.age]
    times += [
        pod.seconds - gang.age if pod.phase in ON_A_NODE else pod.seconds
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    ]
    return sha256(f"{text}\n{times}".encode()).digest()


def test_a_digest_is_that_of_the_json():
    digests = GangDigests()
    gangs = [g for seed in range(20) for g in random_snapshot(seed).gangs]
    gangs += [*OTHERS, *OTHERS]

    assert [digests.of(gang) for gang in gangs] == [as_json(gang) for gang in gangs]


def test_a_digest_holds_while_time_passes():
    digests = GangDigests()

    assert digests.of(GANG) == digests.of(older(GANG, 90))


def test_every_field_of_a_leaf_counts():
    digests = GangDigests()
    unlike = {
        "name": "l",
        "minimum": 2,
        "replicas": 4,
        "requests": {"cpu": 1},
        "pods": (),
        "exclusive": False,
        "after": (),
    }
    found = {
        digests.of(replace(GANG, tree=replace(LEAF, **{name: value})))
        for name, value in unlike.items()
    }

    assert len({*found, digests.of(GANG)}) == len(unlike) + 1
