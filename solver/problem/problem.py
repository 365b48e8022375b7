"""
The problem of one round: room, shapes, candidates, queue rules, shares and bands.

Everything later steps compute with is gathered here once, as arrays and small
records; what cannot be planned leaves with its reason.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import partial

from models.devices.gpu_parts import GpuDevice
from models.gangs import Gang, is_remembered
from models.memory.aged_gangs import overlaid, still
from models.policy import Policy
from models.resources import Resources, gpu_pieces
from models.snapshot import Snapshot
from models.topology import Topology
from models.why.reasons import Waiting
from solver.problem.domains import Domains
from solver.problem.eligibility import blocked_gangs
from solver.problem.gang_state import Standing, least_need
from solver.problem.given import GivenRound, ProblemMemo, given_of
from solver.problem.leaving_pods import Exit, Loss, loss_of
from solver.problem.neighbours.kept_away import firm_around, with_kept_away
from solver.problem.neighbours.pods_around import PodsAround, pods_around
from solver.problem.neighbours.preferred_pods import PreferredPods, preferred_pods
from solver.problem.node_room import Ints, Places, Room
from solver.problem.pod_shapes import (
    Shapes,
    refitted,
    shapes_of,
    where_neighbours_let,
)
from solver.problem.pod_values import PodValues
from solver.problem.priority_bands import Bands, cut_bands
from solver.problem.running_gangs import Runners
from solver.problem.stale_gangs import leaving_as_stale
from solver.problem.when_empty.never_starts import needed, structural_reasons
from solver.problem.when_empty.possible_room import Possible
from solver.shares.fair_share import Precedence, fair_shares, with_memory
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """
    One round, ready to be planned by any strategy.

    ``states`` are the standings of all gangs that are not complete.  ``gangs`` are
    those of the snapshot, with reserved pods pending as everywhere in a round,
    ``written`` as the snapshot has them.  ``remembered`` are gangs that wait and were
    evicted before, with the least they ask for of what could ever be placed.
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
    given = given_of(snapshot, policy, memo or ProblemMemo())
    found = _sorted_out(given, policy)
    bands = _bands(given, found.ready, policy)
    return Problem(
        snapshot=snapshot,
        policy=policy,
        room=given.room,
        shapes=found.shapes,
        queues=given.queues,
        shares=_shares(given, found, policy),
        units=tuple(_with_band(unit, bands) for unit in found.units),
        bands=bands,
        values=found.values,
        least_value={s.key: _least_value(s, found.values) for s in found.starting},
        positions=_positions(found.ready),
        blocked=found.blocked,
        satisfied=_num_satisfied(snapshot, given.states),
        running_pods=sum(given.census.queues.values()),
        running_gpus=_running_gpus(given),
        topologies={topology.name: topology for topology in snapshot.topologies},
        around=found.around,
        preferred=found.preferred,
        states=given.states,
        gangs=overlaid(given.written, given.waiting),
        written=given.written,
        runners=Runners(snapshot, given.room.index, found.values),
        domains=found.possible.domains,
        remembered=_remembered(given, found, policy),
        stuck=tuple(state for state in found.ready if state.key in found.blocked),
        tuning=tuning or DEFAULT,
    )


def _running_gpus(given: GivenRound) -> int:
    running, pieces = given.census.running(), given.room.pieces
    return sum(gpu_pieces(requests, pieces) * number for requests, number in running)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SortedOut:
    """
    Who is ready to start, and who of them and of all is blocked, with the reason.

    ``shapes`` fit only where neighbours let them; ``possible`` does not ask these.
    """

    ready: Sequence[Standing]
    units: Sequence[Unit]
    blocked: dict[str, Waiting]
    possible: Possible
    shapes: Shapes
    around: PodsAround | None
    preferred: PreferredPods | None
    values: PodValues

    @property
    def starting(self) -> list[Standing]:
        """
        List the gangs that start if their unit does.
        """
        return [state for unit in self.units if unit.starts for state in unit.states]


