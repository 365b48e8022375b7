"""
Pods of a gang that claim devices: what each of them asks for.
"""

from collections.abc import Sequence
from dataclasses import replace

from adapters.kube.dialects.protocol import Part
from adapters.kube.gangs.devices.claimed_devices import ClaimedDevices
from adapters.kube.gangs.devices.shared_claims import with_shared_claims
from adapters.kube.gangs.workloads.leaves import Member
from adapters.kube.gangs.workloads.trees import leaf_paths
from models.gangs import FINISHED
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
    return with_shared_claims(devices, _alike(placed) if is_ordered else placed)


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
