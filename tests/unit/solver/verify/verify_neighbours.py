"""
Cases of the judge about pods that are near each other, apart, or spread.
"""

from dataclasses import replace

from models.neighbours import Apart, Near, Neighbours, ReachedVolumes, Spread
from tests.helpers.build import ZONE, bind, binds, gang, node, plan, snapshot
from tests.unit.solver.verify.verify_cases import broken, made, move, reserve

MACHINES = [
    node("n0", zone="a"),
    node("n1", zone="a"),
    node("n2", zone="b"),
    node("n3"),
]
WEB = Neighbours(selected=("web",))
NO_WEB = Neighbours(apart=(Apart("web", ZONE),))
BY_WEB = Neighbours(near=Near("web", (ZONE,)))
LIKE = Neighbours(selected=("web",), near=Near("web", (ZONE,)))
ALONE = Neighbours(selected=("web",), apart=(Apart("web", ZONE),))


def apart():
    yield broken(
        "pods-apart",
        snapshot(
            MACHINES,
            [gang("a", neighbours=NO_WEB), gang("b", neighbours=WEB, running=["n0"])],
        ),
        plan(bind("a-0", "n1")),
        plan(bind("a-0", "n2")),
    )
    yield broken(
        "pods-apart",
        snapshot(
            MACHINES,
            [gang("a", neighbours=WEB), gang("b", neighbours=NO_WEB, running=["n0"])],
        ),
        plan(bind("a-0", "n1")),
        plan(bind("a-0", "n3")),
        "who runs keeps others away",
    )
    keeper = node("n4", zone="b", others=((NO_WEB, 1),))
    yield broken(
        "pods-apart",
        snapshot([*MACHINES, keeper], [gang("a", neighbours=WEB)]),
        plan(bind("a-0", "n2")),
        plan(bind("a-0", "n1")),
        "pods of others",
    )
    yield broken(
        "pods-apart",
        snapshot(MACHINES, [gang("a", minimum=2, neighbours=ALONE)]),
        plan(*binds("a", "n0", "n1")),
        plan(*binds("a", "n0", "n2")),
        "pods of one gang",
    )
    yield broken(
        "pods-apart",
        snapshot(
            MACHINES,
            [
                gang("a", neighbours=NO_WEB),
                gang("b", neighbours=WEB, replicas=1, minimum=0, terminating=["n0"]),
            ],
        ),
        plan(bind("a-0", "n1")),
        made(reserve("a-0", "n1")),
        "who leaves is there until it is gone",
    )


def near():
    yield broken(
        "pods-near",
        snapshot(
            MACHINES,
            [gang("a", neighbours=BY_WEB), gang("b", neighbours=WEB, running=["n0"])],
        ),
        plan(bind("a-0", "n2")),
        plan(bind("a-0", "n1")),
    )
    yield broken(
        "pods-near",
        snapshot(MACHINES, [gang("a", minimum=2, neighbours=LIKE)]),
        plan(*binds("a", "n0", "n2")),
        plan(*binds("a", "n0", "n1")),
        "the first of its like",
    )
    yield broken(
        "pods-near",
        snapshot(MACHINES, [gang("a", minimum=1, neighbours=LIKE)]),
        plan(bind("a-0", "n3")),
        plan(bind("a-0", "n2")),
        "a node without the label",
    )
    yield broken(
        "pods-near",
        snapshot(
            MACHINES,
            [gang("a", neighbours=LIKE), gang("b", neighbours=WEB, running=["n2"])],
        ),
        plan(bind("a-0", "n0")),
        plan(bind("a-0", "n2")),
        "there is one of its like already",
    )
    racks = [node("m0", zone="a", rack="r"), node("m1", zone="b", rack="s")]
    by_rack = Neighbours(selected=("web",), near=Near("web", ("rack",)))
    yield broken(
        "pods-near",
        snapshot(racks, [gang("a", neighbours=LIKE), gang("b", neighbours=by_rack)]),
        plan(bind("a-0", "m0"), bind("b-0", "m1")),
        plan(bind("a-0", "m0"), bind("b-0", "m0")),
        "one of them is the first, by whatever label they are near",
    )
    both = snapshot(
        MACHINES,
        [
            gang("a", neighbours=BY_WEB),
            gang("b", neighbours=WEB),
            gang("c", replicas=1, minimum=0, terminating=["n0"]),
        ],
    )
    yield broken(
        "pods-near",
        both,
        made(bind("a-0", "n1"), reserve("b-0", "n0")),
        made(reserve("a-0", "n1"), reserve("b-0", "n0")),
        "who only has its place is not there yet",
    )


