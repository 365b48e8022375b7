"""
Random small clusters whose idle room lies in pieces, with quotas that are not used.
"""

from random import Random

GPU = "nvidia.com/gpu"


def pieces_case(seed):
    """
    Make a cluster in which fair shares may be larger than what is there.
    """
    random = Random(seed)
    nodes = [
        {"name": f"n{i}", "allocatable": {GPU: random.choice([2, 4, 4])}}
        for i in range(random.randint(2, 4))
    ]
    queues = _queues(random)
    leaves = [queue["name"] for queue in queues if queue["name"].startswith("q")]
    policy = {"evict": {"consolidate": random.random() < 0.15}}
    if random.random() < 0.3:
        policy["evict"]["preempt"] = False
    return {
        "apiVersion": "phalanx/v1",
        "kind": "Scenario",
        "rule": f"Random small case {seed} of room in pieces.",
        "given": {
            "nodes": nodes,
            "queues": queues,
            "gangs": [*_running(random, nodes, leaves), *_waiting(random, leaves)],
        },
        "policy": policy,
    }


def _queues(random):
    nested = random.random() < 0.4
    queues = []
    if nested:
        for i in range(2):
            quota = random.choice([2, 4, 6, 8])
            queues.append({"name": f"d{i}", "resources": {GPU: {"quota": quota}}})
    for i in range(random.randint(2, 3)):
        quota = random.choice([0, 0, 1, 2]) if not i else random.choice([0, 2, 4, 6])
        queue = {"name": f"q{i}", "resources": {GPU: {"quota": quota}}}
        if nested:
            queue["parent"] = f"d{random.randrange(2)}"
        if random.random() < 0.1:
            queue["resources"][GPU]["limit"] = random.choice([4, 6])
        queues.append(queue)
    return queues


def _running(random, nodes, leaves):
    free = {each["name"]: each["allocatable"][GPU] for each in nodes}
    for i in range(random.randint(2, 6)):
        size = random.choice([1, 1, 2, 2, 3])
        places = {}
        for _ in range(random.choice([1, 1, 1, 2, 3])):
            fits = [name for name in free if free[name] >= size]
            if fits:
                name = max(fits, key=free.get)
                name = random.choice(fits) if random.random() < 0.3 else name
                free[name] -= size
                places[name] = places.get(name, 0) + 1
        pods = sum(places.values())
        if pods:
            yield {
                "name": f"v{i}",
                "queue": leaves[0] if random.random() < 0.8 else random.choice(leaves),
                "min": random.randint(1, pods) if random.random() < 0.3 else pods,
                "replicas": pods,
                "priority": random.choice([0, 10]),
                "preemptible": random.random() < 0.95,
                "requests": {GPU: size},
                "running": [
                    {"node": name, "pods": number, "for": random.choice(["60s", "10m"])}
                    for name, number in places.items()
                ],
            }


def _waiting(random, leaves):
    for i in range(random.choice([1, 1, 2, 3])):
        gang = {
            "name": f"w{i}",
            "queue": random.choice(leaves[1:] if random.random() < 0.9 else leaves),
            "min": random.choice([1, 1, 1, 2]),
            "priority": random.choice([0, 10, 20]),
            "age": f"{i + 1}s",
            "requests": {GPU: random.choice([1, 2, 3, 4, 4])},
        }
        if random.random() < 0.05:
            gang["evictedAgo"] = "60s"
        yield gang
