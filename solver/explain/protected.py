"""
Protection: who would make room for an entitled unit if nothing protected them.

Evictions are tried by hand, for the unit alone: first as the rules allow, then as if
nothing were protected.  So what is said of either has been seen to work.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from models.devices.gpu_counts import shares_asked
from models.devices.gpu_parts import is_part
from models.devices.tied_to import pieces_of
from models.eviction_bounds import (
    bounds_leaving,
    most_freed,
    protecting_nobody,
    spared_for,
)
from models.queues import least_runtimes
from models.resources import GPU, GPU_SHARE, Resources, format_duration
from models.why.reasons import Facts, Reason, Waiting, listed
from solver.effort.budget import Budget
from solver.evict.evicted_before import was_evicted
from solver.evict.freeze import requests_of
from solver.evict.gathering import victims_of
from solver.evict.open_step import open_step
from solver.evict.settled import is_settled
from solver.evict.stale import stale_gangs
from solver.evict.victims import Account, Victim, Victims, vacated
from solver.explain.could_start_alone import Alone
from solver.explain.left_on_devices import of_devices
from solver.explain.room_now import matching, places, strain
from solver.place.draft import Draft
from solver.problem.leaving_pods import Exit
from solver.problem.problem import Problem, Step, Unit
from solver.problem.when_empty.never_starts import needed
from solver.score.gpu_sums import may_be_entitled

NOT_PREEMPTIBLE = "not preemptible"
TOO_YOUNG = "within its min runtime"
IN_BUDGET = "kept by a disruption budget"
JUST_EVICTED = "evicted a short while ago"
BOUNDED = "kept by the policy's bounds on what leaves in a round"
ABOVE = "not moved, since its queue has more than it may hold"


class Protection:
    """
    What all that may leave would free, worked out when it is first asked for.
    """

    def __init__(self, problem: Problem, budget: Budget) -> None:
        self._problem = problem
        self._budget = budget
        self._tuning = problem.tuning.explain
        pods = 1 + problem.running_pods
        self._tries = min(self._tuning.most_tries, self._tuning.pods_tried // pods)
        self._open = problem.policy.evicts(borrowing=False)
        self._memory = tuple(
            unit for unit in problem.units if unit.starts and was_evicted(problem, unit)
        )

    def may_ask(self, unit: Unit) -> bool:
        """
        Tell whether somebody may leave for a unit: it is entitled, and did not leave.
        """
        problem = self._problem
        return (
            self._open
            and may_be_entitled(problem, unit)
            and not was_evicted(problem, unit)
        )

    def could_evict(self, unit: Unit) -> bool:
        """
        Tell whether a unit starts, if it is alone, with evictions that are allowed.
        """
        if self._vacated.sums.lacks(unit) or not self._try_once():
            return False
        return self._by_hand(self._problem, unit) is not None

    def reason(self, unit: Unit, *, is_proven: bool) -> Waiting | None:
        """
        Say that only protected work is in the way of a unit, and whose, if so.

        It is proven that nobody starts as entitled, or that too little would leave.
        """
        if not self._protects:
            return None
        if not (is_proven or self._never_enough(unit)) or not self._try_once():
            return None
        if ahead := self._ahead(unit):
            return ahead
        draft = self._by_hand(self._lifted, unit)
        if draft is None:
            return None
        why = _words_for(self._problem, draft.exits)
        return self._protected(unit, draft.exits, why) if why else None

    def _ahead(self, unit: Unit) -> Waiting | None:
        """
        Name those whose evictions before keep a unit from what others would leave.
        """
        problem, paths = self._problem, self._problem.queues.path
        mine = {x for state in unit.states for x in paths(state.gang.queue)}
        known = {x: paths(problem.gangs[x].queue) for x in sorted(problem.remembered)}
        ahead = [key for key, path in known.items() if not mine.isdisjoint(path)]
        free = replace(problem, remembered={})
        if not ahead or self._by_hand(free, unit) is None:
            return None
        facts: Facts = {"gangs": len(ahead), "behind": listed(ahead, "gang")}
        return Waiting(Reason.LOWER_TIER_OR_PRIORITY, facts | {"evicting": 1})

    def _never_enough(self, unit: Unit) -> bool:
        """
        Tell whether a unit has no room by proof, even when all left that may.
        """
        later, most = self._vacated, self._most_free
        needs = {x: sum(needed(s, x) for s in unit.states) for x in most}
        if later.sums.lacks(unit) or any(needs[x] > most[x] for x in most):
            return True
        return not places(later.work, unit) and later.starts(unit) is False

    def _try_once(self) -> bool:
        """
        Take one try with evictions; say whether there was one.
        """
        if self._tries <= 0 or self._budget.left <= 0:
            return False
        self._tries -= 1
        self._budget.charge(
            (1 + self._problem.running_pods) / self._tuning.pods_per_unit
        )
        return True

    def _by_hand(self, problem: Problem, unit: Unit) -> Draft | None:
        alone = replace(problem, units=(unit, *self._memory))
        opened = open_step(alone, Step.ENTITLED, Draft())
        draft = Draft() if opened is None else opened.by_hand().first
        return draft if draft.starts(unit) else None

    @cached_property
    def _vacated(self) -> Alone:
        """
        See the round in the room there is if all left that may for an entitled unit.
        """
        problem = self._problem
        waiting = tuple(unit for unit in problem.units if unit.starts)
        asked = replace(problem, units=waiting, step=Step.ENTITLED)
        victims = _unbudgeted(asked, victims_of(asked))
        free = vacated(asked, victims, asked.room.after)
        later = problem.in_room(np.maximum(free, problem.room.now))
        return Alone(later, self._budget)

    @cached_property
    def _most_free(self) -> Resources:
        """
        Bound what all nodes have if no more leaves than the policy's bounds allow.

        Whoever is stale leaves besides, and of devices that pods share more comes free.
        """
        room, snapshot = self._problem.room, self._problem.snapshot
        if room.parts or stale_gangs(self._problem) or any(x.tied for x in room.nodes):
            return {}
        freed = most_freed(self._problem.policy.evict, snapshot.gangs)
        free = np.maximum(room.after, room.now).clip(min=0).sum(axis=0).tolist()
        known = zip(room.resources, free, strict=True)
        return {name: amount + freed[name] for name, amount in known if name in freed}

    @cached_property
    def _protects(self) -> bool:
        return protects_somebody(self._problem)

    @cached_property
    def _lifted(self) -> Problem:
        return without_protection(self._problem)

    def _protected(
        self, unit: Unit, exits: Sequence[Exit], why: Mapping[str, str]
    ) -> Waiting:
        problem = self._problem
        nodes = matching(problem, unit)
        free = problem.room.now[nodes].clip(min=0).sum(axis=0)
        column, resource, needs = strain(problem, unit, free)
        facts = Facts(resource=resource, needs=needs, free=int(free[column]))
        in_parts = problem.room.parts and problem.room.pieces > 1 and resource == GPU
        if is_part(resource) or in_parts:
            rows = problem.room.now
            facts = of_devices(problem, unit, nodes, rows, resource)
        resource = str(facts["resource"])
        held = {name: [x for x in exits if x.gang == name] for name in why}
        freed = {x: _freed(problem, mine, resource) for x, mine in held.items()}
        names = sorted(why, key=lambda name: (-freed[name], name))
        used = _freed(problem, [x for mine in held.values() for x in mine], resource)
        more = _freed(problem, exits, resource) - used
        facts |= {"leaves": more} if more > 0 else {}
        facts |= {
            "used": used,
            "gangs": len(names),
            "who": listed([f"{name} ({why[name]})" for name in names], "gang"),
        }
        return Waiting(Reason.PREEMPTION_PROTECTED, facts)


def _freed(problem: Problem, exits: Sequence[Exit], resource: str) -> int:
    """
    Count what pods hold by themselves, and in pieces to which they are tied.
    """
    nodes = {node.name: node for node in problem.room.nodes}
    held = [requests_of(problem, one) for one in exits]
    held += pieces_of(nodes, [one.pod for one in exits])
    shared = resource == GPU_SHARE
    return sum(shares_asked(x) if shared else x.get(resource, 0) for x in held)


def protects_somebody(problem: Problem) -> bool:
    """
    Tell whether anything keeps somebody where it runs, who could leave otherwise.
    """
    bare, policy = without_protection(problem), problem.policy
    unsettled = replace(problem.snapshot, unchanged_for=None)
    return is_settled(problem.snapshot, policy) or (
        (bare.snapshot, bare.policy, bare.queues.queues)
        != (unsettled, policy, problem.queues.queues)
    )


def without_protection(problem: Problem) -> Problem:
    """
    See a round as if nothing that runs were protected, nor kept from moving.

    Limits of queues in which nobody waits hold no more where they are passed already.
    """
    tree = problem.queues
    waits = {state.gang.queue for unit in problem.units for state in unit.states}
    mine = {name for queue in waits for name in tree.path(queue)}
    runners = problem.runners.unprotected
    queues = {}
    for at, queue in tree.queues.items():
        passed = {r for r in queue.resources if at not in mine and tree.is_over(at, r)}
        rules = queue.resources.items()
        free = {r: replace(x, limit=None) if r in passed else x for r, x in rules}
        bound = replace(queue, reclaim_min_runtime=0, preempt_min_runtime=0)
        queues[at] = replace(bound, resources=free)
    evict = protecting_nobody(problem.policy.evict)
    return replace(
        problem,
        snapshot=runners.snapshot,
        policy=problem.policy.model_copy(update={"evict": evict}),
        queues=replace(tree, queues=queues),
        runners=runners,
        gangs={**problem.gangs, **{gang.key: gang for gang in runners.snapshot.gangs}},
    )


def _protector(problem: Problem, one: Exit, kept: Collection[str]) -> str:
    """
    Say what keeps a pod where it is, if anything: budgets have ``kept`` some gangs.
    """
    gang = problem.written[one.gang]
    if not gang.preemptible:
        return NOT_PREEMPTIBLE
    if spared_for(gang, problem.policy.evict) > 0:
        return JUST_EVICTED
    if _young_for(problem, one) > 0:
        return TOO_YOUNG
    return IN_BUDGET if one.gang in kept else ""


def _words_for(problem: Problem, exits: Sequence[Exit]) -> dict[str, str]:
    """
    Say what keeps each gang, if anything: itself, a budget, else the policy's bounds.
    """
    leaving = Counter(one.gang for one in exits)
    kept = {
        name
        for budget in problem.snapshot.budgets
        if sum(leaving[name] for name in budget.gangs) > budget.allowed
        for name in budget.gangs
    }
    words = ((one.gang, _protector(problem, one, kept)) for one in reversed(exits))
    found = {gang: word for gang, word in words if word}
    if not found and bounds_leaving(problem.policy.evict):
        found = dict.fromkeys(leaving, BOUNDED)
    return {one.gang: ABOVE for one in exits if _is_above(problem, one)} | found


def _is_above(problem: Problem, one: Exit) -> bool:
    """
    Tell whether a pod would move whose queue, or all beside one, holds too much.
    """
    queues, asked = problem.queues, requests_of(problem, one)
    path = queues.path(problem.written[one.gang].queue)
    full = any(queues.is_over(at, name) for at in path for name in asked)
    return one.rule == "consolidate" and full


def protectors(problem: Problem, exits: Sequence[Exit]) -> dict[str, str]:
    """
    Say what keeps gangs where they are, and for how long where time ends that.
    """
    found = _words_for(problem, exits)
    for name, word in found.items():
        if word in {TOO_YOUNG, JUST_EVICTED}:
            left = max(_kept_for(problem, one) for one in exits if one.gang == name)
            found[name] = f"{word}, for {format_duration(left)} more"
    return found


def _kept_for(problem: Problem, one: Exit) -> int:
    spared = spared_for(problem.written[one.gang], problem.policy.evict)
    return max(spared, _young_for(problem, one))


def _young_for(problem: Problem, one: Exit) -> int:
    """
    Give for how much longer a min runtime keeps a pod from leaving by its rule.
    """
    path = problem.queues.path(problem.written[one.gang].queue)
    reclaim, preempt = least_runtimes(problem.queues.queues, path)
    least = {"reclaim": reclaim, "preempt": preempt}
    return least.get(one.rule, max(reclaim, preempt)) - one.pod.seconds


def _unbudgeted(problem: Problem, victims: Victims) -> Victims:
    """
    Leave out what no budget lets leave: more pods leave with it than one allows.
    """
    allowed = [budget.allowed for budget in problem.snapshot.budgets]
    if not allowed:
        return victims

    def may_leave(account: Account, one: Victim) -> bool:
        wide = victims.wide[account.wide] if account.wide >= 0 else None
        pods = one.pods if wide is None or wide.state is not None else wide.pods
        return all(len(pods) <= allowed[at] for at in account.budgets)

    kept = {
        node: {
            at: [one for one in alike if may_leave(victims.accounts[at], one)]
            for at, alike in row.items()
        }
        for node, row in victims.on_node.items()
    }
    return replace(victims, on_node=kept)
