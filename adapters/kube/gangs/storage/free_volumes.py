"""
Free volumes of classes without a provisioner: which claims they suit, each for one.

All claims on a node can have a volume of their own exactly where of every set of its
volumes no more claims need one than it has (Hall's theorem).  Each set that can lack
one is a resource, so a plan that keeps to resources leaves every claim a volume.  Of
classes of which several nodes reach a volume, and there may be too few, the volumes
are no node's own: planning is told who reaches which.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.notes import named
from adapters.kube.gangs.storage.reached_volumes import (
    NONE_REACHED,
    ClaimKinds,
    claim_kinds,
    plentiful,
    scarce_classes,
)
from adapters.kube.gangs.storage.storage_classes import NotReadyError
from adapters.kube.objects.fields import FieldError
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.objects.volume_records import (
    ClaimRecord,
    VolumeRecord,
    claim_record,
    selector_rules,
)
from models.gangs import FINISHED
from models.nodes import Terms
from models.resources import FREE_VOLUMES, Resources, format_quantity

Claim = tuple[str, str]
_MOST_SETS = 64
_Kind = tuple[object, ...]
_Volumes = frozenset[int]


@dataclass(frozen=True, slots=True)
class WantedVolume:
    """
    A claim of unfinished pods that has no volume; several of them may ``share`` it.

    ``since`` says when the oldest of its pods was made.
    """

    claim: ClaimRecord
    since: float
    share: bool

    @property
    def at(self) -> Claim:
        """
        Give its namespace and name.
        """
        return self.claim.namespace, self.claim.name


def wanted_volumes(
    ours: Iterable[PodRecord], others: Iterable[PodRecord], claims: Iterable[Raw]
) -> Iterator[WantedVolume]:
    """
    Walk the claims of a namespace that pods of ours use and that have no volume.
    """
    users: dict[str, list[PodRecord]] = {}
    mine = set()
    for pods, is_ours in ((ours, True), (others, False)):
        for pod in pods:
            if pod.volumes and pod.phase not in FINISHED:
                for name in dict.fromkeys(pod.volumes):
                    users.setdefault(name, []).append(pod)
                    if is_ours:
                        mine.add(name)
    for _, name, raw in named(claims) if mine else ():
        if name in mine:
            try:
                claim = claim_record(raw)
            except FieldError:
                continue
            if not claim.volume and claim.storage_class:
                since = min(pod.created or 0.0 for pod in users[name])
                yield WantedVolume(claim, since, share=len(users[name]) > 1)


@dataclass(frozen=True, slots=True)
class MadeVolumes:
    """
    So many volumes of a kind that can be made; nodes with like labels reach them.

    Nodes must be in the ``places`` where they are made.
    """

    name: str
    kind: str
    keys: tuple[str, ...]
    places: tuple[Terms, ...]
    number: int


@dataclass(frozen=True, slots=True)
class FreeVolumes:
    """
    What claims ask of free volumes, and which volumes each resource has.

    ``kept`` are volumes that are for one claim already, ``lacking`` is why a claim can
    have none.  Of ``plenty`` there are enough for all claims that they suit, wherever
    these are: all nodes that reach them offer them.  Claims that several pods use are
    ``shared``: all of their nodes must reach the one volume; some of it are ``made``.
    Claims that get ``either`` are told where one can be made by what nodes reach.
    """

    asked: Mapping[Claim, Resources] = field(default_factory=dict)
    kept: Mapping[Claim, VolumeRecord] = field(default_factory=dict)
    lacking: Mapping[Claim, str] = field(default_factory=dict)
    volumes: Sequence[tuple[VolumeRecord, tuple[str, ...]]] = ()
    plenty: frozenset[str] = frozenset()
    reached: ClaimKinds = NONE_REACHED
    shared: frozenset[Claim] = frozenset()
    made: tuple[MadeVolumes, ...] = ()
    either: frozenset[Claim] = frozenset()

    def places(self, at: Claim) -> tuple[Terms, ...]:
        """
        Say what a node must have so that a claim can have a volume there.

        Raises
        ------
        NotReadyError
            When it can have none.
        """
        if at in self.lacking:
            raise NotReadyError(self.lacking[at])
        return self.kept[at].demands if at in self.kept else ()

    def said(self, at: Claim) -> object:
        """
        Give all that is said of a claim, to compare.
        """
        kept = self.kept.get(at)
        kind = self.reached.of.get(at), at in self.shared, at in self.either
        why = self.lacking.get(at)
        return self.asked.get(at), kept and kept.demands, why, kind

    def changed(self, old: "FreeVolumes") -> set[str]:
        """
        Name the namespaces of which something else was said before.
        """
        claims = {
            at
            for x in (self, old)
            for one in (x.asked, x.kept, x.lacking, x.reached.of)
            for at in one
        }
        return {at[0] for at in claims if self.said(at) != old.said(at)}


NO_FREE_VOLUMES = FreeVolumes()


def suiting(claim: ClaimRecord) -> Callable[[VolumeRecord], bool]:
    """
    Give what tells whether a claim may have a volume, wherever that is.

    Raises
    ------
    FieldError
        When the claim selects volumes as nobody knows.
    """
    rules, modes = (
        selector_rules(claim.selector or {}, "spec.selector"),
        set(claim.modes),
    )
    return lambda volume: (
        claim.storage_class == volume.storage_class
        and _holds(volume, claim)
        and modes <= set(volume.modes)
        and all(rule.holds(volume.labels) for rule in rules)
    )


def smallest_first(
    volumes: Iterable[VolumeRecord], taken: Collection[str]
) -> list[VolumeRecord]:
    """
    List the volumes that are for anybody; ``taken`` are those that claims name.
    """
    free = (each for each in volumes if each.is_free and each.name not in taken)
    return sorted(free, key=lambda volume: (volume.size, volume.name))


def _is_kept_for(volume: VolumeRecord, claim: ClaimRecord) -> bool:
    """
    Tell whether a volume is for one claim, which then gets no other.

    One that names a claim and is none for it, since it is too small for example, is
    passed over by the controller of volumes, so the claim may have another.
    """
    space, name, uid = volume.kept_for or ("", "", "")
    return (
        (space, name) == (claim.namespace, claim.name)
        and uid in {"", claim.uid}
        and not volume.is_leaving
        and _holds(volume, claim)
    )


def _holds(volume: VolumeRecord, claim: ClaimRecord) -> bool:
    """
    Tell whether a volume is large enough for a claim, and of its kind.
    """
    return (
        claim.size <= volume.size
        and claim.volume_mode == volume.volume_mode
        and claim.attributes == volume.attributes
    )


def kept_already(
    claims: Iterable[ClaimRecord], volumes: Iterable[VolumeRecord]
) -> dict[Claim, VolumeRecord]:
    """
    Give the claims that a volume names, each with it.
    """
    named: dict[Claim, list[VolumeRecord]] = {}
    for volume in volumes:
        if volume.kept_for is not None:
            named.setdefault(volume.kept_for[:2], []).append(volume)
    return {
        at: volume
        for claim in claims
        for at in [(claim.namespace, claim.name)]
        for volume in named.get(at, ())
        if _is_kept_for(volume, claim)
    }


def free_for(
    wanted: Iterable[WantedVolume],
    volumes: Iterable[VolumeRecord],
    taken: Collection[str],
    already: Mapping[Claim, VolumeRecord],
) -> FreeVolumes:
    """
    Say what claims of classes without a provisioner ask of free volumes.

    ``taken`` are volumes that claims name, ``already`` are kept for claims.
    """
    rest = sorted(wanted, key=lambda each: (each.since, each.at))
    classes = {each.claim.storage_class for each in rest}
    free = smallest_first((x for x in volumes if x.storage_class in classes), taken)
    suited, lacking = suited_by(rest, free)
    kept = dict(already)
    open_ones = [each for each in rest if each.at in suited and each.at not in kept]
    sets = {x.at: suited[x.at] for x in open_ones}
    lacking |= {x.at: _none_for(x.claim, free) for x in open_ones if not sets[x.at]}
    sizes = {each.at: each.claim.size for each in rest}
    wanting = {at: some for at, some in sets.items() if some}
    names, left_out = _named_sets(wanting, sizes, free)
    plenty = plentiful(free, wanting.values(), names)
    scarce = scarce_classes(free, wanting.values(), plenty)
    shared = frozenset(x.at for x in open_ones if x.share and sets[x.at])
    scarce |= {x.claim.storage_class for x in open_ones if x.at in shared}
    told = {at: x for at, x in wanting.items() if free[min(x)].storage_class in scarce}
    rows = {at: some for at, some in wanting.items() if at not in told}
    lacking |= {at: _too_many(free[min(x)]) for at, x in rows.items() if x in left_out}
    names = {x: n for x, n in names.items() if free[min(x)].storage_class not in scarce}
    return FreeVolumes(
        asked={at: _asked(x, names) for at, x in rows.items() if at not in lacking},
        kept=kept,
        lacking=lacking,
        volumes=tuple(_offering(free, names)),
        plenty=plenty,
        reached=claim_kinds(told, sizes, free),
        shared=shared,
    )


def _asked(suited: _Volumes, names: Mapping[_Volumes, str]) -> Resources:
    """
    Give what a claim asks for: one of its volumes, and of all sets that have them.
    """
    return {name: 1 for some, name in names.items() if suited <= some}


def suited_by(
    wanted: Iterable[WantedVolume], free: Sequence[VolumeRecord]
) -> tuple[dict[Claim, _Volumes], dict[Claim, str]]:
    """
    Find the volumes that suit each claim, and what is wrong with the others.
    """
    kinds: dict[_Kind, _Volumes | str] = {}
    found: dict[Claim, _Volumes] = {}
    lacking: dict[Claim, str] = {}
    for each in wanted:
        kind = _kind(each.claim)
        if kind not in kinds:
            try:
                is_one = suiting(each.claim)
                some = frozenset(at for at, x in enumerate(free) if is_one(x))
                kinds[kind] = some
            except FieldError as error:
                kinds[kind] = str(error)
        known = kinds[kind]
        if isinstance(known, str):
            lacking[each.at] = known
        else:
            found[each.at] = known
    return found, lacking


def _offering(
    free: Sequence[VolumeRecord], names: Mapping[_Volumes, str]
) -> Iterator[tuple[VolumeRecord, tuple[str, ...]]]:
    """
    Walk the volumes that claims need, each with the resources that it is part of.
    """
    named: dict[int, list[str]] = {}
    for some, name in names.items():
        for at in some:
            named.setdefault(at, []).append(name)
    for at in sorted(named):
        yield free[at], tuple(named[at])


def _named_sets(
    sets: Mapping[Claim, _Volumes],
    sizes: Mapping[Claim, int],
    free: Sequence[VolumeRecord],
) -> tuple[dict[_Volumes, str], set[_Volumes]]:
    """
    Name each set of volumes that claims may need more of than it has.

    That are those that suit some claims, and those of claims that share some, together.
    Claims of which there would be too many are left out, those that suit least first.
    """
    least: dict[_Volumes, int] = {}
    for at, some in sets.items():
        if some:
            least[some] = min(sizes[at], least.get(some, sizes[at]))
    found: dict[str, set[_Volumes]] = {}
    left_out = set()
    for some in sorted(least, key=lambda each: (-len(each), sorted(each))):
        known = found.setdefault(free[min(some)].storage_class, set())
        more = _joined(some, known)
        if len(known | more) > _MOST_SETS:
            left_out.add(some)
        else:
            known |= more
    names: dict[_Volumes, str] = {}
    numbers: dict[tuple[str, int], int] = {}
    for of, known in sorted(found.items()):
        for some in sorted(known, key=lambda each: (len(each), sorted(each))):
            size = min(n for suited, n in least.items() if suited <= some)
            number = numbers.get((of, size), 0)
            numbers[of, size] = number + 1
            which = f"-{number}" if number else ""
            shown = format_quantity("storage", size)
            names[some] = f"{FREE_VOLUMES}{of}/{shown}{which}"
    return names, left_out


def _joined(suited: _Volumes, known: Collection[_Volumes]) -> set[_Volumes]:
    """
    Give a set, and what it is together with those that share a volume with it.
    """
    found = {suited}
    queue = [suited]
    while queue and len(found) <= _MOST_SETS:
        some = queue.pop()
        for other in known:
            if not some.isdisjoint(other) and (both := some | other) not in found:
                found.add(both)
                queue.append(both)
    return found


def _too_many(volume: VolumeRecord) -> str:
    return f"of class {volume.storage_class} is one of too many kinds"


def _none_for(claim: ClaimRecord, free: Sequence[VolumeRecord]) -> str:
    of = claim.storage_class
    there = [each for each in free if each.storage_class == of]
    size = format_quantity("storage", claim.size)
    what = f"asks for {size} of class {of}, and no free volume of it suits"
    if not there:
        return f"{what}: there is none"
    largest = format_quantity("storage", max(each.size for each in there))
    return f"{what}: there are {len(there):,}, the largest of {largest}"


def _kind(claim: ClaimRecord) -> _Kind:
    return (
        *(claim.storage_class, claim.size, claim.modes, claim.volume_mode),
        *(claim.attributes, repr(claim.selector)),
    )
