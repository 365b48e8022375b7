"""
Groups of GPUs that pods share as KAI does: which one a device of a plan is.
"""

from collections.abc import Mapping

from adapters.kube.api.api_resources import Raw
from adapters.kube.gangs.kinds import BIND_REQUESTS
from adapters.kube.objects.bind_requests import BindRequestRecord, bind_request_record
from adapters.kube.objects.parts.kai_parts import (
    GROUP,
    RESERVATIONS,
    groups_of,
    memory_of,
    new_group,
    numbered,
)
from adapters.kube.objects.parts.part_keys import KAI
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.watch.cache import Cache
from models.gangs import FINISHED
from models.plan import Operation
from models.resources import GPU


class GpuGroups:
    """
    Names the groups of devices, as the cache shows them, and opens new ones.

    What is opened in one turn is known by its number until the next ``turn``.
    """

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._there: dict[str, dict[int, str]] = {}
        self._named: dict[str, list[str]] | None = None
        self._read: dict[str, tuple[Raw, BindRequestRecord | None]] = {}

    def turn(self) -> None:
        """
        Begin with another plan: what was opened for the last one stands in the cache.
        """
        self._there, self._named = {}, None

    def pod(self, step: Operation) -> PodRecord | None:
        """
        Give the pod of a bind that gets parts in KAI's words, if it is one.
        """
        if step.op != "Bind" or not step.devices:
            return None
        for pod in self._cache.pods_named([step.pod]):
            is_kai = pod.part is not None and pod.part.part.contract == KAI
            return pod if is_kai and pod.uid == (step.uid or "") else None
        return None

    def of(self, step: Operation) -> tuple[str, ...]:
        """
        Name the groups of a bind's devices; a device that nobody shares gets a new one.
        """
        if self._named is None:
            self._named = self._groups()
        there = self._there.get(step.node)
        if there is None:
            record = self._cache.node(step.node)
            number = 0 if record is None else record.node.allocatable.get(GPU, 0)
            numbers = numbered(self._named.get(step.node, ()), number)
            there = {number: group for group, number in numbers.items()}
            self._there[step.node] = there
        return tuple(
            there.setdefault(one.device, new_group(one.device)) for one in step.devices
        )

    def memory(self, node: str) -> int:
        """
        Give the MiB of each GPU of a node.
        """
        record = self._cache.node(node)
        return 0 if record is None else memory_of(record.node.labels)

    def requests(self) -> dict[str, BindRequestRecord]:
        """
        Give the requests that the API server shows, by their pods.
        """
        known, self._read = self._read, {}
        found: dict[str, BindRequestRecord] = {}
        for key, raw in self._shown().items():
            read = known.get(key)
            if read is None or read[0] is not raw:
                read = raw, bind_request_record(raw)
            self._read[key] = read
            if read[1] is not None:
                found[read[1].pod] = read[1]
        return found

    def _shown(self) -> Mapping[str, Raw]:
        try:
            return dict(self._cache.shelf(BIND_REQUESTS).records)
        except KeyError:  # nobody follows them
            return {}

    def _groups(self) -> dict[str, list[str]]:
        """
        Name the groups of each node: of pods there, and of those about to be bound.
        """
        found: dict[str, list[str]] = {}
        for pod in self._cache.pods_that(_has_groups):
            if pod.node is not None and pod.phase not in FINISHED:
                found.setdefault(pod.node, []).extend(_groups_of(pod))
        for request in self.requests().values():
            if request.is_active:
                found.setdefault(request.node, []).extend(request.groups)
        return found


def _has_groups(pod: PodRecord) -> bool:
    is_kai = pod.part is not None and pod.part.part.contract == KAI
    return is_kai or pod.namespace == RESERVATIONS


def _groups_of(pod: PodRecord) -> tuple[str, ...]:
    """
    Name the groups of a pod, or the one for which it keeps a GPU.
    """
    if pod.namespace == RESERVATIONS:
        return tuple(filter(None, [pod.labels.get(GROUP)]))
    return groups_of(pod.labels, pod.annotations)
