"""
Exits: running pods that leave so that others may start, and what is lost with them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from models.gangs import Pod
from models.plan import Rule

NOWHERE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """
    A running pod that leaves its node, by which rule, and where it goes if it is moved.

    ``leaf`` is an index among the leaves of its gang in file order, ``host`` and
    ``target`` are node indices; ``work`` is what it has done, in GPU-seconds, ``size``
    its value; ``whole`` says that all of its gang leaves, ``band`` is the index of the
    gang's.
    """

    gang: str
    leaf: int
    pod: Pod
    host: int
    gpus: int
    work: int
    size: int
    rule: Rule
    whole: bool
    target: int = NOWHERE
    band: int = 0


@dataclass(frozen=True, slots=True)
class Loss:
    """
    What is lost: GPU-seconds run, gangs that stop, pods, and the bands of pods evicted.

    ``age`` adds up the seconds that pods have run, ``size`` what they are worth.
    """

    work: int = 0
    gangs: int = 0
    pods: int = 0
    rank: int = 0
    age: int = 0
    size: int = 0

    def __add__(self, other: "Loss") -> "Loss":
        """
        Add two losses up.
        """
        both = zip(self.measures, other.measures, strict=True)
        return Loss(*map(sum, both))

    @property
    def measures(self) -> tuple[int, ...]:
        """
        The measures in the order in which they count.
        """
        return self.work, self.gangs, self.pods, self.rank, self.age, self.size


def loss_of(exits: Iterable[Exit]) -> Loss:
    """
    Add up what some exits lose.
    """
    work = pods = rank = age = size = 0
    gangs: set[str] = set()
    for one in exits:
        work += one.work
        pods += 1
        age += one.pod.seconds
        size += one.size
        if one.rule != "consolidate":
            rank += one.band
            if one.whole:
                gangs.add(one.gang)
    return Loss(work, len(gangs), pods, rank, age, size)
