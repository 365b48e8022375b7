"""
The engine: virtual time passes, jobs come and end, rounds are held.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from adapters.loop.interfaces import Planner, turn
from adapters.replay.long_waits import LongWaits
from adapters.replay.recorder import Recorder
from adapters.replay.world.world import Rules, World
from adapters.replay.world.world_sink import WorldSink
from adapters.replay.world.world_source import WorldSource
from models.plan import Plan
from models.policy import Policy
from models.snapshot import Snapshot
from models.trace import Job

Clock = Callable[[], float]
Beat = Callable[["Engine"], None]
EXPLAINED = 12
"""
One planned round in so many says why gangs wait, which takes as long as planning.
"""
PATIENCE = 7 * 86400
"""
Seconds after which those who wait alone in a cluster are taken to wait for ever.
"""


@dataclass(slots=True)
class Rounds:
    """
    How many rounds there were, and how many of them were planned.

    The others: nobody waited, nobody fitted, or nothing had changed.
    """

    planned: int = 0
    empty: int = 0
    full: int = 0
    same: int = 0


@dataclass(slots=True)
class Timed:
    """
    A planner with a clock: what the last decision took.

    ``brief`` decides the same and does not say why gangs wait.
    """

    planner: Planner
    brief: Planner
    clock: Clock
    seconds: float = 0.0
    explains: bool = True

    def __call__(self, snapshot: Snapshot, policy: Policy) -> Plan:
        """
        Decide as the planner does.
        """
        begun = self.clock()
        decide = self.planner if self.explains else self.brief
        plan = decide(snapshot, policy)
        self.seconds = self.clock() - begun
        return plan


@dataclass(slots=True)
class Engine:
    """
    One replay: a world, who plans for it, and what is written down.

    Nothing in a replay depends on the clock of the planner.
    """

    jobs: Sequence[Job]
    world: World
    planner: Timed
    recorder: Recorder
    arrived: int = 0
    round_at: int = 0
    rounds: Rounds = field(default_factory=Rounds)
    long_waits: LongWaits = field(default_factory=LongWaits)
    source: WorldSource = field(init=False)
    sink: WorldSink = field(init=False)

    def __post_init__(self) -> None:
        self.recorder.pieces = self.world.ground.pieces
        self.source = WorldSource(self.world)
        self.sink = WorldSink(self.source)

    @property
    def rules(self) -> Rules:
        """
        Give the rules of the world.
        """
        return self.world.rules

    def run(self, until: int | None, beat: Beat) -> None:
        """
        Play until all jobs have ended or nothing can happen any more.

        Parameters
        ----------
        until
            The last second that is played, if there is one.
        beat
            Called after each round: shows progress, keeps checkpoints.
        """
        at = self._next_round()
        while at is not None and (until is None or at <= until):
            self._skip_to(at)
            self._pass_to(at)
            self._round()
            beat(self)
            at = self._next_round()
        if until is not None:
            self._pass_to(until)
        self._close()

    def _close(self) -> None:
        world = self.world
        if world.now > world.meter.begins:
            self.recorder.bucket(world.meter.begins, world)
        self.recorder.finish(world.left(), world.now, len(self.jobs))

    def _next_event(self) -> int | None:
        """
        Give the moment of the next arrival or end.
        """
        end = self.world.next_end()
        if self.arrived == len(self.jobs):
            return end
        submit = self.jobs[self.arrived].submit
        return submit if end is None else min(end, submit)

    def _next_round(self) -> int | None:
        """
        Give the moment of the next round at which something could be different.
        """
        every, world = self.rules.every, self.world
        wanted = self._next_event()
        if world.waits:
            again = self.round_at if world.changed else world.again
            if again is not None:
                wanted = again if wanted is None else min(wanted, again)
        if wanted is None or self._is_stuck():
            return None
        soonest = max(wanted, self.round_at)
        return -(-soonest // every) * every if every else soonest

    def _is_stuck(self) -> bool:
        """
        Tell whether nothing runs or comes any more, and nobody was started for long.
        """
        waited = self.world.now - self.world.changed_at
        return waited > PATIENCE and self._next_event() is None

    def _skip_to(self, moment: int) -> None:
        """
        Count the rounds in between, at which nothing was different.
        """
        if not self.rules.every:
            return
        skipped = max(0, moment - self.round_at) // self.rules.every
        if self.world.waits:
            self.rounds.same += skipped
        else:
            self.rounds.empty += skipped

    def _pass_to(self, moment: int) -> None:
        """
        Let everything happen that happens up to a moment, in its order.
        """
        event = self._next_event()
        while event is not None and event <= moment:
            self._tick(event)
            if self.world.next_end() == event:
                self.world.end()
            else:
                self.world.arrive(self.arrived)
                self.arrived += 1
            event = self._next_event()
        self._tick(moment)

    def _tick(self, moment: int) -> None:
        world = self.world
        for begins in world.meter.until(moment):
            world.now = begins
            self.recorder.bucket(begins, world)
        world.now = moment

    def _round(self) -> None:
        """
        Hold one round, with a plan where one is needed.
        """
        world = self.world
        self.round_at = world.now + (self.rules.every or 1)
        need = self.source.need()
        if need != "plan":
            setattr(self.rounds, need, getattr(self.rounds, need) + 1)
            return
        self.rounds.planned += 1
        self.planner.explains = self.rounds.planned % EXPLAINED == 1
        before = (world.line.count, world.ground.free_gpus)
        begun = self.planner.clock()
        done = turn(self.source, self.planner, self.sink, world.policy)
        seconds = self.planner.clock() - begun
        self.recorder.round(world, done.plan, before)
        self.recorder.timing(world.now, len(world.shown), self.planner.seconds, seconds)
        self.recorder.long_waits(self.long_waits.told(self.source, done))
