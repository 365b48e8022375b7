"""
Who is reserved in the small model: whoever has no room now, or is needed by who leaves.
"""

from collections import defaultdict
from collections.abc import Iterator

from exact.evictions.rights import may_be_for
from exact.evictions.step import CONSOLIDATE, RULES, Step, Term, total
from exact.facts import bounding
from models.devices.gpu_parts import is_part
from models.gangs import pod_sets
from models.resources import GPU, GPU_SHARE
from solver.effort.cp_sat import cp_model

Team = tuple[str, ...]
Claim = tuple[str, str, int]


def add_reserved_for_want_of_room(step: Step) -> None:
    """
    Ensure that a start is reserved only where what is bound before it leaves no room.

    One start may be reserved so that somebody leaves for somebody.
    """
    teams = _teams(step)
    alone = _alone(step)
    asks = {team: _claims_for(step, team) for team in teams}
    spare: list[Term] = []
    for team in teams:
        before = [other for other in teams if not _is_after(step, asks, other, team)]
        short, needed = step.cp.new_bool_var(""), step.cp.new_bool_var("")
        step.cp.add(short + needed == step.reserved[team[0]])
        why = [*_short_nodes(step, team, before), *_short_limits(step, team, before)]
        step.cp.add_bool_or([~short, *why])
        mine = [alone[claim] for claim in sorted(asks[team])]
        step.cp.add_bool_or([~needed, *mine, *_taking_up(step, team)])
        for claim in sorted(asks[team]):
            step.cp.add_at_most_one([short, alone[claim]])
        spare.append(needed)
    some = total(len(teams) * low for low in step.low)
    step.cp.add(total(spare) <= total(alone.values()) + some)


def _taking_up(step: Step, team: Team) -> Iterator[cp_model.IntVar]:
    """
    Walk literals that say that a queue loses some of its share for such a start.
    """
    for low in step.low:
        both = step.cp.new_bool_var("")
        step.cp.add_implication(both, low)
        step.cp.add_implication(both, step.guaranteed[team[0]])
        yield both


def _teams(step: Step) -> list[Team]:
    """
    List the starts that may be reserved, with those that they start with.
    """
    found = {
        tuple(sorted({key, *step.small.facts.gangs[key].mates} & set(step.reserved)))
        for key in step.beneficiaries()
    }
    return sorted(found)


def _alone(step: Step) -> dict[Claim, cp_model.IntVar]:
    """
    Give for each rule, queue and band a literal that holds only if somebody leaves so.
    """
    gone: dict[Claim, list[Term]] = defaultdict(list)
    for runner in step.runners:
        if runner.key not in step.frozen.departures:
            for rule in RULES:
                claim = rule, step.queue(runner.gang.key), step.level(runner.gang)
                gone[claim].append(step.gone[runner.key, rule])
    found = {}
    for claim, terms in gone.items():
        found[claim] = step.cp.new_bool_var("")
        step.cp.add(total(terms) >= 1).only_enforce_if(found[claim])
    return found


def _claims_for(step: Step, team: Team) -> set[Claim]:
    return {
        (rule, step.queue(runner.gang.key), step.level(runner.gang))
        for runner in step.runners
        if runner.key not in step.frozen.departures
        for rule in RULES
        if any(may_be_for(step, runner, rule, key) for key in team)
    }


def _is_after(step: Step, asks: dict[Team, set[Claim]], one: Team, other: Team) -> bool:
    """
    Tell whether a start is bound only in the room that another one leaves it.
    """
    return _rank(step, one) > _rank(step, other) and asks[other] <= asks[one]


def _rank(step: Step, team: Team) -> tuple[int, int]:
    gangs = [step.before.gangs[key].gang for key in team]
    return -step.start_level(team[0]), -max(gang.age for gang in gangs)


