"""
Neighbours as files write them, read and written.
"""

from collections.abc import Sequence

from models.documents.place_specs import (
    ApartSpec,
    NearSpec,
    OthersSpec,
    ReachedSpec,
    SpreadSpec,
)
from models.documents.scenario import TreeSpec
from models.neighbours import Apart, Near, Neighbours, Preferred, ReachedVolumes, Spread
from models.nodes import Node

Record = dict[str, object]


def neighbours_of(spec: TreeSpec) -> Neighbours:
    """
    Read which pods select those of a leaf, and whom these are near to or apart from.
    """
    return Neighbours(
        selected=tuple(sorted(set(spec.selected))),
        near=_near(spec.near),
        apart=_apart(spec.apart),
        spread=tuple(sorted({_spread(rule) for rule in spec.spread})),
        claims=tuple(sorted(spec.claims.items())),
        shared=tuple(sorted(spec.shared.items())),
        preferred=tuple(
            sorted(
                {
                    *(Preferred(r.pods, r.key, r.weight) for r in spec.liked),
                    *(Preferred(r.pods, r.key, -r.weight) for r in spec.disliked),
                }
            )
        ),
        preferred_by=tuple(sorted(set(spec.preferred_by))),
    )


def others_of(specs: Sequence[OthersSpec]) -> tuple[tuple[Neighbours, int], ...]:
    """
    Read the pods of others on a node.
    """
    found: dict[Neighbours, int] = {}
    for spec in specs:
        here = Neighbours(
            selected=tuple(sorted(set(spec.selected))),
            apart=_apart(spec.apart),
            preferred_by=tuple(sorted(set(spec.preferred_by))),
        )
        found[here] = found.get(here, 0) + spec.count
    return tuple(sorted(found.items(), key=repr))


def free_volumes_of(specs: Sequence[ReachedSpec]) -> tuple[ReachedVolumes, ...]:
    """
    Read the free volumes that a node reaches.
    """
    found = {
        ReachedVolumes(spec.name, tuple(sorted(set(spec.kinds))), spec.count)
        for spec in specs
    }
    return tuple(sorted(found))


def free_volumes_written(node: Node) -> list[Record]:
    """
    Write the free volumes that a node reaches.
    """
    return [
        {
            "name": one.name,
            "for": list(one.kinds),
            **({"count": one.number} if one.number > 1 else {}),
        }
        for one in node.volumes
    ]


def _near(spec: NearSpec | None) -> Near | None:
    return None if spec is None else Near(spec.pods, tuple(sorted(set(spec.keys))))


def _apart(specs: Sequence[ApartSpec]) -> tuple[Apart, ...]:
    return tuple(sorted({Apart(spec.pods, spec.key) for spec in specs}))


def _spread(spec: SpreadSpec) -> Spread:
    return Spread(
        spec.pods,
        spec.key,
        spec.skew,
        spec.domains,
        by_affinity=spec.affinity == "Honor",
        by_taints=spec.taints == "Honor",
    )


def neighbours_written(said: Neighbours) -> Record:
    """
    Write the neighbours of a leaf.
    """
    near = said.near
    found: Record = {
        "selectedBy": list(said.selected),
        "podAffinity": near and {"pods": near.pods, "topologyKeys": list(near.keys)},
        "podAntiAffinity": [
            {"pods": rule.pods, "topologyKey": rule.key} for rule in said.apart
        ],
        "topologySpread": [_spread_written(rule) for rule in said.spread],
        "claims": dict(said.claims),
        "sharedClaims": dict(said.shared),
        "preferredBy": list(said.preferred_by),
        "preferredPodAffinity": [
            _preferred_written(rule) for rule in said.preferred if rule.weight > 0
        ],
        "preferredPodAntiAffinity": [
            _preferred_written(rule) for rule in said.preferred if rule.weight < 0
        ],
    }
    return {word: value for word, value in found.items() if value}


def _spread_written(rule: Spread) -> Record:
    found: Record = {"pods": rule.pods, "topologyKey": rule.key}
    found |= {"maxSkew": rule.skew} if rule.skew != 1 else {}
    found |= {"minDomains": rule.domains} if rule.domains != 1 else {}
    found |= {} if rule.by_affinity else {"nodeAffinityPolicy": "Ignore"}
    return found | ({"nodeTaintsPolicy": "Honor"} if rule.by_taints else {})


def _preferred_written(rule: Preferred) -> Record:
    found: Record = {"pods": rule.pods, "topologyKey": rule.key}
    weight = abs(rule.weight)
    return found | ({"weight": weight} if weight != 1 else {})


def others_written(node: Node) -> list[Record]:
    """
    Write the pods of others on a node.
    """
    return [
        {**neighbours_written(said), **({"count": count} if count > 1 else {})}
        for said, count in node.others
    ]
