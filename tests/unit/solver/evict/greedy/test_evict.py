"""
Tests of evictions by hand: who leaves for whom, and that no rule is broken.
"""

from collections import Counter
from dataclasses import replace

import pytest

from adapters.files import scenario_of
from benchmarks.cases.victims import victim_case
from models.gangs import pod_sets
from solver.evict.gathering import victims_of
from solver.evict.greedy.evict import evict_by_hand
from solver.evict.greedy.node_offers import NodeOffers
from solver.evict.moved_gangs import movers_of
from solver.evict.rights.cores import as_one
from solver.evict.rights.hand_rights import HandRights
from solver.evict.rights.leaving_sums import Leaver
from solver.place.draft import Draft
from solver.problem.gang_state import satisfied_after, standing
from solver.problem.leaving_pods import NOWHERE, loss_of
from solver.problem.node_room import NO_PLACES, Places
from solver.problem.pod_shapes import shapes_of
from solver.problem.problem import Step, problem_of
from solver.round import decide

GPU = "nvidia.com/gpu"


def stage(given, evict=None, step=Step.ENTITLED):
    """
    Give a round cut to one step, in the room there will be, and its victims.
    """
    document = {
        "apiVersion": "phalanx/v1",
        "kind": "Scenario",
        "rule": "A case.",
        "given": given,
        "policy": {"evict": evict or {}},
    }
    scenario = scenario_of("case", document)
    problem = problem_of(scenario.snapshot, scenario.policy)
    room = problem.room.seen(problem.room.later)
    problem = replace(problem, step=step, room=room)
    victims = victims_of(problem)
    states = [state for unit in problem.units for state in unit.states]
    states += [mover.state for mover in movers_of(victims)]
    return replace(problem, shapes=shapes_of(room, states)), victims


def planned(given, evict=None, step=Step.ENTITLED):
    problem, victims = stage(given, evict, step)
    return evict_by_hand(problem, Draft(), victims)


def leaving(draft):
    """
    Count the pods that leave, by gang and rule.
    """
    return Counter((one.gang.removeprefix("default/"), one.rule) for one in draft.exits)


def started(draft):
    return {key.removeprefix("default/") for key in draft.places}


def nodes(number, gpus=8, **labels):
    return [
        {"name": f"n{i}", "allocatable": {GPU: gpus}, "labels": labels}
        for i in range(number)
    ]


def queues(**quotas):
    return [
        {"name": name, "resources": {GPU: {"quota": quota}}}
        for name, quota in quotas.items()
    ]


def runs(name, *places, queue="batch", gpus=8, **fields):
    """
    Describe a running gang: a node, and so many seconds, for each pod.
    """
    return {
        "name": name,
        "queue": queue,
        "min": fields.pop("least", len(places)),
        "replicas": len(places),
        "requests": {GPU: gpus},
        "running": [{"node": at, "for": f"{secs}s"} for at, secs in places],
        **fields,
    }


def waits(name, pods=1, queue="prod", gpus=8, **fields):
    return {
        "name": name,
        "queue": queue,
        "min": pods,
        "requests": {GPU: gpus},
        **fields,
    }


def reclaimable(gangs, number=2, prod=8, **given):
    """
    Give a case in which all that runs is of a queue without quota.
    """
    given = {"nodes": nodes(number), "queues": queues(batch=0, prod=prod)} | given
    return given | {"gangs": gangs}


# --- who leaves -------------------------------------------------------------------


def test_the_cheapest_pod_leaves():
    gangs = [runs("old", ("n0", 900)), runs("new", ("n1", 100)), waits("want")]

    draft = planned(reclaimable(gangs))

    assert {("new", "reclaim"): 1} == leaving(draft)
    assert {"default/want": Places(((1,),))} == draft.places
    assert {"default/want"} == draft.entitled


def test_free_room_is_used_before_anybody_leaves():
    gangs = [runs("old", ("n0", 900)), waits("want", 2)]

    draft = planned(reclaimable(gangs, prod=16))

    assert {("old", "reclaim"): 1} == leaving(draft)
    assert {"want"} == started(draft)


def test_spare_pods_leave_before_a_gang_that_costs_as_much():
    gangs = [
        runs("single", ("n0", 100)),
        runs("elastic", ("n1", 100), ("n2", 900), least=1),
        waits("want"),
    ]

    draft = planned(reclaimable(gangs, 3))

    assert {("elastic", "reclaim"): 1} == leaving(draft)
    assert [False] == [one.whole for one in draft.exits]


