"""
MIG: the profiles of each GPU model, and where an instance may lie on its slices.

A device has memory slices 0 … 7 (some models 0 … 3).  Two instances fit on one device
iff their slices do not overlap, and at most one of them has the media engines.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

SLICES = 8
"""
The memory slices of a device; models with fewer never use the last ones.
"""


@dataclass(frozen=True, slots=True)
class MigProfile:
    """
    One kind of instance: the slices it may begin at, and how many it takes.

    ``is_single`` says that a device has at most one of those that are.
    """

    starts: tuple[int, ...]
    size: int
    is_single: bool = False

    def mask(self, start: int) -> int:
        """
        Give the slices that an instance takes, as bits.
        """
        return ((1 << self.size) - 1) << start


_EIGHT: Mapping[str, MigProfile] = {
    "1g": MigProfile((0, 1, 2, 3, 4, 5, 6), 1),
    "1g+me": MigProfile((0, 1, 2, 3, 4, 5, 6), 1, is_single=True),
    "1g double": MigProfile((0, 2, 4, 6), 2),
    "2g": MigProfile((0, 2, 4), 2),
    "3g": MigProfile((0, 4), 4),
    "4g": MigProfile((0,), 4),
    "7g": MigProfile((0,), 8),
}
_FOUR: Mapping[str, MigProfile] = {
    "1g": MigProfile((0, 1, 2, 3), 1),
    "2g": MigProfile((0, 2), 2),
    "4g": MigProfile((0,), 4),
}


def _eight(one: int, double: int, half: int, whole: int) -> dict[str, MigProfile]:
    """
    Name the profiles of a device with eight slices by their memory in GB.
    """
    return {
        f"1g.{one}gb": _EIGHT["1g"],
        f"1g.{one}gb+me": _EIGHT["1g+me"],
        f"1g.{double}gb": _EIGHT["1g double"],
        f"2g.{double}gb": _EIGHT["2g"],
        f"3g.{half}gb": _EIGHT["3g"],
        f"4g.{half}gb": _EIGHT["4g"],
        f"7g.{whole}gb": _EIGHT["7g"],
    }


def _four(one: int, half: int, whole: int) -> dict[str, MigProfile]:
    return {
        f"1g.{one}gb": _FOUR["1g"],
        f"2g.{half}gb": _FOUR["2g"],
        f"4g.{whole}gb": _FOUR["4g"],
    }


MIG_MODELS: Mapping[str, Mapping[str, MigProfile]] = {
    "A30-24GB": _four(6, 12, 24),
    "A100-40GB": _eight(5, 10, 20, 40),
    "A100-80GB": _eight(10, 20, 40, 80),
    "H100-80GB": _eight(10, 20, 40, 80),
    "H100-94GB": _eight(12, 24, 47, 94),
    "H200-141GB": _eight(18, 35, 71, 141),
    "B200-180GB": _eight(23, 45, 90, 180),
    "GB200-186GB": _eight(23, 47, 93, 186),
    "B300-269GB": _eight(34, 67, 135, 269),
    "RTX-PRO-6000-96GB": _four(24, 48, 96),
}
"""
The GPU models that can be cut, with their profiles by name.
"""

PROFILE_NAMES = frozenset(name for model in MIG_MODELS.values() for name in model)
SEVENTHS = 7


def sevenths(profile: str) -> int:
    """
    Count the sevenths of a GPU that an instance is, which its name begins with.
    """
    return int(profile.partition("g")[0])


@dataclass(frozen=True, slots=True)
class Sliced:
    """
    What is taken of a device that is cut: slices as bits, and the media engines.
    """

    mask: int = 0
    has_media: bool = False

    def fits(self, profile: MigProfile, start: int) -> bool:
        """
        Tell whether an instance may be made at a slice.
        """
        free = not self.mask & profile.mask(start)
        return free and not (self.has_media and profile.is_single)

    def with_one(self, profile: MigProfile, start: int) -> "Sliced":
        """
        Give what is taken with one more instance.
        """
        media = self.has_media or profile.is_single
        return Sliced(self.mask | profile.mask(start), media)


def layouts(model: str, taken: Sliced, names: Sequence[str]) -> Iterator[Sliced]:
    """
    Walk what may be taken of a device once instances of some profiles are made too.
    """
    if not names:
        yield taken
        return
    profile = MIG_MODELS[model][names[0]]
    for start in profile.starts:
        if taken.fits(profile, start):
            yield from layouts(model, taken.with_one(profile, start), names[1:])


@lru_cache(maxsize=1 << 14)
def starts_for(
    model: str, taken: Sliced, names: tuple[str, ...]
) -> tuple[int, ...] | None:
    """
    Give a start for each of some instances on one device; none where they do not fit.

    The largest have their places first, each at its highest start that leaves the rest
    a place: low slices are worth most, since only they hold the large profiles.
    """
    order = sorted(
        range(len(names)),
        key=lambda at: (-MIG_MODELS[model][names[at]].size, names[at], at),
    )
    found = _starts(model, taken, tuple(names[at] for at in order))
    if found is None:
        return None
    return tuple(start for _, start in sorted(zip(order, found, strict=True)))


@lru_cache(maxsize=1 << 14)
def _starts(
    model: str, taken: Sliced, names: tuple[str, ...]
) -> tuple[int, ...] | None:
    if not names:
        return ()
    profile = MIG_MODELS[model][names[0]]
    for start in reversed(profile.starts):
        if taken.fits(profile, start):
            rest = _starts(model, taken.with_one(profile, start), names[1:])
            if rest is not None:
                return (start, *rest)
    return None
