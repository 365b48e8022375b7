"""
What is kept from round to round decides nothing: with nothing kept the same comes out.
"""

from dataclasses import replace
from random import Random

import pytest

from adapters.files.writing.plan_writer import plan_json
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.assemble import Assembler
from adapters.loop.memory.gangs import Memory
from models.memory.aged_gangs import older
from models.policy import Limits, Policy
from models.snapshot import content_hash
from solver.round import RoundMemo, RoundOptions, budget_of, propose
from solver.verify.evidence import evidence_of
from solver.verify.judge import RULES, verify
from solver.verify.known import JudgeMemo
from tests.helpers.build import gang
from tests.helpers.kube.changing_cluster import ChangingCluster
from tests.helpers.kube.mutations import worlds
from tests.helpers.rounds.drawn import of_day

DIALECTS = dialects()
STEPS = 25
QUICK = 0.01
"""
How much a round may search here: what matters is that plans are equal, not which.
"""


def clusters(cases, seed):
    """
    Walk random clusters, each with its chance and what it is made of.
    """
    every = worlds()
    names = sorted(every)
    for case in cases:
        chance = Random(f"{seed}-{case}")
        some = chance.sample(names, chance.choice((1, 2, 3)))
        raws = [raw for name in some for raw in every[name]]
        yield f"{some}, seed {seed}-{case}", chance, ChangingCluster(raws, chance)


def steps(cluster, chance):
    """
    Let something happen again and again, mostly one thing at once; give what.
    """
    told = []
    for _ in range(STEPS):
        told += [cluster.step() for _ in range(chance.choice((1, 1, 1, 2, 4)))]
        yield told


def snapshots_are_the_same(cases, seed):
    """
    Let things happen, and look after each with what is kept and without.
    """
    for why, chance, cluster in clusters(cases, seed):
        kept = Assembler(DIALECTS)
        for told in steps(cluster, chance):
            seen = cluster.seen
            with_memo = kept.assembled(*seen, cluster.now)
            afresh = Assembler(DIALECTS).assembled(*seen, cluster.now)

            assert afresh.snapshot == with_memo.snapshot, (why, told)
            assert afresh.snapshot.warnings == with_memo.snapshot.warnings, (why, told)
            assert afresh.summary == with_memo.summary, (why, told)
            assert afresh.claims == with_memo.claims, (why, told)


def plans_are_the_same(cases, seed):
    """
    Plan after each event with what is kept, and of plain gangs with nothing kept.

    The judge says the same of both and of a plan that is wrong, rule by rule.
    """
    policy = Policy(limits=Limits(deterministic=QUICK))
    for why, chance, cluster in clusters(cases, seed):
        kept, memo, memory = Assembler(DIALECTS), RoundMemo(), Memory()
        judge = JudgeMemo(lasts=True)
        strategy = chance.choice(("solver", "greedy"))
        for told in steps(cluster, chance):
            look = kept.assembled(*cluster.seen, cluster.now).snapshot
            snapshot = memory.applied(look, cluster.now)
            plain = replace(snapshot, gangs=tuple(snapshot.gangs))
            plan = proposed(snapshot, policy, strategy, memo)

            assert plan_json(proposed(plain, policy, strategy)) == plan_json(plan), (
                why,
                told,
            )
            memory.planned(snapshot, plan, cluster.now)
            for one in (plan, spoiled(plan, snapshot, chance)):
                afresh = violations(plain, policy, one, JudgeMemo())

                assert afresh == violations(snapshot, policy, one, judge), (why, told)


def proposed(snapshot, policy, strategy, memo=None):
    options = RoundOptions(strategy=strategy, memo=memo)
    return propose(snapshot, policy, budget_of(policy), options)


def violations(snapshot, policy, plan, memo):
    evidence = evidence_of(snapshot, policy, plan, memo)
    return [str(found) for rule in RULES.values() for found in rule(evidence)]


def spoiled(plan, snapshot, chance):
    """
    Give a plan with everything on one node, or without an operation.
    """
    steps = list(plan.operations)
    if steps and snapshot.nodes and chance.random() < 0.7:
        node = chance.choice(snapshot.nodes).name
        return replace(plan, operations=tuple(replace(s, node=node) for s in steps))
    return replace(plan, operations=tuple(steps[1:]))


def test_a_snapshot_of_what_changed_is_that_of_all_there_is():
    snapshots_are_the_same(of_day(range(8)), 1)


@pytest.mark.drawn
def test_a_plan_does_not_depend_on_what_is_kept():
    plans_are_the_same(of_day(range(8)), 3)


@pytest.mark.slow
def test_snapshots_of_10_000_changes_are_those_of_all_there_is():
    snapshots_are_the_same(range(10_000 // STEPS), 2)


@pytest.mark.slow
def test_plans_of_10_000_changes_do_not_depend_on_what_is_kept():
    plans_are_the_same(range(10_000 // STEPS), 4)


def test_time_that_passed_can_be_taken_back():
    one = gang("g", minimum=1, running=["n"], age=60)
    later = older(one, 30)

    assert 90 == later.age
    assert 30 == later.tree.pods[0].seconds - one.tree.pods[0].seconds
    assert one == older(later, -30)


def test_the_judge_judges_again_without_what_it_keeps_before_it_rejects(monkeypatch):
    """
    A mistake in what is kept costs time, and no plan.
    """
    world = ChangingCluster([], Random(1))
    snapshot = Assembler(DIALECTS).assembled(*world.seen, world.now).snapshot
    plan = proposed(snapshot, Policy(), "greedy")
    memo = JudgeMemo(lasts=True)
    verify(snapshot, Policy(), plan, memo)
    for row in memo._sums.queued.values():
        row.update(dict.fromkeys(row, 10**9))
    for there in memo._sums.on_node.values():
        there[0] = [{"nvidia.com/gpu": 10**9}]

    assert violations(snapshot, Policy(), plan, memo)
    assert () == verify(snapshot, Policy(), plan, memo)
    assert content_hash(snapshot)
