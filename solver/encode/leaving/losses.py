"""
What evictions cost: work, gangs, pods, bands, age and size that are lost.
"""

from collections.abc import Callable

from models.gangs import leaf_of
from solver.effort.cp_sat import cp_model
from solver.encode.leaving.variables import Leaving
from solver.encode.variables import Linear
from solver.evict.victims import Account, Victims, Wide
from solver.problem.leaving_pods import NOWHERE
from solver.problem.pod_values import PodValues
from solver.problem.running_gangs import Runner, age_of, work_of


def lost(leaving: Leaving, values: PodValues, part: int) -> Linear:
    """
    Write one of the measures of what is lost, in their order.
    """
    measures: tuple[Callable[[], Linear], ...] = (
        lambda: lost_work(leaving, values),
        lambda: lost_gangs(leaving),
        lambda: lost_pods(leaving),
        lambda: lost_rank(leaving),
        lambda: lost_age(leaving),
        lambda: lost_size(leaving, values),
    )
    return measures[part]()


def lost_work(leaving: Leaving, values: PodValues) -> Linear:
    """
    Add up the GPU-seconds that are lost.
    """
    total = Linear()
    for (g, o), taken in leaving.taken.items():
        group = leaving.conversion.groups[g]
        total.add(taken, group.options[o].work, len(group.nodes))
    total.extend(leaving.crowded_work)
    for at, wide in enumerate(leaving.victims.wide):
        work = work_of(values, wide.gang, _on_lost_nodes(wide))
        total.add(leaving.gone_whole[at], work, 1)
    return total


def lost_age(leaving: Leaving) -> Linear:
    """
    Add up the seconds that pods have run which leave.
    """
    total = Linear()
    for (g, o), taken in leaving.taken.items():
        group = leaving.conversion.groups[g]
        total.add(taken, group.options[o].age, len(group.nodes))
    total.extend(leaving.crowded_age)
    for at, wide in enumerate(leaving.victims.wide):
        total.add(leaving.gone_whole[at], age_of(_on_lost_nodes(wide)), 1)
    return total


def lost_size(leaving: Leaving, values: PodValues) -> Linear:
    """
    Add up what the pods are worth that leave.
    """
    total = Linear()
    for at, account in enumerate(leaving.victims.accounts):
        wide = leaving.victims.wide[account.wide] if account.wide >= 0 else None
        if wide is None:
            victim = account.sample
            pods, gang = victim.pods, victim.gang
        else:
            gang = wide.gang
            pods = wide.pods if wide.state is None else account.sample.pods
        size = sum(values.of_pod(leaf_of(gang, leaf).requests) for leaf, _ in pods)
        total.extend(leaving.gone[at], size)
    return total


def _on_lost_nodes(wide: Wide) -> list[Runner]:
    """
    List the pods of a gang on nodes that are gone: they leave with all of it only.
    """
    return [
        runner
        for runner, host in zip(wide.pods, wide.hosts, strict=True)
        if host == NOWHERE
    ]


def lost_gangs(leaving: Leaving) -> Linear:
    """
    Count the gangs that are evicted whole.
    """
    total = Linear()
    for at, account in enumerate(leaving.victims.accounts):
        if account.wide < 0:
            total.extend(leaving.evicted(at))
    for at, gone_whole in leaving.gone_whole.items():
        total.add(gone_whole, 1, 1)
        if at in leaving.moved_whole:
            total.add(leaving.moved_whole[at], -1, 1)
    return total


def lost_pods(leaving: Leaving, *, moved: bool = True, evicted: bool = True) -> Linear:
    """
    Count the pods that leave, or those that are only moved or only evicted.
    """
    total = Linear()
    for at, account in enumerate(leaving.victims.accounts):
        pods = pods_of(leaving.victims, account)
        if evicted:
            total.extend(leaving.evicted(at), pods)
        if moved:
            total.extend(leaving.parting[at]["consolidate"], pods)
    return total


def lost_rank(leaving: Leaving) -> Linear:
    """
    Add up the bands of the pods that are evicted.
    """
    total = Linear()
    for at, account in enumerate(leaving.victims.accounts):
        pods = pods_of(leaving.victims, account)
        total.extend(leaving.evicted(at), pods * account.band)
    return total


def pods_of(victims: Victims, account: Account) -> int:
    """
    Count the pods of one victim; a part of a wide gang stands for all of it.
    """
    return account.pods or len(victims.wide[account.wide].pods)


def gangs_touched(model: cp_model.CpModel, leaving: Leaving) -> Linear:
    """
    Count the gangs of which some pod is evicted.
    """
    total = Linear()
    for at, account in enumerate(leaving.victims.accounts):
        if account.wide < 0:
            total.extend(leaving.evicted(at))
    for wide in leaving.victims.wide:
        parts = Linear()
        for number in wide.accounts:
            parts.extend(leaving.evicted(number))
        if parts.variables:
            touched = model.new_bool_var("")
            model.add(parts.expression <= parts.most * touched)
            total.add(touched, 1, 1)
    return total
