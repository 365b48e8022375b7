"""
The world of a replay: a source of snapshots and a sink of plans, with a virtual clock.

Nothing here decides who starts; it says what is, and lets happen what a plan says.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import Literal

from adapters.loop.memory.held import HeldTime
from adapters.loop.memory.held_gangs import HoldMemory
from adapters.loop.memory.used_so_far import UsageMemory
from adapters.replay.free_nodes import Ground
from adapters.replay.job_state import NEVER, Fate
from adapters.replay.lent_nodes import LentNodes
from adapters.replay.measures.gpu_use import LENT, USES, Meter
from adapters.replay.merged_load import Load
from adapters.replay.queue_usage import Books, Shares
from adapters.replay.waiting_jobs import WaitingJobs
from adapters.replay.window import Window, may_start, oldest
from models.gangs import Gang
from models.plan import Operation, Plan
from models.policy import Policy
from models.receipt import Receipt
from models.resources import GPU, add, summed
from models.run_times import NOTHING_SEEN, RunTimes
from models.snapshot import Snapshot
from models.trace import Floor, Job
from solver import budget_ends, slips_in

Look = Literal["all", "kinds"]
Need = Literal["plan", "empty", "full", "same"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """
    How a world runs: seconds between rounds (0: at each event) and who may leave.

    ``look`` says whether a round is shown the oldest of the line or of each kind;
    where all is ``timeless``, time alone changes no plan.
    """

    every: int = 300
    evictions: bool = False
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

    ``active`` are the gangs with places that are not part of the load.
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
    held: HeldTime = field(default_factory=HeldTime)
    holds: HoldMemory = field(default_factory=HoldMemory)
    lent: LentNodes = field(default_factory=LentNodes)
    usage: UsageMemory = field(init=False)
    run_times: RunTimes = NOTHING_SEEN
    load: Load = field(default_factory=Load)
    _by_key: dict[str, Fate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.line = WaitingJobs(self.jobs)
        self.ground = Ground(self.floor.nodes, self.jobs)
        totals = summed(node.allocatable for node in self.floor.nodes)
        add(totals, summed(node.used for node in self.floor.nodes), -1)
        half_life = self.policy.shares.half_life
        self.books = Books(self.floor.queues, totals, half_life)
        self.usage = UsageMemory(half_life)
        level = dict.fromkeys((*USES, LENT), 0)
        level |= {"unwanted": self.ground.free_gpus, "off": self.ground.off_gpus}
        self.meter = Meter(self.rules.bucket, level)

    # --- what happens by itself -------------------------------------------------------

    def arrive(self, idx: int) -> None:
        """
        Let a job wait from now on.
        """
        job = self.jobs[idx]
        self.fates[idx] = Fate(idx, job, queued=self.now)
        self.line.join(idx)
        self._note_change()
        more = min(self.meter.level["unwanted"], job.gpus)
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
        places = dict(fate.places)
        if self._is_load(fate):
            self.load.drop(fate)
        wanted = "freed" if self.line.count else "unwanted"
        gpus = self._vacate(fate, [*places])
        self.used -= gpus
        self.meter.shift("used", wanted, gpus)
        self._note_change()
        if not fails:
            fate.places = places
            del self.fates[idx]
            self.ended(fate, self.now)
            return
        fate.failures += 1
        fate.lost += gpus * (self.now - fate.start)
        fate.start = NEVER
        self._queue_again(fate)

    def _note_change(self) -> None:
        """
        Remember that something changed which no plan of ours did.
        """
        self.changed, self.changed_at = True, self.now

    def _queue_again(self, fate: Fate) -> None:
        self.active.pop(fate.job.name, None)
        fate.queued = self.now
        fate.tree = None
        self.line.join(fate.idx, alone=True)

    def _vacate(self, fate: Fate, pods: Sequence[str]) -> int:
        """
        Take pods off their nodes; give the GPUs they held.
        """
        total = 0
        queue = fate.job.queue
        for pod in pods:
            requests = fate.role_of(pod).requests
            node = fate.places.pop(pod)
            self.meter.level[LENT] -= self.lent.leave(pod, node)
            self.ground.take(requests, self.ground.index[node], -1)
            self.books.take(queue, requests, -1)
            total += requests.get(GPU, 0)
        fate.tree = None
        self.meter.use(queue, -total)
        if not fate.places:
            self.active.pop(fate.job.name, None)
        return total

    # --- the source -------------------------------------------------------------------

    def need(self) -> Need:
        """
        Say whether a round now needs a plan, and choose what it is shown.
        """
        self._remember_usage()
        if not self.waits:
            return "empty"
        if not self.changed and (self.again is None or self.now < self.again):
            return "same"
        if self.rules.look == "all":
            self.shares = self.books.shares(self._asked())
            self.shown = oldest(self.line)
            return "plan"
        window = Window(self.line, self.ground, self.books, self._since)
        some = window.startable(empty=self.rules.evictions)
        if not some and not self.rules.evictions and not self._loose():
            self.changed, self.again = False, None
            self.held.note(0, self.now)
            self.holds.planned((), self.now)
            self.lent.planned((), 0)
            self.split()
            return "full"
        self.shares = self.books.shares(self._asked())
        self.shown = window.complete(self.policy, self.shares, self._late())
        return "plan"

    def _remember_usage(self) -> None:
        """
        Count what queues used since the last look, and let shares know it.
        """
        if self.usage.half_life is not None:
            self.books.know(self.usage.applied(self.floor.queues, self.now))
            self.usage.note(self.books.beyond_quotas(), self.now)

    @property
    def waits(self) -> bool:
        """
        Tell whether anybody waits for anything.
        """
        return self.line.count > 0 or self._loose()

    def _loose(self) -> bool:
        """
        Tell whether somebody has only some of its pods, or places promised.
        """
        return bool(self.promised) or self.incomplete > 0

    def _asked(self) -> dict[str, dict[str, int]]:
        asked = {queue: dict(row) for queue, row in self.line.demand.items()}
        for fate in self.active.values():
            if not fate.runs:
                add(asked.setdefault(fate.job.queue, {}), fate.missing())
        return asked

    def _late(self) -> int:
        """
        Give the submission up to which a job may have been passed over for too long.
        """
        return self.now - self.policy.waiting.protect_after

    def _passed_over(self, fate: Fate) -> int:
        """
        Give how long ago the first round was that saw a job wait.
        """
        return max(0, self.now - self._since(fate.idx))

    def _since(self, idx: int) -> int:
        every, queued = self.rules.every, self.fates[idx].queued
        return -(-queued // every) * every if every else queued

    def snapshot(self) -> Snapshot:
        """
        Give what is, of those who wait what this round is shown.
        """
        clocks = self.rules.clocks
        fates = {idx: self.fates[idx] for idx in self.shown} | self.promised
        fates |= {fate.idx: fate for fate in self.active.values()}
        gangs = [
            self._with_holds(
                fate.as_gang(self.now, self._passed_over(fate), clocks=clocks)
            )
            for fate in fates.values()
        ]
        gangs += self.load.gangs(self.now)
        gangs.sort(key=_by_key)
        self._by_key = {f"default/{fate.job.name}": fate for fate in fates.values()}
        return Snapshot(
            nodes=self.floor.nodes,
            gangs=tuple(gangs),
            queues=tuple(self.books.queues.values()),
            topologies=self.floor.topologies,
            unchanged_for=self.now - self.changed_at,
            held=self.held.within(self.policy.waiting.window, self.now),
            run_times=self.run_times,
            also_waiting=self.line.by_size(without=self.shown),
        )

    def _with_holds(self, gang: Gang) -> Gang:
        held_for, first = self.holds.of(gang.key, self.now)
        if first is None:
            return gang
        return replace(gang, held_for=held_for, held_first=first)

    # --- the sink ---------------------------------------------------------------------

    def execute(self, plan: Plan) -> Sequence[Receipt]:
        """
        Let happen what a plan says; every pod obeys at once.
        """
        self.counts = Counts()
        self.lent.planned(plan.holds, plan.held)
        for fate in self.promised.values():
            fate.reserved.clear()
            fate.tree = None
        self.promised = {}
        touched: dict[int, Fate] = {}
        for step in plan.operations:
            fate = self._by_key[step.gang]
            touched[fate.idx] = fate
            self._obey(fate, step)
        for fate in touched.values():
            self._settle(fate)
        self.holds.planned(plan.holds, self.now)
        self._note_reasons(plan)
        self.changed = bool(plan.operations)
        self.again = self._next_clock(plan.held)
        self.split()
        return [Receipt(operation=step, result="done") for step in plan.operations]

    def _obey(self, fate: Fate, step: Operation) -> None:
        pod = step.pod.partition("/")[2]
        fate.tree = None
        match step.op:
            case "Bind":
                self._bind(fate, pod, step.node)
            case "Evict":
                self._leave(fate, pod)
            case "Move":
                self._leave(fate, pod)
                self._reserve(fate, pod, step.node)
            case "Reserve":
                self._reserve(fate, pod, step.node)

    def _bind(self, fate: Fate, pod: str, node: str) -> None:
        requests = fate.role_of(pod).requests
        gpus = requests.get(GPU, 0)
        fate.places[pod] = node
        fate.since[pod] = self.now
        self.lent.bind(pod, node, gpus)
        self.active[fate.job.name] = fate
        self.ground.take(requests, self.ground.index[node])
        self.books.take(fate.job.queue, requests)
        self.meter.use(fate.job.queue, gpus)
        self.counts.gpus += gpus
        self._hold(fate, gpus)

    def _is_load(self, fate: Fate) -> bool:
        """
        Tell whether a gang runs, wants nothing more, and cannot be made to leave.
        """
        if self.rules.clocks or not fate.runs:
            return False
        return len(fate.places) == fate.job.pods

    def _merge(self, fate: Fate) -> None:
        """
        Let a gang be part of the load, and no longer one of those that are shown.
        """
        self.active.pop(fate.job.name, None)
        self.load.add(fate)

    def _hold(self, fate: Fate, gpus: int) -> None:
        if fate.runs:
            self.used += gpus
        else:
            self.incomplete += gpus

    def _leave(self, fate: Fate, pod: str) -> None:
        self.counts.evicted += 1
        fate.evicted = self.now
        self._hold(fate, -self._vacate(fate, [pod]))

    def _reserve(self, fate: Fate, pod: str, node: str) -> None:
        fate.reserved[pod] = node
        self.promised[fate.idx] = fate

    def _settle(self, fate: Fate) -> None:
        """
        Let a gang run that is complete now, and stop one that is not any more.
        """
        complete = fate.is_complete()
        gpus = sum(requests.get(GPU, 0) for requests, _ in fate.requests())
        if complete and not fate.runs:
            self._begin(fate, gpus)
        elif fate.runs and not complete:
            self._stop(fate, gpus)
        if not fate.runs and not fate.places and fate.idx not in self.line:
            self._queue_again(fate)
        elif fate.places and fate.idx in self.line:
            self.line.leave(fate.idx)
        if self._is_load(fate):
            self._merge(fate)

    def _begin(self, fate: Fate, gpus: int) -> None:
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
        heappush(self.ends, (self.now + seconds, fate.idx, fate.attempts))

    def _stop(self, fate: Fate, gpus: int) -> None:
        """
        Let the work of an attempt be lost; pods that are left wait for the others.
        """
        self.used -= gpus
        self.incomplete += gpus
        fate.lost += fate.job.gpus * (self.now - fate.start)
        fate.evictions += 1
        fate.start = NEVER

    def _note_reasons(self, plan: Plan) -> None:
        for line in plan.gangs:
            if line.waiting is not None:
                self._by_key[line.name].reason = line.waiting.reason

    def _next_clock(self, held: int) -> int | None:
        """
        Give the next moment at which a rule's clock may change the plan.
        """
        self.held.note(held, self.now)
        if self.rules.timeless:
            return None
        if self.rules.clocks:
            return self.now
        ageing = [step.after for step in self.policy.ageing]
        moments = [
            self.jobs[idx].submit + step for idx in self.shown for step in ageing
        ]
        clocks = self.policy.clocks
        moments += [self._since(idx) + step for idx in self.shown for step in clocks]
        moments += [self.now + seconds for seconds in self._slips()]
        if held:
            spent = self.held.within(self.policy.waiting.window, self.now)
            before = Snapshot(nodes=self.floor.nodes, held=spent)
            moments.append(self.now + budget_ends(before, self.policy, held))
        return min((moment for moment in moments if moment > self.now), default=None)

    def _slips(self) -> Iterator[int]:
        """
        Walk the seconds until nodes were held for too long for somebody.
        """
        for gang in self.holds.gangs:
            held_for, first = self.holds.of(gang, self.now)
            yield slips_in(held_for, first or 0, self.policy)

    # --- what idle GPUs wait for ------------------------------------------------------

    def split(self) -> None:
        """
        Say of the GPUs that are free why they are.
        """
        idle = self.ground.free_gpus
        level = {"used": self.used, "incomplete": self.incomplete}
        demand = sum(self.line.gpus.values())
        wanted = min(idle, demand)
        allowed = min(wanted, self._within_limits(idle)) if wanted else 0
        fitting = min(allowed, self._fitting()) if allowed else 0
        held = min(fitting, self.lent.held)
        level |= {"unwanted": idle - wanted, "quota": wanted - allowed}
        level |= {"fragmented": allowed - fitting, "freed": fitting - held}
        level |= {"held": held, LENT: self.lent.gpus}
        self.meter.split(level)

    def _within_limits(self, idle: int) -> int:
        """
        Add up the GPUs that queues may still take and wait for.
        """
        total = 0
        for queue, gpus in self.line.gpus.items():
            tables = self.books.limits.get(queue, ())
            left = min((t[GPU] for t in tables if GPU in t), default=idle)
            total += min(gpus, max(0, left))
        return total

    def _fitting(self) -> int:
        """
        Add up the GPUs that waiting gangs which would fit alone ask for.
        """
        return sum(
            kind.gpus * min(len(kind.line), may_start(kind, self.ground, self.books))
            for kind in self.line.waiting()
        )

    def put_back(self, fate: Fate, *, alone: bool) -> None:
        """
        Take in a job as a checkpoint has it.
        """
        self.fates[fate.idx] = fate
        if fate.reserved:
            self.promised[fate.idx] = fate
        if not fate.places:
            self.line.join(fate.idx, alone=alone)
            return
        self.active[fate.job.name] = fate
        for requests, node in fate.requests():
            self.ground.take(requests, self.ground.index[node])
            self.books.take(fate.job.queue, requests)
        if self._is_load(fate):
            self._merge(fate)

    @property
    def num_running(self) -> int:
        """
        Count the gangs that run.
        """
        return self.load.num_gangs + sum(fate.runs for fate in self.active.values())

    def left(self) -> Iterator[Fate]:
        """
        Walk the jobs that have not ended.
        """
        return iter(self.fates.values())


def _by_key(gang: Gang) -> tuple[str, str]:
    return (gang.namespace, gang.name)
