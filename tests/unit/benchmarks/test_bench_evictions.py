"""
The rows about evictions: their worlds, what is counted as lost, and what must hold.
"""

from collections import Counter, defaultdict
from dataclasses import replace

import pytest

from benchmarks.cases.full import full_case
from benchmarks.contract import load_contract
from benchmarks.contract_evict import Evictions, FullCases, VictimCases
from benchmarks.evictions import measure_evictions
from benchmarks.full import measure_full, play
from benchmarks.full_world import make_full_world
from benchmarks.losses import Losses, losses_of, running_gpus, waiting_gangs
from benchmarks.rows import Range
from benchmarks.victims_quality import measure_victims
from models.gangs import PodPhase, pod_sets
from models.plan import Operation
from models.policy import Policy
from models.resources import GPU
from solver.round import decide

NO_EVICTIONS = Policy.model_validate(
    {
        "evict": {
            "preempt": False,
            "reclaim": False,
            "consolidate": False,
            "stale": False,
        },
        "limits": {"deterministic": 0.2},
    }
)


def contract_of(name):
    contract = load_contract(name)
    assert isinstance(contract, Evictions)
    return contract


def worlds_of(name):
    return {run.name: run.world for run in contract_of(name).runs}


def small(name, nodes, run=0):
    """
    Give a run of a row on fewer nodes.
    """
    world = contract_of(name).runs[run].world
    cluster = world.cluster.model_copy(update={"nodes": nodes})
    return world.model_copy(update={"cluster": cluster})


def running(snapshot):
    return [gang for gang in snapshot.gangs if gang.name.startswith("run")]


def waiting(snapshot):
    return [gang for gang in snapshot.gangs if gang.name.startswith("want")]


def pods_of(gangs):
    return [pod for gang in gangs for leaf in pod_sets(gang.tree) for pod in leaf.pods]


def gpus_of(gangs):
    return sum(len(gang.tree.pods) * gang.tree.requests[GPU] for gang in gangs)


def held_by_node(snapshot):
    held = Counter()
    for gang in running(snapshot):
        for pod in gang.tree.pods:
            held[pod.node] += gang.tree.requests[GPU]
    return held


def quotas_of(snapshot):
    return {queue.name: queue.rule(GPU).quota for queue in snapshot.queues}


FULL = ("large-gang", "many-small", "impossible", "mixed", "mixed-4k", "scattered")


@pytest.mark.parametrize("name", FULL)
def test_every_gpu_of_a_full_world_is_held(name):
    for run in range(len(contract_of(f"evict/{name}").runs)):
        snapshot = make_full_world(small(f"evict/{name}", 40, run))

        assert {8} == set(held_by_node(snapshot).values())
        assert 40 == len(held_by_node(snapshot))


@pytest.mark.parametrize(("run", "nodes"), [("100", 100), ("500", 500), ("1000", 1000)])
def test_large_gang_asks_for_half_of_the_cluster(run, nodes):
    snapshot = make_full_world(worlds_of("evict/large-gang")[run])
    (gang,) = waiting(snapshot)

    assert (nodes, 8 * nodes) == (len(snapshot.nodes), len(running(snapshot)))
    assert (nodes // 2, nodes // 2, 8) == (
        gang.tree.minimum,
        gang.tree.replicas,
        gang.tree.requests[GPU],
    )
    assert {"batch": 0, "prod": 4 * nodes} == quotas_of(snapshot)
    assert {3600} == {pod.seconds for pod in pods_of(running(snapshot))}


def test_many_small_wants_every_gpu():
    snapshot = make_full_world(worlds_of("evict/many-small")[""])

    assert (4000, 4000) == (len(running(snapshot)), len(waiting(snapshot)))
    assert 4000 == gpus_of(waiting(snapshot))


def test_one_gpu_of_the_surplus_is_missing_in_the_impossible_world():
    for name, world in worlds_of("evict/impossible").items():
        snapshot = make_full_world(world)
        (gang,) = waiting(snapshot)
        gpus = 8 * len(snapshot.nodes)

        assert name.startswith(str(len(snapshot.nodes)))
        assert {"batch": gpus - 79, "prod": 80} == quotas_of(snapshot)
        assert (10, 80) == (gang.tree.minimum, gpus_of([gang]))
        assert ("one per node" in name) == gang.tree.exclusive
        assert ("in a rack" in name) == (gang.tree.topology is not None)


def test_a_rack_of_the_impossible_world_has_room_for_the_gang():
    world = worlds_of("evict/impossible")["500 in a rack"]
    racks = Counter(node.labels["rack"] for node in make_full_world(world).nodes)

    assert {20} == set(racks.values())


