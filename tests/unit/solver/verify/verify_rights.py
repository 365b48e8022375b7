"""
Cases of the judge about rights: for whom pods leave, how many, and what is said of it.
"""

from collections import Counter
from dataclasses import replace

from models.policy import Policy
from models.resources import CPU, GPU
from tests.helpers.build import bind, gang, leaf, nodes, queue, requests, snapshot, tier
from tests.unit.solver.verify.verify_cases import (
    FULL,
    GOOD,
    ONE,
    RECLAIM,
    aged,
    broken,
    evict,
    evicting,
    made,
    move,
    needy,
    reserve,
    said,
    victim,
)

SIZE = 333_333_336
"""
The value of one node of three.
"""


def sides():
    given = snapshot(nodes(4), [victim(), needy(), needy("x")])
    wrong = {
        "nobody": replace(evict("v-0"), beneficiaries=()),
        "a gang that does not exist": evict("v-0", "n0", "gone"),
        "a gang without a place": evict("v-0", "n0", "w", "x"),
    }
    for label, step in wrong.items():
        steps = made(step, reserve("w-0"))
        yield broken("beneficiary", given, steps, made(*GOOD), label)
    yield broken(
        "beneficiary",
        given,
        made(evict("v-0", "n0", "x"), bind("x-0", "n1"), reserve("w-0")),
        made(*GOOD, bind("x-0", "n1")),
        "a gang that is bound",
    )
    grown = victim("w", "n1", minimum=1, replicas=2, priority=1)
    both = [reserve("w-1"), reserve("x-0", "n2")]
    yield broken(
        "beneficiary",
        snapshot(nodes(3), [victim(), grown, needy("x")]),
        made(evict("v-0", "n0", "w", "x"), *both),
        made(evict("v-0", "n0", "x"), *both),
        "a gang that needs nothing",
    )


def cores():
    full = [victim("v", gpus=4), victim("u", gpus=4)]
    elastic = needy(gpus=4, minimum=1, replicas=2)
    pods = [reserve("w-0"), reserve("w-1")]
    either = gang(
        "w", leaf("x", 1, gpus=4), leaf("y", 1, gpus=4), min_groups=1, priority=1
    )
    leaves = [reserve("w-x-0", gang="w"), reserve("w-y-0", gang="w")]
    for label, wants, steps in (
        ("a pod that is not needed", elastic, pods),
        ("a child that is not needed", either, leaves),
    ):
        yield broken(
            "reserved-surplus",
            snapshot(nodes(1), [*full, wants]),
            made(evict("v-0"), evict("u-0"), *steps),
            made(evict("v-0"), steps[0]),
            label,
        )


def others_leave():
    low, mine = victim(queue="p"), needy(queue="p")
    share = [queue("p"), queue("q", quota=8)]
    yield broken(
        "entitled-room",
        snapshot(nodes(2), [low, mine, needy("x", queue="q")], share),
        made(evict("v-0"), reserve("w-0", "n1"), reserve("x-0"), entitled=["x"]),
        made(evict("v-0"), reserve("w-0"), bind("x-0", "n1"), entitled=["x"]),
        "room on a node",
    )


def queues():
    yield broken(
        "reclaimed-for",
        FULL,
        made(evict("v-0", rule="reclaim"), reserve("w-0")),
        RECLAIM,
        "a gang that is not entitled",
    )
    yield broken(
        "reclaimed-for",
        snapshot(nodes(2), [victim(), needy()], [queue()]),
        made(evict("v-0", rule="reclaim"), reserve("w-0")),
        made(*GOOD),
        "a gang of its own queue",
    )
    both = [reserve("w-0"), reserve("x-0", "n2")]
    yield broken(
        "preempted-for",
        snapshot(nodes(3), [*FULL.gangs, needy("x", queue="p")], FULL.queues),
        made(evict("v-0"), *both),
        made(evict("v-0", "n0", "x"), *both),
        "a gang of another queue",
    )
    high = needy("x", priority=2)
    yield broken(
        "preempted-for",
        snapshot(nodes(3), [victim(priority=1), needy(), high]),
        made(evict("v-0"), *both),
        made(evict("v-0", "n0", "x"), *both),
        "a gang of the same priority",
    )
    mates = {"mates": ["w", "y"]}
    group = [needy("w", **mates), needy("y", gpus=1, priority=0, **mates)]
    yield broken(
        "preempted-for",
        snapshot(nodes(3), [victim(), *group, high]),
        made(evict("v-0"), *both, reserve("y-0", "n1")),
        made(evict("v-0", "n0", "x"), *both, reserve("y-0", "n1")),
        "a gang whose group has the same priority",
    )
    yield broken(
        "preempted-for",
        snapshot(nodes(3), [victim(), needy(), high]),
        made(evict("v-0"), *both),
        made(evict("v-0"), *both),
        "a gang of the same band",
        policy=Policy.model_validate({"bands": [0, 2]}),
        allowing=Policy.model_validate({"bands": [1, 2]}),
    )


