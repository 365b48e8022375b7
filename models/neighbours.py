"""
Neighbours: which pods a pod must be near, apart from, or is spread among.

Selectors of pods are known by name here: whoever reads a source says of each pod which
of them select it.  A domain is all nodes with one value of a label, the topology key.
Pods are neighbours too where they need some of the same free volumes.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple, Self

from models.volume_slots import claims_in_words, is_volume_slot, name_of_claims


class Near(NamedTuple):
    """
    The domain of each key must hold a pod that ``pods`` selects, or gets the first.
    """

    pods: str
    keys: tuple[str, ...]

    @property
    def pair(self) -> tuple[str, str]:
        """
        Whom it looks for, and its keys in one.
        """
        return self.pods, ", ".join(self.keys)


class Apart(NamedTuple):
    """
    No other pod that ``pods`` selects is in the same domain of the key.
    """

    pods: str
    key: str


class Spread(NamedTuple):
    """
    A domain holds at most ``skew`` more of the selected pods than any other.

    With fewer than ``domains`` of them, the others hold none.  Only nodes that the pod
    may be on count: by its selector and affinity if ``by_affinity``, by its tolerations
    if ``by_taints``.
    """

    pods: str
    key: str
    skew: int = 1
    domains: int = 1
    by_affinity: bool = True
    by_taints: bool = False


class Preferred(NamedTuple):
    """
    Others that ``pods`` selects are liked in the same domain, disliked if below 0.
    """

    pods: str
    key: str
    weight: int = 1


class ReachedVolumes(NamedTuple):
    """
    So many volumes that serve one claim each, of some kinds, wherever they are reached.

    Nodes with the same of them reach the same volumes.
    """

    name: str
    kinds: tuple[str, ...]
    number: int = 1


def linked_kinds(volumes: Iterable[ReachedVolumes]) -> Mapping[str, str]:
    """
    Give kinds of claims that share volumes, be it by way of others, the first's name.
    """
    found: dict[str, str] = {}
    for kinds in sorted({one.kinds for one in volumes}):
        names = {found.get(kind, kind) for kind in kinds}
        joined = {kind for kind, name in found.items() if name in names}
        found |= dict.fromkeys((*joined, *kinds), min(names))
    return found


def sharer(claim: tuple[str, str], place: object) -> tuple[str, str]:
    """
    Name who needs the volume of a shared claim: it takes a slot on each of its nodes.
    """
    return (f"{claim[0]} at {place}", claim[1]) if is_volume_slot(claim[1]) else claim


class RulePairs(frozenset[tuple[str, str]]):
    """
    Selectors with topology keys: those that select a pod are found by its own.
    """

    keys: tuple[str, ...]

    def __new__(cls, pairs: Iterable[tuple[str, str]] = ()) -> Self:
        """
        Keep some pairs, and which keys there are.
        """
        found = super().__new__(cls, pairs)
        found.keys = tuple(sorted({key for _, key in found}))
        return found

    def of(self, said: "Neighbours") -> list[tuple[str, str]]:
        """
        List the pairs whose selector selects a pod.
        """
        return [pair for pair in product(said.selected, self.keys) if pair in self]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """
    Which selectors select a pod, and what it asks of the pods around it.

    Of each kind in ``claims`` it needs so many free volumes; each of ``shared``, by
    name and kind, needs one for all of its pods together, or one on each of their nodes
    where the kind is slots.  What it would like is
    ``preferred``, and who else would like it or not is named by ``preferred_by``: that
    only tells places apart that are equally good otherwise.  A pod that is ``moved``
    is there already, so it does not come after others.
    """

    selected: tuple[str, ...] = ()
    near: Near | None = None
    apart: tuple[Apart, ...] = ()
    spread: tuple[Spread, ...] = ()
    claims: tuple[tuple[str, int], ...] = ()
    shared: tuple[tuple[str, str], ...] = ()
    preferred: tuple[Preferred, ...] = ()
    preferred_by: tuple[str, ...] = ()
    moved: bool = False

    def __bool__(self) -> bool:
        """
        Tell whether anything is said that must hold.
        """
        return self.takes_volumes or self.meets_others

    @property
    def meets_others(self) -> bool:
        """
        Tell whether it matters to others where it is, or to it where they are.
        """
        return bool(self.selected or self.near or self.apart or self.spread)

    @property
    def takes_volumes(self) -> bool:
        """
        Tell whether it needs free volumes, of its own or with others.
        """
        return bool(self.claims or self.shared)

    def one_in_each(self, key: str) -> bool:
        """
        Tell whether no two pods like it may be in one domain of a key.
        """
        own = (rule for rule in self.apart if rule.pods in self.selected)
        return any(rule.key == key for rule in own)

    def kinds_of_claims(self) -> list[str]:
        """
        List the kinds of free volumes that are needed.
        """
        alone = {kind for kind, _ in self.claims}
        return sorted(alone | {kind for _, kind in self.shared})

    def claims_in_words(self) -> list[str]:
        """
        Say which free volumes or slots are needed.
        """
        return sorted({claims_in_words(kind) for kind in self.kinds_of_claims()})

    def claims_by_name(self) -> list[str]:
        """
        Name the kinds that are needed.
        """
        return sorted({name_of_claims(kind) for kind in self.kinds_of_claims()})

    def required(self) -> "Neighbours":
        """
        Give what must hold, without what is only liked.
        """
        if not (self.preferred or self.preferred_by):
            return self
        return replace(self, preferred=(), preferred_by=())

    def topology_keys(self) -> Iterator[str]:
        """
        Walk the topology keys that are asked for.
        """
        yield from self.near.keys if self.near else ()
        yield from (rule.key for rule in self.apart)
        yield from (rule.key for rule in self.spread)
        yield from (rule.key for rule in self.preferred)

    def spread_keys(self) -> list[str]:
        """
        List the keys that a pod is spread by.
        """
        return sorted({rule.key for rule in self.spread})

    def is_spread(self, pods: str, key: str) -> bool:
        """
        Tell whether a pod is itself among those that are spread by a key.
        """
        return pods in self.selected and any(
            (rule.pods, rule.key) == (pods, key) for rule in self.spread
        )

    def comes_perhaps(self, pods: str, key: str) -> bool:
        """
        Tell whether a pod is one too many for those spread by a key, and no one fewer.
        """
        return self.moved and pods in self.selected and not self.is_spread(pods, key)

    def asked_about(self) -> Iterator[str]:
        """
        Walk the selectors of others that are asked for or kept away.
        """
        yield from [self.near.pods] if self.near else ()
        yield from (rule.pods for rule in self.apart)
        yield from (rule.pods for rule in self.spread)

    def concerns(self, other: "Neighbours", linked: Mapping[str, str]) -> bool:
        """
        Tell whether one says anything of pods like the other, or needs volumes as it.

        ``linked`` gives kinds of claims that share volumes one name.
        """
        mine, theirs = (
            {linked.get(kind, kind) for kind in one.kinds_of_claims()}
            for one in (self, other)
        )
        return (
            not {*self.asked_about()}.isdisjoint(other.selected)
            or not {*other.asked_about()}.isdisjoint(self.selected)
            or not mine.isdisjoint(theirs)
        )

    def selectors(self) -> Iterator[str]:
        """
        Walk the selectors that are named.
        """
        yield from self.selected
        yield from self.asked_about()
        yield from self.preferred_by
        yield from (rule.pods for rule in self.preferred)


ALONE = Neighbours()
"""
A pod that nothing selects and that asks nothing of others.
"""
