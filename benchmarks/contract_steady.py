"""
The part of the contract that is about steady clusters: little changes between rounds.
"""

from typing import Literal

from benchmarks.contract_parts import Cluster, Part
from models.policy import Policy


class SteadyGangs(Part):
    """
    Gangs of equal pods, of which ``with_gpus`` ask for one GPU in each pod.

    They are dealt to the nodes in turn, in so many ``namespaces``, each with a quota.
    """

    pods: int
    size: int
    with_gpus: float
    namespaces: int
    requests: dict[str, str]


class Arriving(Part):
    """
    The one gang that comes before each round: its pods, and the GPUs of each.
    """

    pods: int
    gpus: int


class SteadyReach(Part):
    """
    The seconds of processor time of a whole round with what is kept from the last.
    """

    seconds: float


class Steady(Part):
    """
    Rounds for one new gang each on a cluster where all else runs; the median counts.
    """

    kind: Literal["Steady"]
    name: str
    about: str
    repeat: int
    cluster: Cluster
    running: SteadyGangs
    arriving: Arriving
    policy: Policy = Policy()
    reach: SteadyReach
