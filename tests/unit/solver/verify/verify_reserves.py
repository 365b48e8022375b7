"""
Cases of the judge about single operations, and about what holds for reservations too.
"""

from dataclasses import replace

from models.gangs import PodPhase
from models.queues import QueueResource
from models.resources import GPU
from models.why.reasons import Reason, Waiting
from tests.helpers.build import (
    bind,
    gang,
    node,
    nodes,
    plan,
    queue,
    required,
    selector,
    snapshot,
)
from tests.unit.solver.verify.verify_cases import (
    GOOD,
    ONE,
    aged,
    broken,
    evict,
    made,
    move,
    needy,
    reserve,
    reserves,
    victim,
)

REFUSED = Waiting(Reason.CONFIG_CONFLICT, {"detail": "two memberships"})

MOVED = move("v-0", "n0", "n1"), reserve("w-0")


def operations():
    yield broken(
        "unknown-pod",
        ONE,
        made(evict("v-7"), reserve("w-0", "n1")),
        made(*GOOD),
        "it is evicted",
    )
    yield broken(
        "unknown-node",
        ONE,
        made(evict("v-0"), reserve("w-0", "n7")),
        made(*GOOD),
        "a pod is reserved there",
    )
    yield broken(
        "unknown-node",
        ONE,
        made(move("v-0", "n0", "n7"), reserve("w-0")),
        made(move("v-0", "n0", "n1"), reserve("w-0")),
        "a pod is moved there",
    )
    yield broken(
        "pod-not-pending",
        snapshot(nodes(2), [gang("a", minimum=1, replicas=2, running=["n1"])]),
        made(*reserves("a", "n0", "n0")),
        made(*reserves("a", "n0", start=1)),
        "a running pod is reserved",
    )
    yield broken(
        "pod-not-pending",
        snapshot(nodes(2), [gang("a")]),
        made(reserve("a-0"), bind("a-0", "n1")),
        made(reserve("a-0")),
        "reserved and bound",
    )
    wrong = {
        "it runs elsewhere": evict("v-0", "n1"),
        "it is moved from elsewhere": move("v-0", "n1", "n2"),
        "it does not run": evict("x-0"),
        "it terminates": evict("y-0", "n2"),
    }
    given = snapshot(
        nodes(3), [victim(), needy(), gang("x"), gang("y", terminating=["n2"])]
    )
    for label, step in wrong.items():
        steps = made(step, reserve("w-0", "n1"))
        yield broken("pod-not-running", given, steps, made(*GOOD), label)
    yield broken(
        "pod-not-running", ONE, made(evict("v-0"), *GOOD), made(*GOOD), "twice"
    )


def rooms():
    yield broken(
        "node-capacity",
        snapshot(nodes(2), [victim(), needy(gpus=4), gang("x", gpus=4)]),
        made(*GOOD, bind("x-0", "n0")),
        made(*GOOD, bind("x-0", "n1")),
        "bound before the victim has left",
    )
    yield broken(
        "node-capacity",
        snapshot(nodes(2), [victim(), needy(gpus=4), gang("x", gpus=5)]),
        made(*GOOD, reserve("x-0", "n0")),
        made(*GOOD, reserve("x-0", "n1")),
        "reserved for two",
    )
    yield broken(
        "node-capacity",
        snapshot(nodes(2), [victim(gpus=4), needy(), gang("x", gpus=4)]),
        made(*GOOD, bind("x-0", "n0")),
        made(*GOOD, bind("x-0", "n1")),
        "bound where it is reserved",
    )
    yield broken(
        "node-capacity",
        snapshot(nodes(3), [victim(gpus=4), victim("u", "n1", gpus=5), needy()]),
        made(move("v-0", "n0", "n1"), reserve("w-0")),
        made(move("v-0", "n0", "n2"), reserve("w-0")),
        "moved to a full node",
    )
    leaving = [
        aged(gang("t", terminating=["n0"]), 120, PodPhase.TERMINATING),
        aged(gang("u", terminating=["n1"]), 119, PodPhase.TERMINATING),
    ]
    given = snapshot(nodes(2), [*leaving, needy()])
    yield broken(
        "node-capacity",
        given,
        made(reserve("w-0", "n0")),
        made(reserve("w-0", "n1")),
        "a pod has terminated for long",
    )
    yield broken(
        "node-capacity",
        given,
        made(bind("w-0", "n1")),
        made(reserve("w-0", "n1")),
        "bound where a pod terminates",
    )


def places():
    yield broken(
        "node-demand",
        snapshot(
            [node("n0"), node("n1", labels={"kind": "a"})],
            [needy(demand=selector(kind="a"))],
        ),
        made(reserve("w-0", "n0")),
        made(reserve("w-0", "n1")),
        "reserved",
    )
    yield broken(
        "node-demand",
        snapshot([*nodes(2), node("n2", unschedulable=True)], [victim(), needy()]),
        made(move("v-0", "n0", "n2"), reserve("w-0")),
        made(move("v-0", "n0", "n1"), reserve("w-0")),
        "moved",
    )
    yield broken(
        "exclusive",
        snapshot(nodes(2), [gang("a", minimum=2, exclusive=True)]),
        made(*reserves("a", "n0", "n0")),
        made(*reserves("a", "n0", "n1")),
        "reserved",
    )
    spread = victim("v", "n0", "n1", gpus=1, exclusive=True)
    yield broken(
        "exclusive",
        snapshot(nodes(3), [spread, needy()]),
        made(move("v-0", "n0", "n2"), move("v-1", "n1", "n2"), reserve("w-0")),
        made(move("v-0", "n0", "n1"), move("v-1", "n1", "n2"), reserve("w-0")),
        "moved",
    )
    racks = [
        node(f"n{i}", zone="z0", rack=rack)
        for i, rack in enumerate(("r0", "r0", "r1", "r1"))
    ]
    yield broken(
        "topology-required",
        snapshot(racks, [gang("a", minimum=2, topology=required())]),
        made(*reserves("a", "n1", "n2")),
        made(*reserves("a", "n2", "n3")),
        "reserved",
    )
    tied = victim("v", "n0", "n1", topology=required())
    yield broken(
        "topology-required",
        snapshot(racks, [tied, needy()]),
        made(move("v-0", "n0", "n1"), move("v-1", "n1", "n2"), reserve("w-0")),
        made(move("v-0", "n0", "n2"), move("v-1", "n1", "n3"), reserve("w-0")),
        "moved",
    )


