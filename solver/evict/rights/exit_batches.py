"""
Pods that leave, gathered: those of one gang by one rule together, and what is alike.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from models.gangs import Gang, PodSet
from models.plan import Rule
from solver.evict.rights.cores import as_one, parts_of
from solver.evict.rights.leaving_sums import Leaver
from solver.problem.gang_state import standing
from solver.problem.leaving_pods import Exit
from solver.problem.problem import Problem


def batches_of(
    problem: Problem, exits: Iterable[Exit]
) -> Iterable[tuple[Leaver, list[str]]]:
    """
    Give what leaves at one go, each once with the gangs of which such leaves.
    """
    parts: dict[tuple[str, Rule], list[Exit]] = {}
    for one in exits:
        if one.rule != "stale":
            parts.setdefault((one.gang, one.rule), []).append(one)
    batches: dict[Hashable, tuple[Leaver, list[str]]] = {}
    for (key, rule), some in parts.items():
        gang = problem.gangs[key]
        batch: Hashable = key, rule
        if isinstance(gang.tree, PodSet) and len(gang.tree.pods) == 1:
            batch = gang.queue, gang.priority, rule, *gang.tree.requests.items()
            if problem.snapshot.budgets:
                batch = *batch, *_budgets_of(problem, key)
        if batch not in batches:
            batches[batch] = _leaver(problem, gang, rule, some), []
        batches[batch][1].append(key)
    return batches.values()


def _leaver(problem: Problem, gang: Gang, rule: Rule, exits: Sequence[Exit]) -> Leaver:
    if isinstance(gang.tree, PodSet) and len(gang.tree.pods) == 1:
        parts = as_one(gang.tree.requests)
    else:
        parts = parts_of(standing(gang), Counter(one.leaf for one in exits))
    return Leaver(
        gang=gang.key,
        queue=problem.queues.leaf(gang.queue),
        band=problem.bands.of(gang.priority),
        rule=rule,
        parts=parts,
        pods=len(exits),
        budgets=_budgets_of(problem, gang.key),
    )


def _budgets_of(problem: Problem, key: str) -> tuple[int, ...]:
    budgets = enumerate(problem.snapshot.budgets)
    return tuple(at for at, budget in budgets if key in budget.gangs)
