"""
What gangs of all namespaces depend on: queues, priority classes and topologies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.notes import PriorityClasses, priority_classes
from adapters.kube.dialects.protocol import Dialect, Objects
from adapters.kube.gangs.queues import Homes, Queues, queues_of, topologies_of
from models.queues import Queue
from models.topology import Topology

Kinds = Mapping[tuple[str, str], tuple[Raw, ...]]


@dataclass(frozen=True, slots=True)
class ClusterRules:
    """
    What was read of some kinds of objects; as long as these are the same, it stands.
    """

    kinds: Kinds
    queues: Queues
    homes: Homes
    classes: PriorityClasses
    warnings: Sequence[str]

    @property
    def around(self) -> object:
        """
        Give what gangs are made of, to compare.
        """
        return self.queues, self.classes

    def usable(self, guests: int, warnings: list[str]) -> list[Queue]:
        """
        List the queues, with the one that is made up for guests.
        """
        return self.queues.usable + self.homes.made(guests, warnings)


@dataclass(frozen=True, slots=True)
class Levels:
    """
    The topologies that were read of some kinds of objects.
    """

    kinds: Kinds
    topologies: tuple[Topology, ...]
    warnings: Sequence[str]


def rules_of(
    dialects: Sequence[Dialect], kinds: Kinds, wide: Objects, last: ClusterRules | None
) -> ClusterRules:
    """
    Read the rules, or give the last ones where nothing of their kinds changed.
    """
    if last is not None and _same(last.kinds, kinds):
        return last
    warnings: list[str] = []
    queues = queues_of(dialects, wide, warnings)
    return ClusterRules(kinds, queues, Homes(queues), priority_classes(wide), warnings)


def levels_of(
    dialects: Sequence[Dialect], wide: Objects, last: Levels | None
) -> Levels:
    """
    Read the topologies, or give the last ones.
    """
    heard = {(each.group, each.kind) for d in dialects for each in d.resources}
    kinds = {kind: raws for kind, raws in wide.by_kind.items() if kind in heard}
    if last is not None and _same(last.kinds, kinds):
        return last
    warnings: list[str] = []
    found = topologies_of(dialects, wide, warnings)
    return Levels(kinds, tuple(found), warnings)


def _same(before: Kinds, now: Kinds) -> bool:
    """
    Tell whether some kinds are the very same objects.
    """
    return before.keys() == now.keys() and all(
        raws is now[kind] for kind, raws in before.items()
    )
