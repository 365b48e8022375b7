"""
Small rounds in racks in which nearly all that runs has a limit, and few wait.
"""

from dataclasses import replace
from random import Random

from models.policy import Evict, Policy
from tests.helpers.build import gang, node, required, snapshot

PER_RACK = 2


def limited_racks(seed):
    """
    Give a round in which gangs wait for ends, half of them for one rack.
    """
    chance = Random(f"racks-{seed}")
    racks, gpus = chance.choice((2, 2, 3)), chance.choice((2, 4))
    names = [f"n{at}" for at in range(racks * PER_RACK)]
    nodes = [
        node(name, gpus=gpus, rack=f"r{at // PER_RACK}", zone="z")
        for at, name in enumerate(names)
    ]
    runs = [
        replace(
            gang(f"v{at}", gpus=chance.choice((gpus, gpus, gpus // 2)), running=[name]),
            max_runtime=600 * chance.randint(1, 12),
        )
        for at, name in enumerate(names)
        if chance.random() < 0.85
    ]
    waits = [_waiting(at, gpus, chance) for at in range(chance.randint(2, 4))]
    calm = Evict(preempt=False, reclaim=False, consolidate=False)
    policy = Policy(evict=calm) if seed % 2 else Policy()
    return snapshot(nodes, [*runs, *waits]), policy


def _waiting(at, gpus, chance):
    pods = chance.randint(1, PER_RACK)
    made = gang(
        f"w{at}",
        replicas=pods,
        minimum=chance.choice((1, pods)),
        gpus=chance.choice((1, gpus // 2, gpus)),
        priority=chance.choice((0, 0, 1)),
        age=chance.randrange(900),
        topology=required() if chance.random() < 0.5 else None,
    )
    limit = chance.choice((None, None, 600 * chance.randint(1, 20)))
    return replace(made, max_runtime=limit)
