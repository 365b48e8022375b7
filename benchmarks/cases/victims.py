"""
Random small cases for evictions: nearly full clusters, written as scenario documents.

A case is decided by its seed alone.  In most of them something must leave for what
waits: queues above their share, lower bands, or holes that only moves can join.
Every running pod has run for a time of its own, so that few plans lose the same; but
in each fifth case nothing has GPUs, and times are round.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any

GPU = "nvidia.com/gpu"
Part = dict[str, Any]
_KINDS = ("single", "single", "single", "elastic", "elastic", "spanning", "tree")
_PRIORITIES = (0, 0, 10, 20)
_LONGEST = 20_000
_LENDING = 0.2


@dataclass
class _Case:
    """
    A case under construction: its chance, its size, and what is still free.
    """

    rnd: Random
    tiny: bool
    scattered: bool
    largest: int = 0
    free: dict[str, int] = field(default_factory=dict)
    queues: list[Part] = field(default_factory=list)
    leaves: list[str] = field(default_factory=list)
    quotas: dict[str, int] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    gangs: list[Part] = field(default_factory=list)
    times: set[int] = field(default_factory=set)
    pods: int = 0

    def chance(self, part: float) -> bool:
        """
        Toss a coin that falls on its head with this probability.
        """
        return self.rnd.random() < part

    def seconds(self) -> str:
        """
        Give a run time that no other pod has.
        """
        young = self.chance(0.1)
        while True:
            time = self.rnd.randint(1, 600 if young else _LONGEST)
            if time not in self.times:
                self.times.add(time)
                return f"{time}s"


def victim_case(seed: int, *, tiny: bool = False) -> Part:
    """
    Make one case: 2 to 6 nodes, 2 to 4 queues, what runs, and 1 to 4 gangs that wait.

    Parameters
    ----------
    seed
        Decides everything.
    tiny
        Few enough pods that every plan can be enumerated.
    """
    rnd = Random(f"victims-{seed}-{tiny}")
    case = _Case(rnd=rnd, tiny=tiny, scattered=rnd.random() < 0.3)
    nodes = _nodes(case)
    _add_queues(case)
    _keep_some(case, Random(f"lend-{seed}-{tiny}"))
    _add_running(case)
    _add_leaving(case)
    _add_waiting(case)
    made = {
        "apiVersion": "phalanx/v1",
        "kind": "Scenario",
        "rule": f"Random small case {seed} of evictions.",
        "given": {
            "nodes": nodes,
            "topologies": [{"name": "default", "levels": ["rack"]}],
            "queues": case.queues,
            "gangs": case.gangs,
            "budgets": _budgets(case),
        },
        "policy": {"evict": _evict(case)},
    }
    return _without_gpus(made) if seed % 5 == 4 else made


def _without_gpus(part: Part) -> Part:
    """
    Let processors stand for GPUs, and many pods have run for equally long.
    """
    found: Part = {}
    for key, value in part.items():
        name = "cpu" if key == GPU else key
        if isinstance(value, dict):
            found[name] = _without_gpus(value)
        elif isinstance(value, list):
            rows = (_without_gpus(x) if isinstance(x, dict) else x for x in value)
            found[name] = [*rows]
        else:
            found[name] = value
    if "for" in found:
        found["for"] = f"{int(found['for'][:-1]) // 4000 * 4000}s"
    return found


# --- nodes and queues -------------------------------------------------------------


def _nodes(case: _Case) -> list[Part]:
    rnd = case.rnd
    sizes = (2, 3, 4) if case.tiny else (2, 4, 4, 8)
    found = []
    for idx in range(rnd.randint(2, 3) if case.tiny else rnd.randint(2, 6)):
        gpus = rnd.choice(sizes)
        case.free[f"n{idx}"] = gpus
        case.largest = max(case.largest, gpus)
        labels = {"rack": f"r{idx // 2}"}
        found.append({"name": f"n{idx}", "allocatable": {GPU: gpus}, "labels": labels})
    return found


def _add_queues(case: _Case) -> None:
    """
    Add queues in one or two levels whose quotas are about what the cluster has.
    """
    rnd = case.rnd
    number = rnd.randint(2, 3) if case.tiny else rnd.randint(2, 4)
    case.leaves = [f"q{idx}" for idx in range(number)]
    deep = case.chance(0.5)
    parents = {name: f"d{idx % 2}" for idx, name in enumerate(case.leaves)}
    left = round(sum(case.free.values()) * rnd.choice((0.7, 1.0, 1.0, 1.2)))
    for idx, name in enumerate(case.leaves):
        last = idx == number - 1
        case.quotas[name] = left if last else rnd.randint(0, left)
        left -= case.quotas[name]
        rule: Part = {"quota": case.quotas[name]}
        if case.chance(0.15):
            rule["limit"] = case.quotas[name] + rnd.randint(0, 6)
        queue: Part = {"name": name, "resources": {GPU: rule}}
        if deep:
            queue["parent"] = parents[name]
        if case.chance(0.2):
            queue["minRuntime"] = {"reclaim": "10m", "preempt": "5m"}
        case.queues.append(queue)
    for parent in sorted(set(parents.values())) if deep else ():
        quota = sum(case.quotas[x] for x in case.leaves if parents[x] == parent)
        rule = {"quota": max(0, quota + rnd.choice((-2, 0, 0, 2)))}
        case.queues.append({"name": parent, "resources": {GPU: rule}})


def _keep_some(case: _Case, rnd: Random) -> None:
    """
    Let up to two queues of a fifth of the cases lend only a part of their quotas.
    """
    if rnd.random() < _LENDING:
        for queue in rnd.sample(case.queues, min(2, len(case.queues))):
            rule = queue["resources"][GPU]
            rule["lendingLimit"] = rnd.choice((0, 0, rule["quota"] // 2))


# --- what runs --------------------------------------------------------------------


def _add_running(case: _Case) -> None:
    """
    Fill the cluster, mostly with gangs of one queue; scattered cases keep holes.
    """
    rnd = case.rnd
    hog = min(case.leaves, key=lambda name: case.quotas[name])
    most = 5 if case.tiny else 24
    spare = rnd.randint(0, 2)
    for idx in range(14):
        full = sum(case.free.values()) <= spare
        if full or case.pods >= most or (case.scattered and idx > len(case.free)):
            return
        queue = hog if case.chance(0.6) else rnd.choice(case.leaves)
        kind = "single" if case.scattered and case.chance(0.7) else rnd.choice(_KINDS)
        gang = _common(case, f"v{idx}", queue)
        gang |= _running_shape(case, kind, most - case.pods)
        num = _gpus_of(gang)
        if num:
            case.used[queue] = case.used.get(queue, 0) + num
            case.gangs.append(gang)


def _common(case: _Case, name: str, queue: str) -> Part:
    gang: Part = {
        "name": name,
        "queue": queue,
        "priority": case.rnd.choice(_PRIORITIES),
    }
    if case.chance(0.08):
        gang["preemptible"] = False
    return gang


def _running_shape(case: _Case, kind: str, most: int) -> Part:
    """
    Make what a running gang consists of, as far as there is room for it.
    """
    rnd = case.rnd
    gpus = rnd.choice((1, 1, 2) if case.tiny or case.scattered else (1, 1, 2, 3, 4))
    if kind == "tree":
        return _running_tree(case, gpus, most)
    want = 1 if kind == "single" else min(most, rnd.randint(2, 3 if case.tiny else 4))
    running = _run(case, gpus, want)
    number = len(running)
    leaf: Part = {"requests": {GPU: gpus}, "running": running}
    if not number:
        return leaf
    if kind == "elastic" and number > 1:
        leaf["min"] = rnd.randint(1, number - 1)
        leaf["replicas"] = number + (rnd.randint(0, 2) if not case.tiny else 0)
    else:
        leaf["min"] = number
        if number > 1 and len({part["node"] for part in running}) == number:
            leaf["exclusive"] = case.chance(0.2)
    return leaf


def _running_tree(case: _Case, gpus: int, most: int) -> Part:
    """
    Make a tree of which one or two of the children that run are needed.
    """
    rnd = case.rnd
    groups: list[Part] = []
    for idx in range(rnd.randint(2, 3)):
        size = rnd.randint(1, 2)
        running = _run(case, gpus, size) if most >= size else []
        if len(running) == size:
            most -= size
            leaf = {"name": f"l{idx}", "min": size, "requests": {GPU: gpus}}
            groups.append(leaf | {"running": running})
        else:
            _give_back(case, gpus, running)
    if not groups:
        return {"groups": []}
    return {"minGroups": rnd.randint(1, len(groups)), "groups": groups}


def _run(case: _Case, gpus: int, number: int) -> list[Part]:
    """
    Let pods run where there is room, in any order of nodes.
    """
    found = []
    for _ in range(number):
        nodes = [name for name, free in case.free.items() if free >= gpus]
        if not nodes:
            break
        # Scattered gangs are on the emptiest nodes, so that holes are many.
        node = case.rnd.choice(nodes)
        if case.scattered:
            node = max(nodes, key=lambda name: case.free[name])
        case.free[node] -= gpus
        case.pods += 1
        found.append({"node": node, "pods": 1, "for": case.seconds()})
    return found


def _give_back(case: _Case, gpus: int, running: list[Part]) -> None:
    for part in running:
        case.free[part["node"]] += gpus
        case.pods -= 1


def _gpus_of(gang: Part) -> int:
    leaves = gang.get("groups", [gang])
    return sum(len(leaf["running"]) * leaf["requests"][GPU] for leaf in leaves)


def _add_leaving(case: _Case) -> None:
    """
    Add, now and then, a gang whose pod is on its way out.
    """
    nodes = [name for name, free in case.free.items() if free]
    if not nodes or not case.chance(0.15):
        return
    gpus = min(2, case.free[nodes[0]])
    case.free[nodes[0]] -= gpus
    since = case.rnd.choice(("10s", "119s", "120s", "5m"))
    case.gangs.append(
        {
            "name": "x0",
            "queue": case.leaves[0],
            "min": 1,
            "requests": {GPU: gpus},
            "terminating": [{"node": nodes[0], "pods": 1, "since": since}],
        }
    )


# --- what waits -------------------------------------------------------------------


def _add_waiting(case: _Case) -> None:
    """
    Add gangs that wait: most in queues that use less than their quota.
    """
    rnd = case.rnd
    poor = [q for q in case.leaves if case.used.get(q, 0) < case.quotas[q]]
    for idx in range(rnd.randint(1, 2) if case.tiny else rnd.randint(1, 4)):
        queue = rnd.choice(poor if poor and case.chance(0.7) else case.leaves)
        gang = _common(case, f"w{idx}", queue)
        gang["priority"] = rnd.choice((0, 10, 10, 20, 30))
        left = case.quotas[queue] - case.used.get(queue, 0)
        gang |= _waiting_shape(case, max(1, left) if case.chance(0.7) else 8)
        if case.chance(0.3):
            gang["age"] = rnd.choice(("15m", "2h"))
        if not case.tiny and case.chance(0.06) and _may_have_run(case, gang):
            gang["evictedAgo"] = "1m"
        case.gangs.append(gang)


def _may_have_run(case: _Case, gang: Part) -> bool:
    """
    Tell whether a gang may have run before: its pods fit some node, and it may leave.
    """
    leaves = gang.get("groups", [gang])
    asked = [leaf["requests"][GPU] for leaf in leaves if "requests" in leaf]
    return gang.get("preemptible", True) and max(asked, default=0) <= case.largest


def _waiting_shape(case: _Case, most: int) -> Part:
    """
    Make what a waiting gang consists of: at most so many GPUs, where that may be.
    """
    rnd = case.rnd
    gpus = rnd.choice((1, 2, 2, 3) if case.tiny else (1, 2, 4, 4, 8))
    gpus = min(gpus, most)
    number = rnd.randint(1, max(1, min(3 if case.tiny else 4, most // gpus)))
    if case.chance(0.12):
        leaf = {"min": 1, "requests": {GPU: gpus}}
        groups = [{"name": f"l{idx}"} | leaf for idx in range(number)]
        return {"minGroups": rnd.randint(1, number), "groups": groups}
    shape: Part = {"min": number, "requests": {GPU: gpus}}
    if case.chance(0.2) and not case.tiny:
        shape["replicas"] = number + 1
    if number > 1 and case.chance(0.2):
        shape["topology"] = {"required": "rack"}
    if number > 1 and case.chance(0.15):
        shape["exclusive"] = True
    return shape


# --- bounds -----------------------------------------------------------------------


def _budgets(case: _Case) -> list[Part]:
    running = [f"default/{g['name']}" for g in case.gangs if g["name"].startswith("v")]
    if len(running) < 2 or not case.chance(0.15):
        return []
    chosen = sorted(case.rnd.sample(running, 2))
    return [{"name": "b0", "gangs": chosen, "allowed": case.rnd.randint(0, 2)}]


def _evict(case: _Case) -> Part:
    """
    Bound evictions in one of five cases, by one victim.
    """
    rnd = case.rnd
    if not case.chance(0.2):
        return {}
    bounds = (
        {"maxPods": rnd.randint(1, 4)},
        {"maxGangs": rnd.randint(1, 3)},
        {"maxMoves": rnd.randint(0, 2)},
        {"maxLostPerGpu": rnd.choice((1000, 3000))},
        {"reclaim": False},
        {"preempt": False},
        {"consolidate": False},
    )
    return dict(rnd.choice(bounds))
