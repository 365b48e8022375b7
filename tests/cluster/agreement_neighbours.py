"""
Affinity, anti-affinity and spread for the random clusters of the agreement.

Labels have the number of their case, so that a selector over all namespaces selects no
pod of another one.
"""

from random import Random

from tests.cluster.provisioner import ZONE

HOST = "kubernetes.io/hostname"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def app(chance: Random, number: int) -> dict:
    """
    Draw the labels of a pod.
    """
    labels = {"app": f"{number}-{chance.choice('xy')}", "tier": chance.choice("fb")}
    return labels if chance.random() < 0.8 else {"tier": labels["tier"]}


def keeps_apart(chance: Random, number: int) -> dict:
    """
    Draw what a pod that runs keeps away.
    """
    if chance.random() > 0.25:
        return {}
    return {"affinity": {"podAntiAffinity": {_REQUIRED: [_term(chance, number)]}}}


def neighbours(chance: Random, number: int, wishes: dict) -> dict:
    """
    Add to the wishes of a pod what it asks of the pods around it.
    """
    affinity = dict(wishes.get("affinity", {}))
    for word, part in (("podAffinity", 0.25), ("podAntiAffinity", 0.25)):
        if chance.random() < part:
            some = [_term(chance, number) for _ in range(chance.choice((1, 1, 2)))]
            affinity[word] = {_REQUIRED: some}
    found = {**wishes, **({"affinity": affinity} if affinity else {})}
    if chance.random() < 0.3:
        rules = [_spread(chance, number) for _ in range(chance.choice((1, 1, 2)))]
        keys = {(rule["topologyKey"], rule["whenUnsatisfiable"]) for rule in rules}
        if len(keys) == len(rules):
            found["topologySpreadConstraints"] = rules
    return found


def _selector(chance: Random, number: int) -> dict:
    if chance.random() < 0.1:
        return {
            "matchLabels": {"app": f"{number}-x"},
            "matchExpressions": [_rule(chance)],
        }
    if chance.random() < 0.1:
        return {"matchExpressions": [{"key": "app", "operator": "Exists"}]} | (
            {"matchLabels": {"app": f"{number}-y"}}
        )
    return {"matchLabels": {"app": f"{number}-{chance.choice('xy')}"}}


def _rule(chance: Random) -> dict:
    operator = chance.choice(("In", "NotIn"))
    return {"key": "tier", "operator": operator, "values": [chance.choice("fb")]}


def _term(chance: Random, number: int) -> dict:
    term = {"topologyKey": chance.choice((ZONE, ZONE, HOST, "speed", "absent"))}
    if chance.random() < 0.95:
        term["labelSelector"] = _selector(chance, number)
    if chance.random() < 0.15:
        term["namespaceSelector"] = {}
    elif chance.random() < 0.1:
        names = [f"case-{number}"] if chance.random() < 0.5 else ["elsewhere"]
        term["namespaces"] = names
    if chance.random() < 0.1 and "tier" not in str(term.get("labelSelector", "tier")):
        word = chance.choice(("matchLabelKeys", "mismatchLabelKeys"))
        term[word] = ["tier"]
    return term


def _spread(chance: Random, number: int) -> dict:
    action = chance.choice(("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"))
    rule = {
        "topologyKey": chance.choice((ZONE, HOST, "speed")),
        "maxSkew": chance.choice((1, 1, 2)),
        "whenUnsatisfiable": action,
        "labelSelector": _selector(chance, number),
    }
    if action == "DoNotSchedule" and chance.random() < 0.2:
        rule["minDomains"] = chance.choice((2, 3))
    if chance.random() < 0.3:
        rule["nodeTaintsPolicy"] = chance.choice(("Honor", "Ignore"))
    if chance.random() < 0.1 and "tier" not in str(rule["labelSelector"]):
        rule["matchLabelKeys"] = ["tier"]
    return rule
