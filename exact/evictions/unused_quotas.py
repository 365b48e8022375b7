"""
Guarantees in the small model: starts that take up what is left of their quotas.
"""

from exact.evictions.memory import least_of, waiting
from exact.evictions.step import Stage, Step, Term, total, weighted
from models.gangs import pod_sets


def add_guarantee(step: Step) -> None:
    """
    Ensure that guaranteed starts leave every queue of their path within its quota.

    They are entitled; in later steps only those that the first one reserved.
    """
    for key in step.small.starts:
        fact = step.before.gangs[key]
        sure = step.guaranteed[key] = step.cp.new_bool_var("")
        step.cp.add_implication(sure, step.small.entitled[key])
        if step.stage is not Stage.ENTITLED and key not in step.frozen.reserved:
            step.cp.add(sure == 0)
        step.sure[key] = {}
        for leaf in pod_sets(fact.gang.tree):
            pods = step.cp.new_int_var(0, fact.pending[leaf.name], "")
            need = step.needs[key][leaf.name]
            step.cp.add(pods == need).only_enforce_if(sure)
            step.cp.add(pods == 0).only_enforce_if(~sure)
            step.sure[key][leaf.name] = pods
    for key in step.small.starts:
        for mate in step.small.facts.gangs[key].mates:
            step.cp.add(step.guaranteed[key] == step.guaranteed[mate])
    for queue in step.before.snapshot.queues:
        for name in step.before.named:
            quota = queue.rule(name).quota
            if quota is not None:
                _add_quota(step, queue.name, name, quota)


def _add_quota(step: Step, queue: str, resource: str, quota: int) -> None:
    below = [key for key in step.small.starts if queue in step.before.gangs[key].path]
    asked: list[Term] = [
        term
        for key in below
        for term in weighted(step.sure[key], step.before.gangs[key].gang, resource)
    ]
    if not asked:
        return
    gone: list[Term] = []
    if any(x.parent == queue for x in step.before.snapshot.queues):
        gone = [
            runner.leaf.requests.get(resource, 0) * step.evicted(runner)
            for runner in step.runners
            if queue in step.before.gangs[runner.gang.key].path
            and step.is_first(runner)
        ]
    room = quota - step.before.held.get((queue, resource), 0)
    if step.stage is Stage.ENTITLED:
        room -= sum(least_of(step, key, resource) for key in waiting(step, below))
    some = step.cp.new_bool_var("")
    step.cp.add(total(asked) == 0).only_enforce_if(~some)
    step.cp.add(total(asked) <= total([room, *gone])).only_enforce_if(some)