def spread():
    rule = Spread("web", ZONE)
    even = Neighbours(selected=("web",), spread=(rule,))
    yield broken(
        "pods-spread",
        snapshot(MACHINES, [gang("a", minimum=3, neighbours=even)]),
        plan(*binds("a", "n0", "n1", "n0")),
        plan(*binds("a", "n0", "n1", "n2")),
    )
    yield broken(
        "pods-spread",
        snapshot(
            MACHINES,
            [gang("a", neighbours=even), gang("b", neighbours=WEB, running=["n2"])],
        ),
        plan(bind("a-0", "n2")),
        plan(bind("a-0", "n1")),
        "what runs counts",
    )
    three = Neighbours(selected=("web",), spread=(rule._replace(domains=3),))
    yield broken(
        "pods-spread",
        snapshot(MACHINES, [gang("a", minimum=2, replicas=4, neighbours=three)]),
        plan(*binds("a", "n0", "n2", "n0", "n2")),
        plan(*binds("a", "n0", "n2")),
        "too few domains",
    )
    yield broken(
        "pods-spread",
        snapshot(MACHINES, [gang("a", neighbours=even)]),
        plan(bind("a-0", "n3")),
        plan(bind("a-0", "n0")),
        "a node in no domain",
    )
    yield broken(
        "pods-spread",
        snapshot(
            MACHINES,
            [gang("w", neighbours=even), gang("v", neighbours=WEB, running=["n0"])],
        ),
        made(move("v-0", "n0", "n1"), reserve("w-0", "n0")),
        made(move("v-0", "n0", "n2"), reserve("w-0", "n0")),
        "who is moved counts where it comes to",
    )


def claims():
    left, right = (ReachedVolumes(name, ("data",)) for name in ("left", "right"))
    machines = [
        replace(machine, volumes=reached)
        for machine, reached in zip(
            MACHINES, ((left,), (left, right), (right,), ()), strict=True
        )
    ]
    asks = Neighbours(claims=(("data", 1),))
    waiting = [gang("a", replicas=3, minimum=1, neighbours=asks)]
    yield broken(
        "volume-for-claim",
        snapshot(machines, waiting),
        plan(*binds("a", "n1", "n0", "n2")),
        plan(*binds("a", "n1", "n0")),
        "two volumes for three claims",
    )
    yield broken(
        "volume-for-claim",
        snapshot(machines, waiting),
        plan(bind("a-0", "n3")),
        plan(bind("a-0", "n0")),
        "a node that reaches none",
    )
    yield broken(
        "volume-for-claim",
        snapshot(machines, [*waiting, gang("b", neighbours=asks, running=["n1"])]),
        plan(*binds("a", "n0", "n2")),
        plan(bind("a-0", "n2")),
        "who runs has one",
    )
    together = Neighbours(shared=(("set", "data"),))
    yield broken(
        "volume-for-claim",
        snapshot(machines, [gang("a", replicas=2, minimum=2, neighbours=together)]),
        plan(*binds("a", "n0", "n2")),
        plan(*binds("a", "n1", "n2")),
        "no volume that both reach",
    )
    yield broken(
        "volume-for-claim",
        snapshot(machines, [*waiting, gang("b", neighbours=together, running=["n0"])]),
        plan(*binds("a", "n0")),
        plan(*binds("a", "n2")),
        "a shared claim has one",
    )
    lone = [gang(x, neighbours=asks, running=["n0"]) for x in "bc"]
    late = gang("d", replicas=2, minimum=1, neighbours=together, running=["n0"])
    yield broken(
        "volume-for-claim",
        snapshot(machines, [*lone, late, gang("e", neighbours=asks)]),
        plan(bind("d-1", "n0"), bind("e-0", "n2")),
        plan(bind("e-0", "n2")),
        "more claims run than there are volumes",
    )


NEIGHBOURS = [*apart(), *near(), *spread(), *claims()]
