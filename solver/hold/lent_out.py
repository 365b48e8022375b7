"""
Lent nodes: to whom held nodes are lent until the head starts, and who leaves for it.
"""

from collections.abc import Collection

from models.eviction_bounds import spared_for
from models.gangs import Gang, PodPhase, has_parts, pod_sets
from models.queues import least_runtimes
from solver.problem.problem import Problem, Unit

_THERE = frozenset({PodPhase.RUNNING, PodPhase.TERMINATING, PodPhase.RESERVED})


def may_return(problem: Problem, unit: Unit, until: int) -> bool:
    """
    Tell whether held nodes may be lent to a unit that leaves again in so many seconds.

    It is one preemptible gang that was never evicted before, and that nothing keeps
    where it is by then.  Where GPUs are shared nothing is lent so.
    """
    policy = problem.policy
    if (
        not unit.starts
        or len(unit.states) > 1
        or not 0 < until <= policy.evict.lent_for
    ):
        return False
    gang = unit.states[0].gang
    return (
        policy.lends(borrowing=True)
        and problem.room.parts is None
        and gang.evicted_ago is None
        and is_free_to_go(problem, gang)
        and _least_runtime(problem, gang) <= until
    )


def lent_to(problem: Problem, unit: Unit) -> tuple[Gang, ...]:
    """
    List the gangs that leave for a unit, since they were lent what was held for it.

    All of a gang runs, and none of it for too long or too short to be lost.
    """
    if not problem.policy.lends(borrowing=True) or problem.room.parts is not None:
        return ()
    lenders = {state.key for state in unit.states}
    stay = problem.frozen.decided | lenders
    return tuple(
        gang
        for gang in problem.snapshot.gangs
        if gang.lent_by
        and not lenders.isdisjoint(gang.lent_by)
        and gang.key not in stay
        and _may_go_now(problem, gang)
    )


def lent_to_any(problem: Problem, heads: Collection[str]) -> frozenset[str]:
    """
    Name the gangs that could be called back for some heads, whether any is or not.
    """
    units = (unit for unit in problem.units if unit.key in heads)
    return frozenset(gang.key for unit in units for gang in lent_to(problem, unit))


def is_free_to_go(problem: Problem, gang: Gang) -> bool:
    """
    Tell whether a gang may leave whole, as far as that does not change with time.
    """
    budgets = problem.snapshot.budgets
    return (
        gang.preemptible
        and not gang.mates
        and not has_parts(gang)
        and not any(leaf.neighbours for leaf in pod_sets(gang.tree))
        and not any(gang.key in budget.gangs for budget in budgets)
    )


def _may_go_now(problem: Problem, gang: Gang) -> bool:
    """
    Tell whether what runs of a gang may leave in this round.
    """
    evict = problem.policy.evict
    there = [p for leaf in pod_sets(gang.tree) for p in leaf.pods if p.phase in _THERE]
    least = _least_runtime(problem, gang)
    return (
        bool(there)
        and is_free_to_go(problem, gang)
        and spared_for(gang, evict) <= 0
        and all(
            pod.phase is PodPhase.RUNNING
            and pod.node in problem.room.index
            and least <= pod.seconds < evict.lent_for
            for pod in there
        )
    )


def _least_runtime(problem: Problem, gang: Gang) -> int:
    queues = problem.queues
    return max(least_runtimes(queues.queues, queues.path(gang.queue)))
