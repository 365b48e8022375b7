"""
Claims that pods of a gang wait for together: who carries each, and who is near whom.

Of the pods that share a claim one carries it to a node, and the others must be near.
So its devices are taken where the gang starts and nowhere else, and only if it does.
Of gangs that start together the pods of one carry it for all of them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from adapters.kube.gangs.devices.claimed_devices import ClaimedDevices
from adapters.kube.gangs.workloads.leaves import Member, is_unfinished
from adapters.kube.gangs.workloads.trees import TreeError
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import PodPhase
from models.neighbours import Near
from models.nodes import HOSTNAME
from models.why.reasons import Reason


def with_shared_claims(devices: ClaimedDevices, members: list[Member]) -> list[Member]:
    """
    Let one pod ask for each claim that several wait for.

    Raises
    ------
    TreeError
        When pods that share a claim must be near different others.
    """
    alive = [m for m in members if is_unfinished(m.pod) and devices.sharing(m.pod)]
    if not alive:
        return members
    sharing = _Sharing(devices, frozenset(m.pod.key for m in members))
    found = {m.pod.key: sharing.of(m) for m in _in_order(devices, alive)}
    return [found.get(m.pod.key, m) for m in members]


def _in_order(devices: ClaimedDevices, members: Iterable[Member]) -> Iterator[Member]:
    """
    Walk pods so that each shares a claim with one before it, where any does.
    """
    every = list(members)
    named = Counter(name for m in every for name in {*m.neighbours.selected})
    left = sorted(every, key=lambda m: _turn(devices, m, named))
    known: set[str] = set()
    while left:
        near = (m for m in left if known.intersection(devices.sharing(m.pod)))
        first = next(near, left[0])
        left.remove(first)
        known.update(devices.sharing(first.pod))
        yield first


def _turn(
    devices: ClaimedDevices, member: Member, named: Mapping[str, int]
) -> tuple[object, ...]:
    """
    Order who may carry a claim; ``named`` counts who is selected by what.

    Those on nodes come first, then those that may start, that must be near others than
    these, that share most, the oldest.
    """
    pod = member.pod
    is_late = pod.node is None, pod.phase is PodPhase.GATED
    near, own = member.neighbours.near, member.neighbours.selected
    is_free = near is None or named[near.pods] > (near.pods in own)
    age = pod.created or 0.0
    return *is_late, is_free, -len(devices.sharing(pod)), age, pod.key


@dataclass(frozen=True, slots=True)
class _Carried:
    """
    Where a pod goes that carries claims: what selects it, and whom it is near.

    ``claims`` are all that are carried to its node wherever it starts, and
    ``selected`` says what selects the pods that are there then.
    """

    name: str
    claims: frozenset[str]
    near: frozenset[Near] = frozenset()
    selected: frozenset[str] = frozenset()

    def grants(self, near: Near) -> bool:
        """
        Tell whether who is here is near whom it wants.
        """
        return near in self.near or near.pods in self.selected


class _Sharing:
    """
    The claims that ``pods`` of a gang share, each with the place of who carries it.
    """

    def __init__(self, devices: ClaimedDevices, pods: frozenset[str]) -> None:
        self._devices = devices
        self._pods = pods
        self._units = devices.users.units
        led = dict(self._led_by_others())
        keys = frozenset(led)
        self._places = {key: _Carried(name, keys) for key, name in led.items()}

    def _led_by_others(self) -> Iterator[tuple[str, str]]:
        """
        Walk the claims that others of its unit carry, with what selects who does.
        """
        mine = {unit for pod in self._pods if (unit := self._units.get(pod))}
        for key in self._devices.shared if mine else ():
            for pod, unit in self._devices.users.together(key):
                if unit in mine:
                    if pod not in self._pods:
                        yield key, _of_unit(key, unit)
                    break

    def of(self, member: Member) -> Member:
        """
        Let a pod ask for what it carries, and be near who carries the rest.
        """
        pod, said = member.pod, member.neighbours
        keys, name = self._devices.sharing(pod), f"pod {pod.key}, for its claim"
        places = [self._places[key] for key in keys if key in self._places]
        there = max(places, key=lambda x: len(x.claims & {*keys}), default=_NOWHERE)
        carried = [key for key in keys if key not in there.claims]
        near = frozenset({said.near} if said.near else ())
        place = _Carried(
            name,
            there.claims.union(carried),
            there.near | near,
            there.selected.union(said.selected),
        )
        self._places |= {k: place for k in carried if k not in self._places}
        asked = Counter(pod.requests)
        for key in carried:
            asked.update(self._devices.of_claim(key))
        wide = [f"claim {key}" for key in keys if self._is_wide(key, pod)]
        names = [name, *self._names(carried, pod)] if carried else []
        names += wide if carried or pod.node is not None else []
        said = replace(said, selected=tuple(dict.fromkeys((*said.selected, *names))))
        if pod.node is None:
            said = replace(said, near=_near(pod, said.near, there, wide))
        return replace(member, pod=replace(pod, requests=dict(asked)), neighbours=said)

    def _names(self, carried: Sequence[str], pod: PodRecord) -> list[str]:
        unit = self._units.get(pod.key)
        return [_of_unit(key, unit) for key in carried] if unit else []

    def _is_wide(self, key: str, pod: PodRecord) -> bool:
        """
        Tell whether others use a claim than those who start together with a pod.
        """
        mine = self._units.get(pod.key)
        return any(
            each not in self._pods and (not unit or unit != mine)
            for each, unit in self._devices.users.together(key)
        )


_NOWHERE = _Carried("", frozenset())


def _near(
    pod: PodRecord, said: Near | None, there: _Carried, wide: Sequence[str]
) -> Near | None:
    """
    Say whom a pod is near: who carries its claims, for that one is near the others.
    """
    if there is _NOWHERE:
        return said or (Near(wide[0], (HOSTNAME,)) if wide else None)
    if said is None or there.grants(said) or pod.phase is PodPhase.GATED:
        return Near(there.name, (HOSTNAME,))
    detail = f"pod {pod.name}, spec.affinity.podAffinity: it must be near other pods "
    detail += "than those with which it shares a claim of devices"
    raise TreeError(Reason.UNSUPPORTED_CONSTRAINT, detail)


def _of_unit(key: str, unit: str) -> str:
    return f"claim {key} of {unit}"
