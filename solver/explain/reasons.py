"""
Why gangs wait: one primary reason each, true of what is free and runs now.

What a reason claims has been shown: by sums, by places found by hand, or by the exact
model.  Where that would cost too much a weaker reason is given, never a guess.
"""

from dataclasses import replace
from functools import cache, cached_property, partial

from models.devices.gpu_parts import is_part
from models.why.reasons import Facts, Reason, Waiting, listed
from solver.effort.budget import Budget
from solver.evict.evicted_before import was_evicted
from solver.evict.named_devices import come_to, named_devices, pods_of
from solver.evict.settled import is_settled
from solver.explain.could_start_alone import (
    Alone,
    has_domains,
    has_neighbours,
    is_by_hand,
)
from solver.explain.ending_pods import ending_on, ending_pods
from solver.explain.fragments import pieces
from solver.explain.left_on_devices import rest_of_devices
from solver.explain.protected import Protection
from solver.explain.room_now import FreeSums, limits_of, matching, places
from solver.explain.takers import (
    Takers,
    limit_taken,
    place_taken,
    room_taken,
    rules_told,
)
from solver.place.complete import loaded
from solver.place.in_pieces import is_in_pieces
from solver.problem.gang_state import least_need
from solver.problem.node_room import Ints, NodeRoom
from solver.problem.pod_shapes import refitted, where_neighbours_let
from solver.problem.problem import Frozen, Problem, Unit
from solver.problem.unit_kind import names_of, unit_kind
from solver.problem.when_empty.never_starts import needed
from solver.search.search_outcome import Outcome


def explain(bare: Problem, outcome: Outcome, budget: Budget) -> dict[str, Waiting]:
    """
    Name the reason of every gang that stays below its minimum, or is reserved.

    Sums and placing by hand come first, for all; what only a proof or a try with
    evictions can tell is asked as far as the budget goes, and with a limit in seconds
    in the part of it that the search leaves: a round ends when its plan is found.
    ``bare`` is the round as it was given: nothing kept, held or decided yet.
    """
    with budget.at_most(bare.tuning.explain.kept):
        reasons = _told(bare, outcome, budget)
    return reasons | _reserved(outcome.problem)


def _told(bare: Problem, outcome: Outcome, budget: Budget) -> dict[str, Waiting]:
    """
    Tell those who neither start nor lose anything, all of a kind the same.
    """
    explainer = _Explainer(bare, outcome, budget)
    kinds: dict[object, list[Unit]] = {}
    for unit in _waiting(bare, outcome):
        kinds.setdefault(explainer.kind(unit), []).append(unit)
    known = {kind: explainer.by_hand(units[0]) for kind, units in kinds.items()}
    reasons = dict(outcome.problem.blocked)
    for kind, units in kinds.items():
        why = known[kind] or explainer.by_proof(units[0])
        reasons |= {state.key: why for unit in units for state in unit.states}
    return reasons


def _waiting(bare: Problem, outcome: Outcome) -> list[Unit]:
    """
    List the units that could be planned, and neither start nor lose anything.
    """
    frozen = outcome.problem.frozen
    busy = {one.gang for one in frozen.exits}
    busy.update(outcome.draft.places, frozen.places, frozen.bound)
    busy.update(outcome.problem.blocked)
    return [
        unit
        for unit in bare.units
        if unit.starts and busy.isdisjoint(state.key for state in unit.states)
    ]


def _reserved(problem: Problem) -> dict[str, Waiting]:
    """
    Say of reserved gangs how many places they have on how many nodes, and who leaves.
    """
    frozen, found = problem.frozen, dict[str, Waiting]()
    if not frozen.places:
        return found
    leave: dict[int, set[str]] = {}
    for gang, node in (
        *((one.gang, one.host) for one in frozen.exits),
        *((gang, node) for gang, node, _ in ending_pods(problem)),
    ):
        leave.setdefault(node, set()).add(gang)
    for unit in (*frozen.units, *frozen.committed):
        for state in unit.states:
            places = frozen.places.get(state.key)
            if places is not None:
                hosts = [host for row in places for host in row]
                facts: Facts = {"pods": len(hosts), "nodes": len(set(hosts))}
                who = sorted({x for host in hosts for x in leave.get(host, ())})
                facts |= {"leave": listed(who, "gang")} if who else {}
                found[state.key] = Waiting(Reason.WAITING_FOR_PREEMPTION, facts)
    return found


