"""
The memory of evictions in the small model: who was evicted and waits keeps its claim.
"""

from collections.abc import Iterable

from exact.evictions.step import Step, total, weighted
from exact.facts import when_empty
from exact.finding_others import could_be_beside
from exact.model import could_start
from models.devices.gpu_parts import is_part
from models.gangs import PodSet, pod_sets
from models.policy import Policy


def add_memory(step: Step) -> None:
    """
    Ensure that starts fit their share beside gangs that were evicted before.
    """
    for queue in step.before.snapshot.queues:
        below = [key for key in step.small.starts if queue.name in _path(step, key)]
        waits = waiting(step, below)
        for name in step.before.named if waits else ():
            _add_remembered(step, queue.name, name, waits)


def _add_remembered(
    step: Step, queue: str, resource: str, waits: Iterable[str]
) -> None:
    small = step.small
    asked = total(
        term
        for key, counts in step.charged.items()
        if queue in _path(step, key)
        for term in weighted(counts, step.before.gangs[key].gang, resource)
    )
    remembered = sum(least_of(step, key, resource) for key in waits)
    share = small.shares.get(queue, {}).get(resource, 0)
    room = share - step.before.held.get((queue, resource), 0)
    parents = {x.parent for x in step.before.snapshot.queues}
    gone = total(
        runner.leaf.requests.get(resource, 0) * step.evicted(runner)
        for runner in step.runners
        if queue in parents and queue in _path(step, runner.gang.key)
    )
    for key, start in small.starts.items():
        gang = step.before.gangs[key].gang
        mine = total(weighted(step.charged[key], gang, resource))
        if queue in _path(step, key):
            asks = step.cp.new_bool_var("")
            step.cp.add(mine == 0).only_enforce_if(start, ~asks)
            row = asked + remembered <= room + gone
            step.cp.add(row).only_enforce_if(start, asks)


def least_of(step: Step, key: str, resource: str) -> int:
    """
    Give the least of a resource that a gang needs, of pods that empty nodes can hold.
    """
    gang = step.before.gangs[key].gang
    each = [leaf.requests.get(resource, 0) for leaf in pod_sets(gang.tree)]
    most = [_most(step, leaf) for leaf in pod_sets(gang.tree)]
    return min(
        sum(number * amount for number, amount in zip(counts, each, strict=True))
        for counts in step.sets[key]
        if all(number <= room for number, room in zip(counts, most, strict=True))
    )


def _most(step: Step, leaf: PodSet) -> int:
    """
    Count the pods of a leaf that all nodes together hold when empty.
    """
    found = 0
    for node in step.before.snapshot.nodes:
        if leaf.demand.allows(node):
            empty = [
                when_empty(node, name) // amount
                for name, amount in leaf.requests.items()
                if amount and not is_part(name)
            ]
            found += min([len(leaf.pods), *empty])
    return found


def waiting(step: Step, keys: Iterable[str]) -> list[str]:
    """
    List the gangs that were evicted before and could start.
    """
    known = [key for key in keys if step.remembers(step.before.gangs[key].gang)]
    asked = {one for key in known for one in (key, *_mates(step, key))}
    if any(_beside(step, one) for one in asked):
        able = could_be_beside(step.before, evicts=_evicts(step.policy))
    else:
        able = {one for one in asked if could_start(step.before, one)}
    return [key for key in known if able.issuperset((key, *_mates(step, key)))]


def _beside(step: Step, key: str) -> bool:
    leaves = pod_sets(step.before.gangs[key].gang.tree)
    return any(leaf.neighbours for leaf in leaves)


def _evicts(policy: Policy) -> bool:
    """
    Tell whether anybody may leave for others in some step.
    """
    first = [tier.name for tier in policy.tiers][:2] == ["entitled", "disruption"]
    rules = policy.evict
    return first and (rules.preempt or rules.reclaim or rules.consolidate)


def _path(step: Step, key: str) -> tuple[str, ...]:
    return step.before.gangs[key].path


def _mates(step: Step, key: str) -> tuple[str, ...]:
    return step.before.gangs[key].mates