def test_gang_keeps_its_minimum_or_goes_whole():
    gangs = [runs("elastic", ("n0", 100), ("n1", 900), least=1), waits("want", 2)]

    draft = planned(reclaimable(gangs, prod=16))

    assert {("elastic", "reclaim"): 2} == leaving(draft)
    assert [True, True] == [one.whole for one in draft.exits]


def test_room_of_a_gang_that_goes_whole_is_used_on_all_its_nodes():
    gangs = [
        runs("wide", ("n0", 100), ("n1", 100)),
        runs("a", ("n2", 150)),
        runs("b", ("n3", 150)),
        waits("want", 2),
    ]

    draft = planned(reclaimable(gangs, 4, prod=16))

    assert {("wide", "reclaim"): 2} == leaving(draft)


def test_wide_gang_stays_where_less_is_lost_otherwise():
    gangs = [
        runs("wide", ("n0", 100), ("n1", 100)),
        runs("single", ("n2", 150)),
        waits("want"),
    ]

    draft = planned(reclaimable(gangs, 3))

    assert {("single", "reclaim"): 1} == leaving(draft)


def test_nobody_leaves_who_need_not():
    gangs = [
        runs("small", ("n0", 10), gpus=2),
        runs("large", ("n0", 100), gpus=6),
        waits("want", gpus=6),
    ]

    draft = planned(reclaimable(gangs, 1))

    assert {("large", "reclaim"): 1} == leaving(draft)


def test_trees_go_whole():
    tree = {
        "name": "tree",
        "queue": "batch",
        "groups": [
            {
                "name": name,
                "min": 1,
                "requests": {GPU: 4},
                "running": [{"node": node, "for": "60s"}],
            }
            for name, node in (("a", "n0"), ("b", "n0"), ("c", "n1"))
        ],
        "minGroups": 3,
    }

    draft = planned(reclaimable([tree, waits("want")]))

    assert {("tree", "reclaim"): 3} == leaving(draft)


def test_gang_that_starts_loses_nothing():
    gangs = [
        runs("half", ("n0", 1), queue="other", least=2, priority=9) | {"replicas": 2},
        runs("old", ("n1", 900)),
        runs("older", ("n2", 950)),
        waits("want"),
    ]
    given = reclaimable(gangs, 3, queues=queues(batch=0, other=16, prod=8))

    draft = planned(given)

    assert {("old", "reclaim"): 1, ("older", "reclaim"): 1} == leaving(draft)
    assert {"half", "want"} == started(draft)


def test_gang_in_one_rack_takes_the_cheapest_one():
    racks = [
        {"name": f"n{i}", "allocatable": {GPU: 8}, "labels": {"rack": f"r{i // 2}"}}
        for i in range(4)
    ]
    seconds = (1, 900, 300, 300)
    gangs = [runs(f"v{i}", (f"n{i}", s)) for i, s in enumerate(seconds)]
    gangs.append(waits("want", 2, topology={"required": "rack"}))
    levels = [{"name": "default", "levels": ["rack"]}]

    draft = planned(reclaimable(gangs, prod=16, nodes=racks, topologies=levels))

    assert {("v2", "reclaim"): 1, ("v3", "reclaim"): 1} == leaving(draft)
    assert {2, 3} == set(draft.places["default/want"][0])


def test_exclusive_pods_clear_a_node_each():
    gangs = [runs(f"v{i}", (f"n{i // 2}", 60 + i), gpus=4) for i in range(4)]
    gangs.append(waits("want", 2, gpus=4, exclusive=True))

    draft = planned(reclaimable(gangs))

    assert {("v0", "reclaim"): 1, ("v2", "reclaim"): 1} == leaving(draft)


def test_equal_gangs_start_as_far_as_there_are_victims():
    gangs = [runs(f"v{i}", ("n0", 60), gpus=1) for i in range(8)]
    gangs += [waits(f"w{i}", gpus=2) for i in range(9)]

    draft = planned(reclaimable(gangs, 1, prod=18))

    assert 4 == len(draft.places)
    assert 8 == sum(leaving(draft).values())


