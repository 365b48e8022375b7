"""
Pods that KAI's binder is about to bind: they count as on their nodes, in their groups.

Whoever handed them over: KAI's scheduler, we, or who led before us.
"""

from collections.abc import Iterable
from dataclasses import replace

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.protocol import Objects
from adapters.kube.gangs.kinds import BIND_REQUESTS
from adapters.kube.objects.bind_requests import BindRequestRecord, bind_request_record
from adapters.kube.objects.parts.device_parts import KEPT_FOR_IT
from adapters.kube.objects.parts.kai_parts import notes_of_groups
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import PodPhase

_KIND = (BIND_REQUESTS.group, BIND_REQUESTS.kind)
_Made = tuple[PodRecord, Raw, PodRecord]


class HandedOver:
    """
    Puts pods where their requests say; of those that are as they were, the very same.

    ``is_served`` says whether anybody knows of requests, as where KAI's binder is.
    """

    def __init__(self) -> None:
        self.is_served = False
        self._made: dict[str, _Made] = {}

    def placed(self, pods: Iterable[PodRecord], objects: Objects) -> list[PodRecord]:
        """
        Give all pods, those that are handed over as if they were bound.
        """
        self.is_served = _KIND in objects.by_kind
        requests = {
            found.pod: (raw, found)
            for raw in objects.of(*_KIND)
            if (found := bind_request_record(raw)) is not None and found.is_active
        }
        if not requests:
            self._made = {}
            return list(pods)
        known, self._made = self._made, {}
        return [
            pod
            if pod.phase is not PodPhase.PENDING or pod.key not in requests
            else self._placed(pod, requests[pod.key], known.get(pod.key))
            for pod in pods
        ]

    def _placed(
        self,
        pod: PodRecord,
        request: tuple[Raw, BindRequestRecord],
        known: _Made | None,
    ) -> PodRecord:
        raw, said = request
        if said.owner not in {"", pod.uid}:
            return pod
        if known is None or known[0] is not pod or known[1] is not raw:
            notes = notes_of_groups(said.groups)
            made = replace(
                pod,
                node=said.node,
                phase=PodPhase.RUNNING,
                annotations={**pod.annotations, **notes},
                shared=None if pod.part is None else KEPT_FOR_IT,
            )
            known = pod, raw, made
        self._made[pod.key] = known
        return known[2]
