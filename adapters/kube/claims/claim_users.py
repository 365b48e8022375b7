"""
Who uses which claim: the claims of pods, what they ask for, and who asks for it alone.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from adapters.kube.claims.device_items import Item, items_of
from adapters.kube.claims.device_requests import ClaimSpec, DeviceClaim
from adapters.kube.claims.extended_resources import ExtendedResources
from adapters.kube.objects.pod_record import PodClaim, PodRecord

Template = ClaimSpec | str
"""
What claims of a template ask for; why it cannot be read.
"""


@dataclass(frozen=True, slots=True)
class ClaimUsers:
    """
    Claims and templates by namespace and name; of each claim the pods that use it.

    ``users`` lists the keys of unfinished pods, ours first and the oldest first.
    ``stay`` are the claims of pods that may leave one by one: no single one of them
    gives the devices back.  ``units`` names by pod the gangs that start together.
    """

    claims: Mapping[str, DeviceClaim] = field(default_factory=dict)
    templates: Mapping[str, Template] = field(default_factory=dict)
    users: Mapping[str, Sequence[str]] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    stay: frozenset[str] = frozenset()
    units: Mapping[str, str] = field(default_factory=dict)
    extended: ExtendedResources = field(
        default_factory=ExtendedResources, compare=False
    )
    _items: dict[ClaimSpec, Mapping[Item, int]] = field(
        default_factory=dict, compare=False
    )

    def claim(self, pod: PodRecord, entry: PodClaim) -> DeviceClaim | None:
        """
        Give the claim of a pod; none where it does not exist.
        """
        return self.claims.get(f"{pod.namespace}/{entry.claim}")

    def together(self, key: str) -> list[tuple[str, str]]:
        """
        List who uses a claim, each with the gangs that it starts with, if any.
        """
        return [(pod, self.units.get(pod, "")) for pod in self.users.get(key, ())]

    def template(self, pod: PodRecord, entry: PodClaim) -> Template | None:
        """
        Give the template of a claim.
        """
        return self.templates.get(f"{pod.namespace}/{entry.template}")

    def not_known(self, pod: PodRecord, entry: PodClaim) -> str:
        """
        Say what keeps a claim from being known; nothing of a pod that is not there.
        """
        if (claim := self.claim(pod, entry)) is not None:
            return f"({claim.name}) cannot be read: {claim.unread}"
        if entry.claim:
            return f"({entry.claim}) does not exist"
        if self.template(pod, entry) is None and entry.template:
            return f"is not made: template {entry.template} does not exist"
        return "is not made yet" if pod.uid else ""

    def is_of_group(self, pod: PodRecord, claim: DeviceClaim) -> bool:
        """
        Tell whether a claim was made for the PodGroup of a pod.
        """
        group = self.groups.get(f"{pod.namespace}/{pod.group}") if pod.group else None
        return group is not None and group in claim.owners

    def specs(
        self, pod: PodRecord
    ) -> Iterator[tuple[DeviceClaim | None, ClaimSpec | None, str]]:
        """
        Walk what a pod's claims ask for, each with why it cannot be planned, if so.
        """
        for entry in pod.claims:
            claim = self.claim(pod, entry)
            if claim is not None:
                where = f"ResourceClaim {claim.name}, "
                yield claim, claim.spec, claim.fault and where + claim.fault
            elif not entry.claim and entry.claim is None:
                where = f"ResourceClaimTemplate {entry.template}, "
                found = self.template(pod, entry)
                if entry.asked:
                    where, found = "", self.extended.spec(entry.asked)
                if isinstance(found, str):
                    yield None, None, where + found
                elif found is not None:
                    yield None, found, ""

    def items(self, spec: ClaimSpec) -> Mapping[Item, int]:
        """
        Count the items of a claim.
        """
        known = self._items.get(spec)
        if known is None:
            found: Counter[Item] = Counter()
            for each in items_of(spec):
                found[each.item] += each.times
            known = self._items[spec] = found
        return known

    def carries(self, pod: PodRecord, claim: DeviceClaim | None) -> bool:
        """
        Tell whether a pod is the one that counts for a claim.

        Of a claim that has its devices, that is a pod on their node, or nobody.
        """
        if claim is not None and claim.held is not None:
            is_there = pod.node is not None and claim.key not in self.stay
            return is_there and self.pays(pod, claim)
        return self.pays(pod, claim)

    def pays(self, pod: PodRecord, claim: DeviceClaim | None) -> bool:
        """
        Tell whether a pod is the one of a claim's users whose queue it counts in.
        """
        users = () if claim is None else self.users.get(claim.key, ())
        return not users or users[0] == pod.key
