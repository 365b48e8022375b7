"""
The world of a replay: who waits, who runs where and until when, by a virtual clock.

Nothing here decides who starts; jobs come, attempts begin and end, pods take places.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Literal

from adapters.loop.memory.held import HeldTime
from adapters.loop.memory.held_gangs import HoldMemory
from adapters.loop.memory.used_so_far import UsageMemory
from adapters.replay.measures.gpu_use import LENT, USES, Meter
from adapters.replay.world.free_nodes import Ground
from adapters.replay.world.idle_gpus import idle_gpus
from adapters.replay.world.job_state import NEVER, Fate
from adapters.replay.world.lent_nodes import LentNodes
from adapters.replay.world.merged_load import Load
from adapters.replay.world.queue_usage import Books, Shares
from adapters.replay.world.waiting_jobs import WaitingJobs
from models.memory.run_times import NOTHING_SEEN, RunTimes
from models.policy import Policy
from models.resources import Resources, add, summed
from models.trace import Floor, Job

Look = Literal["all", "kinds"]
Need = Literal["plan", "empty", "full", "same"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """
    How a world runs: seconds between rounds (0: at each event) and who may leave.

    Who is evicted goes on from where it was saved last, if its work ``saves`` itself
    every so many seconds.  ``look`` says whether a round is shown the oldest of the
    line or of each kind; where all is ``timeless``, time alone changes no plan.
    """

    every: int = 300
    evictions: bool = False
    saves: int | None = None
    estimates: bool = False
    look: Look = "kinds"
    timeless: bool = False
    bucket: int = 3600

    @property
    def clocks(self) -> bool:
        """
        Tell whether it matters for how long a pod has run.
        """
        return self.evictions or self.estimates

    def is_load(self, fate: Fate) -> bool:
        """
        Tell whether a gang runs, wants nothing more, and cannot be made to leave.
        """
        if self.clocks or not fate.runs:
            return False
        return len(fate.places) == fate.job.pods


@dataclass(slots=True)
class Counts:
    """
    What one round did.
    """

    started: int = 0
    gpus: int = 0
    evicted: int = 0


@dataclass(slots=True)
class World:
    """
    A cluster in memory: who waits, who runs where, and until when.

    ``active`` are the gangs with places that are not part of the load; ``changed`` says
    that something did which no plan of ours did.
    """

    jobs: Sequence[Job]
    floor: Floor
    policy: Policy
    rules: Rules
    ended: Callable[[Fate, int], None]
    now: int = 0
    fates: dict[int, Fate] = field(default_factory=dict)
    active: dict[str, Fate] = field(default_factory=dict)
    promised: dict[int, Fate] = field(default_factory=dict)
    ends: list[tuple[int, int, int]] = field(default_factory=list)
    shares: Shares = field(default_factory=dict)
    shown: Sequence[int] = ()
    counts: Counts = field(default_factory=Counts)
    used: int = 0
    incomplete: int = 0
    changed: bool = True
    changed_at: int = 0
    again: int | None = None
    line: WaitingJobs = field(init=False)
    ground: Ground = field(init=False)
    books: Books = field(init=False)
    meter: Meter = field(init=False)
    held: HeldTime = field(init=False)
    holds: HoldMemory = field(default_factory=HoldMemory)
    lent: LentNodes = field(default_factory=LentNodes)
    usage: UsageMemory = field(init=False)
    run_times: RunTimes = NOTHING_SEEN
    load: Load = field(default_factory=Load)

    def __post_init__(self) -> None:
        self.ground = Ground(self.floor.nodes, self.jobs)
        self.line = WaitingJobs(self.jobs, self.ground.counted)
        half_life = self.policy.shares.half_life
        self.books = Books(self.floor.queues, _total(self.floor), half_life)
        self.usage = UsageMemory(half_life)
        self.held = HeldTime(self.policy.waiting.window)
        level = dict.fromkeys((*USES, LENT), 0)
        level |= {"unwanted": self.ground.free_gpus, "off": self.ground.off_gpus}
        self.meter = Meter(self.rules.bucket, level)

    def arrive(self, idx: int) -> None:
        """
        Let a job wait from now on.
        """
        job = self.jobs[idx]
        self.fates[idx] = Fate(idx, job, queued=self.now)
        self.line.join(idx)
        self.changed, self.changed_at = True, self.now
        more = min(self.meter.level["unwanted"], job.asked(self.ground.counted))
        self.meter.shift("unwanted", "freed", more)

    def next_end(self) -> int | None:
        """
        Give the moment at which the next attempt ends, if any runs.
        """
        while self.ends:
            moment, idx, attempt = self.ends[0]
            fate = self.fates.get(idx)
            if fate is not None and fate.runs and fate.attempts == attempt:
                return moment
            heappop(self.ends)
        return None

    def end(self) -> None:
        """
        Let the attempt end that ends next.
        """
        _, idx, _ = heappop(self.ends)
        fate = self.fates[idx]
        ran = max(1, self.now - fate.start)
        self.run_times = self.run_times.having(fate.run_kind, ran)
        fails = fate.failures < len(fate.job.failures)
        places, devices = dict(fate.places), dict(fate.devices)
        if self.rules.is_load(fate):
            self.load.drop(fate)
        wanted = "freed" if fails or self.line.count else "unwanted"
        gpus = self.vacate(fate, [*places])
        self.used -= gpus
        self.meter.shift("used", wanted, gpus)
        self.changed, self.changed_at = True, self.now
        if not fails:
            fate.places, fate.devices = places, devices
            del self.fates[idx]
            self.promised.pop(idx, None)
            self.ended(fate, self.now)
            return
        fate.lost += gpus * (self.now - fate.start + fate.saved)
        fate.failures, fate.saved = fate.failures + 1, 0
        fate.start = NEVER
        self.queue_again(fate)

    def queue_again(self, fate: Fate) -> None:
        """
        Let a job wait once more, behind nobody.
        """
        self.active.pop(fate.job.name, None)
        fate.queued = self.now
        fate.tree = None
        self.line.join(fate.idx, alone=True)

    def vacate(self, fate: Fate, pods: Sequence[str]) -> int:
        """
        Take pods off their nodes; give the GPUs they held.
        """
        total = 0
        for pod in pods:
            requests = fate.role_of(pod).requests
            node = fate.places.pop(pod)
            self.meter.level[LENT] -= self.lent.leave(pod, node)
            devices, at = fate.devices.pop(pod, ()), self.ground.index[node]
            self.ground.give_back(requests, at, devices)
            self.books.take(fate.job.queue, requests, -1)
            total += self.ground.held(requests, at)
            self.meter.use(fate.job.queue, -requests.get(self.ground.counted, 0))
        fate.tree = None
        if not fate.places:
            self.active.pop(fate.job.name, None)
        return total

    def begin(self, fate: Fate, gpus: int) -> None:
        """
        Let an attempt begin that has all its pods.
        """
        self.incomplete -= gpus
        self.used += gpus
        fate.start = self.now
        fate.first = self.now if fate.first == NEVER else fate.first
        failures = fate.job.failures
        fails = fate.failures < len(failures)
        seconds = failures[fate.failures] if fails else fate.job.duration
        fate.attempts += 1
        self.counts.started += 1
        self.holds.forget((f"default/{fate.job.name}",))
        heappush(self.ends, (self.now + seconds - fate.saved, fate.idx, fate.attempts))

    def stop(self, fate: Fate, gpus: int, had: int) -> None:
        """
        Let the work of the GPUs it had be lost; pods that are left wait for the others.
        """
        self.used -= gpus
        self.incomplete += gpus
        fate.lost += had * fate.stop(self.now, self.rules.saves)

    @property
    def waits(self) -> bool:
        """
        Tell whether anybody waits for anything.
        """
        return self.line.count > 0 or self.is_loose()

    def is_loose(self) -> bool:
        """
        Tell whether somebody has only some of its pods, or places promised.
        """
        active = self.active.values()
        return bool(self.promised) or any(f.job.pods > len(f.places) for f in active)

    def since(self, idx: int) -> int:
        """
        Give when the first round was that saw a job wait.
        """
        every, queued = self.rules.every, self.fates[idx].queued
        return -(-queued // every) * every if every else queued

    def merge(self, fate: Fate) -> None:
        """
        Let a gang be part of the load, and no longer one of those that are shown.
        """
        self.active.pop(fate.job.name, None)
        self.load.add(fate)

    def split(self) -> None:
        """
        Say of the GPUs that are free why they are.
        """
        running = {"used": self.used, "incomplete": self.incomplete}
        idle = idle_gpus(self.ground, self.line, self.books, self.lent)
        self.meter.split(running | idle)

    def count_gangs(self) -> tuple[Mapping[str, int], int]:
        """
        Count the gangs that wait, by queue, and those that run.
        """
        runs = sum(fate.runs for fate in self.active.values())
        return self.line.counts, self.load.num_gangs + runs

    def left(self) -> Iterator[Fate]:
        """
        Walk the jobs that have not ended.
        """
        return iter(self.fates.values())


def _total(floor: Floor) -> Resources:
    """
    Add up what nodes have for gangs.
    """
    total = summed(node.allocatable for node in floor.nodes)
    add(total, summed(node.used for node in floor.nodes), -1)
    return total
