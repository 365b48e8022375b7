"""
Who of a round could ever start, and what that makes the fair shares of queues.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from models.memory.aged_gangs import still
from models.policy import Policy
from models.snapshot import Snapshot
from models.why.reasons import Waiting
from solver.problem.domains import Domains, Topologies
from solver.problem.eligibility import blocked_gangs
from solver.problem.gang_state import Standing
from solver.problem.given import GivenRound, ProblemMemo, given_of
from solver.problem.neighbours.kept_away import firm_around, with_kept_away
from solver.problem.neighbours.pods_around import PodsAround, pods_around
from solver.problem.neighbours.preferred_pods import PreferredPods, preferred_pods
from solver.problem.pod_shapes import Shapes, shapes_of, where_neighbours_let
from solver.problem.stale_gangs import leaving_as_stale
from solver.problem.when_empty.never_starts import structural_reasons
from solver.problem.when_empty.possible_room import Possible
from solver.shares.fair_share import Precedence, fair_shares, with_memory


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedOut:
    """
    Who is ready to start, who of them and of all is blocked, and what queues share.

    ``shapes`` fit only where neighbours let them; ``possible`` does not ask these.
    """

    ready: Sequence[Standing]
    blocked: dict[str, Waiting]
    possible: Possible
    shapes: Shapes
    around: PodsAround | None
    preferred: PreferredPods | None
    given: GivenRound
    shares: Mapping[str, Mapping[str, int]]


def shared_out(
    snapshot: Snapshot,
    policy: Policy,
    memo: ProblemMemo | None = None,
    *,
    devices: bool = True,
) -> SharedOut:
    """
    Say of all who wait whether they can be planned, and share out by that.

    Without ``devices`` it is the same; what pods hold of these is only measured where a
    gang says how much must be free before it starts.
    """
    given = given_of(snapshot, policy, memo or ProblemMemo(), devices=devices)
    states, room = given.states, given.room
    preferring = policy.has("neighbours")
    shapes = shapes_of(room, states.values(), preferring=preferring)
    blocked = blocked_gangs(snapshot, states, given.queues, room)
    ready = [s for k, s in states.items() if k not in blocked and not s.satisfied]
    topologies = Topologies((x.name, x) for x in snapshot.topologies)
    domains = Domains(room.nodes, topologies)
    possible = Possible(room=room, shapes=shapes, domains=domains)
    blocked |= structural_reasons(states, blocked, possible, given.queues)
    around = _around(given, policy)
    if around is not None:
        evicts = policy.evicts(borrowing=False) or policy.evicts(borrowing=True)
        firm = firm_around(around, room, snapshot.gangs) if evicts else around
        kept = where_neighbours_let(shapes, firm)
        blocked = with_kept_away(states, blocked, possible, kept, firm)
        shapes = where_neighbours_let(shapes, around)
    return SharedOut(
        ready=ready,
        blocked=blocked,
        possible=possible,
        shapes=shapes,
        around=around,
        preferred=preferred_pods(room, states, snapshot.gangs) if preferring else None,
        given=given,
        shares=_shares(given, blocked, possible, policy),
    )


def _around(given: GivenRound, policy: Policy) -> PodsAround | None:
    gangs, moving = given.snapshot.gangs, policy.evict.consolidate
    waiting, stale = given.states.values(), leaving_as_stale(gangs, policy)
    return pods_around(given.room, waiting, still(gangs), stale, moving=moving)


def _shares(
    given: GivenRound, blocked: Collection[str], possible: Possible, policy: Policy
) -> Mapping[str, Mapping[str, int]]:
    """
    Share out what the nodes have, by what runs and what waits and is not blocked.
    """
    asking = [s for k, s in given.states.items() if k not in blocked and s.num_pending]
    return fair_shares(
        with_memory(given.snapshot.queues, policy.shares.half_life),
        given.table.totals(given.queues.named),
        given.queues.requested(possible.demand(asking)),
        Precedence(given.queues.running, partial(given.queues.oldest, given.snapshot)),
    )
