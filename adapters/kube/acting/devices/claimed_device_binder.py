"""
Gangs whose pods claim devices: all claims get theirs, then the pods are bound.

Where a claim of a gang gets none, or a pod is not bound, what was written for it is
taken back, so that no devices are had by nobody.  What a leader before us left so is
found by looking at all claims, every now and then.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from adapters.kube.acting.devices.device_dealer import DeviceDealer, Grant
from adapters.kube.acting.devices.resource_claims import ResourceClaimWriter
from adapters.kube.acting.operations import (
    GET_RULE,
    NO_ANSWER,
    Answer,
    Deeds,
)
from adapters.kube.api.errors import ClusterError, NotFoundError
from adapters.kube.objects.fields import mapping
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.watch.cache import Cache
from models.gangs import PodPhase
from models.plan import Operation
from models.receipt import Receipt

Act = Callable[[Operation], Receipt]
_LOOK = 0.02
_OTHERS = 2.0
"""
Seconds that other schedulers get to write what they are about to.
"""
_YOUNG = 60.0
"""
Seconds after which nobody is about to place a pod that nobody told anything of.
"""
_PATIENCE = 5.0
"""
Seconds after which what we wrote has to be shown.
"""
Run = Callable[[Sequence[Operation], Act], list[Receipt]]


class ClaimedDeviceBinder:
    """
    Writes claims before pods are bound, and takes back what is of no use.
    """

    def __init__(self, deeds: Deeds, cache: Cache) -> None:
        self._deeds = deeds
        self._cache = cache
        self._writer = ResourceClaimWriter(
            deeds.transport, deeds.allowed, cache.writing, deeds.now
        )
        self._dealer = DeviceDealer(cache, self._writer.written)

    def concerned(
        self, units: Mapping[str, Sequence[Operation]]
    ) -> dict[str, Sequence[Operation]]:
        """
        Give the gangs of which some pods claim devices.
        """
        claiming = self._dealer.claiming(x for unit in units.values() for x in unit)
        return {
            name: unit
            for name, unit in units.items()
            if any(step.pod in claiming for step in unit)
        }

    def prepare(
        self, units: Mapping[str, Sequence[Operation]], run: Run
    ) -> dict[Operation, Receipt]:
        """
        Write the claims of some gangs; give the receipts of those that get not all.
        """
        steps = [step for unit in units.values() for step in unit]
        grants, given = self._dealer.deal(steps), set[str]()
        write = lambda step: self._written(grants[step], given)  # noqa: E731 - once
        done = run(steps, lambda step: self._deeds.done(step, write))
        receipts = dict(zip(steps, done, strict=True))
        taken = self._taken(given, {step.pod for step in steps})
        lost: set[Operation] = set()
        for step, some in grants.items():
            is_done = receipts[step].result == "done"
            lost |= frozenset() if is_done else {step}
            for grant in some if isinstance(some, tuple) else ():
                why = taken.get(grant.key)
                lost |= grant.steps if why or grant.key not in given else frozenset()
                if why and is_done:
                    receipts[step] = replace(
                        receipts[step], result="again", message=why
                    )
        failed: dict[Operation, Receipt] = {}
        for unit in units.values():
            if not lost.isdisjoint(unit):
                self.release(unit)
                failed |= {step: _not_bound(receipts[step]) for step in unit}
        return failed

    def _written(self, grants: Iterable[Grant] | str, given: set[str]) -> Answer:
        """
        Write the claims of a pod, and note those that are.
        """
        if isinstance(grants, str):
            return "again", grants
        for grant in grants:
            answer = self._writer.reserve(grant)
            if answer != NO_ANSWER:
                return answer
            given.add(grant.key)
        return NO_ANSWER

    def _taken(self, given: set[str], ours: set[str]) -> dict[str, str]:
        """
        Look at claims once the server has shown what we wrote; say who was faster.

        Another scheduler may give devices that it has not seen us give.  It does not
        take them back; so we do, and wait for what it is about to write.
        """
        now, deeds = self._dealer.now, self._deeds
        began = deeds.clock()
        while given and not (now.are_shown(given) and self._are_decided(ours, began)):
            if deeds.clock() >= began + _PATIENCE or not deeds.allowed():
                why = "the server has not shown what was written into its claims"
                return {} if now.are_shown(given) else dict.fromkeys(given, why)
            deeds.sleep(_LOOK)
        return now.lost(given) if given else {}

    def _are_decided(self, ours: set[str], began: float) -> bool:
        """
        Tell whether no other scheduler has pods with claims on its hands.

        What it could not place it has told; of what it does not tell it gets some time.
        """
        if self._deeds.clock() >= began + _OTHERS:
            return True
        mine = {pod.scheduler for pod in self._cache.pods_named(ours)}
        young = self._deeds.now() - _YOUNG
        waiting = self._cache.pods_that(
            lambda pod: pod.claims and pod.phase is PodPhase.PENDING and not pod.said
        )
        return all(
            pod.scheduler in mine or pod.node is not None or (pod.created or 0) < young
            for pod in waiting
        )

    def settle(self, receipts: Iterable[Receipt]) -> None:
        """
        Take back the claims of pods that were not bound after all.
        """
        lost = [each.operation for each in receipts if each.result != "done"]
        if lost:
            self.release(lost)

    def release(self, steps: Sequence[Operation]) -> None:
        """
        Take back what pods have that no node has.
        """
        self._take_back(self._cache.pods_named(step.pod for step in steps))

    def sweep(self) -> None:
        """
        Take back what pods that wait have been given, and not by this round.
        """
        pods = self._cache.pods_that(lambda pod: pod.claims or pod.extended)
        idle = [pod for pod in pods if pod.node is None]
        self._take_back([pod for pod in idle if pod.phase is PodPhase.PENDING])

    def _take_back(self, pods: Sequence[PodRecord]) -> None:
        if not pods:
            return
        for key, users in self._dealer.reserved_for(pods).items():
            unbound = [uid for uid, mates in users if not self._is_bound(mates)]
            if unbound:
                self._writer.release(key, unbound)

    def _is_bound(self, pods: Sequence[str]) -> bool:
        """
        Ask the server whether any of some pods has a node; it does if nobody can tell.
        """
        for pod in pods:
            space, _, name = pod.partition("/")
            path = f"/api/v1/namespaces/{space}/pods/{name}"
            try:
                raw = self._deeds.transport.call("GET", path, rule=GET_RULE)
            except NotFoundError:
                continue
            except ClusterError:
                return True
            if mapping(raw, "spec").get("nodeName"):
                return True
        return False


def _not_bound(receipt: Receipt) -> Receipt:
    """
    Say of what went well for a gang that it is of no use: the rest did not.
    """
    if receipt.result != "done":
        return receipt
    message = "not bound, since claims of its gang could not get their devices"
    return replace(receipt, result="skipped", message=message)