def test_mixed_world_has_the_sizes_queues_and_wide_gangs_of_the_issue():
    world = worlds_of("evict/mixed")[""]
    snapshot = make_full_world(world)
    victims, wanted = running(snapshot), waiting(snapshot)
    wide = [gang for gang in victims if len(gang.tree.pods) > 1]
    spans = [{pod.node for pod in gang.tree.pods} for gang in wide]
    minutes = {pod.seconds // 60 for pod in pods_of(victims)}

    assert {1, 2, 4, 8} == {gang.tree.requests[GPU] for gang in victims}
    assert {"a", "b", "c", "safe"} == {gang.queue for gang in victims}
    assert {"safe"} == {gang.queue for gang in victims if not gang.preemptible}
    assert {2, 3, 4, 5, 6, 7, 8} == {len(span) for span in spans}
    assert 0.25 == pytest.approx(sum(map(len, spans)) / 1000, abs=0.005)
    assert (10, 2880) == pytest.approx((min(minutes), max(minutes)), abs=5)
    assert 60 == len(wanted)
    assert max(len(gang.tree.pods) for gang in wanted) == 16
    assert {1, 2, 4, 8} == {gang.tree.requests[GPU] for gang in wanted}


@pytest.mark.drawn
def test_half_of_each_queue_of_the_mixed_world_may_be_reclaimed():
    snapshot = make_full_world(worlds_of("evict/mixed")[""])
    held = Counter()
    for gang in snapshot.gangs:
        held[gang.queue] += gpus_of([gang])
    quotas = quotas_of(snapshot)

    assert {q: held[q] // 2 for q in "abc"} == {q: quotas[q] for q in "abc"}
    assert (held["safe"], held["vip"]) == (quotas["safe"], quotas["vip"])
    assert sum(quotas.values()) <= 8000


@pytest.mark.parametrize("name", ["many-small", "mixed", "mixed-4k", "scattered"])
def test_every_gang_that_waits_is_to_be_gained(name):
    for run in contract_of(f"evict/{name}").runs:
        assert run.reach.gained == gpus_of(waiting(make_full_world(run.world)))


def test_spare_pods_leave_some_gpus_idle():
    world = small("evict/mixed", 100)
    spare = world.model_copy(
        update={"victims": world.victims.model_copy(update={"spare": 0.1})}
    )
    held = held_by_node(make_full_world(spare)).total()

    assert 0.85 * 800 < held < 800


def test_pods_of_a_scattered_gang_lie_on_different_random_nodes():
    snapshot = make_full_world(worlds_of("evict/scattered")[""])
    gangs = running(snapshot)
    neighbours = defaultdict(set)
    for gang in gangs:
        for pod in gang.tree.pods:
            neighbours[pod.node].add(gang.name)

    assert 500 == len(gangs)
    assert {8} == {len({pod.node for pod in gang.tree.pods}) for gang in gangs}
    assert {8} == {len(found) for found in neighbours.values()}
    assert 495 < len({frozenset(found) for found in neighbours.values()})
    assert 5 * [64] == [gpus_of([gang]) for gang in waiting(snapshot)]


def test_defrag_world_has_room_but_no_node_for_a_pod():
    snapshot = make_full_world(worlds_of("evict/defrag")[""])
    (policy,) = [run.policy for run in contract_of("evict/defrag").runs]

    assert {3} == set(held_by_node(snapshot).values())
    assert {"batch": 1500, "prod": 2460} == quotas_of(snapshot)
    assert 41 * [60] == [gpus_of([gang]) for gang in waiting(snapshot)]
    assert policy.evict.max_moves is None


@pytest.mark.parametrize("name", [*FULL, "defrag"])
def test_same_world_makes_the_same_snapshot(name):
    world = small(f"evict/{name}", 40)

    assert make_full_world(world) == make_full_world(world)


def test_rows_without_evictions_switch_them_off():
    for name in ("1k", "10k", "crowd", "topology", "trees"):
        for run in load_contract(f"rounds/{name}").runs:
            switches = run.policy.evict

            assert not switches.reclaim | switches.preempt
            assert not switches.consolidate | switches.stale


# --- what is lost -----------------------------------------------------------------


def planned(snapshot, *steps):
    plan = decide(snapshot, NO_EVICTIONS)
    return replace(
        plan,
        operations=tuple(
            Operation(op=op, pod=pod, gang=gang, node="n00", rule=rule)
            for op, pod, gang, rule in steps
        ),
    )


def test_losses_count_pods_gpus_seconds_and_what_is_gained():
    snapshot = make_full_world(small("evict/large-gang", 10))
    one, two, three = (f"default/run-{idx:02d}" for idx in (0, 1, 2))
    plan = planned(
        snapshot,
        ("Evict", f"{one}-0", one, "reclaim"),
        ("Move", f"{two}-0", two, "consolidate"),
        ("Evict", f"{three}-0", three, "stale"),
        ("Reserve", "default/want-0-0", "default/want-0", None),
        ("Bind", "default/want-0-1", "default/want-0", None),
    )
    losses = losses_of(snapshot, plan)

    assert Losses(evicted=1, moved=1, gpus=2, gpu_seconds=7200, gained=16) == losses
    assert (0.125, 450) == (losses.per_gained, losses.work_per_gained)
    assert 0.125 == losses.facts("greedy")["greedyLostPerGained"]


def test_nothing_lost_for_nothing_is_no_loss():
    assert 0 == Losses().per_gained


def test_running_gpus_of_some_gangs_are_counted():
    snapshot = make_full_world(small("evict/defrag", 10))

    assert 41 == len(waiting_gangs(snapshot))
    assert 30 == running_gpus(snapshot, {gang.key for gang in snapshot.gangs})
    assert 0 == running_gpus(snapshot, waiting_gangs(snapshot))


# --- rows -------------------------------------------------------------------------


def test_an_exact_range_holds_for_its_value_only():
    promise = Range(what="pods evicted", value=410, limit=410, side="exactly")

    assert promise.holds
    assert not replace(promise, value=409).holds
    assert "pods evicted 410, exactly 410" == str(promise)


def test_row_reports_both_strategies_and_every_range():
    contract = contract_of("evict/mixed")
    run = contract.runs[0].model_copy(
        update={"world": small("evict/mixed", 20), "policy": NO_EVICTIONS}
    )
    (row,) = measure_evictions(contract.model_copy(update={"runs": [run], "repeat": 2}))

    assert {"evicted", "lostGpus", "gainedGpus", "lostPerGained"} <= set(row.facts)
    assert {"greedyLostPerGained", "lostWorkOverGreedy"} <= set(row.facts)
    assert {"problem", "verify", "total"} <= set(row.seconds)
    assert [
        "seconds",
        "worst gap",
        "GPUs gained",
        "GPUs lost per gained",
        "work lost over greedy's",
        "GPUs lost per gained by greedy",
    ] == [promise.what for promise in row.ranges]


def test_exact_numbers_and_proofs_of_a_row_are_ranges():
    contract = contract_of("evict/impossible")
    run = contract.runs[0].model_copy(
        update={"world": small("evict/impossible", 20), "policy": NO_EVICTIONS}
    )
    (row,) = measure_evictions(contract.model_copy(update={"runs": [run], "repeat": 1}))

    assert ["seconds", "runs proven optimal", "pods evicted", "pods moved"] == [
        promise.what for promise in row.ranges[:4]
    ]
    assert all(promise.holds for promise in row.ranges[1:])


def full_cases(**changes):
    contract = load_contract("quality/full")
    assert isinstance(contract, FullCases)
    return contract.model_copy(update=changes)


def test_nearly_full_clusters_are_nearly_full_and_of_the_sizes_asked_for():
    for seed in range(20):
        snapshot = full_case(seed, (6, 40))
        gpus = 8 * len(snapshot.nodes)
        held = held_by_node(snapshot)

        assert 6 <= len(snapshot.nodes) <= 40
        assert 0.95 * gpus <= held.total() <= gpus
        assert max(held.values()) <= 8
        assert len(waiting(snapshot)) == len(snapshot.nodes)


def test_rounds_end_when_nothing_changes():
    contract = full_cases(policy=NO_EVICTIONS)
    snapshot = full_case(1, (6, 6))
    ended = play(snapshot, contract, "solver")
    cut = play(snapshot, full_cases(policy=NO_EVICTIONS, rounds=0), "solver")

    assert ended.settled
    assert ended.rounds < 20
    assert 0 == ended.losses.gpus
    assert not cut.settled


def test_full_row_sums_both_strategies():
    (row,) = measure_full(full_cases(policy=NO_EVICTIONS, cases=2, nodes=(6, 8)))

    assert [0, 0] == [promise.value for promise in row.ranges[:2]]
    assert row.facts["gainedGpus"] == row.ranges[2].value
    assert {"greedyGainedGpus", "greedyNotSettled", "longest"} <= set(row.facts)


@pytest.mark.drawn
def test_victims_row_names_every_case_that_differs():
    contract = load_contract("quality/victims")
    assert isinstance(contract, VictimCases)
    (row,) = measure_victims(contract.model_copy(update={"cases": 3}))

    assert ["cases that differ", "share where greedy is not optimal"] == [
        promise.what for promise in row.ranges
    ]
    assert len(row.notes) == row.ranges[0].value
    assert 3 == row.facts["cases"]


def test_pods_of_full_clusters_run():
    phases = {pod.phase for pod in pods_of(running(full_case(2, (6, 6))))}

    assert {PodPhase.RUNNING} == phases
