"""
Gangs of four: kube-scheduler takes the nodes that Phalanx binds their pods to.
"""

import time
from contextlib import suppress

import pytest

from adapters.kube.dialects.protocol import Objects
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.assemble import snapshot_of
from models.policy import Policy
from solver.fallback import NOBODY_LEAVES
from solver.round import decide
from tests.cluster.agreement_cases import (
    GROUP,
    MEMBERS,
    POD,
    Case,
    at_home,
    draw_gang,
    shared,
)
from tests.cluster.test_agreement import NUMBER, SCHEDULER, SEED, kube_scheduler
from tests.helpers.eventually import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


def planned(case: Case) -> dict[str, str]:
    """
    Give the nodes of a gang of four as Phalanx plans them; nothing where it waits.
    """
    spec = {"minMember": MEMBERS}
    meta = {"name": "g", "namespace": case.space}
    group = {"kind": "PodGroup", "metadata": meta, "spec": spec}
    group["apiVersion"] = f"{GROUP.partition('/')[0]}/v1alpha1"
    by_kind: dict[tuple[str, str], list[dict]] = {}
    for raw in (*shared(), *case.nodes, *case.objects, group):
        kind = raw["apiVersion"].rpartition("/")[0], raw["kind"]
        by_kind.setdefault(kind, []).append(raw)
    objects = Objects(by_kind={kind: tuple(raws) for kind, raws in by_kind.items()})
    made = snapshot_of(objects, dialects(), time.time(), [SCHEDULER])
    plan = decide(made.snapshot, Policy(evict=NOBODY_LEAVES))
    space = f"{case.space}/"
    return {
        step.pod.removeprefix(space): step.node
        for step in plan.operations
        if step.op == "Bind" and step.pod.startswith(space)
    }


def bound_to(admin, cases: list[Case]) -> dict[int, dict[str, str]]:
    """
    Give the nodes that the pods of gangs are bound to.
    """
    spaces = {case.space: case.number for case in cases}
    found: dict[int, dict[str, str]] = {case.number: {} for case in cases}
    for raw in admin.call("GET", "/api/v1/pods")["items"]:
        meta, node = raw["metadata"], raw["spec"].get("nodeName")
        if meta["namespace"] in spaces and meta["name"].startswith(POD) and node:
            found[spaces[meta["namespace"]]][meta["name"]] = node
    return found


def test_kube_scheduler_binds_the_pods_of_gangs_where_phalanx_does(fresh, tmp_path):
    drawn = [draw_gang(number, SEED) for number in range(NUMBER * 2)]
    homes = {case.number: planned(case) for case in drawn}
    cases = [case for case in drawn if len(homes[case.number]) == MEMBERS]
    for raw in shared():
        fresh.apply(raw)
    for case in cases:
        at_home(case, homes[case.number])
        for raw in (*case.nodes, *case.objects):
            fresh.apply(raw)
    with kube_scheduler(fresh, tmp_path), suppress(AssertionError):
        wanted = {case.number: homes[case.number] for case in cases}
        # It binds some fifty pods a second at most, and tries again those it refused.
        until = 60.0 + len(cases)
        eventually(lambda: bound_to(fresh.admin, cases) == wanted, until)
    found = bound_to(fresh.admin, cases)
    differ = {
        number: (homes[number], found[number])
        for number in found
        if found[number] != homes[number]
    }
    print(f"{len(drawn)} gangs, {len(cases)} bound, {len(differ)} differences")

    assert {} == differ
    assert len(cases) > NUMBER / 10