class _Explainer:
    """
    What is asked about each kind of waiting unit.
    """

    def __init__(self, bare: Problem, outcome: Outcome, budget: Budget) -> None:
        self._bare = bare
        self._outcome = outcome
        self._budget = budget
        self._now = Alone(bare, budget)
        self._protection = Protection(bare, budget)
        self._takers = Takers(bare, outcome.problem, outcome.draft)
        self._heads = {head.key for head in outcome.heads}
        self._known_short: dict[str, Waiting | None] = {}
        self._left_over = cache(partial(_left_over, outcome))
        self._ending = cache(lambda: list(ending_pods(bare)))

    def kind(self, unit: Unit) -> object:
        """
        Name what units have in common of which one is asked for all.
        """
        if unit.key in self._heads or unit.key in self._outcome.makes_way:
            return unit.key
        return kind_asked(self._bare, unit)

    def by_hand(self, unit: Unit) -> Waiting | None:
        """
        Give the reason of a unit, none where only a proof or evictions can tell.
        """
        rivals = self._outcome.makes_way.get(unit.key)
        if rivals is not None:
            facts: Facts = {"gangs": len(rivals), "behind": listed(rivals, "gang")}
            facts |= {"next": "evicts"}
            return Waiting(Reason.LOWER_TIER_OR_PRIORITY, facts)
        waiting = _over_limit(self._bare, unit)
        if waiting is not None:
            return waiting
        short = self._short(unit)
        if self._budget.is_late:
            return short
        if short is not None:
            return None if self._protection.may_ask(unit) else short
        if places(self._now.work, unit):
            return self._outranked(unit)
        return self._beside_others(unit) if has_neighbours(unit) else None

    def by_proof(self, unit: Unit) -> Waiting:
        """
        Give the reason of a unit by the exact model, and by trying who could leave.
        """
        short = self._short(unit)
        if self._budget.left <= 0:
            return short or self._undecided()
        if short is None:
            if alone := self._starts_alone(unit):
                return self._outranked(unit, proof=True) or self._unknown(unit)
            short = self._unknown(unit) if alone is None else self._in_pieces(unit)
        evictions = self._protection.may_ask(unit) and self._of_evictions(unit)
        return evictions or short

    def _starts_alone(self, unit: Unit) -> bool | None:
        """
        Tell whether a unit could start if it were alone; none if not known.
        """
        if places(self._now.work, unit):
            return True
        if is_by_hand(unit) and not has_domains(unit):
            return False
        return self._now.starts(unit)

    def _short(self, unit: Unit) -> Waiting | None:
        """
        Say of which resource too little is free, if of any; asked once a unit.
        """
        if unit.key not in self._known_short:
            found = _short_of_room(self._bare, self._now.sums, unit)
            self._known_short[unit.key] = found and self._with_ending(found, unit)
        return self._known_short[unit.key]

    def _with_ending(self, found: Waiting, unit: Unit) -> Waiting:
        nodes, resource = matching(self._bare, unit), str(found.facts["resource"])
        ending = ending_on(self._bare, self._ending(), nodes, resource)
        return Waiting(found.reason, {**found.facts, **ending})

    def _unknown(self, unit: Unit) -> Waiting:
        if "starts" in self._budget.cut or not has_neighbours(unit):
            return self._undecided()
        return self._beside_others(unit)

    def _beside_others(self, unit: Unit) -> Waiting:
        """
        Say of which neighbours the pods of a unit depend, unless they lack room alone.
        """
        if is_in_pieces(self._bare, unit):
            return self._in_pieces(unit)
        facts: Facts = {"detail": rules_told(self._bare.around, unit)}
        return Waiting(Reason.NEIGHBOURS_IN_THE_WAY, facts)

    def _undecided(self) -> Waiting:
        self._budget.cut.add("reasons")
        return Waiting(Reason.SEARCH_LIMIT_REACHED)

    def _in_pieces(self, unit: Unit) -> Waiting:
        pods = sum(least_need(s, lambda _: 1) or 0 for s in unit.states)
        facts: Facts = {"pods": pods, "detail": pieces(self._bare, unit)}
        return Waiting(Reason.FRAGMENTED, facts)

    def _of_evictions(self, unit: Unit) -> Waiting | None:
        """
        Say what would happen if others could leave for an entitled unit.
        """
        if closed := self._is_closed(unit, "entitled"):
            left = self._left_over
            facts = room_taken(self._bare, self._takers, unit, left, evicting=True)
            facts = facts or _leave_instead(self._outcome.problem)
            if facts and self._protection.could_evict(unit):
                return Waiting(Reason.LOWER_TIER_OR_PRIORITY, facts)
        closed = closed and not is_settled(self._bare.snapshot, self._bare.policy)
        values = (tier.value for tier in self._outcome.tiers if tier.name == "entitled")
        return self._protection.reason(unit, is_proven=closed and not any(values))

    def _is_closed(self, unit: Unit, *names: str) -> bool:
        """
        Tell whether no more starts of some tiers are possible down to a unit's band.
        """
        label = self._bare.bands.label(unit.band)
        tiers = [tier for tier in self._outcome.tiers if tier.name in names]
        return len({tier.name for tier in tiers}) == len(names) and all(
            tier.value == tier.bound
            for tier in tiers
            if tier.band is None or tier.band >= label
        )

    def _outranked(self, unit: Unit, *, proof: bool = False) -> Waiting | None:
        """
        Say who gets what a unit could have used, where it could start alone.
        """
        ledger = self._rest.work.ledger
        found = limit_taken(self._bare, self._takers, unit, ledger)
        if found is None:
            if beside := self._starts_beside(unit, proof=proof):
                found = self._held_back(unit)
            elif beside is False:
                states = self._now.work, self._rest.work
                found = place_taken(self._bare, self._takers, unit, *states)
                left = self._left_over
                found = found or room_taken(self._bare, self._takers, unit, left)
        return None if found is None else Waiting(Reason.LOWER_TIER_OR_PRIORITY, found)

    def _starts_beside(self, unit: Unit, *, proof: bool) -> bool | None:
        """
        Tell whether a unit could start beside all that starts; none if not known.

        It could not where that would have made the plan better.
        """
        left = self._rest
        if left.sums.lacks(unit):
            return False
        if places(left.work, unit):
            return True
        closed = self._is_closed(unit, "entitled", "borrowing")
        if is_by_hand(unit) or (closed and not self._heads):
            return False
        return left.starts(unit) if proof else None

    @cached_property
    def _rest(self) -> Alone:
        """
        Give what is left after all that this plan starts, as if no nodes were held.
        """
        outcome = self._outcome
        problem = replace(
            outcome.problem,
            shapes=refitted(self._bare.shapes, outcome.problem.room.now),
        )
        work = loaded(problem, outcome.draft)
        has_parts = problem.room.parts is not None
        rows = self._left_over() if has_parts else work.room.rows.copy()
        left = problem.in_room(rows)
        if work.around is not None:
            around = work.around.copy()
            shapes = where_neighbours_let(left.shapes, around)
            left = replace(left, around=around, shapes=shapes, frozen=Frozen())
        return Alone(left, self._budget, work)

    def _held_back(self, unit: Unit) -> Facts | None:
        """
        Name those for whom a unit is held back: heads, or the first in line.
        """
        ahead = [head.key for head in self._outcome.heads if head.nodes]
        ahead = ahead or [x for x in (self._outcome.first_in_line,) if x]
        if not ahead or unit.key in ahead:
            return None
        return {"gangs": len(ahead), "behind": listed(ahead, "gang")}


