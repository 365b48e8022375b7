"""
What Koordinator, ACK and scheduler-plugins have in common as dialects.

All three look for gangs in the same labels, annotations and objects; each reads those
that its rules hold for, again only when something it was read from has changed.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from adapters.kube.dialects.coscheduling.keys import (
    Finder,
    FoundGang,
    KeyRules,
    membership,
)
from adapters.kube.dialects.coscheduling.queues import Quotas, quotas_for_pods
from adapters.kube.dialects.kept_claims import Remembered
from adapters.kube.dialects.protocol import Claim, Membership, Objects
from adapters.kube.objects.pod_record import PodRecord
from models.queues import Queue
from models.topology import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class Family(ABC):
    """
    One system of the family; ``rules`` are its own.

    ``family``: the one system that is there, where only one of Koordinator and ACK is.
    ``owns_status``: no controller is there, so phases and counters are written, too.
    """

    family: KeyRules | None = None
    owns_status: bool = False
    rules: ClassVar[KeyRules]

    def membership(self, pod: PodRecord) -> Membership | None:
        """
        Say which gang a pod names, the reference label first, the annotation last.
        """
        return membership(pod)

    def claims(
        self, objects: Objects, members: Mapping[str, tuple[PodRecord, ...]]
    ) -> Iterable[Claim]:
        """
        Read every gang that this system's rules hold for.
        """
        quotas = quotas_for_pods(objects)
        remembered = objects.memo.own(f"claims of {self.rules}", Remembered)
        remembered.begin(quotas)
        finder = objects.memo.own("coscheduling", Finder)
        for found in finder.found(objects, members, family=self.family):
            if found.rules is self.rules:
                yield remembered.claim(
                    found.key,
                    (found.group, found.pods, found.api_group),
                    partial(self.read, found, quotas),
                )

    @abstractmethod
    def read(self, found: FoundGang, quotas: Quotas) -> Claim:
        """
        Read one gang by this system's rules.
        """

    def queues(self, objects: Objects, warnings: list[str]) -> Iterable[Queue]:
        """
        Read none, unless the system has queues of its own.
        """
        del objects, warnings
        return ()

    def topologies(self, objects: Objects, warnings: list[str]) -> Iterable[Topology]:
        """
        Read none: what gathers pods by network layers is refused, gang by gang.
        """
        del objects, warnings
        return ()