def test_nothing_changes_where_nobody_may_leave():
    gangs = [runs("fixed", ("n0", 60), preemptible=False), waits("want")]

    draft = planned(reclaimable(gangs, 1))

    assert Draft() == draft


def test_starts_that_need_nobody_to_leave_are_kept():
    gangs = [runs("old", ("n0", 900)), waits("a"), waits("b")]
    problem, victims = stage(reclaimable(gangs, prod=16))
    before = Draft({"default/b": Places(((1,),))}, frozenset({"default/b"}))

    draft = evict_by_hand(problem, before, victims)

    assert {"default/a": Places(((0,),)), "default/b": Places(((1,),))} == dict(
        draft.places
    )


# --- by which right ---------------------------------------------------------------


def test_queue_within_its_share_loses_nothing():
    gangs = [runs("old", ("n0", 60)), waits("want")]

    draft = planned(reclaimable(gangs, 1, queues=queues(batch=8, prod=0)))

    assert {} == draft.places


def test_last_unit_may_take_a_queue_below_its_share():
    gangs = [runs("old", ("n0", 60), queue="batch"), waits("want", gpus=4)]

    draft = planned(reclaimable(gangs, 1, queues=queues(batch=4, prod=4)))

    assert {("old", "reclaim"): 1} == leaving(draft)


def test_queue_is_above_its_share_before_each_unit():
    gangs = [runs(f"v{i}", ("n0", 60 + i), gpus=2) for i in range(4)]
    gangs.append(waits("want", gpus=6))

    draft = planned(reclaimable(gangs, 1, queues=queues(batch=4, prod=4)))

    assert {} == draft.places


def test_department_that_uses_its_share_lets_its_queues_reclaim_from_each_other():
    both = [
        {"name": "dept", "resources": {GPU: {"quota": 8}}},
        *({**queue, "parent": "dept"} for queue in queues(batch=0, prod=8)),
        *queues(other=8),
    ]
    gangs = [
        runs("old", ("n0", 900)),
        runs("out", ("n1", 1), queue="other"),
        waits("want"),
    ]

    draft = planned(reclaimable(gangs, queues=both))

    assert {("old", "reclaim"): 1} == leaving(draft)


@pytest.mark.parametrize(("priority", "starts"), [(20, {"want"}), (10, set())])
def test_only_lower_bands_are_preempted(priority, starts):
    gangs = [
        runs("old", ("n0", 60), queue="prod", priority=10),
        waits("want", priority=priority),
    ]
    given = reclaimable(gangs, 1)

    assert starts == started(planned(given, {"reclaim": False}, Step.BORROWING))


def rights_of(gangs, step, shares=None, **given):
    """
    Give the rights once the only waiting gang starts.
    """
    problem, _ = stage(reclaimable(gangs, **given), step=step)
    if shares is not None:
        problem = replace(problem, shares={q: {GPU: n} for q, n in shares.items()})
    rights = HandRights(problem)
    (unit,) = problem.units
    entitled = step is Step.ENTITLED
    rights.start(unit, {unit.key: {0: 1}}, entitled=entitled)
    return rights


def leaver(rule, gpus, queue="batch", band=0):
    return Leaver(
        gang="default/some",
        queue=queue,
        band=band,
        rule=rule,
        parts=as_one({GPU: gpus}),
        pods=1,
    )


def test_no_more_is_preempted_than_starts_above_but_for_one_unit():
    gangs = [
        runs("old", ("n0", 60), queue="prod", priority=10),
        waits("want", gpus=4, priority=20),
    ]
    rights = rights_of(gangs, Step.BORROWING)

    units = [leaver("preempt", gpus, "prod") for gpus in (3, 3, 3)]

    assert [True, True, False] == [rights.take(unit) for unit in units]


def test_unit_without_the_resource_is_not_preempted_beside_one_with_it():
    gangs = [
        runs("old", ("n0", 60), queue="prod", priority=10),
        waits("want", gpus=4, priority=20),
    ]
    rights = rights_of(gangs, Step.BORROWING)
    other = replace(leaver("preempt", 0, "prod"), parts=as_one({"cpu": 1000}))

    assert rights.take(leaver("preempt", 3, "prod"))
    assert not rights.take(other)


