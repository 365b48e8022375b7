"""
Small rounds in which a gang waits since those in its way have not run for long enough.
"""

from dataclasses import replace
from random import Random

from models.memory.aged_gangs import older
from models.policy import Evict, Policy
from tests.helpers.build import gang, node, queue, required, selector, snapshot


def young_runners(seed):
    """
    Give a round of two or three queues, some of them below others, with min runtimes.
    """
    chance = Random(f"young-{seed}")
    gpus = chance.choice((2, 4))
    names = [f"n{at}" for at in range(chance.randint(1, 5))]
    racks = {name: f"r{at // 2}" for at, name in enumerate(names)}
    nodes = [node(x, gpus=gpus, rack=racks[x], zone="z") for x in names]
    queues = [_queue(f"q{at}", gpus, chance) for at in range(chance.randint(1, 3))]
    if chance.random() < 0.3:
        root = queue("root", quota=None, reclaim_min_runtime=chance.choice((0, 4000)))
        queues = [root, *(replace(one, parent="root") for one in queues)]
    leaves = [one.name for one in queues if one.name != "root"]
    runs = [_running(at, names, gpus, leaves, chance) for at in range(2 * len(names))]
    runs = _that_fit(runs, dict.fromkeys(names, gpus))
    waits = [_waiting(at, gpus, leaves, names, chance) for at in range(_few(chance))]
    evict = Evict(consolidate=chance.random() < 0.5, again=chance.choice((0, 1800)))
    return snapshot(nodes, [*runs, *waits], queues), Policy(evict=evict)


def _few(chance):
    return chance.choice((1, 1, 1, 1, 2))


def _queue(name, gpus, chance):
    return queue(
        name,
        quota=chance.choice((0, gpus // 2, gpus, 2 * gpus)),
        limit=chance.choice((None, None, None, 2 * gpus)),
        weight=chance.choice((1, 1, 3)),
        reclaim_min_runtime=600 * chance.choice((0, 1, 6, 9)),
        preempt_min_runtime=600 * chance.choice((0, 2, 4)),
    )


def _running(at, names, gpus, queues, chance):
    pods = chance.choice((1, 1, 1, 2))
    made = gang(
        f"v{at}",
        queue=chance.choice(queues),
        gpus=chance.choice((1, gpus // 2, gpus)),
        running=[chance.choice(names) for _ in range(pods)],
        minimum=chance.randint(1, pods),
        priority=chance.choice((0, 0, 1)),
        preemptible=chance.random() < 0.9,
        evicted_ago=chance.choice((None, None, None, 900)),
    )
    ran = chance.randrange(5000)
    limit = chance.choice((None, None, ran + 600 * chance.randint(1, 12)))
    return replace(older(made, ran), max_runtime=limit)


def _that_fit(runs, free):
    kept = []
    for one in runs:
        leaf = one.tree
        wanted = [pod.node for pod in leaf.pods]
        each = leaf.requests["nvidia.com/gpu"]
        if all(wanted.count(x) * each <= free[x] for x in wanted):
            for x in wanted:
                free[x] -= each
            kept.append(one)
    return kept


def _waiting(at, gpus, queues, names, chance):
    pods = chance.randint(1, 3)
    return gang(
        f"w{at}",
        queue=chance.choice(queues),
        replicas=pods,
        minimum=pods,
        gpus=chance.choice((1, gpus // 2, gpus, gpus)),
        priority=chance.choice((0, 1, 2)),
        age=chance.randrange(900),
        topology=required() if chance.random() < 0.3 else None,
        **(
            {"demand": selector(**{"kubernetes.io/hostname": chance.choice(names)})}
            if chance.random() < 0.2
            else {}
        ),
    )
