"""
Cases of the judge about victims: who may be evicted or moved, and what must stay whole.
"""

from dataclasses import replace

from models.gangs import DisruptionBudget, MatchPolicy, PodSet
from models.policy import Policy
from tests.helpers.build import (
    bind,
    gang,
    group,
    key,
    leaf,
    nodes,
    plan,
    queue,
    required,
    snapshot,
)
from tests.unit.solver.verify.verify_cases import (
    FULL,
    GOOD,
    ONE,
    POLICY,
    RECLAIM,
    aged,
    broken,
    evict,
    evicting,
    made,
    move,
    needy,
    reserve,
    stale,
    victim,
)


def rules():
    wrong = {
        "a rule of moves": evict("v-0", rule="consolidate"),
        "no rule": evict("v-0", rule=None),
        "a rule of evictions": move("v-0", "n0", "n1", rule="preempt"),
    }
    for label, step in wrong.items():
        yield broken(
            "eviction-rule", ONE, made(step, reserve("w-0")), made(*GOOD), label
        )
    lent = made(move("v-0", "n0", "n1", rule="lend"), reserve("w-0"))
    lends = {"policy": evicting(lentFor="1h"), "allowing": POLICY}
    yield broken("eviction-rule", ONE, lent, made(*GOOD), "a lender", **lends)


def switches():
    good = made(*GOOD)
    unlisted = {
        "no tier of losses": ["entitled", "borrowing"],
        "no tier of gains": ["disruption", "gpus"],
    }
    for label, names in unlisted.items():
        policies = {
            "policy": Policy.model_validate({"tiers": names}),
            "allowing": POLICY,
        }
        yield broken("eviction-switch", ONE, good, good, label, **policies)
    yield broken(
        "eviction-switch",
        ONE,
        made(*GOOD, entitled=["w"]),
        good,
        "entitled starts come after losses",
        policy=Policy.model_validate(
            {"tiers": ["disruption", "entitled", "borrowing"]}
        ),
    )
    given = snapshot(nodes(3), [victim(), needy(), ailing()])
    plans = {
        "preempt": (given, good),
        "consolidate": (given, made(move("v-0", "n0", "n1"), reserve("w-0"))),
        "stale": (given, made(stale("s-0", "n2"))),
        "reclaim": (FULL, RECLAIM),
    }
    for name, (world, steps) in plans.items():
        policies = {"policy": evicting(**{name: False}), "allowing": POLICY}
        yield broken("eviction-switch", world, steps, steps, name, **policies)


def protected():
    fixed = victim(preemptible=False)
    given = snapshot(nodes(3), [fixed, victim("u", "n1"), needy()])
    yield broken(
        "not-preemptible",
        given,
        made(*GOOD),
        made(evict("u-0", "n1"), reserve("w-0", "n1")),
    )
    yield broken(
        "not-preemptible",
        given,
        made(move("v-0", "n0", "n2"), reserve("w-0")),
        made(move("u-0", "n1", "n2"), reserve("w-0", "n1")),
        "moved",
    )
    yield broken(
        "evicted-again",
        snapshot(nodes(2), [victim(evicted_ago=299), needy()]),
        made(*GOOD),
        made(*GOOD),
        policy=evicting(again=300),
        allowing=evicting(again=299),
    )
    unchanged = replace(
        snapshot(nodes(2), [victim(evicted_ago=60), needy()]), unchanged_for=60
    )
    bounded = evicting(maxGangs=5)
    yield broken("settled", unchanged, made(*GOOD), made(reserve("w-0", "n1")))
    yield broken(
        "settled",
        unchanged,
        made(*GOOD),
        made(*GOOD),
        "what leaves in a round is not bounded",
        policy=POLICY,
        allowing=bounded,
    )
    yield broken(
        "budget", _budgeted(ONE, 0, "v"), made(*GOOD), made(reserve("w-0", "n1"))
    )
    pair = [victim("v", "n0", "n0", gpus=4), victim("u", "n1", gpus=1)]
    steps = [evict("v-0"), evict("v-1"), reserve("w-0")]
    yield broken(
        "budget",
        _budgeted(snapshot(nodes(3), [*pair, needy()]), 2, "v", "u", "u", "gone"),
        made(*steps, move("u-0", "n1", "n2")),
        made(*steps),
        "evicted and moved together",
    )


