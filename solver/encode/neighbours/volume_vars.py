"""
Variables that say which free volumes claims have, and what a hint makes of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from models.neighbours import ReachedVolumes
from solver.encode.variables import Linear, Var
from solver.problem.neighbours.volume_matching import Asker, VolumeMatching


@dataclass(slots=True)
class VolumeVars:
    """
    How many claims there are of those who ask, and how many have which volumes.
    """

    matching: VolumeMatching
    asked: list[tuple[Asker, Linear, Mapping[ReachedVolumes, Var]]] = field(
        default_factory=list
    )
    shared: list[
        tuple[Asker, Mapping[int, Sequence[Var]], Mapping[ReachedVolumes, Var]]
    ] = field(default_factory=list)

    def hint(self, values: Mapping[int, int]) -> list[tuple[Var, int]]:
        """
        List who would have what, given the counts of pods.
        """
        found = VolumeMatching(self.matching.reached)
        for asker, row, _ in self.asked:
            terms = zip(row.variables, row.coefficients, strict=True)
            number = sum(n * values.get(var.index, 0) for var, n in terms)
            found.take(asker, number + row.constant)
        for asker, domains, _ in self.shared:
            for domain in self.matching.shared.get(asker, ()):
                found.share(asker, domain, 1)
            for domain, coming in domains.items():
                if any(values.get(var.index, 0) for var in coming):
                    found.share(asker, domain, 1)
        return [
            (var, found.held.get(asker, {}).get(one, 0))
            for asker, _, given in (*self.asked, *self.shared)
            for one, var in given.items()
        ]
