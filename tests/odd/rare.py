"""
Rarely used words of files: terms of affinity, volumes, ports, devices that are linked.

They are drawn after all else, by a chance of their own: rounds without stay the same.
"""

from random import Random

from tests.odd.gangs import leaves_below
from tests.odd.world import GPU, TAINT, Part

_OFTEN = (0.1, 0.2, 0.4)
_LIMIT = "attachable-volumes-csi-d"
_SHARED = (f"{_LIMIT}/default/c", f"{_LIMIT}/default/d")
_FREE = ("free-volumes-fast/1Gi", "free-volumes-fast/10Gi")
_LINKED = ("linked-gpus-from-2", "linked-gpus-of-2", "linked-gpus-from-4")
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_KEYS = ("zone", "rack", "kind", "number")


def add_rare(chance: Random, given: Part) -> None:
    """
    Let nodes offer what is seldom asked for, and many leaves ask for it.
    """
    often = chance.choice(_OFTEN)
    for at, node in enumerate(given["nodes"]):
        _offer(chance, node, at)
    names = [node["name"] for node in given["nodes"]]
    for gang in given["gangs"]:
        for leaf in leaves_below(gang):
            _confine(chance, leaf, names, often)
            _request(chance, leaf, often)
            _gate(chance, leaf, often)
        if chance.random() < often / 4:
            gang["refused"] = {"reason": "UnsupportedConstraint", "facts": {}}


def _offer(chance: Random, node: Part, at: int) -> None:
    """
    Let a node have volumes, links and a number of its own.
    """
    node["labels"] = {**node.get("labels", {}), "number": str(at)}
    offered = {**node["allocatable"]}
    if chance.random() < 0.7:
        offered[_LIMIT] = chance.randint(0, 4)
    for name in (*_FREE, *_LINKED):
        if chance.random() < 0.6:
            offered[name] = chance.choice((0, 1, 2, 4, 8))
    for name in _SHARED:
        if chance.random() < 0.5:
            offered[name] = 1
    node["allocatable"] = offered
    if chance.random() < 0.1:
        node["taints"] = [{**TAINT, "value": chance.choice(("free", "other"))}]


def _confine(chance: Random, leaf: Part, nodes: list[str], often: float) -> None:
    """
    Say on which nodes the pods of a leaf may be.
    """
    if chance.random() < often:
        terms = [_term(chance) for _ in range(chance.choice((1, 1, 2)))]
        inner = {"requiredDuringSchedulingIgnoredDuringExecution": _selector(terms)}
        outer = {"nodeAffinity": inner}
        leaf["affinity"] = chance.choice((inner, outer))
    if chance.random() < often:
        leaf["volumes"] = [
            _volume(chance, nodes) for _ in range(chance.choice((1, 1, 2)))
        ]
    if chance.random() < often:
        leaf["tolerations"] = [_toleration(chance)]
    if chance.random() < often / 2:
        leaf["hostPorts"] = [_port(chance) for _ in range(chance.choice((1, 2)))]


def _selector(terms: list[Part]) -> Part:
    return {"nodeSelectorTerms": terms}


def _term(chance: Random) -> Part:
    number = chance.choice((1, 1, 2))
    return {"matchExpressions": [_expression(chance) for _ in range(number)]}


def _expression(chance: Random) -> Part:
    operator = chance.choice(_OPERATORS)
    key = chance.choice(_KEYS)
    found: Part = {"key": key, "operator": operator}
    if operator in {"Gt", "Lt"}:
        found["values"] = [str(chance.randint(0, 3))]
    elif operator in {"In", "NotIn"}:
        found["values"] = chance.sample(["z0", "z1", "r0", "a", "0", "1"], 3)
    return found


def _volume(chance: Random, nodes: list[str]) -> Part:
    match chance.randrange(3):
        case 0:
            some = chance.sample(nodes, chance.randint(1, len(nodes)))
            return {"claim": "c", "nodes": sorted(some)}
        case 1:
            return {"topology": {chance.choice(("zone", "rack")): "z0"}}
        case _:
            return _selector([_term(chance)])


def _toleration(chance: Random) -> Part:
    found: Part = {}
    if chance.random() < 0.8:
        found["key"] = TAINT["key"]
        found["operator"] = chance.choice(("Equal", "Exists"))
        if found["operator"] == "Equal":
            found["value"] = chance.choice(("free", "other", ""))
    else:
        found["operator"] = "Exists"
    if chance.random() < 0.5:
        found["effect"] = chance.choice(("NoSchedule", "NoExecute", "PreferNoSchedule"))
    return found


def _port(chance: Random) -> Part:
    found: Part = {"port": chance.choice((80, 81))}
    if chance.random() < 0.5:
        found["protocol"] = chance.choice(("UDP", "TCP"))
    if chance.random() < 0.5:
        found["address"] = chance.choice(("10.0.0.1", "10.0.0.2", "::", ""))
    return found


def _request(chance: Random, leaf: Part, often: float) -> None:
    """
    Let the pods of a leaf ask for volumes and links.
    """
    asked = {**leaf.get("requests", {})}
    if chance.random() < often:
        asked[_LIMIT] = chance.choice((1, 1, 2))
    for name in _FREE:
        if chance.random() < often / 2:
            asked[name] = 1
    for name in _SHARED:
        if chance.random() < often / 2:
            asked[name] = 1
    for name in _LINKED:
        if asked.get(GPU, 0) >= int(name[-1]) and chance.random() < often:
            asked[name] = asked[GPU]
    if asked:
        leaf["requests"] = asked


def _gate(chance: Random, leaf: Part, often: float) -> None:
    if leaf.get("gated") and chance.random() < 0.5:
        leaf["gates"] = ["example.com/wait"]
    if "memory" in leaf.get("gpu", {}) and chance.random() < often:
        part = {k: v for k, v in leaf["gpu"].items() if k != "memory"}
        leaf["gpu"] = {**part, "share": chance.choice((0.1, 0.5, 1))}
