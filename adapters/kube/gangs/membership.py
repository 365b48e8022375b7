"""
Which pods are which gang: what pods say, what groups claim, and who is heard first.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adapters.kube.dialects.defaults import POOL
from adapters.kube.dialects.protocol import Claim, Dialect, Membership, Objects
from adapters.kube.gangs.workloads.leaves import Member, index_of
from adapters.kube.gangs.workloads.owners import derived, queue_said
from adapters.kube.objects.pod_record import PodRecord
from models.why.reasons import NO_POD_GROUP, Reason, Waiting

_MOST_FORGOTTEN = 2
Words = tuple[tuple[int, Membership], ...]
"""
Memberships, each with the number of its dialect.
"""


@dataclass(slots=True)
class Grouped:
    """
    A gang in the making: its claim, its pods, and why it cannot be planned.
    """

    claim: Claim
    members: list[Member] = field(default_factory=list)
    conflict: str | None = None

    @property
    def pods(self) -> list[PodRecord]:
        """
        The pods alone.
        """
        return [member.pod for member in self.members]

    @property
    def is_over(self) -> bool:
        """
        Tell whether nothing is left of it that could wait, or that others wait for.
        """
        return self.claim.over and not (self.members or self.claim.mates)


@dataclass(frozen=True, slots=True)
class _PodSaid:
    """
    What a pod says.

    ``memberships`` are one object for all pods that say the same; ``member`` is the pod
    in the leaf of the first; ``agreed`` says that all are alike.
    """

    pod: PodRecord
    memberships: Words
    member: Member
    agreed: bool


class Memberships:
    """
    Groups pods; what a pod said is asked once, as long as it stays the same.
    """

    def __init__(self, dialects: Sequence[Dialect]) -> None:
        self._dialects = dialects
        self._known: dict[str, _PodSaid] = {}
        self._words: dict[Words, Words] = {}

    def grouped(
        self,
        ours: Sequence[PodRecord],
        others: Sequence[PodRecord],
        objects: Objects,
        warnings: list[str],
    ) -> dict[str, Grouped]:
        """
        Give every gang with its claim and its pods.

        Parameters
        ----------
        ours
            The pods that we may plan.
        others
            Those of other schedulers; a gang of theirs alone is none of ours.
        objects
            Where groups and owners stand.
        warnings
            What people should know is added here.
        """
        said = [self._said(pod) for pod in ours]
        theirs = [self._said(pod) for pod in others]
        claims = self._claims(said, objects, warnings)
        groups = _groups(said, claims, self._dialects)
        _part(groups, _named_by(theirs))
        alone = [entry for entry in said if not entry.memberships]
        placed = {pod for claim in claims.values() for pod in claim.placed}
        rest = [entry.pod for entry in alone if entry.pod.key not in placed]
        unsized: list[str] = []
        for made in derived(rest, objects, groups):
            unsized += filter(None, [made.unsized])
            group = groups[made.claim.key] = Grouped(
                made.claim,
                [_in_leaf(self._known[p.key].member, leaf) for p, leaf in made.members],
            )
            _in_pool(group)
        warnings += _assumed(sorted(unsized))
        self._forget(len(ours) + len(others), (*said, *theirs))
        return {key: group for key, group in groups.items() if not group.is_over}

    def _said(self, pod: PodRecord) -> _PodSaid:
        key = pod.key
        known = self._known.get(key)
        if known is not None and known.pod is pod:
            return known
        found = [(at, d.membership(pod)) for at, d in enumerate(self._dialects)]
        said = tuple([(at, m) for at, m in found if m is not None])
        said = self._words.setdefault(said, said)
        leaf = said[0][1].leaf if said else ""
        queue = queue_said(pod.labels, pod.annotations)
        member = Member(pod, leaf, index_of(pod), queue)
        agreed = len({membership for _, membership in said}) <= 1
        known = self._known[key] = _PodSaid(pod, said, member, agreed)
        return known

    def _forget(self, number: int, said: Iterable[_PodSaid]) -> None:
        if max(len(self._known), len(self._words)) > _MOST_FORGOTTEN * number + 1000:
            self._known = {entry.pod.key: entry for entry in said}
            words = (entry.memberships for entry in self._known.values())
            self._words = {said: said for said in words}

    def _claims(
        self, said: Sequence[_PodSaid], objects: Objects, warnings: list[str]
    ) -> dict[str, Claim]:
        """
        Hear the dialects in their order; the first that claims a gang is believed.
        """
        members: list[dict[str, list[PodRecord]]] = [{} for _ in self._dialects]
        for words, pods in _by_words(said):
            for at, membership in words:
                members[at].setdefault(membership.gang, []).extend(pods)
        claims: dict[str, Claim] = {}
        for at, dialect in enumerate(self._dialects):
            mine = {key: tuple(pods) for key, pods in members[at].items()}
            for claim in dialect.claims(objects, mine):
                first = claims.setdefault(claim.key, claim)
                if first is not claim and (
                    first.source is None or first.source is not claim.source
                ):
                    names = f"{first.dialect} and {claim.dialect}"
                    what = (
                        f"{claim.key} is described by {names}: {first.dialect} is used"
                    )
                    warnings.append(what)
        return claims


def _assumed(names: Sequence[str]) -> Iterator[str]:
    """
    Say whose size nobody says, and what is taken for it.
    """
    if not names:
        return
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    verb, whose = ("is", "its gang") if len(names) == 1 else ("are", "each gang")
    yield (
        f"{', '.join(names[:3])}{more} {verb} not among the objects, so {whose} is "
        "taken to be as large as the pods that are there"
    )


def _by_words(said: Iterable[_PodSaid]) -> Iterable[tuple[Words, list[PodRecord]]]:
    """
    Put together the pods that say the same.
    """
    found: dict[int, tuple[Words, list[PodRecord]]] = {}
    for entry in said:
        words = entry.memberships
        if not words:
            continue
        at = found.get(id(words))
        if at is None:
            at = found[id(words)] = (words, [])
        at[1].append(entry.pod)
    return found.values()


def _part(groups: dict[str, Grouped], foreign: Mapping[str, PodRecord]) -> None:
    """
    Leave out gangs of other schedulers alone; those that are shared are nobody's.
    """
    for key, pod in foreign.items():
        group = groups.get(key)
        if group is None:
            continue
        if not group.members:
            del groups[key]
        elif group.conflict is None:
            what = f"pod {pod.name} of it is for the scheduler {pod.scheduler}"
            group.conflict = what


def _in_pool(group: Grouped) -> None:
    """
    Let a gang without a group object have the pool of nodes that its pods name.
    """
    said = {value for x in group.pods if (value := x.labels.get(POOL))}
    if len(said) > 1:
        group.conflict = f"its pods name the node pools {', '.join(sorted(said)[:3])}"
    elif said:
        group.claim = replace(group.claim, nodes=((POOL, said.pop()),))


def _named_by(said: Iterable[_PodSaid]) -> dict[str, PodRecord]:
    """
    Give the gangs that pods name, each with one of the pods.
    """
    found: dict[str, PodRecord] = {}
    for entry in said:
        for _, membership in entry.memberships:
            found.setdefault(membership.gang, entry.pod)
    return found


def _groups(
    said: Sequence[_PodSaid], claims: Mapping[str, Claim], dialects: Sequence[Dialect]
) -> dict[str, Grouped]:
    """
    Put pods into the gangs that they name, or into which a claim puts them.
    """
    placed = {
        pod: (claim.key, leaf)
        for claim in claims.values()
        for pod, leaf in claim.placed.items()
    }
    groups = {key: Grouped(claim) for key, claim in claims.items()}
    for entry in said:
        pod, words = entry.pod, entry.memberships
        if placed and (there := placed.get(pod.key)) is not None:
            groups[there[0]].members.append(_in_leaf(entry.member, there[1]))
            continue
        if not words:
            continue
        at, first = words[0]
        group = groups.get(first.gang)
        if group is None:
            group = groups[first.gang] = Grouped(_missing(first, dialects[at]))
        if entry.agreed:
            group.members.append(entry.member)
            continue
        leaf = _leaf(words, group.claim, dialects)
        group.members.append(_in_leaf(entry.member, leaf))
        _note_conflict(entry, group, dialects)
    return groups


def _in_leaf(member: Member, leaf: str) -> Member:
    return member if member.leaf == leaf else replace(member, leaf=leaf)


def _leaf(words: Words, claim: Claim, dialects: Sequence[Dialect]) -> str:
    """
    Give the leaf that a pod names in the words of who claims the gang.
    """
    for at, membership in words:
        if dialects[at].name == claim.dialect and membership.gang == claim.key:
            return membership.leaf
    return words[0][1].leaf


def _note_conflict(
    entry: _PodSaid, group: Grouped, dialects: Sequence[Dialect]
) -> None:
    """
    Note that a pod names two gangs.
    """
    first = entry.memberships[0]
    for at, membership in entry.memberships[1:]:
        if membership.gang != first[1].gang and group.conflict is None:
            one, other = dialects[first[0]].name, dialects[at].name
            group.conflict = (
                f"pod {entry.pod.name} is in {first[1].gang} in the words of {one}, "
                f"in {membership.gang} in those of {other}"
            )


def _missing(membership: Membership, dialect: Dialect) -> Claim:
    """
    Make a claim for a group that pods name and nobody describes: it waits.
    """
    facts = {"mate": membership.gang, "why": "does not exist", "cause": NO_POD_GROUP}
    waiting = Waiting(Reason.WAITING_FOR_GROUP, facts)
    return Claim(key=membership.gang, dialect=dialect.name, refused=waiting)