def shares():
    more = evict("u-0", "n1", rule="reclaim")
    yield broken(
        "reclaim-bound",
        FULL,
        made(evict("v-0", rule="reclaim"), more, reserve("w-0"), entitled=["w"]),
        RECLAIM,
        "a second unit",
    )
    other = made(more, reserve("w-0", "n1"), entitled=["w"])
    within = [victim(queue="p"), victim("u", "n1", queue="r"), needy(queue="q")]
    yield broken(
        "reclaim-bound",
        snapshot(
            nodes(2), within, [queue("p", quota=8), queue("r"), queue("q", quota=8)]
        ),
        RECLAIM,
        other,
        "a queue within its share",
    )
    homeless = [
        victim(queue="p"),
        victim("t", "n1", gpus=4, queue="p"),
        victim("u", "n1", gpus=4, queue="gone"),
        needy(queue="q"),
    ]
    both = evict("t-0", "n1", rule="reclaim"), more
    yield broken(
        "reclaim-bound",
        snapshot(nodes(2), homeless, [queue("p"), queue("q", quota=8)]),
        made(*both, reserve("w-0", "n1"), entitled=["w"]),
        RECLAIM,
        "a queue that is missing",
    )
    cores = {CPU: 96_000}
    mixed = [
        victim(requests=cores, queue="p"),
        victim("u", "n1", requests=requests() | cores, queue="p"),
        needy(queue="q", requests=requests() | cores),
        needy("x", queue="q", gpus=1),
    ]
    yield broken(
        "reclaim-bound",
        snapshot(nodes(2, 1), mixed, [queue("p"), queue("q", quota=2), queue("r")]),
        RECLAIM,
        other,
        "a unit that holds nothing that is named",
    )


def quotas():
    pieces = [
        victim(queue="p"),
        victim("u", "n1", queue="p", gpus=4),
        victim("t", "n2", queue="p", gpus=4),
        needy(queue="q"),
    ]
    unused = [queue("p", quota=8), queue("q", quota=8), queue("r")]
    given = snapshot(nodes(3), pieces, unused)
    steps = [evict("u-0", "n1", rule="reclaim"), reserve("w-0", "n1")]
    sure = {"entitled": ["w"], "guaranteed": ["w"]}
    yield broken(
        "reclaim-bound",
        given,
        made(*steps, entitled=["w"]),
        made(*steps, **sure),
        "a queue above its quota, for nobody within his",
    )
    yield broken(
        "reclaim-bound",
        given,
        made(
            evict("v-0", rule="reclaim"),
            evict("t-0", "n2", rule="reclaim"),
            *steps,
            **sure,
        ),
        made(evict("t-0", "n2", rule="reclaim"), *steps, **sure),
        "a unit after which it is at its quota",
    )
    late = snapshot(nodes(3), [*pieces, needy("x", queue="r", gpus=4)], unused)
    both = {"entitled": ["w", "x"]}
    idle = reserve("x-0", "n2")
    yield broken(
        "guaranteed",
        late,
        made(*steps, idle, **both, guaranteed=["x"]),
        made(*steps, idle, **both),
        "beyond the quota",
    )
    yield broken(
        "guaranteed",
        late,
        made(*steps, bind("x-0", "n2"), **both, guaranteed=["w", "x"]),
        made(*steps, bind("x-0", "n2"), **both, guaranteed=["w"]),
        "one that is bound",
    )


def paths():
    queues = [
        queue("top", quota=16),
        queue("p", "top"),
        queue("r", "top", quota=16),
        queue("q", quota=8),
        queue("s"),
    ]
    gangs = [
        victim(queue="p"),
        victim("u", "n1", queue="s"),
        needy(queue="q"),
        needy("x", queue="r"),
        needy("y", queue="r"),
    ]
    given = snapshot(nodes(2), gangs, queues)
    inside = evict("v-0", "n0", "x", rule="reclaim")
    yield broken(
        "reclaim-bound",
        given,
        RECLAIM,
        made(inside, reserve("x-0"), entitled=["x"]),
        "an inner queue within its share loses to others",
    )
    yield broken(
        "reclaim-bound",
        given,
        RECLAIM,
        made(evict("u-0", "n1", rule="reclaim"), reserve("w-0", "n1"), entitled=["w"]),
        "an inner queue, where another is above its share",
    )


def departments():
    queues = [
        queue("top", quota=8),
        queue("p", "top"),
        queue("q", "top", quota=8),
        queue("s", quota=8),
    ]
    gangs = [
        victim(queue="p"),
        needy("x", gpus=1, queue="p"),
        needy(queue="q"),
        needy("y", queue="s"),
    ]
    yield broken(
        "entitled",
        snapshot(nodes(2), gangs, queues),
        made(evict("v-0", "n0", "x"), reserve("x-0"), bind("w-0", "n1"), entitled="w"),
        made(evict("v-0", "n0", "x"), reserve("x-0"), bind("w-0", "n1")),
        "room in a department that others left for who borrows",
    )