def _budgeted(given, allowed, *names):
    gangs = tuple(key(name) for name in names)
    return replace(
        given, budgets=(DisruptionBudget(name="b", gangs=gangs, allowed=allowed),)
    )


def lent():
    """
    Let ``v`` run on a node that was lent by ``w``, which starts now.
    """
    guest = victim(lent_by=(key("w"),))
    given = snapshot(nodes(2), [guest, needy(priority=0)])
    good = made(evict("v-0", rule="lend"), reserve("w-0"))
    hour = {"policy": evicting(lentFor="1h")}
    stranger = snapshot(nodes(2), [victim(), needy(priority=0)])
    yield broken("lend", stranger, good, plan(), "lent nothing", **hour)
    half = victim(lent_by=(key("w"),), gpus=4)
    free = snapshot(nodes(2), [half, needy(priority=0, gpus=4)])
    yield broken("lend", free, good, made(reserve("w-0")), "not in the way", **hour)
    yield broken(
        "lend",
        given,
        made(evict("v-0", rule="lend"), reserve("w-0", "n1")),
        good,
        "elsewhere",
        **hour,
    )
    late = snapshot(nodes(2), [aged(guest, 3600), needy(priority=0)])
    yield broken(
        "lend", late, good, good, "too late", **hour, allowing=evicting(lentFor="61m")
    )
    yield broken(
        "eviction-switch",
        given,
        good,
        good,
        "lend",
        policy=POLICY,
        allowing=evicting(lentFor="1h"),
    )


def runtimes():
    queues = [
        queue("top", preempt_min_runtime=60, reclaim_min_runtime=30),
        queue("p", "top", preempt_min_runtime=10, reclaim_min_runtime=90),
        queue("q", quota=8),
    ]
    for rule, least, home in (("preempt", 60, "p"), ("reclaim", 90, "q")):
        young = aged(victim(queue="p"), least - 1)
        old = aged(victim("u", "n1", queue="p"), least)
        steps = evict("v-0", rule=rule), evict("u-0", "n1", rule=rule)
        called = ["w"] if rule == "reclaim" else []
        yield broken(
            "min-runtime",
            snapshot(nodes(2), [young, old, needy(queue=home)], queues),
            made(steps[0], reserve("w-0"), entitled=called),
            made(steps[1], reserve("w-0", "n1"), entitled=called),
            rule,
        )
    yield broken(
        "min-runtime",
        snapshot(
            nodes(3),
            [
                aged(victim(queue="p"), 89),
                aged(victim("u", "n1", queue="p"), 90),
                needy(queue="q"),
            ],
            queues,
        ),
        made(move("v-0", "n0", "n2"), reserve("w-0")),
        made(move("u-0", "n1", "n2"), reserve("w-0", "n1")),
        "the longer of both for moves",
    )


def remains():
    two = [victim("v", "n0", "n1"), needy()]
    below = [victim("v", "n0", "n1", minimum=3), needy()]
    for label, gangs in {"below its minimum": two, "below it before": below}.items():
        yield broken(
            "victim-minimum",
            snapshot(nodes(2), gangs),
            made(evict("v-0"), reserve("w-0")),
            made(evict("v-0"), evict("v-1", "n1"), reserve("w-0")),
            label,
        )
    done = {"gpus": 4, "minimum": 2, "replicas": 3, "succeeded": 1}
    policy = MatchPolicy.WAITING_RUNNING_SUCCEED
    yield broken(
        "victim-minimum",
        snapshot(
            nodes(2),
            [
                victim("v", "n0", "n1", **done),
                victim("u", "n0", "n1", match_policy=policy, **done),
                needy(gpus=4),
            ],
        ),
        made(evict("v-0"), reserve("w-0")),
        made(evict("u-0"), reserve("w-0")),
        "a succeeded pod that does not count",
    )


