"""
What a round of a replay is shown: a source of snapshots.
"""

from dataclasses import replace
from typing import Literal

from adapters.replay.world.job_state import Fate
from adapters.replay.world.room_at_most import room_at_most
from adapters.replay.world.window import Window, oldest
from adapters.replay.world.world import World
from models.gangs import Gang
from models.resources import add
from models.snapshot import Snapshot

Need = Literal["plan", "empty", "full", "same"]


class WorldSource:
    """
    Says what is in a world; ``by_key`` has the jobs of the ``last`` snapshot by gang.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.by_key: dict[str, Fate] = {}
        self.last: Snapshot | None = None

    def need(self) -> Need:
        """
        Say whether a round now needs a plan, and choose what it is shown.
        """
        world = self.world
        self._remember_usage()
        if world.waits and self._is_as_before():
            return "same"
        world.shares = world.books.shares(self._asked())
        if not world.waits:
            return "empty"
        if world.rules.look == "all":
            world.shown = oldest(world.line)
            return "plan"
        window = Window(world.line, world.ground, world.books, world.since)
        evicts = world.rules.evictions
        if not evicts and not window.startable() and not world.is_loose():
            world.changed, world.again = False, None
            world.held.note(0, world.now)
            world.holds.planned((), world.now)
            world.lent.planned((), 0)
            world.split()
            return "full"
        if evicts:
            window.startable_if_left(room_at_most(world))
        world.shown = window.complete(world.policy, world.shares, self._late())
        return "plan"

    def _is_as_before(self) -> bool:
        """
        Tell whether nothing has changed, nor any rule's clock run out, since a round.
        """
        world = self.world
        return not world.changed and (world.again is None or world.now < world.again)

    def _remember_usage(self) -> None:
        """
        Count what queues used since the last look, and let shares know it.
        """
        world = self.world
        if world.usage.half_life is not None:
            world.books.know(world.usage.applied(world.floor.queues, world.now))
            world.usage.note(world.books.beyond_quotas(), world.now)

    def _asked(self) -> dict[str, dict[str, int]]:
        world = self.world
        asked = {queue: dict(row) for queue, row in world.line.demand.items()}
        for fate in world.active.values():
            if not fate.runs:
                add(asked.setdefault(fate.job.queue, {}), fate.missing())
        return asked

    def _late(self) -> int:
        """
        Give the submission up to which a job may have been passed over for too long.
        """
        return self.world.now - self.world.policy.waiting.protect_after

    def next_late(self) -> int | None:
        """
        Give the seconds until one more of those who wait was passed over for too long.
        """
        world, waiting = self.world, self.world.policy.waiting
        late = self._late()
        since = [
            world.since(idx)
            for kind in world.line.waiting()
            for _, _, idx in kind.line[: waiting.heads]
        ]
        return min((each - late for each in since if each > late), default=None)

    def _passed_over(self, fate: Fate) -> int:
        """
        Give how long ago the first round was that saw a job wait.
        """
        return max(0, self.world.now - self.world.since(fate.idx))

    def snapshot(self) -> Snapshot:
        """
        Give what is, of those who wait what this round is shown.
        """
        world = self.world
        fates = {idx: world.fates[idx] for idx in world.shown} | world.promised
        fates |= {fate.idx: fate for fate in world.active.values()}
        gangs = [
            self._with_holds(fate.as_gang(world.now, self._passed_over(fate)))
            for fate in fates.values()
        ]
        gangs += world.load.gangs(world.now)
        gangs.sort(key=_by_key)
        self.by_key = {f"default/{fate.job.name}": fate for fate in fates.values()}
        self.last = Snapshot(
            nodes=world.floor.nodes,
            gangs=tuple(gangs),
            queues=tuple(world.books.queues.values()),
            topologies=world.floor.topologies,
            unchanged_for=world.now - world.changed_at,
            held=world.held.within(world.now),
            run_times=world.run_times,
            also_waiting=world.line.by_size(without=world.shown),
        )
        return self.last

    def _with_holds(self, gang: Gang) -> Gang:
        held_for, first = self.world.holds.of(gang.key, self.world.now)
        if first is None:
            return gang
        return replace(gang, held_for=held_for, held_first=first)


def _by_key(gang: Gang) -> tuple[str, str]:
    return (gang.namespace, gang.name)
