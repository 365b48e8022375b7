"""
Snapshots written out again as files, for tests that begin at the border.
"""

from models.gangs import PodPhase, PodSet
from models.resources import CPU, PODS


def document_of(snapshot):
    """
    Write a small case as a snapshot file would say it.
    """
    return {
        "apiVersion": "phalanx/v1",
        "kind": "Snapshot",
        "given": {
            "nodes": [_node(node) for node in snapshot.nodes],
            "topologies": [
                {"name": t.name, "levels": list(t.levels)} for t in snapshot.topologies
            ],
            "queues": [_queue(queue) for queue in snapshot.queues],
            "gangs": [_gang(gang) for gang in snapshot.gangs],
        },
    }


def shuffled(value, rnd, *, keep=("levels", "running", "groups", "values")):
    """
    Shuffle the lists and mappings of a document whose order says nothing.
    """
    if isinstance(value, dict):
        items = [
            (k, v if k in keep else shuffled(v, rnd, keep=keep))
            for k, v in value.items()
        ]
        rnd.shuffle(items)
        return dict(items)
    if isinstance(value, list):
        items = [shuffled(item, rnd, keep=keep) for item in value]
        rnd.shuffle(items)
        return items
    return value


def _amounts(resources):
    return {
        name: f"{amount}m" if name == CPU else amount
        for name, amount in resources.items()
    }


def _node(node):
    return {
        "name": node.name,
        "allocatable": _amounts(node.allocatable),
        "used": _amounts(node.used),
        "labels": dict(node.labels),
        "taints": [
            {"key": t.key, "value": t.value, "effect": t.effect} for t in node.taints
        ],
        "unschedulable": node.unschedulable,
    }


def _queue(queue):
    resources = {}
    for name, rule in queue.resources.items():
        amounts = {"quota": rule.quota, "limit": rule.limit}
        resources[name] = {
            word: "unlimited" if n is None else _amounts({name: n})[name]
            for word, n in amounts.items()
        }
        resources[name]["weight"] = rule.weight
    return {
        "name": queue.name,
        "priority": queue.priority,
        "state": "Open" if queue.open else "Closed",
        "resources": resources,
        **({"parent": queue.parent} if queue.parent else {}),
    }


def _gang(gang):
    return {
        **_tree(gang.tree),
        "name": gang.name,
        "namespace": gang.namespace,
        "queue": gang.queue,
        "priority": gang.priority,
        "preemptible": gang.preemptible,
        "age": f"{gang.age}s",
        "matchPolicy": gang.match_policy.value,
        "onceSatisfied": gang.once_satisfied,
        "timedOut": gang.timed_out,
        "backoff": f"{gang.backoff}s",
        **({"group": list(gang.mates)} if gang.mates else {}),
    }


def _tree(tree):
    topology = {}
    if tree.topology is not None:
        words = {
            "name": tree.topology.topology,
            "required": tree.topology.required,
            "preferred": tree.topology.preferred,
        }
        topology["topology"] = {k: v for k, v in words.items() if v}
    if isinstance(tree, PodSet):
        return {"name": tree.name, **topology, **_leaf(tree)}
    return {
        "name": tree.name,
        **topology,
        "minGroups": tree.min_groups,
        **({"minPods": tree.min_pods} if tree.min_pods else {}),
        "groups": [_tree(child) for child in tree.children],
    }


def _leaf(leaf):
    counts = {phase: sum(p.phase is phase for p in leaf.pods) for phase in PodPhase}
    written = {
        "min": leaf.minimum,
        "replicas": leaf.replicas,
        "created": len(leaf.pods),
        "gated": counts[PodPhase.GATED],
        "succeeded": counts[PodPhase.SUCCEEDED],
        "requests": _amounts({k: v for k, v in leaf.requests.items() if k != PODS}),
        "exclusive": leaf.exclusive,
        "running": [
            {"node": pod.node, "pods": 1}
            for pod in leaf.pods
            if pod.phase is PodPhase.RUNNING
        ],
    }
    if leaf.after:
        written["after"] = list(leaf.after)
    return {**written, **_demand(leaf.demand)}


def _demand(demand):
    written = {}
    if demand.selector:
        written["nodeSelector"] = dict(demand.selector)
    if demand.tolerations:
        written["tolerations"] = [
            {"key": t.key, "operator": t.operator} for t in demand.tolerations
        ]
    if demand.terms is not None:
        required = "requiredDuringSchedulingIgnoredDuringExecution"
        terms = [
            {
                "matchExpressions": [
                    {"key": r.key, "operator": r.operator, "values": list(r.values)}
                    for r in term
                ]
            }
            for term in demand.terms
        ]
        written["affinity"] = {"nodeAffinity": {required: {"nodeSelectorTerms": terms}}}
    return written
