"""
Cases of the judge about what earlier rounds promised: it is no claim a second time.
"""

from dataclasses import replace

from models.resources import CPU, GPU
from tests.helpers.build import bind, nodes, queue, snapshot
from tests.unit.solver.verify.verify_cases import (
    broken,
    evict,
    made,
    needy,
    reserve,
    victim,
)


def bands():
    """
    Three leave, of whom two are as much as the one start they leave for.
    """
    full = [
        victim("v", gpus=4),
        victim("u", gpus=4),
        victim("t", "n1", gpus=4),
        needy(),
    ]
    steps = [evict("v-0"), evict("u-0"), evict("t-0", "n1"), reserve("w-0")]
    for_both = [steps[0], evict("u-0", "n0", "w", "x"), *steps[2:]]
    given = snapshot(nodes(4), [*full, needy("x", reserved=["n2"])])
    yield broken(
        "preempt-bound",
        given,
        made(*steps, bind("x-0", "n2")),
        made(*steps, bind("x-0", "n3")),
        "who starts where it was promised to",
    )
    for some, label in ((steps, "nobody"), (for_both, "somebody")):
        yield broken(
            "preempt-bound",
            given,
            made(*some, reserve("x-0", "n2")),
            made(*for_both, reserve("x-0", "n3")),
            f"who stays reserved where there is room, and {label} leaves for it",
        )
    lost = {
        "once others leave": ("n1", []),
        "once others of its queue leave": ("n2", [queue(quota=None, limit=16)]),
    }
    for label, (place, queues) in lost.items():
        yield broken(
            "preempt-bound",
            snapshot(nodes(4), [*full, needy("x", reserved=[place])], queues),
            made(*steps),
            made(*for_both, reserve("x-0", place)),
            f"who has room again where it was promised, {label}",
        )
    both = [bind("x-0", "n2"), bind("y-0", "n3")]
    pair = [
        needy("x", reserved=["n2"], mates=["x", "y"]),
        needy("y", reserved=["n3"], mates=["x", "y"]),
    ]
    elsewhere = [bind("x-0", "n2"), bind("y-0", "n4")]
    yield broken(
        "preempt-bound",
        snapshot(nodes(5), [*full, *pair]),
        made(*steps, *both),
        made(*steps, *elsewhere),
        "a group of which all start where they were promised to",
    )
    late = [replace(pair[0], tree=needy("x", reserved=["n1"]).tree), pair[1]]
    yield broken(
        "preempt-bound",
        snapshot(nodes(5), [*full, *late]),
        made(*steps),
        made(*for_both, reserve("x-0", "n1"), reserve("y-0", "n3")),
        "a group of which one has room again once others leave",
    )


def shares():
    """
    What is promised takes of the share until it is bound.
    """
    both = [needy(queue="q"), needy("x", queue="q", reserved=["n0"])]
    rules = [queue("q", quota=8, weight=0)]
    given = snapshot(nodes(3), both, rules)
    steps = {"it is bound": bind("x-0", "n0"), "it waits": reserve("x-0", "n0")}
    for label, step in steps.items():
        yield broken(
            "entitled",
            given,
            made(step, bind("w-0", "n1"), entitled=["w"]),
            made(bind("x-0", "n2"), bind("w-0", "n1"), entitled=["w"]),
            f"what the share was promised for, and {label}",
        )
    low = replace(both[1], priority=0)
    steps = [bind("x-0", "n0"), bind("w-0", "n1")]
    yield broken(
        "entitled",
        snapshot(nodes(3), [both[0], low], rules),
        made(*steps, entitled=["w", "x"]),
        made(*steps, entitled=["w"]),
        "a promise that may have been given up for a higher band",
    )


def departments():
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
        needy("x", queue="r", reserved=["n2"]),
        needy("y", queue="r"),
    ]
    steps = [evict("v-0", rule="reclaim"), reserve("w-0")]
    yield broken(
        "reclaim-bound",
        snapshot(nodes(4), gangs, queues),
        made(*steps, bind("x-0", "n2"), entitled=["w", "x"]),
        made(*steps, bind("x-0", "n3"), entitled=["w", "x"]),
        "a department in which a promise is kept",
    )


def resources():
    cores = {CPU: 96_000}
    rules = {GPU: queue(weight=0).resources[GPU]}
    gangs = [
        victim(queue="p"),
        needy(queue="q", requests=cores),
        needy("x", queue="q", reserved=["n1"]),
    ]
    listed = [queue("p", resources=rules), queue("q", quota=16)]
    steps = [evict("v-0", rule="reclaim"), reserve("w-0")]
    yield broken(
        "reclaim-bound",
        snapshot(nodes(4), gangs, listed),
        made(*steps, bind("x-0", "n1"), entitled=["w", "x"]),
        made(*steps, bind("x-0", "n2"), entitled=["w", "x"]),
        "only a promise asks for what leaves",
    )


def guarantees():
    half = {"queue": "p", "gpus": 4}
    gangs = [
        victim(queue="p"),
        victim("u", "n1", **half),
        victim("t", "n2", **half),
        needy(queue="q", gpus=4),
        needy("x", queue="q", gpus=4, reserved=["n3"]),
    ]
    steps = [evict("u-0", "n1", rule="reclaim"), evict("t-0", "n2", rule="reclaim")]
    steps += [reserve("w-0", "n1")]
    both = {"entitled": ["w", "x"], "guaranteed": ["w", "x"]}
    unused = [queue("p", quota=8), queue("q", quota=8), queue("r")]
    yield broken(
        "reclaim-bound",
        snapshot(nodes(4), gangs, unused),
        made(*steps, reserve("x-0", "n3"), **both),
        made(*steps, reserve("x-0", "n2"), **both),
        "more of a share than new starts are guaranteed",
    )


PROMISES = [*bands(), *shares(), *departments(), *resources(), *guarantees()]
