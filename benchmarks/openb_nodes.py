"""
The nodes of openb while pods come one by one: where each leaves least of no use.

The same numbers as the tier ``expected-fragments``, for all nodes at once: weights of a
thousand, sums of halves rounded per node to a twentieth of a GPU.  Then counts
``packing``, then the order of the nodes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from models.devices.gpu_parts import WHOLE, GpuPart
from models.devices.typical_pods import TypicalPod, typical_pods
from models.policy import ListedPod, Policy, Tier, TypicalGpu
from models.resources import CPU, GPU
from models.snapshot import Snapshot

Ints = NDArray[np.int64]
_STEP = 100_000
_MOST = 8
_NEVER = 2**40
_MIB = 2**20


@dataclass(frozen=True, slots=True)
class OpenbPod:
    """
    A pod of openb: thousandths of so many devices, on nodes of some models.
    """

    cpu: int
    memory: int
    devices: int
    milli: int
    models: tuple[str, ...] = ()

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """
        Read a row of a pod list.
        """
        devices = int(row["num_gpu"])
        milli = int(row["gpu_milli"]) if devices == 1 else WHOLE * bool(devices)
        models = (row.get("gpu_spec") or "").split("|")
        return cls(
            cpu=int(row["cpu_milli"]),
            memory=int(row["memory_mib"]),
            devices=devices,
            milli=milli,
            models=tuple(sorted(filter(None, models))),
        )

    @property
    def amount(self) -> int:
        """
        The thousandths of GPUs that it takes.
        """
        return self.devices * self.milli

    def listed(self, count: int) -> ListedPod:
        """
        Write it as a typical pod of a policy.
        """
        requests = {CPU: self.cpu}
        gpu = None
        if 0 < self.milli < WHOLE:
            gpu = TypicalGpu.model_construct(fraction=self.milli, devices=1)
        elif self.devices:
            requests[GPU] = self.devices
        return ListedPod.model_construct(
            requests=requests, gpu=gpu, models=self.models, count=count
        )


def listing(pods: Sequence[OpenbPod]) -> Policy:
    """
    Give the default tiers, with the pods of a list as the typical ones.
    """
    kinds = Counter(OpenbPod(x.cpu, 0, x.devices, x.milli, x.models) for x in pods)
    listed = tuple(pod.listed(number) for pod, number in kinds.items())
    tier = Tier.model_construct(
        name="expected-fragments", gap=None, after=None, gpus=None, pods=listed
    )
    default = Policy()
    tiers = (*default.tiers[:-1], tier, default.tiers[-1])
    return default.model_copy(update={"tiers": tiers})


class NodesTaken:
    """
    What is left of all nodes, and for each kind of pod where it would go.
    """

    def __init__(
        self, rows: Sequence[Mapping[str, Any]], pods: Sequence[OpenbPod], ranks: Ints
    ) -> None:
        self._cpu = np.array([int(row["cpu_milli"]) for row in rows])
        self._memory = np.array([int(row["memory_mib"]) for row in rows])
        gpus = np.array([int(row["gpu"]) for row in rows])
        self._left = np.where(np.arange(_MOST) < gpus[:, None], WHOLE, 0)
        self._models = [str(row["model"]) for row in rows]
        self._ranks = ranks
        self.capacity = int(gpus.sum()) * WHOLE
        self._learn(typical_pods(Snapshot(), listing(pods)))
        self._log: list[int] = []
        self._known: dict[OpenbPod, tuple[Ints, Ints, int]] = {}

    def _learn(self, typical: Sequence[TypicalPod]) -> None:
        self._weights = np.array([pod.weight for pod in typical])
        asked = [dict(pod.requests).get(CPU, 0) for pod in typical]
        self._asked = np.array(asked)
        parts = [pod.part or GpuPart(cores=WHOLE) for pod in typical]
        self._milli = np.array([part.cores for part in parts])
        self._devices = np.array([max(1, pod.gpus) for pod in typical])
        self._sizes = np.array([pod.size for pod in typical])
        self._may = np.array(
            [
                [not pod.models or model in pod.models for pod in typical]
                for model in self._models
            ]
        )

    def values(self, nodes: Ints, cpu: Ints, left: Ints) -> Ints:
        """
        Say of some nodes, with what they would have left, what is of no use there.
        """
        holds = left[:, None, :] >= self._milli[:, None]
        can = (holds.sum(axis=2) >= self._devices) & (cpu[:, None] >= self._asked)
        can &= self._may[nodes]
        used = (left[:, None, :] * holds).sum(axis=2) * can
        pods = np.where(self._asked, cpu[:, None] // np.maximum(1, self._asked), _NEVER)
        filled = np.minimum(used, pods * self._sizes)
        lost = 2 * left.sum(axis=1)[:, None] - used - filled
        return np.asarray((lost @ self._weights + _STEP // 2) // _STEP)

    def place(self, pod: OpenbPod) -> bool:
        """
        Place a pod where it is best; say whether there was any place.
        """
        added, devices, at = self._known.get(pod, (None, None, 0))
        if added is None or devices is None:
            number = len(self._cpu)
            added, devices = np.zeros(number, int), np.zeros(number, int)
            stale = np.arange(number)
        else:
            stale = np.array(sorted({*self._log[at:]}), dtype=np.int64)
        if len(stale):
            added[stale], devices[stale] = self._added(pod, stale)
        self._known[pod] = added, devices, len(self._log)
        best = np.flatnonzero(added == added.min())
        if added[best[0]] == _NEVER:
            return False
        holes = (self._left[best] == WHOLE).sum(axis=1)
        best = best[holes == holes.min()]
        node = int(best[self._ranks[best].argmin()])
        self._take(pod, node, int(devices[node]))
        return True

    def total(self) -> int:
        """
        Add up what is of no use on all nodes.
        """
        every = np.arange(len(self._cpu))
        return int(self.values(every, self._cpu, self._left).sum())

    def last(self, pod: OpenbPod) -> tuple[int, tuple[int, ...]]:
        """
        Give where the pod that came last lies, with its devices if it shares one.
        """
        node = self._log[-1]
        shares = 0 < pod.milli < WHOLE
        return node, (int(self._known[pod][1][node]),) if shares else ()

    def _take(self, pod: OpenbPod, node: int, device: int) -> None:
        self._cpu[node] -= pod.cpu
        self._memory[node] -= pod.memory
        if pod.milli == WHOLE:
            whole = np.flatnonzero(self._left[node] == WHOLE)[: pod.devices]
            self._left[node, whole] = 0
        elif pod.milli:
            self._left[node, device] -= pod.milli
        self._log.append(node)

    def _added(self, pod: OpenbPod, nodes: Ints) -> tuple[Ints, Ints]:
        """
        Say what a pod adds on each of some nodes, and on which of their devices.
        """
        left, cpu = self._left[nodes], self._cpu[nodes] - pod.cpu
        fits = (cpu >= 0) & (self._memory[nodes] >= pod.memory)
        fits &= (left >= max(1, pod.milli)).sum(axis=1) >= pod.devices
        if pod.models:
            fits &= np.array([self._models[node] in pod.models for node in nodes])
        added = np.full(len(nodes), _NEVER, dtype=np.int64)
        device = np.zeros(len(nodes), dtype=np.int64)
        at = np.flatnonzero(fits)
        if not len(at):
            return added, device
        before = self.values(nodes[at], self._cpu[nodes[at]], left[at])
        for number, rest in self._ways(pod, left[at]):
            able = (rest >= 0).all(axis=1)
            here = at[able]
            after = self.values(nodes[here], cpu[here], rest[able]) - before[able]
            better = after < added[here]
            fuller = left[here, number] < left[here, device[here]]
            better |= (after == added[here]) & fuller
            added[here[better]] = after[better]
            device[here[better]] = number
        return added, device

    @staticmethod
    def _ways(pod: OpenbPod, left: Ints) -> list[tuple[int, Ints]]:
        """
        Take a pod's devices of each node, in each way that may differ.
        """
        if not pod.milli:
            return [(0, left)]
        if pod.milli == WHOLE:
            whole = left == WHOLE
            return [
                (0, np.where(whole & (whole.cumsum(axis=1) <= pod.devices), 0, left))
            ]
        found = []
        for number in range(_MOST):
            rest = left.copy()
            rest[:, number] -= pod.milli
            found.append((number, rest))
        return found
