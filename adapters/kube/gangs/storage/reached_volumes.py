"""
Free volumes that several nodes may reach and that may be too few for their claims.

Which nodes reach a volume says nothing of who gets it, so planning is told: of each
claim its kind, that is the volumes that suit it, and of each volume whom it serves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from adapters.kube.objects.constraints import NAME_FIELD
from adapters.kube.objects.volume_records import VolumeRecord
from models.nodes import HOSTNAME, LabelRule
from models.resources import format_quantity

Claim = tuple[str, str]
_Volumes = frozenset[int]


@dataclass(frozen=True, slots=True)
class ClaimKinds:
    """
    The kinds of claims, and the volumes by who reaches them and what kinds they serve.

    Each of ``volumes`` stands for so many like it, under the name of the smallest.
    """

    of: Mapping[Claim, str] = field(default_factory=dict)
    volumes: Sequence[tuple[VolumeRecord, tuple[str, ...], int]] = ()


NONE_REACHED = ClaimKinds()


def may_be_reached_by_several(volume: VolumeRecord) -> bool:
    """
    Tell whether more than one node may reach a volume, whatever nodes there are.
    """
    return not any(
        len(terms) == 1 and any(map(_names_one_node, terms[0]))
        for terms in volume.demands
    )


def claim_kinds(
    suited: Mapping[Claim, _Volumes],
    sizes: Mapping[Claim, int],
    free: Sequence[VolumeRecord],
) -> ClaimKinds:
    """
    Name the kinds of claims by class and size, and say which volumes serve which.
    """
    kinds = _kinds(suited, sizes, free)
    serving: dict[int, list[str]] = {}
    for some, kind in kinds.items():
        for at in some:
            serving.setdefault(at, []).append(kind)
    alike: dict[object, list[int]] = {}
    for at in sorted(serving):
        volume = free[at]
        like = volume.storage_class, volume.demands, tuple(sorted(serving[at]))
        alike.setdefault(like, []).append(at)
    return ClaimKinds(
        of={at: kinds[some] for at, some in suited.items()},
        volumes=tuple(
            (free[row[0]], tuple(sorted(serving[row[0]])), len(row))
            for row in alike.values()
        ),
    )


def _kinds(
    suited: Mapping[Claim, _Volumes],
    sizes: Mapping[Claim, int],
    free: Sequence[VolumeRecord],
) -> dict[_Volumes, str]:
    least: dict[_Volumes, int] = {}
    for at, some in suited.items():
        least[some] = min(sizes[at], least.get(some, sizes[at]))
    found: dict[_Volumes, str] = {}
    numbers: dict[str, int] = {}
    for some in sorted(least, key=lambda each: (least[each], sorted(each))):
        size = format_quantity("storage", least[some])
        name = f"{free[min(some)].storage_class}/{size}"
        number = numbers[name] = numbers.get(name, -1) + 1
        found[some] = f"{name}-{number}" if number else name
    return found


def _names_one_node(rule: LabelRule) -> bool:
    by_name = rule.key in {HOSTNAME, NAME_FIELD} and rule.operator == "In"
    return by_name and len(set(rule.values)) == 1