def trees():
    tree = gang(
        "v",
        group("g", leaf("x", 1, 2, running=["n0", "n0"]), leaf("y", 1, running=["n0"])),
        group("h", leaf("z", 2, gpus=3, running=["n1", "n1"])),
        min_groups=1,
    )
    given = snapshot(nodes(2), [tree, needy("w", gpus=4)])
    x, y, z = (
        [evict(f"v-{name}-{i}", at, gang="v") for i in range(number)]
        for name, at, number in (("x", "n0", 2), ("y", "n0", 1), ("z", "n1", 2))
    )
    here, there = reserve("w-0", "n0"), reserve("w-0", "n1")
    cases = {
        "a child is left without a leaf": ([*y, here], [x[0], here]),
        "a leaf is left below its minimum": ([z[0], there], [*z, there]),
        "no child is left whole": ([*x, *z, there], [*x, *y, *z, there]),
    }
    for label, (wrong, right) in cases.items():
        yield broken("victim-minimum", given, made(*wrong), made(*right), label)
    roles = gang(
        "v",
        leaf("driver", 1, running=["n0"]),
        leaf("worker", 0, 2, after=("driver",), running=["n0", "n0"]),
        min_pods=1,
    )
    yield broken(
        "victim-minimum",
        snapshot(nodes(2), [roles, needy("w", gpus=1)]),
        made(evict("v-driver-0", gang="v"), here),
        made(evict("v-worker-0", gang="v"), here),
        "workers are left without a driver",
    )


def moves():
    whole = [move("v-0", "n0", "n2"), move("v-1", "n1", "n1"), reserve("w-0")]
    part = made(whole[0], whole[-1])
    cases = {
        "a pod of the core": {},
        "below its minimum before": {"minimum": 3},
        "surplus with exclusive hosts": {"minimum": 1, "exclusive": True},
        "surplus with a topology": {"minimum": 1, "topology": required()},
    }
    for label, fields in cases.items():
        given = snapshot(
            nodes(3, zone="z0", rack="r0"), [victim("v", "n0", "n1", **fields), needy()]
        )
        yield broken("move-whole", given, part, made(*whole), label)
    elastic = victim("v", "n0", "n1", minimum=1, replicas=3)
    given = snapshot(nodes(4), [elastic, needy()])
    for label, gone in (
        ("evicted", evict("v-0")),
        ("moved", move("v-0", "n0", "n2")),
    ):
        steps = [gone, reserve("w-0")]
        more = made(*steps, bind("v-2", "n3"))
        yield broken("victim-placed", given, more, made(*steps), label)


def stales():
    once = {"match_policy": MatchPolicy.ONCE_SATISFIED, "once_satisfied": True}
    core = leaf("0", 1, running=["n2"])
    healthy = {
        "not below its minimum": ailing(minimum=1),
        "not known for how long": ailing(stale_since=None),
        "not long enough": ailing(stale_since=59),
        "its own grace": ailing(stale_after=61),
        "never": ailing(stale_after=-1),
        "with what has succeeded": ailing(succeeded=1),
        "once satisfied": ailing(**once),
        "without its optional part": gang(
            "s", core, leaf("x", 1), min_groups=1, stale_since=60
        ),
    }
    for label, one in healthy.items():
        pod = "s-0" if isinstance(one.tree, PodSet) else "s-0-0"
        yield broken(
            "stale-gang",
            snapshot(nodes(3), [one, ailing("t")]),
            made(stale(pod, "n2", "s")),
            made(stale("t-0", "n2")),
            label,
        )
    two = victim("s", "n0", "n1", minimum=3, stale_since=60)
    yield broken(
        "stale-gang",
        snapshot(nodes(2), [two]),
        made(stale("s-0")),
        made(stale("s-0"), stale("s-1", "n1")),
        "in part",
    )
    yield broken(
        "stale-gang",
        snapshot(nodes(3), [ailing(), needy()]),
        made(evict("s-0", "n2", rule="stale"), reserve("w-0")),
        made(stale("s-0", "n2"), reserve("w-0")),
        "for somebody",
    )
    yield broken(
        "stale-gang",
        snapshot(nodes(3), [ailing(replicas=3)]),
        made(stale("s-0", "n2"), bind("s-1"), bind("s-2", "n1")),
        made(bind("s-1"), bind("s-2", "n1")),
        "although it is completed",
    )


def ailing(name="s", **fields):
    return victim(
        name, "n2", **{"minimum": 2, "replicas": 2, "stale_since": 60} | fields
    )


EVICTIONS = [
    *rules(),
    *switches(),
    *protected(),
    *lent(),
    *runtimes(),
    *remains(),
    *trees(),
    *moves(),
    *stales(),
]
