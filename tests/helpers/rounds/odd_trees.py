"""
Random small snapshots of odd gangs: minimums of 0, trees in trees, pods in every phase.

They go where the cases of the bench do not: a group that needs nothing, a leaf without
pods, running pods on nodes that are gone, roles across groups.  Some gangs have a twin,
alike in every leaf, below a root with other minimums or another topology.
"""

from dataclasses import replace
from random import Random

from models.gangs import Gang, Group, MatchPolicy, Pod, PodSet, Tree, pod_sets
from models.snapshot import Snapshot
from models.topology import TopologyDemand
from tests.helpers import build

_TOPOLOGIES = ("", "", "", "", "", "", "required", "preferred", "both")


def odd_snapshot(seed: int) -> Snapshot:
    """
    Make one case: two to four nodes, up to four gangs, sometimes two queues.
    """
    chance = Random(f"odd-{seed}")
    nodes = [
        build.node(
            f"n{i}",
            chance.choice([2, 4, 8]),
            zone=f"z{i // 2}",
            rack=f"r{i % 3}",
            labels={"kind": chance.choice("ab")},
        )
        for i in range(chance.randint(2, 4))
    ]
    gangs = [_gang(chance, f"x{i}") for i in range(chance.randint(1, 4))]
    if chance.random() < 0.25 and len(gangs) > 1:
        names = tuple(sorted(gang.key for gang in gangs[:2]))
        gangs[:2] = [replace(gang, mates=names) for gang in gangs[:2]]
    gangs = _with_twin(Random(f"odd-twin-{seed}"), gangs)
    queues = []
    if chance.random() < 0.5:
        limit = chance.choice([None, 4, 8])
        quota = chance.choice([0, 2, 4, None])
        queues.append(build.queue("a", quota=quota, limit=limit))
        weight = chance.choice([0, 1, 2])
        queues.append(build.queue("b", quota=chance.choice([0, 2, 4]), weight=weight))
    return build.snapshot(nodes, gangs, queues)


def alike_snapshot(seed: int) -> Snapshot:
    """
    Make one case of gangs that are alike in their leaf, below roots that are not.

    They are about as large as the cluster, so that some can never start.
    """
    chance = Random(f"alike-{seed}")
    nodes = [
        build.node(f"n{i}", chance.choice([2, 4]), zone=f"z{i // 2}", rack=f"r{i % 3}")
        for i in range(chance.randint(2, 4))
    ]
    replicas, gpus = chance.randint(2, 4), chance.choice([1, 2, 4])
    minimum = chance.randint(1, replicas)
    gangs = [
        build.gang(
            f"x{i}",
            _stem(chance, build.leaf("w", minimum, replicas, gpus=gpus)),
            min_groups=chance.choice([0, 1, 1]),
            min_pods=chance.choice([0, 0, chance.randint(1, replicas)]),
            topology=_topology(chance),
            age=chance.choice([0, 700]),
        )
        for i in range(chance.randint(2, 4))
    ]
    return build.snapshot(nodes, gangs)


def _stem(chance: Random, leaf: PodSet) -> Tree:
    """
    Put a leaf below a node of its own, or leave it.
    """
    if chance.random() < 0.6:
        return leaf
    pods = chance.choice([0, 0, chance.randint(1, leaf.replicas)])
    return build.group("g", leaf, min_pods=pods, topology=_topology(chance))


def _with_twin(chance: Random, gangs: list[Gang]) -> list[Gang]:
    if len(gangs) == 4 or chance.random() < 0.5:
        return gangs
    first = chance.choice(gangs)
    pods = sum(leaf.replicas for leaf in pod_sets(first.tree))
    below = first.tree.children if isinstance(first.tree, Group) else ()
    twin = build.gang(
        "twin",
        *map(_fresh, below or (replace(first.tree, name="l0"),)),
        min_groups=chance.choice([0, 1, 1, len(below)]),
        min_pods=chance.choice([0, 0, chance.randint(0, pods)]),
        topology=_topology(chance),
        queue=first.queue,
        preemptible=first.preemptible,
        age=chance.choice([0, 700]),
    )
    return [*gangs, twin]


def _fresh(tree: Tree) -> Tree:
    """
    See a tree before its pods had names, and before any of them ran.
    """
    if isinstance(tree, Group):
        return replace(tree, children=tuple(map(_fresh, tree.children)))
    pods = (Pod(str(i)) for i in range(len(tree.pods)))
    return replace(tree, pods=tuple(pods))


def _gang(chance: Random, name: str) -> Gang:
    tree = _tree(chance, chance.randint(0, 3), [])
    fields = {
        "priority": chance.choice([0, 0, 5]),
        "age": chance.choice([0, 700]),
        "preemptible": chance.random() < 0.8,
        "queue": chance.choice("ab"),
    }
    if chance.random() < 0.5:
        fields["match_policy"] = chance.choice(list(MatchPolicy))
    if isinstance(tree, Group):
        fields |= {
            "min_groups": tree.min_groups,
            "min_pods": tree.min_pods,
            "topology": tree.topology,
        }
        return build.gang(name, *tree.children, **fields)
    return build.gang(name, tree, min_groups=chance.choice([0, 1]), **fields)


def _tree(chance: Random, depth: int, names: list[str]) -> Tree:
    if depth == 0 or chance.random() < 0.35:
        return _leaf(chance, names)
    children = [_tree(chance, depth - 1, names) for _ in range(chance.randint(1, 3))]
    total = sum(leaf.replicas for child in children for leaf in pod_sets(child))
    return build.group(
        f"g{chance.randrange(10**9)}",
        *children,
        min_groups=chance.choice([0, 0, 1, len(children)]),
        min_pods=chance.choice([0, 0, 0, chance.randint(0, total)]),
        topology=_topology(chance),
    )


def _leaf(chance: Random, names: list[str]) -> PodSet:
    replicas = chance.randint(0, 4) if chance.random() < 0.15 else chance.randint(1, 4)
    fields: dict = {}
    left = replicas
    for phase in ("gated", "succeeded"):
        if chance.random() < 0.2:
            fields[phase] = chance.randint(0, left)
            left -= fields[phase]
    if chance.random() < 0.25:
        hosts = ["n0", "n1", "n2", "n3", "gone"]
        running = range(chance.randint(0, left))
        fields["running"] = [chance.choice(hosts) for _ in running]
    if chance.random() < 0.15 and names:
        some = min(len(names), chance.randint(1, 2))
        fields["after"] = tuple(chance.sample(names, some))
    if chance.random() < 0.1:
        fields["demand"] = build.selector(kind=chance.choice("abc"))
    names.append(f"l{len(names)}")
    return build.leaf(
        names[-1],
        chance.randint(0, replicas),
        replicas,
        gpus=chance.choice([0, 1, 1, 2, 3, 9]),
        topology=_topology(chance),
        exclusive=chance.random() < 0.1,
        **fields,
    )


def _topology(chance: Random) -> TopologyDemand | None:
    match chance.choice(_TOPOLOGIES):
        case "required":
            return build.required(chance.choice([build.RACK, build.ZONE]))
        case "preferred":
            return build.preferred(chance.choice([build.RACK, build.ZONE]))
        case "both":
            return TopologyDemand(
                topology=build.TOPOLOGY, required=build.ZONE, preferred=build.RACK
            )
        case _:
            return None
