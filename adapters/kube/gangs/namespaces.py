"""
Pods and raw objects by namespace, and which namespaces changed since the last look.

Objects stay the very same as long as nothing of them changes, so that identity tells
what did.  In which order anything was heard of decides nothing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.memo import DialectMemo
from adapters.kube.dialects.notes import named
from adapters.kube.dialects.protocol import Dialect, Objects
from adapters.kube.dialects.workloads import IN_MANIFESTS
from adapters.kube.dialects.workloads import RESOURCES as OWNERS
from adapters.kube.gangs.devices.device_room import DEVICE_KINDS
from adapters.kube.gangs.kinds import BIND_REQUESTS
from adapters.kube.gangs.namespace_labels import NAMESPACE, ending_namespaces
from adapters.kube.gangs.storage.storage_classes import STORAGE_KINDS
from adapters.kube.objects.node_pool import NodePool
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import FINISHED, PodPhase
from models.memory.kept import Held, Kept

Kind = tuple[str, str]
QUOTA = "ElasticQuota"
CLAIM = ("", "PersistentVolumeClaim")
BUDGET = ("policy", "PodDisruptionBudget")
HANDED = (BIND_REQUESTS.group, BIND_REQUESTS.kind)
VOLUMES = (("", "PersistentVolume"), *STORAGE_KINDS)
"""
Kinds on which only gangs depend whose pods have volumes.
"""
_ASIDE = frozenset(
    {("", "Pod"), ("", "Node"), NAMESPACE, BUDGET, HANDED, *VOLUMES, *DEVICE_KINDS}
)
"""
Kinds on which not all gangs of a namespace, or of all, depend.
"""


@dataclass(slots=True)
class Namespace:
    """
    What is in one namespace, and what is kept of it; ``others`` are not ours to plan.
    """

    name: str
    ours: dict[int, PodRecord] = field(default_factory=dict)
    others: dict[int, PodRecord] = field(default_factory=dict)
    raws: dict[Kind, tuple[Raw, ...]] = field(default_factory=dict)
    memo: DialectMemo = field(default_factory=DialectMemo)

    @property
    def is_empty(self) -> bool:
        """
        Tell whether nothing is left in it.
        """
        return not (self.ours or self.others or any(self.raws.values()))

    def sorted_ours(self) -> list[PodRecord]:
        """
        List our pods by name.
        """
        return sorted(self.ours.values(), key=_by_name)

    def sorted_others(self) -> list[PodRecord]:
        """
        List the pods of others by name.
        """
        return sorted(self.others.values(), key=_by_name)


class Namespaces:
    """
    All namespaces, kept up to date.
    """

    def __init__(
        self, dialects: Sequence[Dialect], schedulers: Collection[str], pool: NodePool
    ) -> None:
        self.held: dict[str, Namespace] = {}
        self._schedulers = frozenset(schedulers)
        self._pool = pool
        self._pods: Held[PodRecord] = Held()
        self._kinds: dict[Kind, tuple[Raw, ...]] = {}
        self._names: dict[Kind, Kept[Raw, tuple[str, str] | None]] = {}
        self._once: dict[str, Any] = {}
        self._ending: frozenset[str] = frozenset()
        self._apart = frozenset(
            (each.group, each.kind)
            for each in (
                *OWNERS,
                *IN_MANIFESTS,
                *(each for dialect in dialects for each in dialect.resources),
            )
            if each.namespaced and each.kind != QUOTA
        ) | {CLAIM, BUDGET}

    def pods_changed(
        self, pods: Iterable[PodRecord]
    ) -> tuple[list[PodRecord], list[PodRecord]]:
        """
        Take the pods that are there now; give those that are gone, and the new ones.

        Who leaves without a place, or is of others and has ended, is gone already.
        """
        gone, came = self._pods.changed(pods)
        for pod in gone:
            space = self._of(pod.namespace)
            space.ours.pop(id(pod), None)
            space.others.pop(id(pod), None)
        for pod in came:
            self._put(pod)
        return gone, came

    def _put(self, pod: PodRecord) -> None:
        space = self._of(pod.namespace)
        if self.is_ours(pod):
            if pod.node is not None or pod.phase is not PodPhase.TERMINATING:
                space.ours[id(pod)] = pod
        elif pod.phase not in FINISHED:
            space.others[id(pod)] = pod

    def is_ours(self, pod: PodRecord) -> bool:
        """
        Tell whether a pod is for us to plan.
        """
        return pod.scheduler in self._schedulers and self._pool.owns(pod.labels)

    def objects_changed(self, objects: Objects) -> tuple[Objects, set[str]]:
        """
        Take the raw objects that are there now; name the namespaces where one changed.

        Give with them what is of the whole cluster; kinds that did not change are the
        very same there.  Of volumes nothing is said here.
        """
        touched: set[str] = set()
        for kind in [kind for kind in self._kinds if kind not in objects.by_kind]:
            touched |= self._parted(kind, ())
            del self._kinds[kind]
        for kind, raws in objects.by_kind.items():
            known = self._kinds.get(kind)
            if known != raws:
                self._kinds[kind] = raws
                if kind in self._apart:
                    touched |= self._parted(kind, raws)
        memo = DialectMemo(once=self._once)
        wide = Objects(by_kind=dict(self._kinds), unread=objects.unread, memo=memo)
        ending = ending_namespaces(wide)
        touched |= ending ^ self._ending
        self._ending = ending
        return wide, touched

    def _parted(self, kind: Kind, raws: tuple[Raw, ...]) -> set[str]:
        """
        Part a kind by namespace, each by name; name the namespaces where it changed.
        """
        by_space: dict[str, list[tuple[str, Raw]]] = {}
        names = self._names.setdefault(kind, Kept(_name_of)).of(raws)
        for said, raw in zip(names, raws, strict=True):
            if said is not None:
                by_space.setdefault(said[0], []).append((said[1], raw))
        touched = set()
        for name in {*by_space, *(n for n, s in self.held.items() if kind in s.raws)}:
            space = self._of(name)
            here = sorted(by_space.get(name, ()), key=_first)
            mine = tuple([raw for _, raw in here])
            if space.raws.get(kind, ()) != mine:
                space.raws[kind] = mine
                touched.add(name)
        return set() if kind in _ASIDE else touched

    def objects_of(self, space: Namespace, wide: Objects) -> Objects:
        """
        Give what is of one namespace, with what is of the whole cluster.
        """
        by_kind = {
            kind: space.raws.get(kind, ()) if kind in self._apart else raws
            for kind, raws in wide.by_kind.items()
        }
        space.memo.once = self._once
        return Objects(by_kind=by_kind, unread=wide.unread, memo=space.memo)

    def shared(self, wide: Objects) -> Mapping[Kind, tuple[Raw, ...]]:
        """
        Give what gangs of all namespaces are made of.
        """
        return {
            kind: raws
            for kind, raws in wide.by_kind.items()
            if kind not in self._apart and kind not in _ASIDE
        }

    def drop_empty(self) -> list[str]:
        """
        Forget the namespaces in which nothing is left, and name them.
        """
        empty = [name for name, space in self.held.items() if space.is_empty]
        for name in empty:
            del self.held[name]
        return empty

    def _of(self, name: str) -> Namespace:
        space = self.held.get(name)
        if space is None:
            space = self.held[name] = Namespace(name)
        return space


def _name_of(raw: Raw) -> tuple[str, str] | None:
    """
    Give namespace and name of an object; none where they cannot be read.
    """
    return next(((space, name) for space, name, _ in named([raw])), None)


def _by_name(pod: PodRecord) -> tuple[str, str]:
    return pod.name, pod.uid


def _first(entry: tuple[str, Raw]) -> str:
    return entry[0]
