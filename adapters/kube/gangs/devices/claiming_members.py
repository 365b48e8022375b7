"""
Pods of a gang that claim devices: what each of them asks for, and whom it is near.

Of the pods that share a claim one carries it to a node, and the others must be near.
So its devices are taken where the gang starts and nowhere else, and only if it does.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from adapters.kube.dialects.protocol import Part
from adapters.kube.gangs.devices.claimed_devices import ClaimedDevices
from adapters.kube.gangs.workloads.leaves import Member, is_unfinished
from adapters.kube.gangs.workloads.trees import leaf_paths
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import FINISHED, PodPhase
from models.neighbours import Near, Neighbours
from models.nodes import HOSTNAME
from models.resources import CLAIMED_DEVICES


def with_devices(
    devices: ClaimedDevices, members: list[Member], part: Part
) -> list[Member]:
    """
    Let pods ask for the devices that they claim.

    Those of one leaf stay alike where their tree says an order of leaves.
    """
    claiming = [devices.claiming(member.pod) for member in members]
    if not any(pod.claims for pod in claiming):
        return members
    is_ordered = any(leaf.after for _, leaf in leaf_paths(part))
    placed = [
        replace(m, pod=devices.placed(pod, at_most=is_ordered))
        if pod.claims and pod.phase not in FINISHED
        else m
        for m, pod in zip(members, claiming, strict=True)
    ]
    return _with_shared_claims(devices, _alike(placed) if is_ordered else placed)


def _alike(members: Sequence[Member]) -> list[Member]:
    """
    Let the pods of each leaf with claims count in rows as much as any of them does.
    """
    most: dict[str, dict[str, int]] = {}
    for m in members:
        own = most.setdefault(m.leaf, {})
        for name, amount in m.pod.requests.items():
            if name.startswith(CLAIMED_DEVICES):
                own[name] = max(own.get(name, 0), amount)
    return [
        replace(m, pod=replace(m.pod, requests={**m.pod.requests, **most[m.leaf]}))
        if m.pod.claims and m.pod.phase not in FINISHED
        else m
        for m in members
    ]


def _with_shared_claims(devices: ClaimedDevices, members: list[Member]) -> list[Member]:
    """
    Let one waiting pod of a gang ask for each claim that several share.
    """
    alive = [member.pod for member in members if is_unfinished(member.pod)]
    waiting: dict[str, list[PodRecord]] = {}
    for pod in alive:
        for key in devices.sharing(pod) if pod.node is None else ():
            waiting.setdefault(key, []).append(pod)
    if not any(map(devices.sharing, alive)):
        return members
    carriers = {
        key: min(pods, key=lambda pod: _turn(devices, pod)).key
        for key, pods in waiting.items()
    }
    every = devices.users.users
    own = {key for key, pods in waiting.items() if len(every[key]) == len(pods)}
    sharing = _Sharing(devices, carriers, frozenset(own))
    return [sharing.of(m) if is_unfinished(m.pod) else m for m in members]


def _turn(devices: ClaimedDevices, pod: PodRecord) -> tuple[bool, int, float, str]:
    """
    Order who may carry a claim: those that may start, that share most, the oldest.
    """
    is_gated = pod.phase is PodPhase.GATED
    return is_gated, -len(devices.sharing(pod)), pod.created or 0.0, pod.key


@dataclass(frozen=True, slots=True)
class _Sharing:
    """
    The claims that pods of a gang share, with the pod that carries each.

    ``own`` are those that nobody else uses, and nobody on a node.
    """

    devices: ClaimedDevices
    carriers: Mapping[str, str]
    own: frozenset[str]

    def of(self, member: Member) -> Member:
        """
        Let a pod ask for what it carries, and be near who carries the rest.
        """
        pod, said = member.pod, member.neighbours
        keys = self.devices.sharing(pod)
        wide = [f"claim {key}" for key in keys if key not in self.own]
        if not keys or pod.node is not None:
            return replace(member, neighbours=_named(said, *wide))
        carriers = {key: self.carriers[key] for key in keys}
        others = [each for each in carriers.values() if each != pod.key]
        named = [_carrier(pod.key)] if len(others) < len(keys) else []
        said = _named(said, *named, *(wide if named else ()))
        near = [_carrier(each) for each in others] or wide
        if near and said.near is None:
            said = replace(said, near=Near(near[0], (HOSTNAME,)))
        asked = Counter(pod.requests)
        for key, carrier in carriers.items():
            if said.near is None or said.near.pods != _carrier(carrier):
                asked.update(self.devices.of_claim(key))
        pod = replace(pod, requests=dict(asked))
        return replace(member, pod=pod, neighbours=said)


def _carrier(pod: str) -> str:
    return f"pod {pod}, for its claim"


def _named(said: Neighbours, *names: str) -> Neighbours:
    return replace(said, selected=tuple(dict.fromkeys((*said.selected, *names))))
