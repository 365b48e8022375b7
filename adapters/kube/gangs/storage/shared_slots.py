"""
Which shared claims count once on a node, and of which slots planning is told.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial

from adapters.kube.gangs.storage.attached_volumes import (
    Attached,
    SharedClaim,
    SlotRoom,
    first_shared,
)
from adapters.kube.gangs.storage.pod_volumes import NOTHING_TOLD, Claim, ToldSlots
from models.nodes import Node


class SharedSlots:
    """
    What was found last of the claims that pods share, and of the slots of nodes.
    """

    def __init__(self) -> None:
        self.claims: frozenset[Claim] = frozenset()
        self.room = SlotRoom()
        self.told = NOTHING_TOLD

    def look(
        self,
        shared: Iterable[SharedClaim],
        there: Callable[[Collection[Claim]], Iterable[Attached]],
        limits: Mapping[str, Mapping[str, int]],
        nodes: Iterable[Node],
    ) -> frozenset[Claim] | None:
        """
        Look again; give the claims that count otherwise, or none if any volume may.
        """
        chosen = first_shared(shared)
        old, before = self.claims, self.told
        self.claims = frozenset(each.claim for each in chosen)
        attached = partial(there, self.claims) if limits else tuple[Attached]
        offered = {node.name: node.allocatable for node in nodes} if limits else {}
        self.room = SlotRoom(attached, limits, chosen, offered)
        self.told = ToldSlots(self.room.told, self.room.kinds())
        return None if self.told != before else old ^ self.claims
