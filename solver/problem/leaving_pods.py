"""
Exits: running pods that leave so that others may start, and what is lost with them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from models.gangs import Pod
from models.plan import Rule

Places = tuple[tuple[int, ...], ...]
"""
Per leaf of a gang the nodes of its newly placed pods.
"""
NOWHERE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """
    A running pod that leaves its node, by which rule, and where it goes if it is moved.

    ``leaf`` is an index among the leaves of its gang in file order, ``host`` and
    ``target`` are node indices; ``whole`` says that all of its gang leaves, ``band``
    is the index of the gang's.
    """

    gang: str
    leaf: int
    pod: Pod
    host: int
    gpus: int
    rule: Rule
    whole: bool
    target: int = NOWHERE
    band: int = 0


@dataclass(frozen=True, slots=True)
class Loss:
    """
    What is lost: GPU-seconds run, gangs that stop, pods, and the bands of pods evicted.
    """

    work: int = 0
    gangs: int = 0
    pods: int = 0
    rank: int = 0

    def __add__(self, other: "Loss") -> "Loss":
        """
        Add two losses up.
        """
        return Loss(
            self.work + other.work,
            self.gangs + other.gangs,
            self.pods + other.pods,
            self.rank + other.rank,
        )

    @property
    def measures(self) -> tuple[int, int, int, int]:
        """
        The measures in the order in which they count.
        """
        return self.work, self.gangs, self.pods, self.rank


def loss_of(exits: Iterable[Exit]) -> Loss:
    """
    Add up what some exits lose.
    """
    work = pods = rank = 0
    gangs: set[str] = set()
    for one in exits:
        work += one.gpus * one.pod.seconds
        pods += 1
        if one.rule != "consolidate":
            rank += one.band
            if one.whole:
                gangs.add(one.gang)
    return Loss(work, len(gangs), pods, rank)
