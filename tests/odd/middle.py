"""
Middle-sized rounds: 8 to 48 nodes in racks, queues with limits, and up to 220 gangs.

They are too large for the exact model; what they come to may not depend on names, nor
may a longer search find more than what was proven.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from tests.odd.world import GPU, Part

_RUNNING, _WAITING = 2 * 3600, (60, 4000, 90_000)
_MOST_GANGS = 220
_TOPOLOGIES = (
    {"required": "rack"},
    {"required": "zone"},
    {"preferred": "rack"},
    {"required": "zone", "preferred": "rack"},
)
_SIZES = ((1, 1, 2), (1, 2, 4, 8), (2, 2, 8), (1, 4, 8))
_BANDS = ((0,), (0, 0, 10), (0, 10, 100))


@dataclass
class _Middle:
    """
    One round under construction; ``free`` are the GPUs that nobody has taken, by node.
    """

    chance: Random
    nodes: list[Part] = field(default_factory=list)
    queues: list[Part] = field(default_factory=list)
    gangs: list[Part] = field(default_factory=list)
    free: dict[str, int] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()
    bands: tuple[int, ...] = ()

    def often(self, part: float) -> bool:
        """
        Toss a coin that falls on its head with this probability.
        """
        return self.chance.random() < part

    def gang(self) -> Part:
        """
        Begin a gang with what both those that run and those that wait may say.
        """
        leaves = [x["name"] for x in self.queues if x["name"].startswith("q")]
        gang: Part = {
            "name": f"g{len(self.gangs):03d}",
            "queue": self.chance.choice(leaves),
        }
        if self.often(0.15):
            gang["preemptible"] = False
        if band := self.chance.choice(self.bands):
            gang["priority"] = band
        return gang


def middle_round(chance: Random) -> Part:
    """
    Draw a round; no two gangs are of one age, so that none comes first by its name.
    """
    made = _Middle(chance, sizes=chance.choice(_SIZES), bands=chance.choice(_BANDS))
    _add_nodes(made)
    total = sum(made.free.values())
    _add_queues(made, total)
    _add_running(made, total * chance.choice((0, 0.5, 0.8, 0.95, 1.0)))
    _add_waiting(made, total * chance.choice((0.3, 0.8, 1.5)))
    document: Part = {
        "apiVersion": "phalanx/v1",
        "kind": "Scenario",
        "given": {
            "nodes": made.nodes,
            "queues": made.queues,
            "topologies": [{"name": "t", "levels": ["zone", "rack"]}],
            "gangs": made.gangs,
        },
    }
    policy = _policy(made)
    return {**document, "policy": policy} if policy else document


def _add_nodes(made: _Middle) -> None:
    chance = made.chance
    number, per_rack = chance.choice((8, 12, 16, 24, 32, 48)), chance.choice((2, 4, 8))
    for at in range(number):
        rack = at // per_rack
        node: Part = {
            "name": f"n{at:02d}",
            "allocatable": {GPU: chance.choice((8, 8, 8, 4))},
            "labels": {"rack": f"r{rack}", "zone": f"z{rack // 3}"},
        }
        if made.often(0.3):
            node["allocatable"]["cpu"] = chance.choice((32, 64))
        if made.often(0.04):
            node["unschedulable"] = True
        made.nodes.append(node)
        made.free[node["name"]] = node["allocatable"][GPU]


def _add_queues(made: _Middle, total: int) -> None:
    chance = made.chance
    number = chance.randint(2, 5)
    parents = made.often(0.5)
    for at in range(2 if parents else 0):
        rule = {"quota": total // 2}
        if made.often(0.3):
            rule["limit"] = int(total * chance.uniform(0.4, 0.9))
        made.queues.append({"name": f"d{at}", "resources": {GPU: rule}})
    for at in range(number):
        rule = {}
        for word, part, least, most in (
            ("quota", 0.8, 0.3, 1.3),
            ("limit", 0.4, 0.8, 2.5),
        ):
            if made.often(part):
                rule[word] = int(total / number * chance.uniform(least, most))
        for word, part, values in (
            ("weight", 0.3, (0, 2, 3)),
            ("lendingLimit", 0.2, (0, 2, 8)),
        ):
            if made.often(part):
                rule[word] = chance.choice(values)
        queue: Part = {"name": f"q{at}", "resources": {GPU: rule}}
        if parents:
            queue["parent"] = f"d{at % 2}"
        if made.often(0.2):
            queue["minRuntime"] = {"preempt": "1h", "reclaim": "30m"}
        made.queues.append(queue)


def _add_running(made: _Middle, most: float) -> None:
    """
    Let gangs run, two of five in one rack each, until so many GPUs are taken.
    """
    chance, taken = made.chance, 0
    for _ in range(400):
        if taken >= most:
            return
        size, pods = chance.choice(made.sizes), chance.choice((1, 1, 2, 2, 3, 4, 6))
        rack = chance.choice(made.nodes)["labels"]["rack"] if made.often(0.4) else ""
        places = list(_places(made, size, pods, rack))
        if not places:
            continue
        taken += size * len(places)
        gang = made.gang()
        gang |= {
            "requests": {GPU: size},
            "min": max(1, len(places) - chance.choice((0, 0, 0, 1, 2))),
            "replicas": len(places) + chance.choice((0, 0, 0, 1)),
            "running": [{"node": name} for name in places],
            "age": f"{_RUNNING + len(made.gangs)}s",
        }
        if rack and made.often(0.8):
            gang["topology"] = {"required": "rack"}
        if made.often(0.05):
            gang["exclusive"] = True
        made.gangs.append(gang)


def _places(made: _Middle, size: int, pods: int, rack: str) -> Iterator[str]:
    """
    Find nodes for up to so many pods, mostly the fullest first.
    """
    names = [x["name"] for x in made.nodes if rack in {"", x["labels"]["rack"]}]
    made.chance.shuffle(names)
    for _ in range(pods):
        fit = [name for name in names if made.free[name] >= size]
        if not fit:
            return
        name = min(fit, key=made.free.__getitem__) if made.often(0.7) else fit[0]
        made.free[name] -= size
        yield name


def _add_waiting(made: _Middle, most: float) -> None:
    """
    Let gangs wait until so many GPUs are asked for, a fifth of them elastic.
    """
    chance, asked = made.chance, 0
    while asked < most and len(made.gangs) < _MOST_GANGS:
        size, pods = chance.choice(made.sizes), chance.choice((1, 1, 2, 2, 4, 8, 12))
        asked += size * pods
        gang = made.gang()
        kind = chance.random()
        if 0.2 <= kind < 0.35 and pods > 1:
            _add_groups(made, gang, size, pods)
        else:
            gang |= {"requests": {GPU: size}, "min": pods}
            if kind < 0.2:
                gang |= {"min": max(1, pods // 2), "replicas": pods}
            elif kind < 0.45:
                gang["requests"]["cpu"] = chance.choice((2, 8))
            if made.often(0.06):
                gang["exclusive"] = True
        if made.often(0.45):
            gang["topology"] = chance.choice(_TOPOLOGIES)
        if made.often(0.1):
            gang["passedOver"] = chance.choice(("1h", "2d"))
        gang["age"] = f"{chance.choice(_WAITING) + len(made.gangs)}s"
        made.gangs.append(gang)


def _add_groups(made: _Middle, gang: Part, size: int, pods: int) -> None:
    first = pods // 2
    gang["groups"] = [
        {"name": "a", "requests": {GPU: size}, "min": first},
        {
            "name": "b",
            "requests": {GPU: made.chance.choice(made.sizes)},
            "min": pods - first,
        },
    ]
    if made.often(0.4):
        gang["minGroups"] = 1
    if made.often(0.4):
        gang["groups"][0]["topology"] = made.chance.choice(_TOPOLOGIES)


def _policy(made: _Middle) -> Part:
    """
    Draw who may leave, within which bounds, and whether there are heads.
    """
    chance = made.chance
    evict: Part = {}
    if made.often(0.3):
        evict = dict.fromkeys(("preempt", "reclaim", "consolidate"), False)
    else:
        for word, part, values in (
            ("maxPods", 0.3, (2, 8, 30)),
            ("maxLostPerGpu", 0.2, (600, 7200)),
            ("consolidate", 0.2, (False,)),
            ("reclaim", 0.2, (False,)),
        ):
            if made.often(part):
                evict[word] = chance.choice(values)
    policy: Part = {"evict": evict} if evict else {}
    if made.often(0.4):
        policy["waiting"] = chance.choice(
            ({"heads": 0}, {"heads": 1, "outweigh": 0, "protectAfter": "1h"})
        )
    return policy
