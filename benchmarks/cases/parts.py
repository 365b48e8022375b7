"""
What small cases are made of: the case under construction, its nodes and queues.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from models.gangs import Group, Tree
from models.nodes import Node, Taint
from models.queues import Queue, QueueResource
from models.resources import CPU, GPU, MEMORY, PODS

GIB = 2**30
LEVELS = ("zone", "rack")


@dataclass
class Case:
    """
    A case under construction: its chance, its flavour, and what is still free.
    """

    rnd: Random
    queues: bool
    trees: bool
    required: bool
    gpus: bool
    nodes: list[Node] = field(default_factory=list)
    free: dict[str, dict[str, int]] = field(default_factory=dict)
    leaf_queues: list[str] = field(default_factory=list)

    def chance(self, part: float) -> bool:
        """
        Toss a coin that falls on its head with this probability.
        """
        return self.rnd.random() < part

    def total(self, resource: str) -> int:
        """
        Sum a resource over all nodes.
        """
        return sum(node.allocatable.get(resource, 0) for node in self.nodes)


def tree_nodes(tree: Tree) -> Iterator[Tree]:
    """
    Walk a tree, parents first.
    """
    yield tree
    if isinstance(tree, Group):
        for child in tree.children:
            yield from tree_nodes(child)


# --- nodes --------------------------------------------------------------------


def add_nodes(case: Case) -> None:
    """
    Add unlike nodes in zones and racks; some have a taint, or lack a label.
    """
    rnd = case.rnd
    racks = rnd.randint(2, 4)
    odd = rnd.random() < 0.15
    for idx in range(rnd.randint(3, 8)):
        gpus = rnd.choice((2, 4, 8, 8))
        allocatable = {
            CPU: gpus * rnd.choice((8, 12, 16)) * 1000,
            MEMORY: gpus * 64 * GIB,
            PODS: rnd.choice((110, 110, 110, 5)),
        }
        used = {}
        if case.gpus:
            allocatable[GPU] = gpus
            if case.chance(0.2):
                used = {GPU: rnd.randint(1, gpus), CPU: gpus * 1000, PODS: 1}
        labels = {
            "kubernetes.io/hostname": f"n{idx}",
            "zone": f"z{idx % racks // 2}",
            "rack": f"r{idx % racks}",
            "kind": rnd.choice("ab"),
            "size": str(gpus),
        }
        if odd and case.chance(0.3):
            del labels["rack"]
        taint = Taint(key="team", value="red")
        node = Node(
            name=f"n{idx}",
            allocatable=allocatable,
            used=used,
            labels=labels,
            taints=(taint,) if case.chance(0.1) else (),
            unschedulable=case.chance(0.02),
        )
        case.nodes.append(node)
        case.free[node.name] = {
            name: amount - used.get(name, 0) for name, amount in allocatable.items()
        }


# --- queues -------------------------------------------------------------------


def make_queues(case: Case) -> list[Queue]:
    """
    Two or three levels; GPUs always named, CPU sometimes.
    """
    rnd = case.rnd
    tops = rnd.randint(1, 2)
    named = [GPU] if case.gpus else [CPU]
    if case.gpus and case.chance(0.25):
        named.append(CPU)
    queues = []
    for top in range(tops):
        queues.append(_queue(case, f"d{top}", None, named, 1.0))
        for idx in range(rnd.randint(2, 3) if tops == 1 else rnd.randint(1, 2)):
            name = f"q{top}{idx}"
            queues.append(_queue(case, name, f"d{top}", named, 0.5))
            case.leaf_queues.append(name)
    if len(case.leaf_queues) < 2:
        queues.append(_queue(case, "q09", "d0", named, 0.5))
        case.leaf_queues.append("q09")
    if case.chance(0.15):
        parent = case.leaf_queues.pop()
        for idx in range(2):
            name = f"{parent}x{idx}"
            queues.append(_queue(case, name, parent, named, 0.3))
            case.leaf_queues.append(name)
    if case.chance(0.06):
        shut = rnd.randrange(len(queues))
        queues[shut] = replace(queues[shut], open=False)
    return queues


def _queue(
    case: Case, name: str, parent: str | None, named: Sequence[str], part: float
) -> Queue:
    rnd = case.rnd
    resources = {}
    for resource in named:
        if parent is not None and case.chance(0.08):
            continue
        total = case.total(resource)
        unit = 1000 if resource == CPU else 1
        limit = None
        if case.chance(0.5):
            limit = int(total // unit * rnd.uniform(0.5, 1.1) * max(0.7, part)) * unit
        quota: int | None = int(total // unit * rnd.uniform(0, 0.7 * part)) * unit
        if case.chance(0.07):
            quota = None
        resources[resource] = QueueResource(
            quota=quota, limit=limit, weight=rnd.choice((0, 0, 1, 1, 2, 3))
        )
    return Queue(
        name=name,
        parent=parent,
        priority=rnd.choice((100, 100, 100, 200)),
        resources=resources,
    )
