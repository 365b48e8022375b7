"""
Documents as people write them, small and large.
"""

from copy import deepcopy
from random import Random

GPU = "nvidia.com/gpu"


def scenario(**given) -> dict:
    """
    Build a scenario with one node of 8 GPUs and one gang, or what is given instead.
    """
    parts = {
        "nodes": [{"name": "n0", "allocatable": {"cpu": 96, GPU: 8}}],
        "gangs": [{"name": "train", "min": 2, "requests": {GPU: 2}}],
    }
    return deepcopy(
        {
            "apiVersion": "phalanx/v1",
            "kind": "Scenario",
            "rule": "A test.",
            "given": parts | given,
        }
    )


def gang(**fields) -> dict:
    """
    Build a scenario with one gang with these fields.
    """
    return scenario(gangs=[{"name": "train", "min": 1} | fields])


def everything() -> dict:
    """
    Build a scenario that uses every part of the schema that is obeyed today.
    """
    document = scenario(
        nodes=[
            {
                "name": "dgx",
                "count": 3,
                "allocatable": {"cpu": "96", "memory": "768Gi", GPU: 8},
                "labels": {"zone": "z1", "rack": "r1"},
                "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
                "used": {"cpu": "500m"},
                "gpuMemory": "80Gi",
                "gpuModel": "H100",
                "mig": {"model": "H100-80GB", "devices": [7, 0]},
            },
            {"name": "old", "allocatable": {"cpu": 8}, "unschedulable": True},
        ],
        topologies=[{"name": "default", "levels": ["zone", "rack"]}],
        queues=[
            {"name": "top", "resources": {GPU: {"quota": "unlimited"}}},
            {
                "name": "research",
                "parent": "top",
                "priority": 200,
                "state": "Open",
                "resources": {GPU: {"quota": 16, "limit": 20, "weight": 2}},
                "minRuntime": {"preempt": "5m", "reclaim": "10m"},
            },
        ],
        gangs=[_tree(), _running()],
        budgets=[{"name": "b", "gangs": ["default/run-0"], "allowed": 1}],
    )
    document["policy"] = {
        "tiers": ["gpus", {"name": "gangs", "gap": 0.01}],
        "evict": {
            "preempt": False,
            "staleAfter": "2m",
            "maxMoves": None,
            "lentFor": "1h",
        },
        "limits": {"deterministic": 1.0},
        "seed": 3,
    }
    document["expect"] = {"waits": {"tree": "any"}, "greedy": {"idle": True}}
    return document


def _tree() -> dict:
    terms = [{"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["3"]}]}]
    required = {"nodeSelectorTerms": terms}
    return {
        "name": "tree",
        "queue": "research",
        "priority": 5,
        "age": "1h30m",
        "group": ["default/tree", "default/run-0"],
        "minGroups": 1,
        "minPods": 2,
        "topology": {"required": "zone"},
        "groups": [
            {
                "name": "driver",
                "min": 1,
                "replicas": 1,
                "requests": {"cpu": "500m"},
                "tolerations": [{"operator": "Exists"}],
                "exclusive": True,
            },
            {
                "name": "inner",
                "groups": [
                    {
                        "name": "worker",
                        "replicas": 3,
                        "requests": {GPU: 1},
                        "after": ["driver"],
                        "nodeSelector": {"zone": "z1"},
                        "affinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": required
                        },
                        "topology": {"name": "default", "preferred": "rack"},
                    }
                ],
            },
        ],
    }


def _running() -> dict:
    return {
        "name": "run",
        "count": 2,
        "namespace": "default",
        "queue": "research",
        "min": 1,
        "replicas": 9,
        "created": 8,
        "gated": 1,
        "succeeded": 1,
        "failed": 1,
        "requests": {GPU: 1},
        "running": [{"node": "dgx-0", "pods": 2, "for": "2h"}, {"node": "gone"}],
        "terminating": [{"node": "dgx-1", "since": "10s"}],
        "reserved": [{"node": "dgx-2"}],
        "matchPolicy": "once-satisfied",
        "mode": "NonStrict",
        "onceSatisfied": True,
        "timedOut": False,
        "backoff": "5s",
        "minResources": {"cpu": 2},
        "waitingTime": "1m",
        "maxRuntime": "1d",
        "staleAfter": "-1s",
        "staleSince": "3s",
        "evictedAgo": "1h",
        "passedOver": "2h",
        "heldFor": "1h",
        "heldFirst": "30m",
        "lentBy": ["default/large"],
        "runsLike": {"queue": "research", "owner": "team-a", "gpus": 8},
    }


def large(nodes: int, pending: int, running: int, seed: int = 0) -> dict:
    """
    Build a large snapshot in which everything is written out.
    """
    chance = Random(seed)
    resources = {GPU: {"quota": 1000, "limit": 20000}}
    queues = [{"name": f"q{i}", "resources": resources} for i in range(8)]
    return scenario(
        nodes=[_large_node(i) for i in range(nodes)],
        queues=queues,
        topologies=[{"name": "default", "levels": ["zone", "rack"]}],
        gangs=[_large_running(chance, i, nodes) for i in range(running)]
        + [_large_pending(chance, i) for i in range(pending)],
    )


def _large_node(i: int) -> dict:
    return {
        "name": f"node-{i:05d}",
        "allocatable": {"cpu": 96, "memory": "768Gi", GPU: 8},
        "labels": {"zone": f"z{i // 2500}", "rack": f"r{i // 16}"},
    }


def _large_running(chance: Random, i: int, nodes: int) -> dict:
    gpus = chance.choice([1, 2, 4])
    node = f"node-{chance.randrange(nodes):05d}"
    return {
        "name": f"run-{i}",
        "queue": f"q{i % 8}",
        "priority": 50,
        "min": 1,
        "requests": {"cpu": gpus * 8, "memory": f"{gpus * 64}Gi", GPU: gpus},
        "running": [{"node": node, "for": f"{i}s"}],
        "age": "3h",
    }


def _large_pending(chance: Random, i: int) -> dict:
    gpus, minimum = chance.choice([1, 2, 4, 8]), chance.randint(1, 5)
    cores = gpus * chance.choice([4, 8, 12])
    return {
        "name": f"wait-{i}",
        "queue": f"q{i % 8}",
        "priority": chance.choice([50, 100, 150]),
        "min": minimum,
        "replicas": minimum + chance.randint(0, 2),
        "requests": {"cpu": cores, "memory": f"{gpus * 64}Gi", GPU: gpus},
        "age": f"{i}s",
    }
