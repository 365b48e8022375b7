"""
Gangs that wait for KAI's binder: whose turn it is, and what became of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from adapters.kube.acting.devices.gpu_groups import GpuGroups
from adapters.kube.acting.gangs_on_hold import HeldGang, are_behind
from adapters.kube.objects.bind_requests import BindRequestRecord
from adapters.kube.watch.cache import Cache
from models.plan import Operation

Requests = Mapping[str, BindRequestRecord]


@dataclass(slots=True, eq=False)
class HandedGang(HeldGang):
    """
    The binds of one gang, or gang group, that wait for KAI's binder.

    ``groups`` are those of the pods that share GPUs, ``asked`` the pods for which a
    request was written.
    """

    groups: Mapping[str, tuple[str, ...]]
    asked: set[str] = field(default_factory=set)


class HandedGangs:
    """
    Tells of gangs that wait what the API server shows.
    """

    def __init__(self, cache: Cache, groups: GpuGroups, within: float) -> None:
        self._cache = cache
        self._groups = groups
        self.within = within

    def is_bound(self, step: Operation) -> bool:
        """
        Tell whether the binder has bound a pod where the plan wants it.
        """
        pod = self._groups.pod(step)
        return pod is not None and pod.node == step.node

    def is_done(self, held: HandedGang, waiting: Sequence[HandedGang]) -> bool:
        """
        Tell whether the binder has bound all that it was asked for.

        What a gang grew by while its start was held comes after that.
        """
        if are_behind(waiting[: waiting.index(held)], held.steps):
            return False
        return all(self.is_bound(s) for s in held.steps if s.pod in held.groups)

    def next(self, held: HandedGang, busy: set[str]) -> list[Operation]:
        """
        List the pods whose groups are nobody's turn, each group once: ``busy`` then.
        """
        found = []
        for step in held.steps:
            groups = held.groups.get(step.pod, ())
            if not groups or step.pod in held.asked or self.is_bound(step):
                continue
            if busy.isdisjoint(groups):
                busy.update(groups)
                found.append(step)
        return found

    def busy(self, waiting: Sequence[HandedGang], requests: Requests) -> set[str]:
        """
        Name the groups to which a pod is being bound.
        """
        found: set[str] = set()
        for held in waiting:
            for pod in held.asked:
                if not self._has_node(pod):
                    found.update(held.groups[pod])
        for request in requests.values():
            if request.is_active and not self._has_node(request.pod):
                found.update(request.groups)
        return found

    def _has_node(self, pod: str) -> bool:
        """
        Tell whether the API server shows a pod on a node, or no more.
        """
        pods = self._cache.pods_named([pod])
        return not pods or pods[0].node is not None

    def look(self, held: HandedGang, requests: Requests, now: float) -> None:
        """
        Note why a gang must be given up, if it must.
        """
        for step in held.steps:
            pods = self._cache.pods_named([step.pod])
            if not pods or pods[0].uid != (step.uid or ""):
                held.give_up("again", f"pod {step.pod} is gone")
            elif pods[0].node not in {None, step.node}:
                what = f"pod {step.pod} is bound to {pods[0].node} already"
                held.give_up("again", what)
            elif step.pod in held.asked and pods[0].node is None:
                request = requests.get(step.pod)
                if request is not None and not request.is_active:
                    what = request.reason or "it does not say why"
                    held.give_up("refused", f"KAI's binder failed: {what}")
        if now > held.since + self.within:
            held.give_up("refused", too_long(self.within))


def too_long(seconds: float) -> str:
    """
    Say that the binder takes too long.
    """
    return f"KAI's binder has not bound it within {seconds:.0f} s"
