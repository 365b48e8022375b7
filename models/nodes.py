"""
Nodes, their labels and taints, and what a pod may demand of them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from models.devices.gpu_parts import MigDevices, TakenDevice
from models.neighbours import Neighbours, ReachedVolumes
from models.resources import Resources

HOSTNAME = "kubernetes.io/hostname"
Operator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """
    A node's refusal of every pod that does not tolerate it.
    """

    key: str
    value: str = ""
    effect: str = "NoSchedule"


@dataclass(frozen=True, slots=True, kw_only=True)
class Toleration:
    """
    A pod's acceptance of matching taints; an empty key with Exists accepts all.
    """

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def accepts(self, taint: Taint) -> bool:
        """
        Tell whether the taint is tolerated.
        """
        if self.effect and self.effect != taint.effect:
            return False
        if self.operator == "Exists":
            return not self.key or self.key == taint.key
        return self.key == taint.key and self.value == taint.value


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRule:
    """
    One expression of a node affinity term.
    """

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def holds(self, labels: Mapping[str, str]) -> bool:
        """
        Tell whether labels satisfy the expression.
        """
        have = labels.get(self.key)
        match self.operator:
            case "In":
                return have is not None and have in self.values
            case "NotIn":
                return have is None or have not in self.values
            case "Exists":
                return have is not None
            case "DoesNotExist":
                return have is None
            case "Gt":
                number = _whole(have)
                return number is not None and number > int(self.values[0])
            case "Lt":
                number = _whole(have)
                return number is not None and number < int(self.values[0])


def _whole(text: str | None) -> int | None:
    """
    Read a label as a whole number, as Kubernetes does; none where it is none.
    """
    return int(text) if text is not None and _WHOLE.fullmatch(text) else None


Terms = tuple[tuple[LabelRule, ...], ...]
"""
Any term must hold; a term holds when all its expressions do, an empty one never.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDemand:
    """
    What a pod demands of its node besides room; equal demands are one key.

    ``terms`` are the required node affinity, ``None`` demands nothing.  ``volumes`` are
    what its volumes demand beside that: each of them must hold.
    """

    selector: tuple[tuple[str, str], ...] = ()
    terms: Terms | None = None
    tolerations: tuple[Toleration, ...] = ()
    volumes: tuple[Terms, ...] = ()

    def allows(self, node: "Node") -> bool:
        """
        Tell whether a pod with this demand may be on the node, whatever its room.
        """
        return (
            not node.unschedulable
            and self.matches(node.labels)
            and self.tolerates(node.taints)
        )

    def matches(self, labels: Mapping[str, str]) -> bool:
        """
        Tell whether labels satisfy the selector, the affinity and the volumes.
        """
        return self.selects(labels) and self.reaches(labels)

    def selects(self, labels: Mapping[str, str]) -> bool:
        """
        Tell whether labels satisfy the selector and the required affinity.
        """
        return all(labels.get(k) == v for k, v in self.selector) and (
            self.terms is None or one_holds(self.terms, labels)
        )

    def reaches(self, labels: Mapping[str, str]) -> bool:
        """
        Tell whether the pod has its volumes on a node with these labels.
        """
        return all(one_holds(terms, labels) for terms in self.volumes)

    def rules(self) -> Iterator[LabelRule]:
        """
        Walk the expressions over labels, those of volumes too.
        """
        for terms in (self.terms or (), *self.volumes):
            for term in terms:
                yield from term

    def tolerates(self, taints: Iterable[Taint]) -> bool:
        """
        Tell whether no taint keeps the pod off.
        """
        return all(self._tolerates(t) for t in taints)

    def _tolerates(self, taint: Taint) -> bool:
        if taint.effect == "PreferNoSchedule":
            return True
        return any(t.accepts(taint) for t in self.tolerations)


def one_holds(terms: Terms, labels: Mapping[str, str]) -> bool:
    """
    Tell whether labels satisfy one of some terms.
    """
    return any(bool(t) and all(rule.holds(labels) for rule in t) for t in terms)


ANYWHERE = NodeDemand()


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """
    A machine: what it offers, and what work that is not ours already uses of it.

    Its GPUs are all of one model, with so many MiB of memory where that is known.
    ``taken`` names those that such work has, as far as that is known; all of them are
    counted in ``used``, the ones that it shares too.  ``others`` counts the pods of
    such work that are neighbours to ours.  ``volumes`` are free ones that it reaches,
    as other nodes may too.  ``tied`` are pieces of ``used``, by number: each is free
    once all pods have left that are tied to it, and not before.
    """

    name: str
    allocatable: Resources
    used: Resources = field(default_factory=dict)
    tied: tuple[Resources, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    gpu_model: str = ""
    gpu_memory: int = 0
    mig: MigDevices | None = None
    taken: tuple[TakenDevice, ...] = ()
    others: tuple[tuple[Neighbours, int], ...] = ()
    volumes: tuple[ReachedVolumes, ...] = ()

    def offers(self, resource: str) -> int:
        """
        Give what it has of a resource without any pod of ours.
        """
        own = self.allocatable.get(resource, 0) - self.used.get(resource, 0)
        if not self.tied:
            return own
        return own + sum([piece.get(resource, 0) for piece in self.tied])

    @property
    def counted_devices(self) -> frozenset[int]:
        """
        The numbers of the GPUs that ``used`` counts already.
        """
        return frozenset(one.device for one in self.taken)
