"""
Documents with one mistake each, and where it is told to be.
"""

from tests.adapters.documents import GPU, gang, scenario
from tests.adapters.files.problems import LEAF, OTHER, policy, topologies


def node(**fields) -> dict:
    return scenario(nodes=[{"name": "n", "allocatable": {"cpu": 1}} | fields])


def affinity(**rule) -> dict:
    terms = [{"matchExpressions": [{"key": "k"} | rule]}]
    required = {"nodeSelectorTerms": terms}
    word = "requiredDuringSchedulingIgnoredDuringExecution"
    return gang(affinity={"nodeAffinity": {word: required}})


CASES = {
    "misspelt field": (gang(requets={}), "gangs[0].requets", 'mean "requests"'),
    "misspelt field in a tree": (
        gang(min=None, groups=[LEAF | {"mn": 1}]),
        "gangs[0].groups[0].mn",
        'mean "min"',
    ),
    "wrong unit": (
        gang(requests={"memory": "16Gb"}),
        "gangs[0].requests.memory",
        "16Gb",
    ),
    "part of a GPU in requests": (gang(requests={GPU: 0.5}), GPU, "whole pieces"),
    "negative amount": (gang(requests={"cpu": -1}), "requests.cpu", "negative"),
    "enormous amount": (gang(requests={"cpu": "1e99"}), "requests.cpu", "too much"),
    "amount beyond any node": (
        gang(requests={"memory": "2Pi"}),
        "requests.memory",
        "at most 1024Ti",
    ),
    "bytes for GPUs": (gang(requests={GPU: "16Gi"}), GPU, "at most 1000000"),
    "very long amount": (gang(requests={"cpu": "9" * 500}), "cpu", "not a quantity"),
    "digits of another script": (gang(requests={"cpu": "٣"}), "cpu", "not a quantity"),
    "a list for an amount": (gang(requests={"cpu": [1]}), "cpu", "not a quantity"),
    "no resource's name": (gang(requests={"a gpu": 1}), "requests[a gpu]", "not the"),
    "too many resources": (
        gang(requests={f"r{i}": 1 for i in range(65)}),
        "gangs[0].requests",
        "at most 64",
    ),
    "too many resources in all": (
        scenario(
            nodes=[
                {"name": f"n{i}", "allocatable": {f"r{i}-{j}": 1 for j in range(60)}}
                for i in range(5)
            ]
        ),
        "given",
        "at most 256",
    ),
    "more than all nodes can have": (
        scenario(
            nodes=[{"name": "n", "count": 2000, "allocatable": {"memory": 2**50}}]
        ),
        "given.nodes",
        "all nodes together offer",
    ),
    "more than all pods can ask for": (
        gang(min=2000, requests={"memory": 2**50}),
        "given.gangs",
        "all pods together ask for",
    ),
    "enormous quota": (
        scenario(queues=[{"name": "q", "resources": {"cpu": {"quota": "1e30"}}}]),
        "resources.cpu.quota",
        "too much",
    ),
    "a truth for a limit": (
        scenario(queues=[{"name": "q", "resources": {"cpu": {"limit": True}}}]),
        "resources.cpu.limit",
        "not a quantity",
    ),
    "enormous duration": (gang(age="1000000h"), "gangs[0].age", "100 years"),
    "endless duration": (gang(age=float("inf")), "gangs[0].age", "100 years"),
    "enormous priority": (gang(priority=10**12), "priority", "at most 2147483647"),
    "negative number": (gang(replicas=-3), "gangs[0].replicas", "negative"),
    "enormous number": (gang(replicas=10**9), "gangs[0].replicas", "1000000"),
    "too many leaves": (
        gang(groups=[{"name": f"l{i}", "min": 1} for i in range(2001)]),
        "gangs[0]",
        "2,001 leaves",
    ),
    "very many records": (
        scenario(gangs=[{}] * 200_001),
        "given.gangs",
        "at most 200,000",
    ),
    "very many values in a record": (
        gang(nodeSelector={f"k{i}": i for i in range(200_001)}),
        "given.gangs[0]",
        "more than 200,000 values",
    ),
    "truth for a number": (gang(min=True), "gangs[0].min", "whole number"),
    "truth for an amount": (gang(requests={"cpu": True}), "requests.cpu", "True"),
    "number for a label": (node(labels={"rack": 1}), "labels.rack", "quote it"),
    "bad duration": (gang(age="1 hour"), "gangs[0].age", "1 hour"),
    "bad name": (gang(name="Train_1"), "gangs[0].name", "not a valid name"),
    "too many pods in all": (
        scenario(gangs=[{"name": "g", "count": 10**6, "min": 10**6}]),
        "given.gangs",
        "at most",
    ),
    "node twice": (
        scenario(
            nodes=[
                {"name": "n", "count": 2, "allocatable": {}},
                {"name": "n-1", "allocatable": {}},
            ]
        ),
        "given.nodes[1].name",
        "exists twice",
    ),
    "gang twice": (
        scenario(
            gangs=[{"name": "g", "count": 2, "min": 1}, {"name": "g-0", "min": 1}]
        ),
        "given.gangs[1].name",
        "exists twice",
    ),
    "queue twice": (
        scenario(queues=[{"name": "q"}, {"name": "q"}]),
        "queues[1].name",
        "exists twice",
    ),
    "topology twice": (scenario(topologies=topologies("t", "t")), "[1].name", "twice"),
    "leaf twice": (gang(min=None, groups=[LEAF, LEAF]), "groups[1].name", "twice"),
    "pod name twice": (
        scenario(gangs=[{"name": "g", "groups": [LEAF]}, {"name": "g-a", "min": 1}]),
        "gangs[1].name",
        "default/g-a-0",
    ),
    "queues in a circle": (
        scenario(queues=[{"name": "a", "parent": "b"}, {"name": "b", "parent": "a"}]),
        "queues[0].parent",
        "a → b → a",
    ),
    "queues without end": (
        scenario(queues=[{"name": f"q{i}", "parent": f"q{i + 1}"} for i in range(99)]),
        "parent",
        "more than 16 queues",
    ),
    "leaves in a circle": (
        gang(groups=[LEAF | {"after": ["b"]}, OTHER | {"after": ["a"]}]),
        "groups[0].after",
        "comes after itself",
    ),
    "minimum above replicas": (
        gang(min=3, replicas=2),
        "gangs[0].min",
        "replicas is 2",
    ),
    "more groups than there are": (
        gang(minGroups=3, groups=[LEAF, OTHER]),
        "gangs[0].minGroups",
        "there are 2",
    ),
    "more pods than there are": (
        gang(minPods=3, groups=[{"name": "a", "replicas": 2}]),
        "gangs[0].minPods",
        "2 below",
    ),
    "replicas left out below minPods": (
        gang(minPods=1, groups=[LEAF]),
        "gangs[0].groups[0]",
        "replicas is needed",
    ),
    "neither min nor replicas": (
        scenario(gangs=[{"name": "g"}]),
        "given.gangs[0]",
        "one of min and replicas",
    ),
    "created above replicas": (gang(created=2), "gangs[0].created", "replicas is 1"),
    "more phases than pods": (
        gang(running=[{"node": "n0", "pods": 2}]),
        "gangs[0]",
        "only 1 exist",
    ),
    "leaf fields beside groups": (
        gang(groups=[LEAF], requests={"cpu": 1}),
        "gangs[0].requests",
        "belongs to a leaf",
    ),
    "no groups": (gang(groups=[]), "gangs[0].groups", "empty"),
    "minGroups without groups": (gang(minGroups=1), "minGroups", '"groups" beside'),
    "unknown leaf": (
        gang(groups=[{"name": "driver", "min": 1}, OTHER | {"after": ["drivr"]}]),
        "groups[1].after[0]",
        'mean "driver"',
    ),
    "unknown topology": (
        scenario(
            topologies=topologies("fabric"),
            gangs=[{"name": "g", "min": 1, "topology": {"name": "fabrik"}}],
        ),
        "gangs[0].topology.name",
        'mean "fabric"',
    ),
    "unknown level": (
        scenario(
            topologies=topologies("fabric"),
            gangs=[{"name": "g", "min": 1, "topology": {"required": "rak"}}],
        ),
        "gangs[0].topology.required",
        'mean "rack"',
    ),
    "topology name left out": (
        scenario(
            topologies=topologies("x", "y"),
            gangs=[{"name": "g", "min": 1, "topology": {"required": "rack"}}],
        ),
        "gangs[0].topology",
        "x, y",
    ),
    "unknown operator": (
        affinity(operator="Inn", values=["x"]),
        "matchExpressions[0].operator",
        'mean "In"',
    ),
    "operator without values": (affinity(operator="In"), "values", "needs values"),
    "operator with text": (
        affinity(operator="Gt", values=["many"]),
        "values",
        "whole number",
    ),
    "mate without namespace": (gang(group=["train"]), "group[0]", "namespace/name"),
    "reservations of more pods than exist": (
        gang(reserved=[{"node": "n0", "pods": 2}]),
        "gangs[0]",
        "are 2 pods, but only 1 exist",
    ),
    "a reservation of no pod": (
        gang(reserved=[{"node": "n0", "pods": 0}]),
        "reserved[0].pods",
        "1",
    ),
    "a budget for a gang that does not exist": (
        scenario(budgets=[{"name": "b", "gangs": ["trian"], "allowed": 1}]),
        "budgets[0].gangs[0]",
        'mean "train"',
    ),
    "a budget below nothing": (
        scenario(budgets=[{"name": "b", "gangs": ["train"], "allowed": -1}]),
        "budgets[0].allowed",
        "negative",
    ),
    "a clock that runs backwards": (
        gang(running=[{"node": "n0", "for": "-5m"}]),
        "running[0].for",
        "not a duration",
    ),
    "an eviction that lies ahead": (
        gang(evictedAgo="-1s"),
        "evictedAgo",
        "not a duration",
    ),
    "fewer than no evictions": (policy(evict={"maxPods": -1}), "maxPods", "negative"),
    "a grace below nothing": (policy(evict={"staleAfter": "-1s"}), "staleAfter", ""),
    "a switch that is no truth": (policy(evict={"reclaim": None}), "evict.reclaim", ""),
    "unknown tier": (policy(tiers=["gpu"]), "policy.tiers[0]", 'mean "gpus"'),
    "one pod of none": (gang(min=1, replicas=0), "min", "1 pod is needed"),
    "more evictions than pods": (policy(evict={"maxPods": 10**7}), "maxPods", "large"),
    "a loss without end": (policy(evict={"maxLostPerGpu": 10**30}), "PerGpu", "large"),
    "more heads than gangs": (policy(waiting={"heads": 10**30}), "heads", "too large"),
    "a band above all": (policy(bands=[2**31]), "policy.bands[0]", "too large"),
    "a truth for a band": (policy(bands=[9, True]), "policy.bands", "not a number"),
    "a truth for a number of the policy": (policy(seed=True), "seed", "not a number"),
    "ages that fall": (
        policy(ageing=[{"after": 9, "quarters": 4}, {"after": 5, "quarters": 5}]),
        "policy",
        "must rise",
    ),
    "gap of all": (policy(limits={"gap": 1}), "limits.gap", "less than 1"),
    "borrowing alone": (policy(tiers=["borrowing"]), "policy.tiers", "after entitled"),
    "tier twice": (policy(tiers=["gpus", "gpus"]), "policy", "twice"),
    "negative limit": (policy(limits={"seconds": -1}), "limits.seconds", "negative"),
    "expected gang": (
        scenario() | {"expect": {"starts": {"trian": 1}}},
        "expect.starts.trian",
        'mean "train"',
    ),
    "expected reason": (
        scenario() | {"expect": {"waits": {"train": "Fragmentd"}}},
        "expect.waits.train",
        'mean "Fragmented"',
    ),
    "policy in a snapshot": (policy() | {"kind": "Snapshot"}, "policy", "no policy"),
    "manifests": ({"apiVersion": "v1", "kind": "List"}, "kind", "not read"),
    "a list": ([], "file", "not a mapping"),
    "nothing": (None, "file", "holds nothing"),
}
