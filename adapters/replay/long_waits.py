"""
Why the longest waits of a replay are so long, in the sentence of ``phalanx why``.

A gang is asked about when it has waited twice as long as any before it: so few are that
a replay takes no longer for it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from adapters.loop.interfaces import Turn
from adapters.replay.world.job_state import NEVER, Fate
from adapters.replay.world.world_source import WorldSource
from solver import RoundAsked

FIRST = 3600
"""
Seconds of the first wait that is asked about.
"""
LARGE = 8
"""
GPUs from which on a gang is large: both sorts are asked about, each by itself.
"""
UNITS = 1.0
"""
Units of work that each is given, a twentieth of what a user who asks is given.
"""
_RULES = frozenset({"solver", "greedy"})
"""
Who plans by all rules; what others do is explained by none of them.
"""


@dataclass(slots=True)
class LongWaits:
    """
    Asks about who has waited longest; ``due`` is from which wait on, by sort of gang.
    """

    due: dict[str, int] = field(
        default_factory=lambda: {"small": FIRST, "large": FIRST}
    )

    def told(self, source: WorldSource, done: Turn) -> Iterator[tuple[object, ...]]:
        """
        Walk the rows to be written of a round that was carried out.
        """
        if done.plan.strategy not in _RULES:
            return
        now, asked = source.world.now, None
        for sort, (name, fate) in self._longest(source, done).items():
            waited = now - fate.job.submit
            if waited < self.due[sort]:
                continue
            self.due[sort] = 2 * waited
            policy = source.world.policy
            asked = asked or RoundAsked(done.snapshot, policy, done.plan, units=UNITS)
            job = fate.job
            yield now, job.name, job.gpus, waited, asked.told(name).short

    def _longest(self, source: WorldSource, done: Turn) -> dict[str, tuple[str, Fate]]:
        """
        Give of each sort the gang that waits for its first start since longest.
        """
        found: dict[str, tuple[str, Fate]] = {}
        for line in done.plan.gangs:
            if line.state != "Waiting":
                continue
            fate = source.by_key[line.name]
            if fate.first != NEVER:
                continue
            sort = "large" if fate.job.gpus >= LARGE else "small"
            if sort not in found or fate.job.submit < found[sort][1].job.submit:
                found[sort] = line.name, fate
        return found
