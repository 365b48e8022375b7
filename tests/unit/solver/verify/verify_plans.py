"""
Broken plans: what is done, to whom and where, and whether it fits there.
"""

from dataclasses import replace

from models.gangs import Gang, PodSet
from models.nodes import Taint
from models.resources import GPU
from tests.helpers.build import (
    bind,
    binds,
    gang,
    leaf,
    node,
    nodes,
    plan,
    selector,
    snapshot,
)
from tests.unit.solver.verify.verify_cases import broken


def uid(made: Gang, value: str) -> Gang:
    assert isinstance(made.tree, PodSet)
    pods = tuple(replace(pod, uid=value) for pod in made.tree.pods)
    return replace(made, tree=replace(made.tree, pods=pods))


def operations():
    one = snapshot(nodes(2), [gang("a", minimum=1, replicas=2)])
    good = plan(bind("a-0"))
    yield broken(
        "unknown-operation",
        one,
        plan(bind("a-0"), bind("a-1", op="Drain")),
        good,
    )
    yield broken("unknown-pod", one, plan(bind("a-0"), bind("a-7"), lines=()), good)
    yield broken(
        "unknown-pod",
        one,
        plan(bind("a-0"), bind("a-1", gang="b"), lines=()),
        good,
        "its gang does not exist",
    )
    yield broken(
        "unknown-pod",
        snapshot(nodes(2), [gang("a"), gang("b", replicas=2, minimum=1)]),
        plan(bind("a-0"), bind("b-0"), bind("b-1", gang="a"), lines=()),
        plan(bind("a-0"), bind("b-0"), bind("b-1")),
        "it belongs to another gang",
    )
    yield broken(
        "unknown-pod",
        snapshot(nodes(1), [uid(gang("a"), "one")]),
        plan(bind("a-0", uid="two")),
        plan(bind("a-0", uid="one")),
        "another uid",
    )
    yield broken(
        "unknown-pod",
        snapshot(nodes(1), [gang("a", minimum=1, replicas=2, created=1)]),
        plan(bind("a-0"), bind("a-1"), lines=()),
        good,
        "it was not created",
    )
    yield broken("unknown-node", one, plan(bind("a-0", "n7")), good)
    phases = {
        "gated": {"gated": 1},
        "succeeded": {"succeeded": 1},
        "failed": {"failed": 1},
        "running": {"running": ["n1"]},
        "terminating": {"terminating": ["n1"]},
    }
    for label, phase in phases.items():
        yield broken(
            "pod-not-pending",
            snapshot(nodes(2), [gang("a", minimum=1, replicas=3, **phase)]),
            plan(bind("a-0"), bind("a-1")),
            plan(bind("a-1")),
            label,
        )
    yield broken(
        "pod-not-pending", one, plan(bind("a-0"), bind("a-0", "n1")), good, "twice"
    )


def rooms():
    two = [gang("a", gpus=5), gang("b", gpus=4)]
    yield broken(
        "node-capacity",
        snapshot(nodes(2), two),
        plan(bind("a-0"), bind("b-0")),
        plan(bind("a-0"), bind("b-0", "n1")),
    )
    yield broken(
        "node-capacity",
        snapshot(nodes(2), [gang("a", gpus=5), gang("b", gpus=4, running=["n0"])]),
        plan(bind("a-0", "n0")),
        plan(bind("a-0", "n1")),
        "running pods",
    )
    yield broken(
        "node-capacity",
        snapshot(
            nodes(2),
            [
                gang("a", gpus=5),
                gang("b", gpus=4, minimum=1, replicas=2, terminating=["n0"]),
            ],
        ),
        plan(bind("a-0", "n0")),
        plan(bind("a-0", "n1")),
        "terminating pods",
    )
    yield broken(
        "node-capacity",
        snapshot([node("n0", used={GPU: 4}), node("n1")], [gang("a", gpus=5)]),
        plan(bind("a-0", "n0")),
        plan(bind("a-0", "n1")),
        "load of others",
    )
    full = node("n0", 8, used={GPU: 9})
    yield broken(
        "node-capacity",
        snapshot([full], [gang("a", gpus=1), gang("b", gpus=0)]),
        plan(bind("a-0"), bind("b-0")),
        plan(bind("b-0")),
        "already overcommitted",
    )
    yield broken(
        "node-capacity",
        snapshot(
            [node("n0", allocatable={"pods": 1}), node("n1")], [gang("a", minimum=2)]
        ),
        plan(*binds("a", "n0", "n0")),
        plan(*binds("a", "n0", "n1")),
        "number of pods",
    )
    demands = {
        "selector": ([node("n0"), node("n1", labels={"kind": "a"})], {"kind": "a"}),
        "taint": ([node("n0", taints=(Taint(key="x"),)), node("n1")], {}),
        "unschedulable": ([node("n0", unschedulable=True), node("n1")], {}),
    }
    for label, (machines, labels) in demands.items():
        yield broken(
            "node-demand",
            snapshot(machines, [gang("a", demand=selector(**labels))]),
            plan(bind("a-0", "n0")),
            plan(bind("a-0", "n1")),
            label,
        )
    yield broken(
        "exclusive",
        snapshot(nodes(2), [gang("a", minimum=2, exclusive=True)]),
        plan(*binds("a", "n0", "n0")),
        plan(*binds("a", "n0", "n1")),
    )
    yield broken(
        "exclusive",
        snapshot(
            nodes(3),
            [gang("a", minimum=1, replicas=2, exclusive=True, running=["n0"])],
        ),
        plan(bind("a-1", "n0"), lines=()),
        plan(bind("a-1", "n1"), lines=()),
        "with a running pod",
    )
    yield broken(
        "exclusive",
        snapshot(nodes(2), [gang("a", leaf("x", 1, exclusive=True), leaf("y", 1))]),
        plan(bind("a-x-0", "n0", "a"), bind("a-y-0", "n0", "a")),
        plan(bind("a-x-0", "n0", "a"), bind("a-y-0", "n1", "a")),
        "with another leaf",
    )


PLANS = [*operations(), *rooms()]
