"""
Volcano's ``networkTopology``: the highest tier of HyperNodes that pods may spread over.
"""

from adapters.kube.dialects.notes import Notes, count
from adapters.kube.dialects.volcano.hyper_nodes import TOPOLOGY, Tiers, level
from adapters.kube.objects.fields import Json, mapping, text
from models.topology import TopologyDemand


def demanded(
    raw: Json, place: str, tiers: Tiers, notes: Notes
) -> TopologyDemand | None:
    """
    Read what a gang or a policy of it demands of HyperNodes.

    ``hard`` is one HyperNode of the highest tier allowed, ``soft`` is none; of the
    lowest tier as few as can be in both.
    """
    where = f"{place}.networkTopology"
    demand = mapping(raw, "networkTopology", place)
    if not demand:
        return None
    mode = text(demand, "mode", where) or "hard"
    if mode not in {"hard", "soft"}:
        notes.invalid(f"{where}.mode: {mode!r} is neither hard nor soft")
    tier = count(demand, "highestTierAllowed", where)
    name = text(demand, "highestTierName", where)
    if tier is not None and name:
        notes.invalid(f"{where}: highestTierAllowed and highestTierName are both set")
    if mode == "soft":
        if not tiers.numbers:
            notes.warn(f"{where} is not obeyed: there is no HyperNode")
        return _within(None, tiers)
    if tier is None and not name:
        what = "hard without highestTierAllowed or highestTierName demands nothing"
        notes.warn(f"{where}: {what}, in Volcano too")
        return _within(None, tiers)
    if name:
        tier = _named(name, f"{where}.highestTierName", tiers, notes)
    return None if tier is None else _hard(tier, where, tiers, notes)


def _named(name: str, where: str, tiers: Tiers, notes: Notes) -> int | None:
    """
    Give the tier that a name stands for.
    """
    found = tiers.names.get(name, frozenset())
    if len(found) == 1:
        return min(found)
    several = ", ".join(map(str, sorted(found)))
    what = f"{name} is the name of the tiers {several}" if found else ""
    notes.invalid(f"{where}: {what or f'there is no HyperNode of a tier {name}'}")
    return None


def _hard(
    highest: int, where: str, tiers: Tiers, notes: Notes
) -> TopologyDemand | None:
    """
    Demand one HyperNode of a tier, or of a lower one; above all of them, nothing.
    """
    allowed = [tier for tier in tiers.numbers if tier <= highest]
    if not allowed:
        what = f"there is no HyperNode of tier {highest} or lower"
        notes.invalid(f"{where}.highestTierAllowed: {what}")
        return None
    top = tiers.numbers[-1]
    return _within(allowed[-1] if highest <= top else None, tiers)


def _within(tier: int | None, tiers: Tiers) -> TopologyDemand | None:
    """
    Demand one HyperNode of a tier, if any, and as few as can be of the lowest.
    """
    if not tiers.numbers:
        return None
    lowest = tiers.numbers[0]
    return TopologyDemand(
        topology=TOPOLOGY,
        required=None if tier is None else level(tier),
        preferred=None if tier == lowest else level(lowest),
    )