def gangs():
    yield broken(
        "gang-minimum",
        snapshot(nodes(2), [gang("a", minimum=2)]),
        made(reserve("a-0")),
        made(*reserves("a", "n0", "n1")),
        "reserved in part",
    )
    yield broken(
        "gang-group",
        snapshot(nodes(1), [gang("a", mates=["a", "b"]), gang("b", mates=["a", "b"])]),
        made(bind("a-0"), reserve("b-0")),
        made(reserve("a-0"), reserve("b-0")),
        "one is bound and one reserved",
    )
    yield broken(
        "bind-and-reserve",
        snapshot(nodes(1), [gang("a", minimum=2)]),
        made(bind("a-0"), reserve("a-1")),
        made(*reserves("a", "n0", "n0")),
    )
    held = {
        "timed-out": {"timed_out": True},
        "refused": {"refused": REFUSED},
        "backoff": {"backoff": 30},
    }
    for rule, fields in held.items():
        given = snapshot(nodes(2), [victim(**fields), needy("x"), needy(**fields)])
        reserved, other = (made(reserve(pod, "n1")) for pod in ("w-0", "x-0"))
        yield broken(rule, given, reserved, other, "reserved")
        moved, gone = (
            made(step, reserve("x-0"))
            for step in (move("v-0", "n0", "n1", "x"), evict("v-0", "n0", "x"))
        )
        yield broken(rule, given, moved, gone, "moved")
    picky = needy(gpus=4, min_resources={GPU: 8})
    running = [victim(gpus=4), victim("t", gpus=4), victim("u", "n1")]
    yield broken(
        "min-resources",
        snapshot(nodes(2), [*running, picky]),
        made(*GOOD),
        made(evict("u-0", "n1"), reserve("w-0", "n1")),
        "what leaves is free later",
    )


def queues():
    both = [victim(queue="p"), needy(), needy("u", queue="p")]
    for rule, listed in {
        "queue-closed": [queue("p", open=False), queue()],
        "queue-missing": [queue()],
        "queue-inner": [queue("p"), queue("c", "p"), queue()],
    }.items():
        given = snapshot(nodes(2), both, listed)
        fine = made(reserve("w-0", "n1"))
        moved = made(*MOVED)
        yield broken(rule, given, made(reserve("u-0", "n1")), fine, "reserved")
        yield broken(rule, given, moved, fine, "moved")
    keeping = queue("k", resources={GPU: QueueResource(quota=12, lend=0)})
    for rule, listed in {
        "queue-limit": [queue("p", limit=7), queue()],
        "lending-limit": [queue("p"), keeping, queue()],
    }.items():
        given = snapshot(nodes(2), [*both[:1], needy(gpus=1)], listed)
        yield broken(rule, given, made(*MOVED), plan(), "moved where too much runs")
    four = [victim(gpus=4), needy(gpus=2), gang("x", gpus=2), gang("y", gpus=4)]
    fixed = [four[0], *(replace(other, preemptible=False) for other in four[1:])]
    limit, quota = queue(quota=None, limit=5), queue(quota=5)
    for rule, waiting, rules in (
        ("queue-limit", four, limit),
        ("queue-quota", fixed, quota),
    ):
        yield broken(
            rule,
            snapshot(nodes(2), waiting, [rules]),
            made(*GOOD, reserve("y-0", "n1")),
            made(*GOOD, reserve("x-0", "n1")),
            "after the plan",
        )
    yield broken(
        "queue-limit",
        snapshot(nodes(2), four, [limit]),
        made(*GOOD, bind("x-0", "n1")),
        made(*GOOD, reserve("x-0", "n1")),
        "before the victim has left",
    )
    rivals = [
        gang("a", queue="q", gpus=5),
        gang("b", queue="q", gpus=4),
        gang("c", queue="p", minimum=2, gpus=4),
    ]
    yield broken(
        "entitled",
        snapshot(nodes(1), rivals, [queue("q", quota=4), queue("p", quota=4)]),
        made(reserve("a-0"), entitled=["a"]),
        made(reserve("b-0"), entitled=["b"]),
        "reserved",
    )
    waiting = [gang(name, queue="q", gpus=4) for name in ("w", "x")]
    again = gang("y", queue="q", gpus=4, evicted_ago=60)
    running = [victim("v", queue="p"), victim("u", "n1", queue="p")]
    both = [reserve("w-0"), reserve("x-0")]
    yield broken(
        "right-to-evict",
        snapshot(
            nodes(2),
            [*running, *waiting, again],
            [queue("p"), queue("q", quota=8, limit=8)],
        ),
        made(evict("v-0", "n0", "w", "x", rule="reclaim"), *both, entitled=["w", "x"]),
        made(evict("v-0", "n0", "w", rule="reclaim"), *both, entitled=["w", "x"]),
    )


RESERVES = [*operations(), *rooms(), *places(), *gangs(), *queues()]
