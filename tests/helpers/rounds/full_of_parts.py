"""
Small full clusters in which most GPUs are shared, with more gangs than fit.
"""

from random import Random

from models.resources import GPU

NODES, GPUS, GANGS, QUEUES = 2, 4, 24, 4
_PARTS = (125, 250, 300, 500, 500, 750)


def full_of_parts(seed):
    """
    Draw such a cluster: who runs has named GPUs, and four queues share them.
    """
    chance = Random(f"full-of-parts-{seed}")
    free = {f"n{at}": [1000] * GPUS for at in range(NODES)}
    nodes = [
        {"name": name, "allocatable": {GPU: GPUS, "cpu": 128}, "gpuMemory": "80Gi"}
        for name in free
    ]
    gangs = [_gang(chance, free, at) for at in range(GANGS)]
    quota = {GPU: {"quota": NODES * GPUS // QUEUES}}
    queues = [{"name": f"q{at}", "resources": quota} for at in range(QUEUES)]
    given = {"nodes": nodes, "queues": queues, "gangs": gangs}
    return {"apiVersion": "phalanx/v1", "kind": "Scenario", "given": given}


def _gang(chance, free, at):
    """
    Draw a gang; most of the first ones run where they fit.
    """
    pods = chance.choice((1, 1, 2, 4))
    gang = {
        "name": f"g{at:02}",
        "queue": f"q{at % QUEUES}",
        "age": f"{chance.randint(0, 900)}m",
        "priority": chance.choice((0, 0, 50, 100)),
        "min": pods,
    }
    part = chance.choice(_PARTS) if chance.random() < 0.6 else 0
    whole = chance.choice((1, 2, 4))
    gang |= {"gpu": {"fraction": part / 1000}} if part else {"requests": {GPU: whole}}
    if at < GANGS * 0.6:
        left = {node: [*gpus] for node, gpus in free.items()}
        places = [_place(chance, left, part, whole) for _ in range(pods)]
        if all(places):
            gang["running"] = places
            free.update(left)
    return gang


def _place(chance, free, part, whole):
    """
    Take GPUs of a node for one pod; none where it fits nowhere.
    """
    for node in chance.sample(sorted(free), len(free)):
        least, number = (part, 1) if part else (1000, whole)
        fits = [at for at, left in enumerate(free[node]) if left >= least]
        fits.sort(key=lambda at: (free[node][at], at))
        if len(fits) >= number:
            for device in fits[:number]:
                free[node][device] -= least
            hours = chance.randint(1, 30)
            return {"node": node, "for": f"{hours}h", "devices": fits[:number]}
    return None
