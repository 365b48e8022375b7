"""
Random small instances in records: rich in rules, short of room, made from a seed.

A case is decided by its seed alone.  Two of three cases have at least two queues, a
tree and a required domain; the others leave something out, so that single rules are
seen alone too.  Demand is well above capacity: greedy is often not optimal.
"""

from dataclasses import replace
from random import Random

from benchmarks.cases.alike import with_alike
from benchmarks.cases.gangs import count, grouped, make_gang, make_gangs
from benchmarks.cases.parts import LEVELS, Case, add_nodes, make_queues, tree_nodes
from models.gangs import Gang, Group, PodPhase, pod_sets
from models.queues import Queue
from models.snapshot import Snapshot
from models.topology import Topology

_MOST_GANGS = 10
_LENDING = 0.25


def random_snapshot(seed: int) -> Snapshot:
    """
    Make one small case: 3 to 8 nodes and 4 to 10 gangs.
    """
    rnd = Random(f"case-{seed}")
    rich = seed % 3 != 0
    case = Case(
        rnd=rnd,
        queues=rich or rnd.random() < 0.5,
        trees=rich or rnd.random() < 0.5,
        required=rich or rnd.random() < 0.5,
        gpus=rnd.random() < 0.93,
    )
    add_nodes(case)
    queues = make_queues(case) if case.queues else []
    queues = _lending(queues, Random(f"lend-{seed}"))
    gangs = with_alike(f"case-{seed}", make_gangs(case), _MOST_GANGS)
    return Snapshot(
        nodes=tuple(sorted(case.nodes, key=lambda node: node.name)),
        gangs=tuple(sorted(gangs, key=lambda gang: gang.key)),
        queues=tuple(sorted(queues, key=lambda queue: queue.name)),
        topologies=(Topology(name="default", levels=LEVELS),),
    )


def _lending(queues: list[Queue], random: Random) -> list[Queue]:
    """
    Let up to two queues of a quarter of the cases lend half of their quotas or nothing.
    """
    if random.random() > _LENDING:
        return queues
    keeping = random.sample(range(len(queues)), min(2, len(queues)))
    parts = {at: random.choice((0, 2)) for at in keeping}
    return [
        replace(
            queue,
            resources={
                name: replace(rule, lend=rule.quota and rule.quota * parts[at] // 4)
                for name, rule in queue.resources.items()
            },
        )
        if at in parts
        else queue
        for at, queue in enumerate(queues)
    ]


def features(snapshot: Snapshot) -> set[str]:
    """
    Name what a case is rich in, as the performance contract counts it.
    """
    found = set()
    if sum(queue.parent is not None for queue in snapshot.queues) >= 2:
        found.add("queues")
    for gang in snapshot.gangs:
        if isinstance(gang.tree, Group):
            found.add("tree")
        for node in tree_nodes(gang.tree):
            if node.topology is not None and node.topology.required:
                found.add("required")
    return found


# --- tiny ones, for brute force -------------------------------------------------


def tiny_snapshot(seed: int) -> Snapshot:
    """
    Make a case that can be enumerated: two nodes, three gangs, about six pods.
    """
    rnd = Random(f"tiny-{seed}")
    case = Case(
        rnd=rnd,
        queues=rnd.random() < 0.7,
        trees=True,
        required=True,
        gpus=rnd.random() < 0.9,
    )
    add_nodes(case)
    case.nodes = case.nodes[:2]
    queues = make_queues(case) if case.queues else []
    gangs: list[Gang] = []
    left = 6
    while len(gangs) < 3 and left > 0:
        gang = make_gang(case, f"g{len(gangs)}")
        num = sum(count(leaf, PodPhase.PENDING) for leaf in pod_sets(gang.tree))
        if num <= left:
            gangs.append(gang)
            left -= num
    return Snapshot(
        nodes=tuple(case.nodes),
        gangs=tuple(with_alike(f"tiny-{seed}", grouped(case, gangs), 0)),
        queues=tuple(sorted(queues, key=lambda queue: queue.name)),
        topologies=(Topology(name="default", levels=LEVELS),),
    )
