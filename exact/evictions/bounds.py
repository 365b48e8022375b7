"""
What bounds a step of the small model: room, queues, budgets, and the policy.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from exact.evictions.gained import gained
from exact.evictions.step import (
    CONSOLIDATE,
    Place,
    Rows,
    Runner,
    Stage,
    Step,
    Term,
    add_at_most,
    leaving_soon,
    total,
)
from exact.evictions.step_devices import add_leftover_devices, add_step_devices
from exact.evictions.tied_pieces import add_beside_frozen, add_freed
from exact.facts import bounding, gpu_seconds
from models.devices.gpu_parts import is_reckoned
from models.gangs import pod_sets
from models.resources import GPU
from solver.effort.cp_sat import cp_model

Counts = Mapping[Place, Term]


def add_bounds(step: Step) -> None:
    """
    Ensure that everything fits: now what is bound, and after the plan all that stays.
    """
    calm = _without(step, step.evicting) if step.evicting else {}
    _add_room(step, calm)
    _add_queues(step, calm)
    _add_entitlement(step)
    _add_budgets(step)
    _add_policy_bounds(step)


def add_now(step: Step) -> None:
    """
    Ensure that the pods of a reserved start are not bound.
    """
    step.now.update(_without(step, step.reserved))


def _without(
    step: Step, literals: Mapping[str, cp_model.IntVar]
) -> dict[Place, cp_model.IntVar]:
    """
    Give the pods of each place, but none of the gangs for which a literal holds.
    """
    found = dict(step.small.binds)
    for place, var in step.small.binds.items():
        literal = literals.get(place[0])
        if literal is not None:
            most = step.before.gangs[place[0]].pending[place[1]]
            found[place] = step.cp.new_int_var(0, most, "")
            step.cp.add(found[place] == var).only_enforce_if(~literal)
            step.cp.add(found[place] == 0).only_enforce_if(literal)
    return found


# --- room -----------------------------------------------------------------------


def _add_room(step: Step, calm: Counts) -> None:
    """
    Ensure that bound pods fit into what is free, and all pods into what will be.

    Starts that cause no eviction fit into what is free or leaves anyway.
    """
    leaves: Rows = defaultdict(list)
    soon: Rows = defaultdict(list)
    for runner in step.runners:
        for name, amount in runner.leaf.requests.items():
            at = runner.pod.node or "", name
            leaves[at].append(amount * step.leaves(runner))
    for node, requests in leaving_soon(step.before) if step.promises else ():
        for name, amount in requests.items():
            soon[node, name].append(amount)
    add_freed(step, soon, leaves)
    bound, quiet = _loads(step, step.now), _loads(step, calm)
    places = _loads(step, step.small.binds)
    loads = (bound, quiet, places)
    for rows, opened in zip(loads, add_step_devices(step, calm), strict=True):
        for node, gpus in opened.items():
            rows[node, GPU] += gpus
    for at, terms in _loads(step, step.targets).items():
        places[at] += terms
    for at, terms in places.items():
        free = step.before.free[at[0]].get(at[1], 0)
        add_at_most(step, terms, free, [*soon[at], *leaves[at]])
        add_at_most(step, bound[at], free, [])
        add_at_most(step, quiet[at], free, soon[at])
    if step.stage is Stage.BORROWING:
        _keep_leftovers(step, soon)


def _keep_leftovers(step: Step, soon: Rows) -> None:
    """
    Ensure that no start of the second step gets what the first one's evictions left.
    """
    frozen = step.frozen
    taken: dict[tuple[str, str], int] = defaultdict(int)
    leaves: Rows = defaultdict(list)
    for runner in step.runners:
        for name, amount in runner.leaf.requests.items():
            at = runner.pod.node or "", name
            if runner.key in frozen.departures:
                taken[at] += amount
            else:
                leaves[at].append(amount * step.leaves(runner))
    add_beside_frozen(step, taken, leaves)
    for table in (frozen.places, frozen.targets):
        for (key, leaf, node), number in table.items():
            for name, amount in step.requests(key, leaf).items():
                taken[node, name] -= amount * number
    mine = {p: v for p, v in step.small.binds.items() if p[0] not in frozen.reserved}
    places = _loads(step, mine)
    new = {p: v - frozen.targets.get(p, 0) for p, v in step.targets.items()}
    for at, terms in _loads(step, new).items():
        places[at] += terms
    for node, opened in add_leftover_devices(step, mine, new).items():
        places[node, GPU] += opened
        taken[node, GPU] = 0  # what is left at the end bounds them in any case
    for at, terms in places.items():
        free = step.before.free[at[0]].get(at[1], 0) + min(0, taken[at])
        add_at_most(step, terms, free, [*soon[at], *leaves[at]])


def _loads(step: Step, counts: Counts) -> Rows:
    """
    Collect what pods ask for by node and resource.
    """
    rows: Rows = defaultdict(list)
    for (key, leaf, node), var in counts.items():
        for name, amount in step.requests(key, leaf).items():
            if amount > 0 and not is_reckoned(name):
                rows[node, name].append(amount * var)
    return rows


# --- queues ---------------------------------------------------------------------


def _add_queues(step: Step, calm: Counts) -> None:
    """
    Ensure limits now and after the plan, and quota for non-preemptible starts.
    """
    before = step.before
    for queue in bounding(before.snapshot):
        for name in before.named:
            rule = queue.rule(name)
            key = queue.name, name
            if rule.limit is not None:
                now = rule.limit - before.held.get(key, 0)
                anyway = before.leaving.get(key, 0) if step.promises else 0
                gone = [anyway, *_evicted(step, *key)]
                places = _demand(step, step.small.binds, *key)
                add_at_most(step, places, now, gone)
                if step.stage is Stage.BORROWING:
                    _keep_limit(step, queue.name, name, now + anyway)
                add_at_most(step, _demand(step, step.now, *key), now, [])
                add_at_most(step, _demand(step, calm, *key), now, [anyway])
            if rule.quota is not None:
                room = rule.quota - before.held_hard.get(key, 0)
                hard = _demand(step, step.small.binds, *key, hard=True)
                add_at_most(step, hard, room, [])


def _keep_limit(step: Step, queue: str, resource: str, room: int) -> None:
    """
    Ensure that no start of the second step gets a limit that the first one freed.
    """
    frozen = step.frozen
    held = sum(
        step.requests(key, leaf).get(resource, 0) * number
        for (key, leaf, _), number in frozen.places.items()
        if queue in step.before.gangs[key].bounding
    )
    gone: list[Term] = []
    for runner in step.runners:
        if queue in step.before.gangs[runner.gang.key].bounding:
            amount = runner.leaf.requests.get(resource, 0)
            if runner.key not in frozen.departures:
                gone.append(amount * step.evicted(runner))
            elif frozen.departures[runner.key] != CONSOLIDATE:
                held -= amount
    mine = {p: v for p, v in step.small.binds.items() if p[0] not in frozen.reserved}
    terms = _demand(step, mine, queue, resource)
    add_at_most(step, terms, room - max(0, held), gone)


def _demand(
    step: Step, counts: Counts, queue: str, resource: str, *, hard: bool = False
) -> list[Term]:
    return [
        step.requests(place[0], place[1]).get(resource, 0) * var
        for place, var in counts.items()
        if queue in step.before.gangs[place[0]].bounding
        and not (hard and step.before.gangs[place[0]].gang.preemptible)
    ]


def _evicted(
    step: Step, queue: str, resource: str, *, first: bool = False
) -> list[Term]:
    return [
        runner.leaf.requests.get(resource, 0) * step.evicted(runner)
        for runner in step.runners
        if queue in step.before.gangs[runner.gang.key].bounding
        and (not first or step.is_first(runner))
    ]


def _add_entitlement(step: Step) -> None:
    """
    Ensure that entitled starts fit into fair share less what runs, with their needs.

    Above the leaf queues what is evicted from below for entitled starts makes room,
    too.
    """
    parents = {queue.parent for queue in step.before.snapshot.queues}
    charges: Rows = defaultdict(list)
    for key, counts in step.charged.items():
        fact = step.before.gangs[key]
        for leaf in pod_sets(fact.gang.tree):
            for queue in fact.path:
                for name in step.before.named:
                    amount = leaf.requests.get(name, 0)
                    charges[queue, name].append(amount * counts[leaf.name])
    for (queue, name), terms in charges.items():
        share = step.small.shares.get(queue, {}).get(name, 0)
        running = step.before.held.get((queue, name), 0)
        gone = _evicted(step, queue, name, first=True) if queue in parents else []
        add_at_most(step, terms, share - running, gone)


# --- budgets and the policy -----------------------------------------------------


def _add_budgets(step: Step) -> None:
    """
    Ensure that no budget's gangs lose more pods than it allows, moved ones included.
    """
    for budget in step.before.snapshot.budgets:
        leaves = [
            step.leaves(runner)
            for runner in step.runners
            if runner.gang.key in budget.gangs
        ]
        step.cp.add(total(leaves) <= budget.allowed)


def _add_policy_bounds(step: Step) -> None:
    """
    Ensure that a plan evicts and moves no more than the policy lets it.
    """
    evict = step.policy.evict
    pods = [step.evicted(runner) for runner in step.runners]
    moves = [step.gone[runner.key, CONSOLIDATE] for runner in step.runners]
    gangs: dict[str, cp_model.IntVar] = {}
    for runner in step.runners:
        hit = gangs.setdefault(runner.gang.key, step.cp.new_bool_var(""))
        step.cp.add(step.evicted(runner) <= hit)
    for most, terms in (
        (evict.max_pods, pods),
        (evict.max_gangs, list(gangs.values())),
        (evict.max_moves, moves),
    ):
        if most is not None:
            step.cp.add(total(terms) <= most)
    if evict.max_lost_per_gpu is not None and step.stage is not Stage.IDLE:
        step.cp.add(lost_work(step) <= gained(step, evict.max_lost_per_gpu))


def lost_work(step: Step) -> cp_model.LinearExpr:
    """
    Give the GPU-seconds run by pods that leave in this step.
    """
    return total(
        gpu_seconds(step.before, runner.leaf.requests, runner.pod.seconds)
        * step.leaves(runner)
        for runner in _counted(step)
    )


def lost_age(step: Step) -> cp_model.LinearExpr:
    """
    Give the seconds that pods have run which leave in this step.
    """
    return total(x.pod.seconds * step.leaves(x) for x in _counted(step))


def lost_size(step: Step) -> cp_model.LinearExpr:
    """
    Give the value of the pods that leave in this step.
    """
    return total(
        step.before.gangs[x.gang.key].values[x.leaf.name] * step.leaves(x)
        for x in _counted(step)
    )


def _counted(step: Step) -> Iterator[Runner]:
    """
    List the pods whose leaving in this step is a loss.
    """
    for runner in step.runners:
        if runner.key not in step.frozen.departures:
            yield runner


def lost_gangs(step: Step) -> cp_model.LinearExpr:
    """
    Give a number that is at least that of the gangs evicted whole in this step.
    """
    found = []
    for key in sorted({runner.gang.key for runner in step.runners}):
        mine = [runner for runner in step.runners if runner.gang.key == key]
        frozen = any(runner.key in step.frozen.departures for runner in mine)
        if not frozen:
            whole = step.cp.new_bool_var("")
            evicted = total(step.evicted(runner) for runner in mine)
            step.cp.add(evicted - len(mine) + 1 <= whole)
            found.append(whole)
    return total(found)


def lost_pods(step: Step) -> cp_model.LinearExpr:
    """
    Give the number of pods that leave in this step.
    """
    return total(step.leaves(runner) for runner in _counted(step))


def lost_rank(step: Step) -> cp_model.LinearExpr:
    """
    Count for each pod evicted in this step the bands below its own.
    """
    gangs = step.before.gangs.values()
    levels = sorted({step.level(fact.gang) for fact in gangs})
    return total(
        levels.index(step.level(runner.gang)) * step.evicted(runner)
        for runner in _counted(step)
    )
