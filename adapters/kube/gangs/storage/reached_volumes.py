"""
Free volumes that several nodes may reach and that may be too few for their claims.

Which nodes reach a volume says nothing of who gets it, so planning is told: of each
claim its kind, that is the volumes that suit it, and of each volume whom it serves.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from adapters.kube.objects.constraints import NAME_FIELD
from adapters.kube.objects.volume_records import VolumeRecord
from models.nodes import HOSTNAME, LabelRule
from models.resources import format_quantity

Claim = tuple[str, str]
_Volumes = frozenset[int]
_Like = tuple[_Volumes, Hashable]


@dataclass(frozen=True, slots=True)
class ClaimKinds:
    """
    The kinds of claims, and the volumes by who reaches them and what kinds they serve.

    Each of ``volumes`` stands for so many like it, under the name of the smallest.
    """

    of: Mapping[Claim, str] = field(default_factory=dict)
    volumes: Sequence[tuple[VolumeRecord, tuple[str, ...], int]] = ()


NONE_REACHED = ClaimKinds()


def plentiful(
    free: Sequence[VolumeRecord],
    suited: Collection[_Volumes],
    named_sets: Iterable[_Volumes],
) -> frozenset[str]:
    """
    Name the volumes of which, by their reach, all claims that they suit could have one.
    """
    sets = tuple(named_sets)
    groups = [group for group in _by_reach(free) if _are_enough(group, suited, sets)]
    return frozenset(free[at].name for group in groups for at in group)


def _by_reach(free: Sequence[VolumeRecord]) -> Iterable[_Volumes]:
    """
    Part the volumes by the nodes that reach them.
    """
    groups: dict[object, set[int]] = {}
    for at, volume in enumerate(free):
        groups.setdefault((volume.storage_class, volume.demands), set()).add(at)
    return map(frozenset, groups.values())


def _are_enough(
    group: _Volumes, suited: Iterable[_Volumes], named_sets: Iterable[_Volumes]
) -> bool:
    """
    Tell whether all claims that some volumes suit could have one of these at once.

    Nobody who gets another one then lacks any: Hall's theorem among them alone.
    """
    inside = Counter(group & some for some in suited if group & some)
    return all(
        sum(n for some, n in inside.items() if some <= each) <= len(group & each)
        for each in named_sets
    )


def scarce_classes(
    free: Sequence[VolumeRecord],
    suited: Iterable[_Volumes],
    plenty: Collection[str],
) -> set[str]:
    """
    Name the classes of which several nodes may reach a volume that may be too scarce.
    """
    return {
        free[at].storage_class
        for at in frozenset[int]().union(*suited)
        if free[at].name not in plenty and not _is_of_one_node(free[at])
    }


def claim_kinds(
    suited: Mapping[Claim, _Volumes],
    sizes: Mapping[Claim, int],
    free: Sequence[VolumeRecord],
    made: Mapping[Claim, Hashable] | None = None,
) -> ClaimKinds:
    """
    Name the kinds of claims by class and size, and say which volumes serve which.

    Claims that may get a volume ``made`` are of one kind where it is made alike.
    """
    like = {at: (some, (made or {}).get(at)) for at, some in suited.items()}
    kinds = _kinds(like, sizes, free)
    serving: dict[int, list[str]] = {}
    for (some, _), kind in kinds.items():
        for at in some:
            serving.setdefault(at, []).append(kind)
    alike: dict[object, list[int]] = {}
    for at in sorted(serving):
        volume = free[at]
        key = volume.storage_class, volume.demands, tuple(sorted(serving[at]))
        alike.setdefault(key, []).append(at)
    return ClaimKinds(
        of={at: kinds[each] for at, each in like.items()},
        volumes=tuple(
            (free[row[0]], tuple(sorted(serving[row[0]])), len(row))
            for row in alike.values()
        ),
    )


def _kinds(
    like: Mapping[Claim, _Like],
    sizes: Mapping[Claim, int],
    free: Sequence[VolumeRecord],
) -> dict[_Like, str]:
    least: dict[_Like, int] = {}
    for at, each in like.items():
        least[each] = min(sizes[at], least.get(each, sizes[at]))
    found: dict[_Like, str] = {}
    numbers: dict[str, int] = {}
    for each in sorted(least, key=lambda x: (least[x], sorted(x[0]), repr(x[1]))):
        size = format_quantity("storage", least[each])
        name = f"{free[min(each[0])].storage_class}/{size}"
        number = numbers[name] = numbers.get(name, -1) + 1
        found[each] = f"{name}-{number}" if number else name
    return found


def _is_of_one_node(volume: VolumeRecord) -> bool:
    """
    Tell whether one node at most reaches a volume, whatever nodes there are.
    """
    return any(
        len(terms) == 1 and any(map(_names_one_node, terms[0]))
        for terms in volume.demands
    )


def _names_one_node(rule: LabelRule) -> bool:
    by_name = rule.key in {HOSTNAME, NAME_FIELD} and rule.operator == "In"
    return by_name and len(set(rule.values)) == 1
