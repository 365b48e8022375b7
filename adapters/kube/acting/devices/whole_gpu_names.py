"""
Names for whole GPUs on nodes whose contract wants them: devices that nobody has.

Plans name the devices of parts alone.  Here the pods of a plan that get whole GPUs of
such a node are given those that are left, from the last one on.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from adapters.kube.objects.parts.device_parts import names_under
from adapters.kube.objects.parts.node_devices import RegisteredGpus
from adapters.kube.objects.parts.part_keys import NAMES_WHOLE
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.watch.cache import Cache
from models.gangs import PodPhase
from models.plan import Operation
from models.resources import num_gpus

_FINISHED = (PodPhase.SUCCEEDED, PodPhase.FAILED)
Gpus = Callable[[str], RegisteredGpus | None]


class WholeGpuNames:
    """
    Chooses devices for the pods of a plan that get GPUs whole; ``gpus`` reads a node's.
    """

    def __init__(self, cache: Cache, gpus: Gpus) -> None:
        self._cache = cache
        self._gpus = gpus
        self._chosen: dict[tuple[str, str], tuple[int, ...]] = {}

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
            if not all(step.devices for step in mine)
            and (gpus := self._gpus(node)) is not None
            and gpus.contract in NAMES_WHOLE
            and not gpus.problem
        }
        if nodes:
            there = self._there(nodes)
            for node, gpus in nodes.items():
                self._choose(gpus, by_node[node], there.get(node, ()))

    def of(self, step: Operation) -> tuple[int, ...]:
        """
        Give the devices that were chosen for a bind; none where none were.
        """
        return self._chosen.get((step.pod, step.uid or ""), ())

    def _there(self, nodes: Mapping[str, object]) -> dict[str, list[PodRecord]]:
        """
        List the pods on some nodes that have GPUs, whole or in parts.
        """
        found: dict[str, list[PodRecord]] = {}
        for pod in self._cache.pods_that(_has_gpus):
            if pod.node in nodes and pod.phase not in _FINISHED:
                found.setdefault(pod.node or "", []).append(pod)
        return found

    def _choose(
        self,
        gpus: RegisteredGpus,
        steps: Sequence[Operation],
        there: Iterable[PodRecord],
    ) -> None:
        taken = set(gpus.ill)
        for step in steps:
            taken.update(one.device for one in step.devices)
        for pod in there:
            names = names_under(gpus.contract, pod.annotations, pod.requests)
            numbers = gpus.numbers(dict.fromkeys(names))
            count = pod.part.part.count if pod.part else num_gpus(pod.requests)
            if numbers is None or len(numbers) != count:
                return  # nobody knows which are free
            taken.update(numbers)
        free = [n for n in range(len(gpus.names)) if n not in taken]
        for step in steps:
            for pod in self._cache.pods_named([step.pod]):
                count = sum(pod.gpus)
                if step.devices or not 0 < count <= len(free):
                    continue
                self._chosen[step.pod, pod.uid] = tuple(sorted(free[-count:]))
                del free[-count:]


def _has_gpus(pod: PodRecord) -> bool:
    return pod.part is not None or num_gpus(pod.requests) > 0
