"""
What was read of a cluster and not planned: pods of others, kinds that are not there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_MOST_NAMES = 10
_LONGEST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """
    Counts and sentences about one snapshot.

    ``load`` and ``ignored`` count pods of other schedulers, by scheduler: those that
    run, and those that wait; under our own name they are those of other node pools, of
    which nothing is said.  ``missing`` are kinds that the cluster does not serve.
    """

    schedulers: tuple[str, ...] = ()
    ours: int = 0
    load: Mapping[str, int] = field(default_factory=dict)
    ignored: Mapping[str, int] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def sentences(self) -> Iterator[str]:
        """
        Say what people should know before they read a plan.
        """
        others = sorted({*self.ignored, *self.load} - {*self.schedulers})
        waiting = sum(self.ignored.get(name, 0) for name in others)
        running = sum(self.load.get(name, 0) for name in others)
        if waiting or (running and not self.ours):
            names = [*self.schedulers, *others[:_MOST_NAMES]]
            flags = " ".join(f"--scheduler-name {_cut(name, 100)}" for name in names)
            more = len(others) - _MOST_NAMES
            yield (
                f"pods of other schedulers: {waiting:,} waiting, which are ignored, "
                f"{running:,} on nodes, which are load; to plan them too: {flags}"
                + (f" and {more:,} more" if more > 0 else "")
            )
        for warning in self.warnings:
            yield _cut(warning, _LONGEST)


def _cut(text: str, most: int) -> str:
    """
    Give a text that a tenant wrote as far as somebody reads it.
    """
    return text if len(text) <= most else f"{text[:most]}…"
