"""
What a plan does to the world of a replay: a sink of operations, obeyed at once.
"""

from collections.abc import Sequence

from adapters.replay.world.job_state import Fate
from adapters.replay.world.world import Counts
from adapters.replay.world.world_source import WorldSource
from models.plan import Operation, Plan
from models.receipt import Receipt
from solver import next_moment


class WorldSink:
    """
    Lets happen what a plan says that was made of a source's last snapshot.
    """

    def __init__(self, source: WorldSource) -> None:
        self.source = source
        self.world = source.world

    def execute(self, plan: Plan) -> Sequence[Receipt]:
        """
        Let happen what a plan says; every pod obeys at once.
        """
        world = self.world
        world.counts = Counts()
        world.lent.planned(plan.holds, plan.held * world.ground.pieces)
        for fate in world.promised.values():
            for pod in fate.reserved:
                fate.devices.pop(pod, None)
            fate.reserved.clear()
            fate.tree = None
        world.promised = {}
        touched: dict[int, tuple[Fate, int]] = {}
        lenders = plan.lenders()
        for step in plan.operations:
            fate = self.source.by_key[step.gang]
            if fate.idx not in touched:
                touched[fate.idx] = fate, world.ground.held_in(fate.requests())
            if not fate.runs:
                fate.lent_by = lenders.get(step.gang, ())
            self._obey(fate, step)
        for fate, had in touched.values():
            self._settle(fate, had)
        world.holds.planned(plan.paid_holds(), world.now)
        self._note_reasons(plan)
        world.changed = bool(plan.operations)
        world.again = self._next_clock(plan)
        world.split()
        return [Receipt(operation=step, result="done") for step in plan.operations]

    def _obey(self, fate: Fate, step: Operation) -> None:
        pod = step.pod.partition("/")[2]
        fate.tree = None
        match step.op:
            case "Bind":
                self._bind(fate, pod, step)
            case "Evict":
                self._leave(fate, pod)
            case "Move":
                self._leave(fate, pod)
                self._reserve(fate, pod, step)
            case "Reserve":
                self._reserve(fate, pod, step)

    def _bind(self, fate: Fate, pod: str, step: Operation) -> None:
        world, node = self.world, step.node
        requests = fate.role_of(pod).requests
        gpus = requests.get(world.ground.counted, 0)
        fate.places[pod] = node
        if step.devices:
            fate.devices[pod] = step.devices
        fate.since[pod] = world.now
        at = world.ground.index[node]
        held = world.ground.held(requests, at)
        world.lent.bind(pod, node, held)
        world.active[fate.job.name] = fate
        world.ground.take(requests, at, step.devices)
        world.books.take(fate.job.queue, requests)
        world.meter.use(fate.job.queue, gpus)
        world.counts.gpus += gpus
        self._hold(fate, held)

    def _hold(self, fate: Fate, gpus: int) -> None:
        world = self.world
        if fate.runs:
            world.used += gpus
        else:
            world.incomplete += gpus

    def _leave(self, fate: Fate, pod: str) -> None:
        world = self.world
        world.counts.evicted += 1
        fate.evicted = world.now
        self._hold(fate, -world.vacate(fate, [pod]))

    def _reserve(self, fate: Fate, pod: str, step: Operation) -> None:
        fate.reserved[pod] = step.node
        if step.devices:
            fate.devices[pod] = step.devices
        self.world.promised[fate.idx] = fate

    def _settle(self, fate: Fate, had: int) -> None:
        """
        Let a gang run that is complete now, and stop one that is not any more.

        The work of all GPUs is lost that it had before.
        """
        world = self.world
        complete = fate.is_complete()
        gpus = world.ground.held_in(fate.requests())
        if complete and not fate.runs:
            world.begin(fate, gpus)
        elif fate.runs and not complete:
            world.stop(fate, gpus, had)
        if not fate.runs and not fate.places and fate.idx not in world.line:
            world.queue_again(fate)
        elif fate.places and fate.idx in world.line:
            world.line.leave(fate.idx)
        if world.rules.is_load(fate):
            world.merge(fate)

    def _note_reasons(self, plan: Plan) -> None:
        for line in plan.gangs:
            if line.waiting is not None:
                self.source.by_key[line.name].reason = line.waiting.reason

    def _next_clock(self, plan: Plan) -> int | None:
        """
        Give the next moment at which a rule's clock may change the plan.
        """
        world = self.world
        world.held.note(plan.held, world.now)
        if world.rules.timeless:
            return None
        if world.rules.every and (world.rules.estimates or world.usage.half_life):
            return world.now
        eases = world.held.eases_in(world.now)
        found = [self.source.next_late()]
        if self.source.last is not None:
            found.append(next_moment(self.source.last, world.policy, plan, eases))
        seconds = min((each for each in found if each is not None), default=None)
        return None if seconds is None else world.now + seconds
