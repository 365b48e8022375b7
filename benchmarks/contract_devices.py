"""
Rows of GPUs below a whole one, as the contract writes them.
"""

from typing import Literal

from benchmarks.contract_parts import Part, Weights
from models.policy import Policy


class MigOrders(Part):
    """
    Every order of the instances of each content that fills one GPU.

    Held is in how many of them some instance finds no place: all waiting at once, and
    one after the other with what is known so far.
    """

    kind: Literal["MigOrders"]
    name: str
    about: str
    policy: Policy = Policy()
    in_one_round: int
    one_by_one: int


class BulkParts(Part):
    """
    Pods with a share of a GPU each, all waiting at once on nodes of 8 GPUs.

    ``eighths`` are the shares that are drawn with equal chance; held is what may be
    missing of the GPUs that could be used, by all contents of one GPU.
    """

    kind: Literal["BulkParts"]
    name: str
    about: str
    seed: int
    nodes: int
    pods: int
    eighths: tuple[int, ...]
    policy: Policy = Policy()
    at_most: float


class ClaimedDevices(Part):
    """
    Pods that claim devices of four classes, from slices to a verified plan.

    Held is in how many seconds, with reading.
    """

    kind: Literal["ClaimedDevices"]
    name: str
    about: str
    nodes: int
    devices: int
    gangs: int
    members: int
    policy: Policy = Policy()
    seconds: float


class WholeOrHalves(Part):
    """
    Gangs whose claims name alternatives, on a few GPUs that may be had in parts.

    Held is that as many start as can, by the exact model, and that devices are dealt to
    all of their pods.
    """

    kind: Literal["WholeOrHalves"]
    name: str
    about: str
    first_seed: int
    cases: int
    policy: Policy


class OpenbOnline(Part):
    """
    Published workloads on openb's nodes, one pod after the other, by ``seeds``.

    Held is in how many of them more GPUs are used at the end than FGD published.
    """

    kind: Literal["OpenbOnline"]
    name: str
    about: str
    folder: str
    workloads: tuple[str, ...]
    seeds: tuple[int, ...]
    above: int


class OpenbPlan(Part):
    """
    A list of openb's pods on its nodes, all waiting at once.

    Held is what may be missing of the GPUs that could be used, by the sum of what all
    ask for, and in how many seconds.
    """

    kind: Literal["OpenbPlan"]
    name: str
    about: str
    folder: str
    workload: str
    policy: Policy = Policy()
    at_most: float
    seconds: float


OfDevices = (
    MigOrders | WholeOrHalves | BulkParts | ClaimedDevices | OpenbOnline | OpenbPlan
)


class WaitingParts(Part):
    """
    Gangs of parts that wait: how many pods by thousandths of a GPU, in gangs of a size.
    """

    pods: dict[int, int]
    members: Weights
    priorities: Weights
