"""
Short-lived starts: what this round would bind and the next one evict again.

A lower band of a queue may start before a higher one that only borrows, and a gang
beyond its queue's quota before one within it.  Where those would evict them a round
later, they do not start.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from models.resources import add
from solver.effort.budget import Budget
from solver.evict.evicted_before import was_evicted
from solver.evict.gathering import victims_of
from solver.evict.rights.guarantees import may_be_guaranteed
from solver.evict.victims import vacated
from solver.explain.room_now import places
from solver.place.complete import loaded
from solver.problem.problem import Frozen, Problem, Step, Unit
from solver.score.tiers import score, tier_keys
from solver.search.search_outcome import Outcome

Next = Callable[[Outcome], Outcome]
"""
Plans the round after one that was carried out.
"""

Rivalry = tuple[Step, Sequence[Unit], Sequence[Unit]]
"""
In which step those that wait may evict, and those that start before them.
"""


@dataclass(frozen=True, slots=True)
class ShortLived:
    """
    Starts that would not last, and the waiting gangs that would evict them.
    """

    starts: frozenset[str] = frozenset()
    rivals: frozenset[str] = frozenset()


def _gone(problem: Problem, after: Frozen) -> set[str]:
    """
    Name the gangs that the next round would leave nothing of.
    """
    return {
        one.gang
        for one in after.exits
        if one.rule != "consolidate" and (one.whole or not _runs(problem, one.gang))
    }


def short_lived(outcome: Outcome, following: Next, budget: Budget) -> ShortLived:
    """
    Name what a round binds and the next one would evict for a gang that waits now.

    ``following`` plans the next round, with nothing else changed; asked only where a
    waiting gang would find room if those made way that it may evict, and until the
    limit.
    """
    problem, draft = outcome.problem, outcome.draft
    units = [unit for unit in problem.units if unit.starts]
    new = [unit for unit in units if draft.starts(unit)]
    waiting = [
        unit
        for unit in units
        if not draft.starts(unit) and not was_evicted(problem, unit)
    ]
    if not new or not waiting:
        return ShortLived()
    if not any(
        _would_have_room(outcome, step, above, below)
        for step, above, below in (
            *_in_lines(problem, waiting, new),
            *_within_quotas(outcome, waiting, new),
        )
    ):
        return ShortLived()
    if budget.is_over:
        budget.cut.add("next-round")
        return ShortLived()
    after = following(outcome).problem.frozen
    gone = _gone(problem, after)
    found = [unit for unit in new if gone & _keys([unit])]
    rivals = _keys(after.units) & _keys(waiting)
    return ShortLived(_keys(found), rivals) if found and rivals else ShortLived()


def _runs(problem: Problem, key: str) -> bool:
    """
    Tell whether pods of a gang ran before: then these may be all that it loses.
    """
    state = problem.states.get(key)
    return state is not None and any(leaf.running for leaf in state.leaves)


def _keys(units: Sequence[Unit]) -> frozenset[str]:
    return frozenset(state.key for unit in units for state in unit.states)


def _in_lines(
    problem: Problem, waiting: Sequence[Unit], new: Sequence[Unit]
) -> Iterator[Rivalry]:
    """
    Walk the leaf queues in which lower bands start while higher ones wait.
    """
    policy = problem.policy
    if not policy.evicts(borrowing=True) or not policy.evict.preempt:
        return
    leaf = problem.queues.leaf
    lines: dict[str, tuple[list[Unit], list[Unit]]] = {}
    for at, units in enumerate((waiting, new)):
        for unit in units:
            for queue in {leaf(state.gang.queue) for state in unit.states}:
                lines.setdefault(queue, ([], []))[at].append(unit)
    for above, below in lines.values():
        top = max((unit.band for unit in above), default=-1)
        low = [unit for unit in below if unit.band < top]
        least = min((unit.band for unit in low), default=top)
        yield Step.BORROWING, [unit for unit in above if unit.band > least], low


def _within_quotas(
    outcome: Outcome, waiting: Sequence[Unit], new: Sequence[Unit]
) -> Iterator[Rivalry]:
    """
    Give those that wait within their quotas, and those that start beyond theirs.
    """
    problem = outcome.problem
    policy = problem.policy
    if not policy.evicts(borrowing=False) or not policy.evict.reclaim:
        return
    sure = [unit for unit in waiting if may_be_guaranteed(problem, unit)]
    if sure:
        asking = {state.gang.queue for unit in new for state in unit.states}
        queues = {queue for queue in asking if _runs_beyond(outcome, queue)}
        beyond = [u for u in new if {s.gang.queue for s in u.states} & queues]
        yield Step.ENTITLED, sure, beyond


def _runs_beyond(outcome: Outcome, queue: str) -> bool:
    """
    Tell whether a queue runs more than its quota once all is bound.
    """
    problem, draft = outcome.problem, outcome.draft
    queues = problem.queues
    asked: dict[str, int] = {}
    for unit in problem.units:
        for state in unit.states if draft.starts(unit) else ():
            if state.gang.queue == queue:
                for i, hosts in enumerate(draft.places[state.key]):
                    add(asked, state.leaves[i].pod_set.requests, len(hosts))
    return queue in queues.queues and any(
        left is not None and asked.get(name, 0) > left
        for name in queues.named
        for left in [queues.guarantee_left(queue, name)]
    )


def _would_have_room(
    outcome: Outcome, step: Step, above: Sequence[Unit], below: Sequence[Unit]
) -> bool:
    """
    Tell whether some that wait would have places if all left that they may evict.

    All others that start now may have moved by then, where they are no more pods than
    may be moved in one round.
    """
    low = [u for u in below if all(state.gang.preemptible for state in u.states)]
    if not low or not above:
        return False
    problem, draft = outcome.problem, outcome.draft
    low += _movable(outcome, low)
    asked = replace(problem, units=tuple(above), step=step)
    empty = problem.in_room(vacated(asked, victims_of(asked)))
    out = _keys(low)
    kept = {key: rows for key, rows in draft.places.items() if key not in out}
    work = loaded(empty, replace(draft, places=kept, entitled=draft.entitled - out))
    most = problem.tuning.explain.most_tries
    return any(places(work, unit) for unit in above[:most])


def _movable(outcome: Outcome, besides: Sequence[Unit]) -> list[Unit]:
    """
    List further starts that the next round could move, where it could move them all.
    """
    evict, draft = outcome.problem.policy.evict, outcome.draft
    keys = _keys(besides)
    found = [
        unit
        for unit in outcome.problem.units
        if draft.starts(unit) and not keys & _keys([unit])
        if all(state.gang.preemptible for state in unit.states)
    ]
    pods = sum(
        len(hosts) for key in _keys(found) for hosts in draft.places[key] if hosts
    )
    may = evict.consolidate and (evict.max_moves is None or pods <= evict.max_moves)
    return found if may else []


def started(outcome: Outcome) -> frozenset[str]:
    """
    Name all that a round binds or reserves.
    """
    units = [u for u in outcome.problem.units if outcome.draft.starts(u)]
    frozen = outcome.problem.frozen
    return _keys([*units, *frozen.units, *frozen.committed])


def without(problem: Problem, keys: frozenset[str]) -> Problem:
    """
    Leave some gangs out of a round.
    """
    units = tuple(u for u in problem.units if not keys & _keys([u]))
    return replace(problem, units=units)


def conditional(outcome: Outcome, first: Outcome) -> Outcome:
    """
    Say that a round is the best for what does not start in it.

    That begins with the first tier in which more would start with it; before that both
    come to the same, and what is known of the first round holds.
    """
    keys = tier_keys(first.problem)
    mine, theirs = (score(x.problem, x.draft, keys) for x in (outcome, first))
    same = {
        (key.name, key.label)
        for at, key in enumerate(keys)
        if mine[: at + 1] == theirs[: at + 1]
    }
    at = sum((tier.name, tier.band) in same for tier in outcome.tiers)
    rest = [
        replace(tier, proof="conditional") if tier.proof == "proven" else tier
        for tier in outcome.tiers[at:]
    ]
    return replace(outcome, tiers=(*first.tiers[:at], *rest))
