"""
Pods that get parts of GPUs: what is written with their binds, and whose turn it is.

The plugins of a node find "their" pod by what it looks like, so some contracts take one
pod after the other: gpushare one of each amount per node, vGPU one per node, and HAMi
whoever holds the lock of the node, which its plugin gives back.
"""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from adapters.kube.acting.devices.device_notes import (
    ALLOCATING,
    ASSIGNED,
    VGPU_PHASE,
    notes_of,
    whole_part,
)
from adapters.kube.acting.devices.node_lock import NodeLock
from adapters.kube.acting.devices.whole_gpu_names import WholeGpuNames
from adapters.kube.api.client import Transport
from adapters.kube.objects.parts.node_devices import (
    DEVICES,
    RegisteredGpus,
    both,
    koordinator_devices,
)
from adapters.kube.objects.parts.part_keys import GPUSHARE, HAMI, KOORDINATOR, VGPU
from adapters.kube.objects.parts.part_words import PodPart
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.watch.cache import Cache
from adapters.machine.clock import monotonic
from models.gangs import FINISHED
from models.plan import Operation

WAITS = 5.0
"""
The seconds for which a bind waits for its turn on a node; then the next round tries.
"""
_PAUSE = 0.1


class NotNowError(Exception):
    """
    A pod cannot get its devices now; the next round may try.
    """


@dataclass(slots=True)
class DeviceBinder:
    """
    Says what is written with binds, and lets pods wait for their turn.
    """

    transport: Transport
    cache: Cache
    allowed: Callable[[], bool] = lambda: True
    clock: Callable[[], float] = monotonic
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time
    waits: float = WAITS
    _begun: dict[str, PodRecord] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)
    _lock: NodeLock = field(init=False)
    whole: WholeGpuNames = field(init=False)

    def __post_init__(self) -> None:
        self.whole = WholeGpuNames(self.cache, self._gpus)
        self._lock = NodeLock(self.transport, self.cache, self._time)

    def begin(self) -> None:
        """
        Begin with another round: forget the turns of pods that are bound, or gone.
        """
        with self._guard:
            turns = self._begun.items()
            self._begun = {turn: pod for turn, pod in turns if self._is_coming(pod)}

    def _time(self) -> float:
        return self.now()

    def notes(self, operation: Operation) -> Mapping[str, str]:
        """
        Give the annotations of a bind; none where it gives no part of a GPU.

        Raises
        ------
        NotNowError
            When the pod or its node is no longer what the plan knew.
        """
        if self.whole.lacks(operation):
            what = f"node {operation.node} has no free GPUs that are linked"
            raise NotNowError(what)
        numbers = self._numbers(operation)
        if not numbers:
            return {}
        pod, gpus = self._pod(operation), self._gpus(operation.node)
        if pod is None:
            raise NotNowError(f"pod {operation.pod} is gone")
        part = self._part(operation, pod)
        if part is None or gpus is None or gpus.contract != part.part.contract:
            what = f"nobody knows the GPUs of node {operation.node} any more"
            raise NotNowError(what)
        if gpus.problem or max(numbers) >= len(gpus.names):
            raise NotNowError(gpus.problem or f"{operation.node} has fewer GPUs now")
        return notes_of(part, gpus, numbers, (operation.node, self.now()))

    def notes_now(self, operation: Operation) -> Mapping[str, str] | None:
        """
        Give the annotations of a bind as far as they are known before it.
        """
        try:
            return self.notes(operation) or None
        except NotNowError:
            return None

    def take_turn(self, operation: Operation) -> None:
        """
        Wait until the plugin of a node has seen to who came before.

        Raises
        ------
        NotNowError
            When that takes too long.
        """
        pod = self._pod(operation)
        part = self._part(operation, pod)
        if pod is None or part is None:
            return
        until = self.clock() + self.waits
        while why := self._why_not(operation.node, pod, part):
            if self.clock() >= until or not self.allowed():
                raise NotNowError(why)
            self.sleep(_PAUSE)

    def give_up_turn(self, operation: Operation) -> None:
        """
        Give back the lock of a node on which the pod was not bound after all.
        """
        pod = self._pod(operation)
        part = self._part(operation, pod)
        if pod is None or part is None:
            return
        with self._guard:
            turn = _turn(operation.node, part)
            if turn in self._begun and self._begun[turn].uid == pod.uid:
                del self._begun[turn]
        if part.part.contract != HAMI:
            return
        self._lock.give_back(operation.node, pod)

    def _why_not(self, node: str, pod: PodRecord, part: PodPart) -> str:
        """
        Say why it is not a pod's turn; nothing where it is, and nobody else's then.
        """
        if part.part.contract == KOORDINATOR:
            return ""
        if why := self._why_waiting(node, pod, part):
            return why
        with self._guard:
            turn = _turn(node, part)
            before = self._begun.get(turn, pod)
            if before.uid != pod.uid and self._is_coming(before):
                return f"pod {before.key} is being bound to node {node}"
            self._begun[turn] = pod
        return self._lock.why_not(node, pod) if part.part.contract == HAMI else ""

    def _is_coming(self, pod: PodRecord) -> bool:
        """
        Tell whether the server has not shown yet that a pod is bound, or gone.

        Another one of its name may be there since.
        """
        now = self.cache.pods_named([pod.key])
        return bool(now) and now[0].uid == pod.uid and now[0].node is None

    def _why_waiting(self, node: str, pod: PodRecord, part: PodPart) -> str:
        """
        Name a pod on the node that its plugin could take this one for.
        """
        contract = part.part.contract
        for other in self.cache.pods_on(node):
            if other.phase in FINISHED or other.key == pod.key:
                continue
            said = other.annotations
            if contract == VGPU and said.get(VGPU_PHASE) == ALLOCATING:
                return f"pod {other.key} is still being given its GPU on node {node}"
            if (
                contract == GPUSHARE
                and said.get(ASSIGNED) == "false"
                and other.part is not None
                and other.part.amount == part.amount
            ):
                what = "waits there for the same amount, by which its plugin finds it"
                return f"node {node}: pod {other.key} {what}"
        return ""

    def _pod(self, operation: Operation) -> PodRecord | None:
        pods = self.cache.pods_named([operation.pod])
        return pods[0] if pods and pods[0].uid == (operation.uid or "") else None

    def _numbers(self, operation: Operation) -> tuple[int, ...]:
        """
        Give the devices of a bind: those of its plan, or those chosen as whole ones.
        """
        planned = tuple(one.device for one in operation.devices)
        return self.whole.of(operation) or planned

    def _part(self, operation: Operation, pod: PodRecord | None) -> PodPart | None:
        """
        Give what a pod gets of its devices: a part, or all of those chosen for it.
        """
        if pod is None or operation.devices:
            return None if pod is None else pod.part
        gpus = self._gpus(operation.node) if self.whole.of(operation) else None
        return None if gpus is None else whole_part(gpus.contract, pod.gpus)

    def _gpus(self, node: str) -> RegisteredGpus | None:
        record = self.cache.node(node)
        if record is None:
            return None
        found = None
        with suppress(KeyError):  # nobody follows Device objects, or there is none
            raw = self.cache.shelf(DEVICES).records[node]
            found = koordinator_devices(raw)
        beside = None if found is None else found[1]
        return both(record.devices, beside, record.node.labels)


def _turn(node: str, part: PodPart) -> str:
    """
    Name what one pod after the other takes: a node, of gpushare for each amount.
    """
    return f"{node} {part.amount}" if part.part.contract == GPUSHARE else node