def kind_asked(problem: Problem, unit: Unit) -> object:
    """
    Name what units have in common that are told the same, in the same words.
    """
    return (
        unit_kind(problem.shapes, unit.states),
        unit.band,
        was_evicted(problem, unit),
        names_of(unit.states[0]),
    )


def _over_limit(problem: Problem, unit: Unit) -> Waiting | None:
    for bound in limits_of(problem, unit):
        if bound.needs > bound.left:
            facts: Facts = {
                "resource": bound.resource,
                "needs": bound.needs,
                "queue": bound.queue,
                "used": bound.used,
                "limit": bound.limit,
            }
            facts |= {"work": " of non-preemptible work"} if bound.fixed else {}
            if team := problem.queues.outside.get(bound.queue):
                facts |= {"queue": bound.member, **team.facts(bound.resource)}
            facts |= {"where": " with its group"} if len(unit.states) > 1 else {}
            return Waiting(Reason.QUOTA_LIMIT_REACHED, facts)
    return None


def _short_of_room(problem: Problem, sums: FreeSums, unit: Unit) -> Waiting | None:
    """
    Compare what a gang needs, then what its whole group needs, with what is free.
    """
    single = [replace(unit, states=(state,)) for state in unit.states]
    where = " for one of its group" if len(single) > 1 else ""
    for part in (*single, unit) if where else single:
        free = sums.of(part)
        for column, resource in enumerate(problem.room.resources):
            needs = sum(needed(state, resource) for state in part.states)
            if needs > free[column]:
                facts: Facts = {"resource": resource, "needs": needs}
                facts |= {"free": int(free[column])}
                facts |= {"where": where} if where else {}
                facts |= {"where": " with its group"} if part is unit else {}
                facts |= _rest(problem, part, resource)
                return Waiting(Reason.INSUFFICIENT_CAPACITY, facts)
    return None


def _rest(problem: Problem, unit: Unit, resource: str) -> Facts:
    """
    Say of a part what devices have room for.
    """
    if not is_part(resource):
        return {}
    nodes = matching(problem, unit)
    return {"rest": rest_of_devices(problem, nodes, resource, problem.room.now)}


def _leave_instead(problem: Problem) -> Facts:
    """
    Name those for whom others leave, where nobody gets what a unit could have used.
    """
    names = sorted(problem.frozen.places)
    named: Facts = {"gangs": len(names), "to": listed(names, "gang")}
    return {**named, "evicting": 1, "instead": 1} if names else {}


def _left_over(outcome: Outcome) -> Ints:
    """
    Give what nodes have left after all that a plan starts.
    """
    problem, draft = outcome.problem, outcome.draft
    states = (state for unit in problem.units for state in unit.states)
    coming = list(pods_of(states, draft.places))
    room = NodeRoom(problem.room.now, problem.room.parts)
    devices = named_devices(problem, problem.room.now, coming)
    come_to(room, problem, coming, devices)
    return room.rows
