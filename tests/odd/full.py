"""
Small full clusters in odd states: some may leave for others, who ask for much else too.

A case of evictions is drawn, and then groups, roles, topologies, phases and hosts.
"""

from random import Random

from benchmarks.cases.victims import victim_case
from tests.odd.gangs import leaves_below
from tests.odd.world import Part

_TIMES = ("0s", "30s", "5m", "2h")
_LEVELS = ("zone", "rack")
_MANY = 1_000_000
_LOST_PER_GPU = (60, 600, 1000, 3000, 8000)


def full_round(chance: Random) -> Part:
    """
    Draw a full cluster, tiny or small, with some of everything in it.
    """
    document = victim_case(chance.randrange(_MANY), tiny=chance.random() < 0.7)
    given = document["given"]
    given["topologies"] = [{"name": "t", "levels": [*_LEVELS]}]
    odd = chance.choice((0.05, 0.1, 0.2))
    for node in given["nodes"]:
        node["labels"]["zone"] = chance.choice(("z0", "z0", "z1"))
        if chance.random() < odd / 2:
            node["unschedulable"] = True
        if chance.random() < odd / 2:
            node["labels"].pop(chance.choice(_LEVELS))
    for gang in given["gangs"]:
        _change_gang(chance, gang, odd)
    if chance.random() < 3 * odd:
        _group(chance, given["gangs"])
    if chance.random() < odd:
        given["unchangedFor"] = chance.choice(_TIMES)
    if chance.random() < 0.3:
        document["policy"]["evict"]["maxLostPerGpu"] = chance.choice(_LOST_PER_GPU)
    return {key: document[key] for key in ("apiVersion", "kind", "given", "policy")}


def _change_gang(chance: Random, gang: Part, odd: float) -> None:
    for leaf in leaves_below(gang):
        _change_leaf(chance, leaf, odd)
    leaves = [leaf["name"] for leaf in gang.get("groups", [])]
    if len(leaves) > 1 and chance.random() < 2 * odd:
        gang["groups"][-1]["after"] = leaves[:1]
    if leaves and chance.random() < odd:
        gang["topology"] = _topology(chance)
    for word in ("evictedAgo", "passedOver", "staleSince"):
        if chance.random() < odd / 2:
            gang[word] = chance.choice(_TIMES)
    if chance.random() < odd:
        gang["matchPolicy"] = chance.choice(
            ("only-waiting", "waiting-running-succeed", "once-satisfied")
        )
    if chance.random() < odd:
        gang["maxRuntime"] = chance.choice(_TIMES)


def _change_leaf(chance: Random, leaf: Part, odd: float) -> None:
    """
    Let a leaf ask for more, and some of its pods be about to come or to go.
    """
    running = leaf.get("running", [])
    if running and chance.random() < odd:
        place = running.pop()
        word = chance.choice(("terminating", "reserved"))
        leaf[word] = [{"node": place["node"]}]
        leaf.setdefault("replicas", len(running) + 1)
        leaf["min"] = chance.randint(0, leaf.get("min", 1))
    if not running:
        leaf.pop("running", None)
    if chance.random() < odd:
        leaf["topology"] = _topology(chance)
    if chance.random() < odd:
        leaf["exclusive"] = True
    if chance.random() < odd / 2:
        leaf["hostPorts"] = [80]
    if chance.random() < odd / 2:
        leaf["replicas"] = leaf.get("replicas", leaf.get("min", 1)) + 1


def _topology(chance: Random) -> Part:
    word = chance.choice(("required", "required", "preferred"))
    return {word: chance.choice(_LEVELS)}


def _group(chance: Random, gangs: list[Part]) -> None:
    """
    Let two or three gangs hold one list, whether they run or wait.
    """
    some = chance.sample(gangs, min(len(gangs), chance.choice((2, 2, 3))))
    names = [f"default/{gang['name']}" for gang in some]
    for gang in some:
        gang["group"] = names
