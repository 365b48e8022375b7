"""
Drafts: who would go where, in node indices, before pods are named.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from solver.problem.gang_state import Standing
from solver.problem.leaving_pods import Exit
from solver.problem.node_room import Places
from solver.problem.problem import Unit


@dataclass(frozen=True, slots=True)
class Draft:
    """
    Places of every gang that gets pods, the gangs that start as entitled, and who goes.

    ``guaranteed`` are those of them that take up what is left of their queues' quotas;
    ``held`` are the units that were chosen to wait for who goes, room or not.
    """

    places: Mapping[str, Places] = field(default_factory=dict)
    entitled: frozenset[str] = frozenset()
    exits: tuple[Exit, ...] = ()
    guaranteed: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()

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
