"""
Rules about gangs: minimums, order of roles, groups, and gangs that may not start.
"""

from collections.abc import Iterator

from models.gangs import pod_sets
from models.resources import format_quantity
from solver.verify.evidence import Evidence
from solver.verify.gang_changes import Case
from solver.verify.gang_counts import inner_nodes, is_satisfied, num_below, state_of
from solver.verify.nodes import free_total
from solver.verify.violation import Violation


def gang_minimums(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that the root of every gang that gets pods is satisfied after the plan.
    """
    for case in evidence.placing():
        if not case.satisfied_after:
            have = state_of(case.gang.tree, case.after)
            message = f"{case.told}, and with them it has only {have}"
            yield Violation("gang-minimum", case.gang.key, message)


def leaf_minimums(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that every leaf that gets pods reaches its minimum.
    """
    for case in evidence.placing():
        for leaf in pod_sets(case.gang.tree):
            if case.ordinary or leaf is case.gang.tree:
                continue
            if leaf.name in case.placed and not is_satisfied(leaf, case.after):
                have = state_of(leaf, case.after)
                pods = case.placed[leaf.name]
                message = f"{pods} pods get a place, and it has only {have}"
                yield Violation("leaf-minimum", f"{case.gang.key}/{leaf.name}", message)


def subgroup_minimums(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that every inner node below which pods get a place is satisfied.
    """
    for case in evidence.placing():
        if case.ordinary:
            continue
        for group in inner_nodes(case.gang.tree):
            pods = num_below(group, case.placed)
            if pods and not is_satisfied(group, case.after):
                have = state_of(group, case.after)
                message = f"{pods} pods below it get a place, and it has only {have}"
                subject = f"{case.gang.key}/{group.name}"
                yield Violation("subgroup-minimum", subject, message)


def role_orders(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that no pod of a leaf gets a place without the minimums of those before it.
    """
    for case in evidence.placing():
        if case.ordinary:
            continue
        leaves = {leaf.name: leaf for leaf in pod_sets(case.gang.tree)}
        for name, pods in sorted(case.placed.items()):
            for earlier in leaves[name].after:
                first = leaves.get(earlier)
                if first is not None and not is_satisfied(first, case.after):
                    have = state_of(first, case.after)
                    message = f"{pods} pods get a place while {earlier} has only {have}"
                    yield Violation("role-order", f"{case.gang.key}/{name}", message)


def gang_groups(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that gangs that hold the same list start together or not at all.

    A list that is not held by all it names gets no place; a gang that was satisfied
    before needs none of the others.  What is bound does not start with what is only
    reserved.
    """
    for case in evidence.gaining():
        if not case.gang.mates:
            continue
        problems = list(_disagreements(case, evidence))
        if not problems and case.starts:
            problems = list(_laggards(case, evidence))
        for message in problems:
            yield Violation("gang-group", case.gang.key, message)


def _laggards(case: Case, evidence: Evidence) -> Iterator[str]:
    """
    Name the mates that do not start with a gang: now where it is bound, or later.
    """
    is_now = bool(case.bound)
    for name in sorted(set(case.gang.mates)):
        mate = evidence.cases.get(name)
        if mate is None or mate is case or mate.ordinary:
            continue
        counts = mate.now if is_now else mate.after
        if not is_satisfied(mate.gang.tree, counts):
            have = state_of(mate.gang.tree, counts)
            yield f"starts while {name} of its group has only {have}"


def _disagreements(case: Case, evidence: Evidence) -> Iterator[str]:
    held = set(case.gang.mates)
    if case.gang.key not in held:
        yield f"its list of {len(held)} gangs does not name itself"
    for name in sorted(held):
        mate = evidence.gangs.get(name)
        theirs = case.gang.mates if mate is None else mate.mates
        if theirs != case.gang.mates and set(theirs) != held:
            yield f"{name} does not hold the same list of {len(held)} gangs"


def gangs_not_ready(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that no gang starts before all gangs of its group exist.
    """
    for case in evidence.placing():
        if not case.starts:
            continue
        for name in sorted(set(case.gang.mates)):
            if name not in evidence.gangs:
                message = f"{name} of its group does not exist"
                yield Violation("not-ready", case.gang.key, message)


def timed_out_gangs(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that a gang that its system marked as timed out gets no place.
    """
    for case in evidence.gaining():
        if case.gang.timed_out:
            message = f"{case.told} of a timed-out gang"
            yield Violation("timed-out", case.gang.key, message)


def refused_gangs(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that a gang that cannot be obeyed as it is written gets no place.
    """
    for case in evidence.gaining():
        if case.gang.refused is not None:
            message = f"{case.told} although it {case.gang.refused.message}"
            yield Violation("refused", case.gang.key, message)


def gangs_backing_off(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that a gang that still has to wait gets no place.
    """
    for case in evidence.gaining():
        if case.gang.backoff > 0:
            message = f"{case.told}, {case.gang.backoff} s before its time"
            yield Violation("backoff", case.gang.key, message)


def gangs_in_two_minds(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that a gang that needs something is bound or reserved, not in part each.
    """
    for case in evidence.placing():
        if case.starts and case.bound and case.deeds.reserved:
            message = f"{case.told}, and it did not have its minimum before"
            yield Violation("bind-and-reserve", case.gang.key, message)


def minimum_resources(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that no gang starts whose minResources exceed what was free in total.

    For what is reserved, what leaves is free.
    """
    free: dict[tuple[str, bool], int] = {}
    for case in evidence.placing():
        if not case.starts:
            continue
        is_later = not case.bound
        for resource, least in sorted(case.gang.min_resources.items()):
            key = (resource, is_later)
            if key not in free:
                free[key] = free_total(evidence, resource, later=is_later)
            if free[key] < least:
                have, needs = (format_quantity(resource, x) for x in (free[key], least))
                message = f"{resource}: needs {needs} free in total, {have} were"
                yield Violation("min-resources", case.gang.key, message)