def test_department_answers_only_for_what_leaves_it():
    both = [
        {"name": "dept", "resources": {GPU: {"quota": 8}}},
        *({**queue, "parent": "dept"} for queue in queues(batch=0, prod=4)),
        *queues(other=4),
    ]
    shares = {"dept": 8, "batch": 4, "prod": 4, "other": 4}
    old = runs("old", ("n0", 60))

    for queue, may in (("prod", True), ("other", False)):
        gangs = [old, waits("want", queue=queue, gpus=4)]
        rights = rights_of(gangs, Step.ENTITLED, shares, queues=both)

        assert may == rights.take(leaver("reclaim", 4))


def test_queue_at_its_limit_makes_room_below_itself():
    full = [
        {"name": "prod", "resources": {GPU: {"quota": 0, "limit": 8}}},
        *queues(other=0),
    ]
    gangs = [
        runs("cheap", ("n0", 1), queue="other"),
        runs("own", ("n1", 900), queue="prod", priority=10),
        waits("want", priority=20),
    ]

    draft = planned(reclaimable(gangs, 3, queues=full), step=Step.BORROWING)

    assert {("own", "preempt"): 1} == leaving(draft)


# --- moves ------------------------------------------------------------------------


def fragmented():
    gangs = [runs(f"v{i}", (f"n{i}", 60), queue="prod", gpus=4) for i in range(2)]
    return reclaimable([*gangs, waits("want")], prod=16)


def test_gang_is_moved_where_holes_are_too_small():
    draft = planned(fragmented())

    (one,) = draft.exits
    assert "consolidate" == one.rule
    assert 1 - one.host == one.target
    assert {"default/want": Places(((one.host,),))} == draft.places


@pytest.mark.parametrize("evict", [{"maxMoves": 0}, {"consolidate": False}])
def test_nobody_is_moved_where_the_policy_forbids_it(evict):
    assert Draft() == planned(fragmented(), evict)


def test_wide_gang_is_moved_with_all_its_pods():
    gangs = [
        runs("pair", ("n0", 60), ("n0", 60), ("n1", 60), queue="prod", gpus=2),
        waits("want", 2),
    ]

    draft = planned(reclaimable(gangs, 3, prod=24))

    assert {("pair", "consolidate"): 3} == leaving(draft)
    assert all(one.whole and one.target != NOWHERE for one in draft.exits)


def test_who_could_be_evicted_is_moved_where_there_is_room():
    gangs = [runs(f"v{i}", (f"n{i}", 60), gpus=4) for i in range(2)]

    draft = planned(reclaimable([*gangs, waits("want")]))

    assert ["consolidate"] == [one.rule for one in draft.exits]


# --- bounds -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("evict", "starts"),
    [
        ({"maxPods": 1}, set()),
        ({"maxPods": 2}, {"want"}),
        ({"maxGangs": 1}, set()),
        ({"maxGangs": 2}, {"want"}),
        ({"maxLostPerGpu": 59}, set()),
        ({"maxLostPerGpu": 60}, {"want"}),
    ],
)
def test_bounds_of_the_policy_hold(evict, starts):
    gangs = [runs(f"v{i}", ("n0", 60), gpus=4) for i in range(2)]

    draft = planned(reclaimable([*gangs, waits("want")], 1), evict)

    assert starts == started(draft)


@pytest.mark.parametrize(("allowed", "victim"), [(0, "b"), (1, "a")])
def test_budgets_hold(allowed, victim):
    gangs = [runs("a", ("n0", 60)), runs("b", ("n1", 900)), waits("want")]
    budgets = [{"name": "some", "gangs": ["a"], "allowed": allowed}]

    draft = planned(reclaimable(gangs, budgets=budgets))

    assert {(victim, "reclaim"): 1} == leaving(draft)


# --- always -----------------------------------------------------------------------

SEEDS = range(60)


@pytest.mark.parametrize("step", [Step.ENTITLED, Step.BORROWING])
def test_nodes_are_never_overfull_and_minimums_hold(step):
    for seed in SEEDS:
        case = victim_case(seed)
        problem, victims = stage(case["given"], case["policy"]["evict"], step)

        draft = evict_by_hand(problem, Draft(), victims)

        assert_there_is_room(problem, draft)
        assert_minimums_hold(problem, draft)


