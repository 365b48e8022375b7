"""
Pod values: the common currency in which tiers count what starts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from models.resources import (
    GPU_SHARE,
    SHARES_PER_THOUSANDTH,
    Resources,
    is_gpu,
    is_worth_nothing,
    num_gpus,
    summed,
    unit_of,
)
from models.snapshot import Snapshot

SCALE = 10**9
LARGEST = 100 * SCALE
"""
What fits nowhere may ask for any number of clusters; from here on it counts alike.
"""
_EXACT = 100
WITHOUT_GPUS = 1000
"""
As many GPUs count as a whole cluster that has none.
"""


@dataclass(frozen=True, slots=True)
class PodValues:
    """
    A pod's value: 10⁹ times its largest share of the cluster, rounded up, at least 1.

    Each GPU counts the same, however many of them a pod asks for, and so does each CPU
    (decision 0059).  Pods that share what they ask for are priced once.
    """

    totals: Mapping[str, int]
    _known: dict[int, tuple[Resources, int]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @classmethod
    def of(cls, snapshot: Snapshot) -> "PodValues":
        """
        Freeze the cluster totals of a snapshot.
        """
        return cls(summed(node.allocatable for node in snapshot.nodes))

    def of_pod(self, requests: Resources) -> int:
        """
        Give the value of one pod.
        """
        known = self._known.get(id(requests))
        if known is None or known[0] is not requests:
            known = self._known[id(requests)] = (requests, self._price(requests))
        return known[1]

    def work(self, requests: Resources, seconds: int) -> int:
        """
        Give the GPU-seconds that one pod runs in some seconds, rounded up.

        Of a pod without GPUs they are those of its part of the cluster.
        """
        gpus = num_gpus(requests)
        if gpus:
            return gpus * seconds
        total = num_gpus(self.totals) or WITHOUT_GPUS
        return -(-self.of_pod(requests) * total * seconds // SCALE)

    def _price(self, requests: Resources) -> int:
        shares = [
            _share(name, amount, total)
            for name, amount in requests.items()
            if (total := self.totals.get(name, 0)) > 0 and not is_worth_nothing(name)
        ]
        return min(LARGEST, max(1, *shares, 1))


def _share(resource: str, amount: int, total: int) -> int:
    """
    Give an amount's share of a total, by what one unit of it is worth.

    That is rounded up for GPUs and their thousandths, and down for what else people
    count, where that is exact to a hundredth: who asks for as much of both counts by
    GPUs.
    """
    unit = SHARES_PER_THOUSANDTH if resource == GPU_SHARE else unit_of(resource)
    if is_gpu(resource) or resource == GPU_SHARE:
        each = -(-SCALE * unit // total)
    else:
        each = SCALE * unit // total
        if each < _EXACT:
            return -(-SCALE * amount // total)
    return -(-amount * each // unit)
