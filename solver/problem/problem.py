"""
The problem of one round: room, shapes, candidates, queue rules, shares and bands.

Everything later steps compute with is gathered here once, as arrays and small
records; what cannot be planned leaves with its reason.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from models.devices.gpu_parts import GpuDevice
from models.gangs import Gang, is_remembered
from models.memory.aged_gangs import overlaid, still
from models.policy import Policy
from models.resources import Resources, gpu_pieces
from models.snapshot import Snapshot
from models.topology import Topology
from models.why.reasons import Waiting
from solver.problem.domains import Domains
from solver.problem.gang_state import Standing, least_need
from solver.problem.given import GivenRound, ProblemMemo
from solver.problem.leaving_pods import Exit, Loss, loss_of
from solver.problem.neighbours.pods_around import PodsAround
from solver.problem.neighbours.preferred_pods import PreferredPods
from solver.problem.node_room import Ints, Places, Room
from solver.problem.pod_shapes import Shapes, refitted
from solver.problem.pod_values import PodValues
from solver.problem.priority_bands import Bands, cut_bands
from solver.problem.running_gangs import Runners
from solver.problem.when_empty.never_starts import needed
from solver.problem.when_empty.possible_room import Possible
from solver.problem.when_empty.shared_out import SharedOut, shared_out
from solver.shares.queue_tree import QueueTree
from solver.tuning import DEFAULT, Tuning


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """
    Gangs that start together: one gang, or the unsatisfied members of a GangGroup.

    ``starts`` is false for a satisfied gang whose pending pods are all surplus.
    """

    states: tuple[Standing, ...]
    starts: bool
    band: int
    key: str = field(init=False)

    def __post_init__(self) -> None:
        """
        Be known by the first member's name.
        """
        object.__setattr__(self, "key", self.states[0].key)


class Step(IntEnum):
    """
    The steps of a round: whose starts may make others leave.
    """

    ENTITLED = 0
    BORROWING = 1
    IDLE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """
    What earlier steps decided: who leaves, and the gangs that have their places for it.

    Some lose their share for those that are ``guaranteed``.  Gangs that are ``stale``
    leave for nobody, whatever is planned.
    ``losses`` are those for entitled and for other starts.  ``committed`` units have
    what an earlier round promised, ``bound`` now or, in ``places``, later.  Pods that
    have parts of GPUs promised to them, or are moved, have their ``devices``.
    """

    exits: tuple[Exit, ...] = ()
    units: tuple[Unit, ...] = ()
    places: Mapping[str, Places] = field(default_factory=dict)
    entitled: frozenset[str] = frozenset()
    guaranteed: frozenset[str] = frozenset()
    losses: tuple[Loss, Loss] = (Loss(), Loss())
    committed: tuple[Unit, ...] = ()
    bound: Mapping[str, Places] = field(default_factory=dict)
    devices: Mapping[str, tuple[GpuDevice, ...]] = field(default_factory=dict)
    stale: frozenset[str] = frozenset()

    def with_exits(self, exits: tuple[Exit, ...], step: Step) -> "Frozen":
        """
        Count who leaves for the starts of a step, and what is lost with them.

        Those of the first step stay first, whoever was called back before it.
        """
        losses, left = list(self.losses), list(self.by_step)
        losses[step] += loss_of(exits)
        left[step] += exits
        found = (*left[0], *left[1])
        return replace(self, exits=found, losses=(losses[0], losses[1]))

    @property
    def by_step(self) -> tuple[tuple[Exit, ...], tuple[Exit, ...]]:
        """
        Part those who leave: for who is entitled, and for the others.
        """
        first = self.losses[Step.ENTITLED].pods
        return self.exits[:first], self.exits[first:]

    @property
    def decided(self) -> frozenset[str]:
        """
        Name the gangs that leave or have the places of all they miss.
        """
        units = (*self.units, *self.committed)
        placed = {state.key for unit in units for state in unit.states}
        return self.stale.union(placed, (one.gang for one in self.exits))


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """
    One round, ready to be planned by any strategy.

    ``states`` are the standings of all gangs that are not complete.  ``gangs`` are
    those of the snapshot, with reserved pods pending as everywhere in a round,
    ``written`` as the snapshot has them.  ``remembered`` are gangs that wait and were
    evicted before, with the least they ask for of what could ever be placed.  The unit
    that is ``asked`` for starts whatever else is wanted, if it may.
    """

    snapshot: Snapshot
    policy: Policy
    room: Room
    shapes: Shapes
    queues: QueueTree
    shares: Mapping[str, Mapping[str, int]]
    units: tuple[Unit, ...]
    bands: Bands
    values: PodValues
    least_value: Mapping[str, int]
    positions: Mapping[str, int]
    blocked: Mapping[str, Waiting]
    satisfied: int
    running_pods: int
    running_gpus: int
    topologies: Mapping[str, Topology] = field(default_factory=dict)
    around: PodsAround | None = None
    preferred: PreferredPods | None = None
    domains: Domains = field(default_factory=Domains)
    remembered: Mapping[str, Resources] = field(default_factory=dict)
    stuck: tuple[Standing, ...] = ()
    frozen: Frozen = Frozen()
    step: Step = Step.IDLE
    asked: str = ""
    states: Mapping[str, Standing] = field(default_factory=dict)
    gangs: Mapping[str, Gang] = field(default_factory=dict)
    written: Mapping[str, Gang] = field(default_factory=dict)
    tuning: Tuning = DEFAULT
    runners: Runners = field(
        default_factory=lambda: Runners(Snapshot(), {}, PodValues({}))
    )

    def in_room(self, now: Ints, later: Ints | None = None) -> "Problem":
        """
        See the round in another room, with the shapes that fit there.
        """
        shapes = refitted(self.shapes, now)
        return replace(self, room=self.room.seen(now, later), shapes=shapes)

    def gpus_of(self, requests: Resources) -> int:
        """
        Count the GPUs of one pod, in so many pieces of one as parts count in.
        """
        return gpu_pieces(requests, self.room.pieces)

    def weight(self, state: Standing) -> int:
        """
        Value of starting a gang, in quarters: least pod value times its age step.
        """
        return self.least_value[state.key] * self.policy.quarters(state.gang.age)


def problem_of(
    snapshot: Snapshot,
    policy: Policy,
    tuning: Tuning | None = None,
    memo: ProblemMemo | None = None,
) -> Problem:
    """
    Gather one round's problem from a snapshot; with any ``memo`` it is the same.
    """
    found = shared_out(snapshot, policy, memo)
    given = found.given
    bands, units = _in_bands(found, policy)
    return Problem(
        snapshot=snapshot,
        policy=policy,
        room=given.room,
        shapes=found.shapes,
        queues=given.queues,
        shares=found.shares,
        units=tuple(units),
        bands=bands,
        values=given.values,
        least_value={s.key: _least_value(s, given.values) for s in _starting(units)},
        positions=_positions(found.ready),
        blocked=found.blocked,
        satisfied=_num_satisfied(snapshot, given.states),
        running_pods=sum(given.census.queues.values()),
        running_gpus=_running_gpus(given),
        topologies=found.possible.domains.topologies,
        around=found.around,
        preferred=found.preferred,
        states=given.states,
        gangs=overlaid(given.written, given.waiting),
        written=given.written,
        runners=Runners(snapshot, given.room.index, given.values),
        domains=found.possible.domains,
        remembered=_remembered(found, units, policy),
        stuck=tuple(state for state in found.ready if state.key in found.blocked),
        tuning=tuning or DEFAULT,
    )


def _running_gpus(given: GivenRound) -> int:
    running, pieces = given.census.running(), given.room.pieces
    return sum(gpu_pieces(requests, pieces) * number for requests, number in running)


def _positions(ready: Sequence[Standing]) -> dict[str, int]:
    """
    Give the gangs their places in line, the oldest first.
    """
    order = sorted(ready, key=lambda s: (-s.gang.age, s.key))
    return {state.key: at for at, state in enumerate(order)}


def _remembered(
    found: SharedOut, units: Iterable[Unit], policy: Policy
) -> dict[str, Resources]:
    """
    Give the least that those ask for who were evicted, and are not protected yet.
    """
    return {
        state.key: _least_living(state, found.possible, found.given.queues.named)
        for state in _starting(units)
        if is_remembered(state.gang, policy.waiting.protect_after)
    }


def _in_bands(found: SharedOut, policy: Policy) -> tuple[Bands, list[Unit]]:
    given = found.given
    bands = cut_bands(
        [_lowest_priority(together(state, given.states)) for state in found.ready],
        policy,
        {gang.priority for gang in still(given.snapshot.gangs)},
    )
    return bands, _units(given.states, found.blocked, bands)


def _least_living(
    state: Standing, possible: Possible, named: Iterable[str]
) -> Resources:
    """
    Give the least that a gang asks for, of pods that empty nodes can hold.
    """
    living = possible.living(state)
    places = None if living is None else living.__getitem__
    return {name: needed(state, name, places) for name in named}


def _num_satisfied(snapshot: Snapshot, states: Mapping[str, Standing]) -> int:
    return len(snapshot.gangs) - len(states) + sum(s.satisfied for s in states.values())


def _least_value(state: Standing, values: PodValues) -> int:
    prices = [values.of_pod(leaf.pod_set.requests) for leaf in state.leaves]
    return least_need(state, prices.__getitem__) or 0


def _units(
    states: Mapping[str, Standing], blocked: Mapping[str, Waiting], bands: Bands
) -> list[Unit]:
    units = []
    done: set[str] = set()
    for key, state in states.items():
        if key in done or key in blocked:
            continue
        if state.satisfied:
            if state.num_pending:
                units.append(Unit(states=(state,), starts=False, band=0))
            continue
        members = together(state, states)
        done.update(member.key for member in members)
        band = bands.of(_lowest_priority(members))
        units.append(Unit(states=members, starts=True, band=band))
    return units


def _starting(units: Iterable[Unit]) -> Iterator[Standing]:
    return (state for unit in units if unit.starts for state in unit.states)


def together(state: Standing, states: Mapping[str, Standing]) -> tuple[Standing, ...]:
    """
    List the gangs that start with one, itself included, by name.
    """
    if not state.gang.mates:
        return (state,)
    names = sorted({state.key, *state.gang.mates} & states.keys())
    return tuple(states[name] for name in names if not states[name].satisfied)


def _lowest_priority(states: Iterable[Standing]) -> int:
    return min(state.gang.priority for state in states)
