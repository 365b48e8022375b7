"""
Spread on random small cases in which others are moved: it holds once all have moved.
"""

from collections import Counter
from dataclasses import replace

import pytest

from adapters.files import scenario_of
from benchmarks.cases.beside import with_spread
from benchmarks.cases.victims import victim_case
from benchmarks.planned import decide_alone
from benchmarks.quality import vector_of
from exact import best_first_step, best_later, best_second_step, worse_in_a_step
from models.gangs import PodPhase, pod_sets
from solver.problem.problem import problem_of
from solver.round import decide
from solver.verify import verify


def case(seed):
    scenario = scenario_of(f"case-{seed}", victim_case(seed))
    gangs = with_spread(f"case-{seed}", scenario.snapshot.gangs)
    return replace(scenario.snapshot, gangs=tuple(gangs)), scenario.policy


def leaves_of(snapshot):
    return {
        f"{gang.namespace}/{pod.name}": (leaf, pod)
        for gang in snapshot.gangs
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    }


def carried_out(snapshot, plan):
    """
    Give the node of every pod that is there in the end, and name those that start.
    """
    on = {
        name: pod.node
        for name, (_, pod) in leaves_of(snapshot).items()
        if pod.phase is PodPhase.RUNNING
    }
    for step in plan.operations:
        if step.op == "Evict":
            del on[step.pod]
        else:
            on[step.pod] = step.node
    starts = {s.pod for s in plan.operations if s.op in {"Bind", "Reserve"}}
    return on, starts


def domains(snapshot, leaf, rule):
    return {
        node.name: node.labels[rule.key]
        for node in snapshot.nodes
        if rule.key in node.labels
        if not rule.by_affinity or leaf.demand.selects(node.labels)
        if not rule.by_taints or leaf.demand.tolerates(node.taints)
    }


def broken(snapshot, plan):
    """
    Walk the starts that break their spread among all who stay, move or are spread, too.
    """
    leaves = leaves_of(snapshot)
    on, starts = carried_out(snapshot, plan)
    for name in sorted(starts):
        leaf = leaves[name][0]
        for rule in leaf.neighbours.spread:
            where = domains(snapshot, leaf, rule)
            counts = Counter(dict.fromkeys(where.values(), 0))
            for other, node in on.items():
                said = leaves[other][0].neighbours
                after = other in starts and not said.is_spread(rule.pods, rule.key)
                if node in where and rule.pods in said.selected and not after:
                    counts[where[node]] += 1
            least = min(counts.values()) if len(counts) >= rule.domains else 0
            if counts[where[on[name]]] - least > rule.skew:
                yield name, rule, counts


SEEDS = [206, 251, 276, 294, 314, 331, 339, 415, 473, *range(500, 530)]


@pytest.mark.drawn
@pytest.mark.parametrize("strategy", ["solver", "greedy"])
@pytest.mark.parametrize("seed", SEEDS)
def test_pods_are_spread_once_others_have_moved(seed, strategy):
    snapshot, policy = case(seed)
    plan = decide(snapshot, policy, strategy=strategy)

    assert [] == [*broken(snapshot, plan)]
    assert () == verify(snapshot, policy, plan)


@pytest.mark.drawn
@pytest.mark.parametrize("strategy", ["solver", "greedy"])
@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_is_moved_in_place_but_beside_others_of_its_gang(seed, strategy):
    snapshot, policy = case(seed)
    plan = decide(snapshot, policy, strategy=strategy)
    moves = [step for step in plan.operations if step.op == "Move"]
    elsewhere = {step.gang for step in moves if step.source != step.node}

    assert {step.gang for step in moves} <= elsewhere


@pytest.mark.drawn
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_proven_of_spread_with_moves_is_what_the_exact_model_says(seed):
    snapshot, policy = case(seed)
    shares = problem_of(snapshot, policy).shares
    plan = decide_alone(snapshot, policy)
    steps = (
        best_first_step(snapshot, policy, shares),
        best_second_step(snapshot, policy, shares, plan),
        best_later(snapshot, policy, shares, plan),
    )

    assert None not in steps
    assert plan.status != "optimal" or worse_in_a_step(vector_of(plan), *steps) is None
