"""
Running pods that could not be placed anew as they ask are not moved, and are named.
"""

import pytest

from models.policy import Evict, Policy
from solver.round import decide
from tests.helpers.kube.manifests import assembled, node, obj, pod
from tests.helpers.rounds.devices import (
    GPU_CLASS,
    asks,
    claim,
    claiming,
    classes,
    gpu,
    node_slice,
)
from tests.unit.adapters.kube.gangs.devices.test_claimed_devices import allocated

WORD = "requiredDuringSchedulingIgnoredDuringExecution"
LIKED = "preferredDuringSchedulingIgnoredDuringExecution"
TEAM = {"matchLabels": {"team": "a"}}
MOVES = Policy(evict=Evict(preempt=False, reclaim=False, consolidate=True))


def apart_from_team(word=WORD):
    term = {
        "labelSelector": {"matchLabels": {"app": "x"}},
        "namespaceSelector": TEAM,
        "topologyKey": "zone",
    }
    liked = {"weight": 1, "podAffinityTerm": term}
    return {"podAntiAffinity": {word: [term if word == WORD else liked]}}


def runs(name, on, **fields):
    status = {"phase": "Running"}
    return pod(name, gpus=4, nodeName=on, status=status, **fields)


def moved(*raws, runner=None):
    """
    Name the pods that are moved for one that needs a whole node, and what is said.
    """
    nodes = [node(x, labels={"zone": x}) for x in "mn"]
    one = runner or runs("one", "m")
    given = [one, pod("big", gpus=8), *nodes, *raws]
    found = assembled(*given, runs("fixed", "n", schedulerName="other")).snapshot
    plan = decide(found, MOVES)
    moves = [step.pod for step in plan.operations if step.op == "Move"]
    return moves, " ".join(found.warnings)


def test_a_pod_that_runs_is_moved_for_one_that_waits():
    assert ["default/one"] == moved()[0]


def test_who_is_apart_from_namespaces_that_nobody_knows_is_not_moved():
    found, said = moved(runner=runs("one", "m", affinity=apart_from_team()))

    assert [] == found
    assert "pod default/one is not moved: pod one, spec.affinity: namespace" in said


def test_it_is_moved_once_namespaces_are_known():
    space = obj("v1", "Namespace", "default", meta={"labels": {"team": "b"}})

    assert ["default/one"] == moved(
        space, runner=runs("one", "m", affinity=apart_from_team())
    )[0]


def test_what_is_only_preferred_keeps_nobody_in_place_or_waiting():
    liked = apart_from_team(LIKED)

    assert ["default/one"] == moved(runner=runs("one", "m", affinity=liked))[0]
    waits = assembled(pod("waits", affinity=liked), node()).snapshot.gangs

    assert [None] == [gang.refused for gang in waits]


def test_who_tolerates_what_we_do_not_plan_is_not_moved():
    odd = [{"key": "speed", "operator": "Gt", "value": "3"}]
    found, said = moved(runner=runs("one", "m", tolerations=odd))

    assert [] == found
    assert "not moved: pod one, spec.tolerations[0].operator: Gt" in said


@pytest.mark.parametrize("leaves", [True, False])
def test_who_has_a_claim_that_is_being_deleted_is_not_moved(leaves):
    meta = {"deletionTimestamp": "2026-11-27T22:00:00Z"} if leaves else {}
    spec = {"volumeName": "v", "accessModes": ["ReadWriteMany"]}
    bound = {**obj("v1", "PersistentVolumeClaim", "data", "default", spec=spec)}
    bound["metadata"] |= meta
    volume = obj("v1", "PersistentVolume", "v", spec={"csi": {"driver": "d"}})
    mount = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    found, said = moved(bound, volume, runner=runs("one", "m", volumes=[mount]))

    assert ([] if leaves else ["default/one"]) == found
    assert leaves == ("is not moved: pod one, claim data is being deleted" in said)


def claimed(made_for_it, *, at="m"):
    """
    A running pod with a claim that has a device of its node, and devices of both.
    """
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "one", "uid": "one-uid"}
    raw = allocated(
        claim("own", asks("r", GPU_CLASS)), "gpu-0", users=("one-uid",), at=at
    )
    if made_for_it:
        raw["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
    meta = {"uid": "one-uid"}
    slices = [node_slice(x, [gpu(0), gpu(1)]) for x in "mn"]
    return runs("one", at, meta=meta, **claiming("own")), [raw, *classes(), *slices]


@pytest.mark.parametrize("made_for_it", [True, False])
def test_who_uses_a_claim_that_outlasts_it_is_not_moved_from_its_devices(made_for_it):
    runner, raws = claimed(made_for_it)

    assert (["default/one"] if made_for_it else []) == moved(*raws, runner=runner)[0]