def _short_nodes(
    step: Step, team: Team, before: list[Team]
) -> Iterator[cp_model.IntVar]:
    """
    Walk literals that say of a node that it has no room for the pods of a start on it.
    """
    others = {key for each in before for key in each}
    own: dict[tuple[str, str], list[Term]] = defaultdict(list)
    held: dict[tuple[str, str], list[Term]] = defaultdict(list)
    for place, var in step.small.binds.items():
        key, name, node = place
        for resource, amount in step.requests(key, name).items():
            if amount and key in team:
                own[node, resource].append(amount * var)
            if amount and key in others:
                held[node, resource].append(amount * step.now[place])
    beside = any(
        leaf.neighbours
        for key in team
        for leaf in pod_sets(step.before.gangs[key].gang.tree)
    )
    parts = any(GPU_SHARE in node.allocatable for node in step.before.snapshot.nodes)
    for at, terms in own.items():
        short = step.cp.new_bool_var("")
        if beside or (parts and (at[1] == GPU or is_part(at[1]))):
            # What devices or neighbours leave no room for is not told by sums.
            step.cp.add(total(terms) >= 1).only_enforce_if(short)
            yield short
            continue
        free = min(step.before.free[at[0]].get(at[1], 0), _later(step, *at))
        step.cp.add(total(terms) >= 1).only_enforce_if(short)
        step.cp.add(total([*terms, *held[at]]) >= free + 1).only_enforce_if(short)
        yield short


def _later(step: Step, node: str, resource: str) -> int:
    """
    Give what is free once all that was frozen has come about; much where nothing was.
    """
    frozen = step.frozen
    if not frozen.departures and not frozen.places:
        return step.most
    free = step.before.free[node].get(resource, 0)
    for fact in step.before.gangs.values():
        for leaf in pod_sets(fact.gang.tree):
            for pod in leaf.pods:
                soon = pod.phase.name == "TERMINATING" and pod.seconds < 120
                name = f"{fact.gang.namespace}/{pod.name}"
                if pod.node == node and (soon or name in frozen.departures):
                    free += leaf.requests.get(resource, 0)
    for table in (frozen.places, frozen.targets):
        for (key, name, where), number in table.items():
            if where == node:
                free -= number * step.requests(key, name).get(resource, 0)
    return free


def _short_limits(
    step: Step, team: Team, before: list[Team]
) -> Iterator[cp_model.IntVar]:
    """
    Walk literals that say of a queue that its limit leaves no room for a start.
    """
    gangs = step.before.gangs
    others = {key for each in before for key in each}
    for queue in bounding(step.before.snapshot):
        if not any(queue.name in gangs[key].bounding for key in team):
            continue
        for resource in step.before.named:
            for limit, held, hard in (
                (queue.rule(resource).limit, step.before.held, False),
                (queue.rule(resource).quota, step.before.held_hard, True),
            ):
                terms = [
                    step.requests(key, name).get(resource, 0)
                    * (var if key in team else step.now[key, name, node])
                    for (key, name, node), var in step.small.binds.items()
                    if key in team or key in others
                    if queue.name in gangs[key].bounding
                    if not (hard and gangs[key].gang.preemptible)
                ]
                if limit is None or not terms:
                    continue
                running = held.get((queue.name, resource), 0)
                left = max(0, limit - running - _drift(step, queue.name, resource))
                short = step.cp.new_bool_var("")
                step.cp.add(total(terms) >= left + 1).only_enforce_if(short)
                yield short


def _drift(step: Step, queue: str, resource: str) -> int:
    """
    Give what a queue holds more once all that was frozen has come about.
    """
    gangs = step.before.gangs
    more = sum(
        number * step.requests(key, name).get(resource, 0)
        for (key, name, _), number in step.frozen.places.items()
        if queue in gangs[key].bounding
    )
    for runner in step.runners:
        rule = step.frozen.departures.get(runner.key, CONSOLIDATE)
        if rule != CONSOLIDATE and queue in gangs[runner.gang.key].bounding:
            more -= runner.leaf.requests.get(resource, 0)
    return max(0, more - step.before.leaving.get((queue, resource), 0))