def assert_there_is_room(problem, draft):
    room = problem.room.later.copy()
    for one in draft.exits:
        leaf = tuple(pod_sets(problem.gangs[one.gang].tree))[one.leaf]
        row = problem.room.row(leaf.requests)
        room[one.host] += row
        if one.target != NOWHERE:
            room[one.target] -= row
    for unit in problem.units:
        for state in unit.states:
            for leaf, hosts in zip(
                state.leaves, draft.places.get(state.key, NO_PLACES), strict=False
            ):
                for host in hosts:
                    room[host] -= problem.room.row(leaf.pod_set.requests)

    assert (room >= problem.room.later.clip(max=0)).all()


def assert_minimums_hold(problem, draft):
    gone = Counter((one.gang, one.leaf) for one in draft.exits)
    for key in {one.gang for one in draft.exits}:
        state = standing(problem.gangs[key])
        lost = {i: -gone[key, i] for i in range(len(state.leaves))}
        left = sum(len(leaf.running) for leaf in state.leaves) + sum(lost.values())

        assert key not in draft.places
        assert not left or satisfied_after(state, lost)[0]


@pytest.mark.parametrize("tiny", [True, False])
def test_judge_agrees_with_plans_by_hand(tiny):
    for seed in SEEDS:
        scenario = scenario_of("case", victim_case(seed, tiny=tiny))

        decide(scenario.snapshot, scenario.policy, strategy="greedy")


def test_same_case_gives_the_same_draft():
    problem, victims = stage(victim_case(3)["given"])
    first = evict_by_hand(problem, Draft(), victims)

    second = evict_by_hand(problem, Draft(), victims)

    assert first == second
    assert loss_of(first.exits) == loss_of(second.exits)


def full(number):
    """
    Give nodes of eight of which six are taken by pairs, and a gang that waits.
    """
    pairs = [
        runs(f"pair-{at}", (f"n{at // 3}", 60), queue="prod", gpus=2)
        for at in range(3 * number)
    ]
    return {
        "nodes": nodes(number),
        "queues": queues(prod=64),
        "gangs": [*pairs, waits("waits")],
    }


def asked_of(monkeypatch, given):
    """
    Plan a round in which others may only be moved; say how often a bound spared it.
    """
    spared = []
    known = NodeOffers.moves_are_too_few

    def told(self, leaf, need):
        spared.append(known(self, leaf, need))
        return spared[-1]

    monkeypatch.setattr(NodeOffers, "moves_are_too_few", told)
    return planned(given), spared


def test_pairs_move_together_where_all_free_room_is_enough(monkeypatch):
    draft, spared = asked_of(monkeypatch, full(4))

    assert {"waits"} <= started(draft)
    assert [False] == spared


def test_nobody_is_asked_to_move_where_all_free_room_is_too_little(monkeypatch):
    draft, spared = asked_of(monkeypatch, full(3))

    assert not draft.exits
    assert [True] == spared


@pytest.mark.parametrize("seed", range(120))
def test_no_plan_depends_on_what_is_not_asked(monkeypatch, seed):
    given = scenario_of(f"case-{seed}", victim_case(seed))
    quick = decide(given.snapshot, given.policy, strategy="greedy")
    monkeypatch.setattr(NodeOffers, "moves_are_too_few", lambda *_: False)

    assert quick == decide(given.snapshot, given.policy, strategy="greedy")


def _served_of(number):
    """
    Let some of equal gangs have the room of another queue, which is above its share.
    """
    other = [
        {
            "name": f"busy-{at:02d}",
            "queue": "b",
            "min": 1,
            "requests": {GPU: 1},
            "running": [{"node": f"n-{at % 3}", "pods": 1, "for": f"{at + 1}m"}],
        }
        for at in range(24)
    ]
    mine = [
        {"name": f"mine-{at:02d}", "queue": "a", "min": 1, "requests": {GPU: 1}}
        for at in range(number)
    ]
    queues = [{"name": "a", "resources": {GPU: {"quota": 11, "weight": 0}}}]
    queues.append({"name": "b", "resources": {GPU: {"quota": 13, "weight": 0}}})
    nodes = [{"name": "n", "count": 3, "allocatable": {GPU: 8}}]
    return planned({"nodes": nodes, "queues": queues, "gangs": [*other, *mine]})


def test_how_many_wait_behind_those_who_are_served_changes_nothing_for_these():
    few, many = _served_of(17), _served_of(53)

    assert 11 == len(few.places)
    assert few.places.keys() == many.places.keys()
    assert leaving(few) == leaving(many)
    assert all((few.places[key] == many.places[key]) for key in few.places)
