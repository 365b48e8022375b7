"""
Demand: how many pods of each shape are wanted, in all or inside one domain.
"""

from dataclasses import dataclass, field

from solver.encode.variables import Cell, Count, Footprint, Linear

Place = tuple[int, Cell]
"""
(level, domain number); level -1 with no domain is the whole cluster.
"""


@dataclass(slots=True)
class Demand:
    """
    Sums of pods per shape and place, grown while gangs are added.
    """

    sums: dict[tuple[int, Place], Linear] = field(default_factory=dict)
    footprints: dict[object, Footprint] = field(default_factory=dict)

    def add(self, shape: int, place: Place, count: Count, times: int) -> None:
        """
        Want ``times`` pods of a shape for each one counted.
        """
        if times:
            row = self.sums.setdefault((shape, place), Linear())
            row.add(count.variable, times, count.upper)
