"""
Neighbours, and the free volumes that nodes reach, with everything called otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from models.neighbours import Apart, Near, Neighbours, ReachedVolumes
from models.nodes import Node

_Names = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RenamedNeighbours:
    """
    The new names of selectors, label keys, kinds of claims, free volumes, and claims.
    """

    selectors: _Names
    keys: _Names
    kinds: _Names
    volumes: _Names
    claims: _Names

    def of(self, said: Neighbours) -> Neighbours:
        """
        Call the selectors, keys and claims of neighbours otherwise.
        """
        names, key = self.selectors, self._key
        near = said.near
        spread = (r._replace(pods=names[r.pods], key=key(r.key)) for r in said.spread)
        preferred = (
            r._replace(pods=names[r.pods], key=key(r.key)) for r in said.preferred
        )
        return Neighbours(
            selected=tuple(sorted(names[each] for each in said.selected)),
            near=near and Near(names[near.pods], tuple(sorted(map(key, near.keys)))),
            apart=tuple(sorted(Apart(names[r.pods], key(r.key)) for r in said.apart)),
            spread=tuple(sorted(spread)),
            claims=tuple(sorted((self.kinds[kind], n) for kind, n in said.claims)),
            shared=tuple(
                sorted((self.claims[c], self.kinds[k]) for c, k in said.shared)
            ),
            preferred=tuple(sorted(preferred)),
            preferred_by=tuple(sorted(names[each] for each in said.preferred_by)),
        )

    def others(self, node: Node) -> tuple[tuple[Neighbours, int], ...]:
        """
        Call what the neighbours on a node that are not ours say otherwise.
        """
        return tuple(sorted(((self.of(said), n) for said, n in node.others), key=repr))

    def volumes_of(self, node: Node) -> tuple[ReachedVolumes, ...]:
        """
        Call the free volumes that a node reaches otherwise.
        """
        found = (
            ReachedVolumes(
                self.volumes[one.name],
                tuple(sorted(self.kinds[kind] for kind in one.kinds)),
                one.number,
            )
            for one in node.volumes
        )
        return tuple(sorted(found))

    def _key(self, said: str) -> str:
        return self.keys.get(said, said)
