"""
The variables of the small model.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from exact.devices import World
from exact.facts import Facts, GangFacts
from models.resources import Resources
from solver.effort.cp_sat import cp_model

Shares = Mapping[str, Resources]


@dataclass(slots=True, kw_only=True)
class SmallModel:
    """
    The variables of the small model, by meaning.

    ``binds[gang, leaf, node]`` are new pods, ``placed[gang][leaf]`` their sum,
    ``starts[gang]`` says that a gang in need starts, ``entitled[gang]`` that it does
    so within its fair share, ``receives[node]`` that a node gets a pod.  The pods of
    ``reserved`` gangs have a place and are not bound; those of ``stopped`` gangs have
    all left, and ``stale`` gangs stop running unless they start.  ``world`` says what
    lies on devices where nobody leaves.
    """

    cp: cp_model.CpModel
    facts: Facts
    shares: Shares
    binds: dict[tuple[str, str, str], cp_model.IntVar] = field(default_factory=dict)
    placed: dict[str, dict[str, cp_model.IntVar]] = field(default_factory=dict)
    starts: dict[str, cp_model.IntVar] = field(default_factory=dict)
    entitled: dict[str, cp_model.IntVar] = field(default_factory=dict)
    receives: dict[str, cp_model.IntVar] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()
    stopped: frozenset[str] = frozenset()
    stale: frozenset[str] = frozenset()
    world: World | None = None

    def planned(self) -> Iterator[tuple[str, GangFacts]]:
        """
        Walk the gangs that may get pods.
        """
        for key in self.placed:
            yield key, self.facts.gangs[key]

    def pods_on(self, key: str, leaf: str, node: str) -> Sequence[cp_model.IntVar]:
        """
        List the variable of new pods of a leaf on a node; none where it may not be.
        """
        found = self.binds.get((key, leaf, node))
        return [] if found is None else [found]
