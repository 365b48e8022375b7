"""
Names for whole GPUs on nodes whose contract wants them: devices that nobody has.

Plans name the devices of parts alone.  Here the pods of a plan that get whole GPUs of
such a node are given those that are left: such as are linked with one another, where
that is known, else from the last one on.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter

from adapters.kube.objects.parts.free_gpus import free_gpus
from adapters.kube.objects.parts.node_devices import RegisteredGpus
from adapters.kube.objects.parts.part_keys import NAMES_WHOLE
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.watch.cache import Cache
from models.gangs import FINISHED
from models.plan import Operation

_HAS_GPUS = attrgetter("has_gpus")
Gpus = Callable[[str], RegisteredGpus | None]


class WholeGpuNames:
    """
    Chooses devices for the pods of a plan that get GPUs whole; ``gpus`` reads a node's.
    """

    def __init__(self, cache: Cache, gpus: Gpus) -> None:
        self._cache = cache
        self._gpus = gpus
        self._chosen: dict[tuple[str, str], tuple[int, ...]] = {}
        self._linked: set[str] = set()

    def turn(self, steps: Iterable[Operation]) -> None:
        """
        Choose for the binds of a plan; where nobody knows who has what, for none.

        Pods that still wait, for their volumes say, keep what was chosen before.
        """
        self._chosen = {
            (pod.key, pod.uid): self._chosen[pod.key, pod.uid]
            for pod in self._cache.pods_named(key for key, _ in self._chosen)
            if pod.node is None and (pod.key, pod.uid) in self._chosen
        }
        by_node: dict[str, list[Operation]] = {}
        for step in steps:
            by_node.setdefault(step.node, []).append(step)
        nodes = {
            node: gpus
            for node, mine in by_node.items()
            if (gpus := self._gpus(node)) is not None
            and gpus.contract in NAMES_WHOLE
            and not gpus.problem
            and (gpus.partitions or not all(step.devices for step in mine))
        }
        self._linked = {node for node, gpus in nodes.items() if gpus.must_be_linked}
        if nodes:
            there = self._there(nodes)
            for node, gpus in nodes.items():
                self._choose(gpus, by_node[node], there.get(node, ()))

    def of(self, step: Operation) -> tuple[int, ...]:
        """
        Give the devices that were chosen for a bind; none where none were.
        """
        return self._chosen.get((step.pod, step.uid or ""), ())

    def lacks(self, step: Operation) -> bool:
        """
        Tell whether a pod would get GPUs whole that are not linked, and must be.
        """
        if step.node not in self._linked or self.of(step):
            return False
        return any(map(_num_whole, self._cache.pods_named([step.pod])))

    def _there(self, nodes: Mapping[str, object]) -> dict[str, list[PodRecord]]:
        """
        List the pods on some nodes that have GPUs, whole or in parts.
        """
        found: dict[str, list[PodRecord]] = {}
        for pod in self._cache.pods_that(_HAS_GPUS):
            if pod.node in nodes and pod.phase not in FINISHED:
                found.setdefault(pod.node or "", []).append(pod)
        return found

    def _choose(
        self,
        gpus: RegisteredGpus,
        steps: Sequence[Operation],
        there: Iterable[PodRecord],
    ) -> None:
        """
        Choose for the pods that come to a node, of linked GPUs for the largest first.
        """
        free = free_gpus(gpus, there)
        if free is None:
            return
        sets, whole = gpus.partitions, []
        for step in steps:
            for pod in self._cache.pods_named([step.pod]):
                if count := _num_whole(pod) if sets or not step.devices else 0:
                    whole.append((count, step, pod))
                else:
                    free.difference_update(one.device for one in step.devices)
        if sets is not None:
            whole.sort(key=lambda each: -each[0])
        for count, step, pod in whole:
            chosen = None if sets is None else sets.choose(count, free)
            if chosen is None and not gpus.must_be_linked and count <= len(free):
                chosen = tuple(sorted(free)[-count:])
            if chosen is not None:
                self._chosen[step.pod, pod.uid] = chosen
                free.difference_update(chosen)


def _num_whole(pod: PodRecord) -> int:
    """
    Count the GPUs that a pod gets whole: asked for as such, or as all of their memory.
    """
    return sum(pod.gpus) if pod.part is None else pod.part.part.num_whole
