"""
The same cluster under other names and in another order, written as a scenario document.
"""

from copy import deepcopy
from random import Random

AGES = {"15m": 900, "2h": 7200}


def aged(document):
    """
    Give every gang an age of its own, so that none comes first by its name.
    """
    document = deepcopy(document)
    for at, gang in enumerate(document["given"].get("gangs", [])):
        gang["age"] = f"{AGES.get(gang.get('age'), 0) + at + 1}s"
    return document


def renamed(document, seed):
    """
    Name gangs, queues and nodes anew, and shuffle every list of them.
    """
    document = deepcopy(document)
    given = document["given"]
    rnd = Random(f"renamed-{seed}")
    nodes = _names(rnd, given["nodes"], "m")
    queues = _names(rnd, given.get("queues", []), "r")
    gangs = _names(rnd, given.get("gangs", []), "z")
    for node in given["nodes"]:
        node["name"] = nodes[node["name"]]
    for queue in given.get("queues", []):
        queue["name"] = queues[queue["name"]]
        if "parent" in queue:
            queue["parent"] = queues[queue["parent"]]
    for gang in given.get("gangs", []):
        gang["name"] = gangs[gang["name"]]
        if "queue" in gang:
            gang["queue"] = queues.get(gang["queue"], gang["queue"])
        if "group" in gang:
            gang["group"] = [_key(gangs, name) for name in gang["group"]]
        _move(gang, nodes)
    for budget in given.get("budgets", []):
        budget["gangs"] = [_key(gangs, name) for name in budget["gangs"]]
    for part in ("nodes", "queues", "gangs", "budgets"):
        rnd.shuffle(given.get(part, []))
    return document


def _names(rnd, items, letter):
    old = sorted(item["name"] for item in items)
    new = [f"{letter}{at:02d}" for at in range(len(old))]
    rnd.shuffle(new)
    return dict(zip(old, new, strict=True))


def _key(names, key):
    namespace, name = key.split("/")
    return f"{namespace}/{names[name]}"


def _move(tree, nodes):
    for field in ("running", "terminating", "reserved"):
        for part in tree.get(field, []):
            part["node"] = nodes[part["node"]]
    for child in tree.get("groups", []):
        _move(child, nodes)