def _sorted_out(given: GivenRound, policy: Policy) -> _SortedOut:
    snapshot, states, room = given.snapshot, given.states, given.room
    preferring = policy.has("neighbours")
    shapes = shapes_of(room, states.values(), preferring=preferring)
    blocked = blocked_gangs(snapshot, states, given.queues, room)
    ready = [s for k, s in states.items() if k not in blocked and not s.satisfied]
    topologies = {topology.name: topology for topology in snapshot.topologies}
    domains = Domains(room.nodes, topologies)
    possible = Possible(room=room, shapes=shapes, domains=domains)
    blocked |= structural_reasons(states, blocked, possible, given.queues)
    stale = leaving_as_stale(snapshot.gangs, policy)
    running, moving = still(snapshot.gangs), policy.evict.consolidate
    around = pods_around(room, states.values(), running, stale, moving=moving)
    if around is not None:
        evicts = policy.evicts(borrowing=False) or policy.evicts(borrowing=True)
        firm = firm_around(around, room, snapshot.gangs) if evicts else around
        kept = where_neighbours_let(shapes, firm)
        blocked = with_kept_away(states, blocked, possible, kept, firm)
        shapes = where_neighbours_let(shapes, around)
    return _SortedOut(
        ready=ready,
        units=_units(states, blocked),
        blocked=blocked,
        possible=possible,
        shapes=shapes,
        around=around,
        preferred=preferred_pods(room, states, snapshot.gangs) if preferring else None,
        values=PodValues(given.table.offered),
    )


def _positions(ready: Sequence[Standing]) -> dict[str, int]:
    """
    Give the gangs their places in line, the oldest first.
    """
    order = sorted(ready, key=lambda s: (-s.gang.age, s.key))
    return {state.key: at for at, state in enumerate(order)}


def _remembered(
    given: GivenRound, found: _SortedOut, policy: Policy
) -> dict[str, Resources]:
    """
    Give the least that those ask for who have waited so long that they are protected.
    """
    return {
        state.key: _least_living(state, found.possible, given.queues.named)
        for state in found.starting
        if is_remembered(state.gang, policy.waiting.protect_after)
    }


def _bands(given: GivenRound, ready: Sequence[Standing], policy: Policy) -> Bands:
    return cut_bands(
        [_lowest_priority(together(state, given.states)) for state in ready],
        policy,
        {gang.priority for gang in still(given.snapshot.gangs)},
    )


def _shares(
    given: GivenRound, found: _SortedOut, policy: Policy
) -> Mapping[str, Mapping[str, int]]:
    """
    Share out what the nodes have, by what runs and what waits and is not blocked.
    """
    asking = [
        s for k, s in given.states.items() if k not in found.blocked and s.num_pending
    ]
    return fair_shares(
        with_memory(given.snapshot.queues, policy.shares.half_life),
        given.table.totals(given.queues.named),
        given.queues.requested(found.possible.demand(asking)),
        Precedence(given.queues.running, partial(given.queues.oldest, given.snapshot)),
    )


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
    complete = len(snapshot.gangs) - len(states)
    return complete + sum(state.satisfied for state in states.values())


def _least_value(state: Standing, values: PodValues) -> int:
    prices = [values.of_pod(leaf.pod_set.requests) for leaf in state.leaves]
    return least_need(state, prices.__getitem__) or 0


def _units(
    states: Mapping[str, Standing], blocked: Mapping[str, Waiting]
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
        units.append(Unit(states=members, starts=True, band=0))
    return units


def together(state: Standing, states: Mapping[str, Standing]) -> tuple[Standing, ...]:
    """
    List the gangs that start with one, itself included, by name.
    """
    if not state.gang.mates:
        return (state,)
    names = sorted({state.key, *state.gang.mates} & states.keys())
    return tuple(states[name] for name in names if not states[name].satisfied)


def _with_band(unit: Unit, bands: Bands) -> Unit:
    if not unit.starts:
        return unit
    band = bands.of(_lowest_priority(unit.states))
    return Unit(states=unit.states, starts=True, band=band)


def _lowest_priority(states: Iterable[Standing]) -> int:
    return min(state.gang.priority for state in states)
