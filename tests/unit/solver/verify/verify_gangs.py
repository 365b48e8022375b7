"""
Broken plans: racks, minimums and groups.
"""

from models.gangs import MatchPolicy
from models.resources import GPU
from models.why.reasons import Reason, Waiting
from tests.helpers.build import (
    bind,
    binds,
    gang,
    group,
    leaf,
    node,
    nodes,
    plan,
    required,
    snapshot,
)
from tests.unit.solver.verify.verify_cases import broken

REFUSED = Waiting(Reason.CONFIG_CONFLICT, {"detail": "two memberships"})


def racks():
    machines = [
        node("n0", rack="r0", zone="z0"),
        node("n1", rack="r1", zone="z0"),
        node("n2", rack="r1", zone="z0"),
        node("n3", zone="z0"),
    ]
    yield broken(
        "topology-required",
        snapshot(machines, [gang("a", minimum=2, topology=required())]),
        plan(*binds("a", "n0", "n1")),
        plan(*binds("a", "n2", "n1")),
    )
    yield broken(
        "topology-required",
        snapshot(machines, [gang("a", minimum=1, topology=required())]),
        plan(bind("a-0", "n3")),
        plan(bind("a-0", "n2")),
        "a node outside every domain",
    )
    grown = gang("a", minimum=1, replicas=2, running=["n0"], topology=required())
    yield broken(
        "topology-required",
        snapshot([*machines, node("n4", rack="r0", zone="z0")], [grown]),
        plan(bind("a-1", "n1"), lines=()),
        plan(bind("a-1", "n4"), lines=()),
        "running members pin",
    )
    spread = gang("a", minimum=2, replicas=3, running=["n0", "n1"], topology=required())
    yield broken(
        "topology-required",
        snapshot(machines, [spread]),
        plan(bind("a-2", "n1"), lines=()),
        plan(),
        "already spread over two",
    )
    inner = gang(
        "a",
        group("g", leaf("x", 1), leaf("y", 1), topology=required()),
        leaf("z", 1),
        topology=required("zone"),
    )
    yield broken(
        "topology-required",
        snapshot(machines, [inner]),
        plan(
            bind("a-x-0", "n0", "a"),
            bind("a-y-0", "n1", "a"),
            bind("a-z-0", "n1", "a"),
        ),
        plan(
            bind("a-x-0", "n2", "a"),
            bind("a-y-0", "n1", "a"),
            bind("a-z-0", "n0", "a"),
        ),
        "an inner node",
    )


def minimums():
    yield broken(
        "gang-minimum",
        snapshot(nodes(1), [gang("a", minimum=3, replicas=4)]),
        plan(*binds("a", "n0", "n0")),
        plan(*binds("a", "n0", "n0", "n0")),
    )
    counting = {
        MatchPolicy.ONLY_WAITING: ({"running": ["n0"]}, 2),
        MatchPolicy.WAITING_AND_RUNNING: ({"succeeded": 1}, 2),
        MatchPolicy.WAITING_RUNNING_SUCCEED: ({"failed": 1}, 2),
        MatchPolicy.ONCE_SATISFIED: ({"failed": 1}, 2),
    }
    for match, (phase, enough) in counting.items():
        yield broken(
            "gang-minimum",
            snapshot(
                nodes(1),
                [gang("a", minimum=2, replicas=4, match_policy=match, **phase)],
            ),
            plan(*binds("a", "n0", start=1)),
            plan(*binds("a", *["n0"] * enough, start=1)),
            match.value,
        )
    some = gang("a", leaf("x", 1), leaf("y", 1), leaf("z", 1), min_groups=2)
    yield broken(
        "gang-minimum",
        snapshot(nodes(1), [some]),
        plan(bind("a-z-0", gang="a")),
        plan(bind("a-x-0", gang="a"), bind("a-z-0", gang="a")),
        "K of N children",
    )
    pods = gang("a", leaf("x", 0, 3), leaf("y", 0, 3, gpus=2), min_pods=3)
    yield broken(
        "gang-minimum",
        snapshot(nodes(1), [pods]),
        plan(*binds("a", "n0", "n0", leaf="x")),
        plan(*binds("a", "n0", "n0", leaf="x"), *binds("a", "n0", leaf="y")),
        "pods of several shapes",
    )
    empty = gang("a", leaf("x", 0, 1), leaf("y", 1), min_groups=2)
    yield broken(
        "gang-minimum",
        snapshot(nodes(1), [empty]),
        plan(bind("a-y-0", gang="a")),
        plan(bind("a-x-0", gang="a"), bind("a-y-0", gang="a")),
        "a child without pods does not count",
    )
    pair = gang("a", leaf("x", 1), leaf("y", 2), min_groups=1)
    yield broken(
        "leaf-minimum",
        snapshot(nodes(1), [pair]),
        plan(bind("a-x-0", gang="a"), *binds("a", "n0", leaf="y")),
        plan(bind("a-x-0", gang="a"), *binds("a", "n0", "n0", leaf="y")),
    )
    tree = gang("a", leaf("x", 1), group("g", leaf("y", 1), leaf("z", 1)), min_groups=1)
    start = bind("a-x-0", gang="a")
    yield broken(
        "subgroup-minimum",
        snapshot(nodes(1), [tree]),
        plan(start, bind("a-y-0", gang="a")),
        plan(start, bind("a-y-0", gang="a"), bind("a-z-0", gang="a")),
    )
    roles = gang(
        "a", leaf("driver", 1), leaf("worker", 0, 3, after=("driver",)), min_pods=2
    )
    workers = binds("a", "n0", "n0", leaf="worker")
    yield broken(
        "role-order",
        snapshot(nodes(1), [roles]),
        plan(*workers),
        plan(bind("a-driver-0", gang="a"), *workers),
    )


def groups():
    both = [gang("a", mates=["a", "b"]), gang("b", mates=["a", "b"])]
    yield broken(
        "gang-group",
        snapshot(nodes(1), both),
        plan(bind("a-0")),
        plan(bind("a-0"), bind("b-0")),
    )
    yield broken(
        "gang-group",
        snapshot(nodes(1), [gang("a", mates=["a", "b"]), gang("b")]),
        plan(bind("a-0")),
        plan(bind("b-0")),
        "a list held alone",
    )
    yield broken(
        "gang-group",
        snapshot(nodes(1), [gang("a", mates=["b"]), gang("b", mates=["b"])]),
        plan(bind("a-0")),
        plan(bind("b-0")),
        "a list without itself",
    )
    yield broken(
        "not-ready",
        snapshot(nodes(1), [gang("a", mates=["a", "b"])]),
        plan(bind("a-0")),
    )
    yield broken(
        "timed-out",
        snapshot(nodes(1), [gang("a", timed_out=True), gang("b")]),
        plan(bind("a-0")),
        plan(bind("b-0")),
    )
    yield broken(
        "refused",
        snapshot(nodes(1), [gang("a", refused=REFUSED), gang("b")]),
        plan(bind("a-0")),
        plan(bind("b-0")),
    )
    yield broken(
        "backoff",
        snapshot(nodes(1), [gang("a", backoff=30), gang("b")]),
        plan(bind("a-0")),
        plan(bind("b-0")),
    )
    yield broken(
        "min-resources",
        snapshot(
            [*nodes(1), node("n1", unschedulable=True)],
            [gang("a", min_resources={GPU: 8}), gang("b", running=["n0"]), gang("c")],
        ),
        plan(bind("a-0")),
        plan(bind("c-0")),
    )


GANGS = [*racks(), *minimums(), *groups()]