def bands():
    four = [
        victim("v", gpus=4),
        victim("u", gpus=4),
        victim("t", "n1", gpus=4),
        needy(),
    ]
    steps = [evict("v-0"), evict("u-0"), reserve("w-0")]
    yield broken(
        "preempt-bound",
        snapshot(nodes(2), four),
        made(*steps, evict("t-0", "n1")),
        made(*steps),
        "as much without the largest",
    )
    half = {"gpus": 4}
    ladder = [
        victim("v", **half),
        victim("u", priority=1, **half),
        victim("t", "n1", priority=1, **half),
        needy("w", priority=2, **half),
        needy("x", priority=1, **half),
    ]
    for_both = [reserve("w-0"), reserve("x-0", "n1")]
    yield broken(
        "preempt-bound",
        snapshot(nodes(2), ladder),
        made(evict("u-0"), evict("t-0", "n1"), *for_both),
        made(evict("u-0"), reserve("w-0"), bind("x-0", "n1")),
        "the starts of a higher band only",
    )
    yield broken(
        "preempted-beside",
        snapshot(nodes(3), ladder),
        made(evict("u-0"), evict("v-0", "n0", "x"), *for_both),
        made(bind("w-0", "n2"), evict("v-0", "n0", "x"), for_both[1]),
    )
    apart = [
        victim("v", requests={GPU: 4}),
        victim("u", requests={CPU: 1000}),
        needy(requests={GPU: 8, CPU: 96_000}),
    ]
    yield broken(
        "preempt-bound",
        snapshot(nodes(2), apart),
        made(*steps),
        made(evict("v-0"), reserve("w-0", "n1")),
        "nothing in common",
    )
    one = [*four[:3], needy(), needy("x")]
    two = [reserve("w-0"), reserve("x-0", "n1")]
    yield broken(
        "preempt-bound",
        snapshot(nodes(3), one, [queue(quota=16)]),
        made(*steps[:2], evict("t-0", "n1"), *two, entitled=["w"]),
        made(*steps[:2], evict("t-0", "n1", "x"), *two, entitled=["w"]),
        "what entitled starts ask for, and others do",
    )


def bounds():
    steps = made(*GOOD)
    moved = made(move("v-0", "n0", "n1"), reserve("w-0"))
    for name, made_, most in (
        ("maxPods", steps, 0),
        ("maxGangs", steps, 0),
        ("maxMoves", moved, 0),
    ):
        yield broken(
            "eviction-bound",
            ONE,
            made_,
            made_,
            name,
            policy=evicting(**{name: most}),
            allowing=evicting(**{name: most + 1}),
        )
    yield broken(
        "eviction-bound",
        snapshot(nodes(3), [aged(victim(), 10), needy(gpus=4)]),
        steps,
        steps,
        "maxLostPerGpu",
        policy=evicting(maxLostPerGpu=19),
        allowing=evicting(maxLostPerGpu=20),
    )


def claims():
    given = snapshot(nodes(3), [aged(victim(), 10), needy()])
    said_ = {"disruption": 80, "disruption-gangs": 1, "disruption-pods": 1}
    said_ |= {"disruption-age": 10, "disruption-size": SIZE}
    right = made(*GOOD, tiers=_tiers(said_))
    for name in said_:
        wrong = made(*GOOD, tiers=_tiers(said_ | {name: 2}))
        yield broken("lost-claim", given, wrong, right, name)
    low = victim("z", "n2", priority=-1)
    ranked = snapshot(nodes(3), [*given.gangs, low])
    rank = said_ | {"disruption-rank": 1}
    yield broken(
        "lost-claim",
        ranked,
        made(*GOOD, tiers=_tiers(rank | {"disruption-rank": 2})),
        made(*GOOD, tiers=_tiers(rank)),
        "disruption-rank",
    )
    split = {"disruption": 0, "preemption": 80, "preemption-gangs": 1}
    split |= {"disruption-age": 10, "preemption-size": SIZE}
    yield broken(
        "lost-claim",
        given,
        made(*GOOD, tiers=_tiers(split)),
        made(*GOOD, tiers=_tiers(split | {"preemption-pods": 1})),
        "in two steps",
    )
    fine = made(*GOOD)
    gone, held = Counter(Evict=1), Counter(Reserve=1)
    lines = {
        "number of evictions": [said("v", Counter(Evict=2)), said("w", held)],
        "Waiting with an eviction": [said("v", gone, "Waiting"), said("w", held)],
        "Waiting with a reservation": [said("v", gone), said("w", held, "Waiting")],
        "Reserved without one": [*fine.gangs, said("x", state="Reserved")],
        "Evicting without one": [*fine.gangs, said("x", state="Evicting")],
    }
    both = snapshot(nodes(3), [victim(), needy(), needy("x")])
    for label, wrong in lines.items():
        yield broken("gang-line", both, made(*GOOD, lines=wrong), fine, label)


def _tiers(values):
    return [tier(name, value, direction="min") for name, value in values.items()]


RIGHTS = [
    *cores(),
    *others_leave(),
    *sides(),
    *queues(),
    *shares(),
    *quotas(),
    *paths(),
    *departments(),
    *bands(),
    *bounds(),
    *claims(),
]
