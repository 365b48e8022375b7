"""
Drafts: who would go where, in node indices, before pods are named.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from models.plan import Placement
from solver.problem import Problem, Unit
from solver.standing import Standing

Places = tuple[tuple[int, ...], ...]
"""
Per leaf of a gang the nodes of its newly bound pods.
"""


@dataclass(frozen=True, slots=True)
class Draft:
    """
    Places of every gang that gets pods, and the gangs that start as entitled.
    """

    places: Mapping[str, Places] = field(default_factory=dict)
    entitled: frozenset[str] = frozenset()

    def starts(self, unit: Unit) -> bool:
        """
        Tell whether a unit that needs activation is activated.
        """
        return unit.starts and unit.key in self.places

    def num_placed(self, state: Standing, leaf: int) -> int:
        """
        Count the pods a leaf gets.
        """
        places = self.places.get(state.key)
        return len(places[leaf]) if places else 0


def placement_of(problem: Problem, draft: Draft) -> Placement:
    """
    Name the pods: leaf by leaf in index order, contiguous per node.
    """
    binds: dict[str, str] = {}
    nodes = problem.room.nodes
    for unit in problem.units:
        for state in unit.states:
            places = draft.places.get(state.key)
            if places is None:
                continue
            for leaf, hosts in zip(state.leaves, places, strict=True):
                for pod, host in zip(leaf.pending, sorted(hosts), strict=False):
                    name = f"{state.gang.namespace}/{pod.name}"
                    binds[name] = nodes[host].name
    return Placement(binds=binds, entitled=draft.entitled)
