"""
The bench: its contract, its generators, and how a broken range is told.
"""

from dataclasses import replace

import pytest

from benchmarks import BenchReport, Row
from benchmarks.contract import (
    Cell,
    PriorityMatters,
    Rounds,
    Small,
    contract_names,
    load_contract,
    load_file,
)
from benchmarks.measure import measure_growth, measure_rounds, scaled
from benchmarks.priority_matters import make_instance, snapshot_of
from benchmarks.quality import measure_priority_matters, measure_small
from benchmarks.rows import Range, TierLine
from benchmarks.world import facts_of, make_world
from models.errors import InputRejectedError
from models.gangs import Group, pod_sets
from models.policy import Limits, Policy
from models.resources import CPU, GPU, MEMORY

ROWS = {
    "days",
    "days-even",
    "evict/defrag",
    "evict/impossible",
    "evict/large-gang",
    "evict/many-small",
    "evict/mixed",
    "evict/mixed-4k",
    "evict/scattered",
    "growth",
    "quality/bulk-eighths",
    "quality/bulk-halves",
    "quality/full",
    "quality/mig-orders",
    "quality/openb-online",
    "quality/openb-plan",
    "quality/parts",
    "quality/parts-victims",
    "quality/priority-matters",
    "quality/small",
    "quality/victims",
    "quality/whole-or-halves",
    "rounds/10k",
    "rounds/1k",
    "rounds/claims",
    "rounds/crowd",
    "rounds/evicting",
    "rounds/odd",
    "rounds/parts",
    "rounds/parts-2k",
    "rounds/racks",
    "rounds/racks-2",
    "rounds/topology",
    "rounds/trees",
    "steady",
    "why/10k",
    "why/1k",
    "why/topology",
}


def world_of(name):
    contract = load_contract(name)
    assert isinstance(contract, Rounds)
    return contract.world


def test_contract_has_every_row_of_the_issue():
    assert set(contract_names()) == ROWS


def test_unknown_row_names_the_known_ones():
    with pytest.raises(InputRejectedError) as caught:
        load_contract("rounds/2k")

    assert "rounds/1k" in caught.value.problems[0].hint


def test_unknown_field_of_a_contract_is_refused_with_its_place(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("{kind: Small, name: x, about: x, cases: 1, colour: red}")

    with pytest.raises(InputRejectedError) as caught:
        load_file(path)

    assert any("colour" in str(problem) for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("name", "nodes", "running", "load", "gangs"),
    [
        ("rounds/1k", 1000, 2600, 0.40, 600),
        ("rounds/racks", 1000, 2600, 0.40, 600),
        ("rounds/racks-2", 1000, 2600, 0.40, 600),
        ("rounds/topology", 1024, 2600, 0.50, 400),
        ("rounds/trees", 500, 1300, 0.40, 200),
    ],
)
def test_world_is_what_its_row_says(name, nodes, running, load, gangs):
    facts = facts_of(make_world(world_of(name)))

    assert (nodes, running, gangs) == (
        facts["nodes"],
        facts["runningPods"],
        facts["pendingGangs"],
    )
    assert load == pytest.approx(facts["load"], abs=0.005)
    assert 1.9 == pytest.approx(facts["demandOverFree"], rel=0.01)


def test_first_row_has_the_pods_bands_elastic_gangs_and_limits_of_the_issue():
    world = world_of("rounds/1k")
    snapshot = make_world(world)
    waiting = [gang for gang in snapshot.gangs if gang.name.startswith("g")]
    elastic = sum(gang.tree.minimum < gang.tree.replicas for gang in waiting)
    limits = [
        rule.limit for queue in snapshot.queues for rule in queue.resources.values()
    ]

    assert 2000 == facts_of(snapshot)["pendingPods"]
    assert {50, 75, 100} == {gang.priority for gang in waiting}
    assert {1, 2, 4, 8} == {gang.tree.requests[GPU] for gang in waiting}
    assert 0.25 == pytest.approx(elastic / len(waiting), abs=0.01)
    assert 2 == sum(limit is not None for limit in limits)
    assert 10 == len(snapshot.queues)


def test_half_of_the_topology_gangs_require_a_rack_or_a_block():
    snapshot = make_world(world_of("rounds/topology"))
    levels = [
        gang.tree.topology.required
        for gang in snapshot.gangs
        if gang.tree.topology is not None and gang.tree.topology.required
    ]
    giant = next(gang for gang in snapshot.gangs if gang.name == "giant")

    assert {"rack", "block"} == set(levels)
    assert 0.5 == pytest.approx(len(levels) / 400, abs=0.06)
    assert (512, 2) == (giant.tree.minimum, giant.tree.requests[GPU])
    assert "zone" == giant.tree.topology.preferred


def test_trees_are_two_and_three_deep_with_choices():
    snapshot = make_world(world_of("rounds/trees"))
    trees = [gang.tree for gang in snapshot.gangs if isinstance(gang.tree, Group)]
    deep = [t for t in trees if any(isinstance(c, Group) for c in t.children)]
    chosen = [t for t in trees if t.min_groups < len(t.children)]

    assert 200 == len(trees)
    assert 0.3 < len(deep) / len(trees) < 0.7
    assert 0.3 < len(chosen) / len(trees)


def test_same_seed_makes_the_same_world_and_another_seed_another():
    world = scaled(world_of("rounds/1k"), 100)
    other = world.model_copy(update={"seed": 2})

    assert make_world(world) == make_world(world)
    assert make_world(world) != make_world(other)


def test_scaled_world_keeps_its_mix():
    facts = facts_of(make_world(scaled(world_of("rounds/1k"), 300)))

    assert (300, 780, 180, 600) == (
        facts["nodes"],
        facts["runningPods"],
        facts["pendingGangs"],
        facts["pendingPods"],
    )
    assert 1.9 == pytest.approx(facts["demandOverFree"], rel=0.02)


def test_crowd_has_odd_shapes_on_nearly_unlike_nodes():
    snapshot = make_world(scaled(world_of("rounds/crowd"), 200))
    shapes = {
        tuple(sorted(leaf.requests.items()))
        for gang in snapshot.gangs
        if gang.name.startswith("run")
        for leaf in pod_sets(gang.tree)
    }

    assert 7000 == facts_of(snapshot)["runningPods"]
    assert 220 < len(shapes) <= 300


def test_priority_matters_generator_gives_the_published_check_value():
    instance = make_instance(484806185843093489, 4, 4)

    assert (4, 2, 2, 4, 1, 3) == instance.sizes
    assert (427, 391, 828, 151, 553, 671) == instance.cpu
    assert (1829, 1998227888) == (instance.node_cpu, instance.node_memory)


def test_priority_matters_snapshot_has_a_gang_for_every_pod():
    snapshot = snapshot_of(make_instance(484806185843093489, 4, 4))
    node = snapshot.nodes[0]

    assert (4, 16) == (len(snapshot.nodes), len(snapshot.gangs))
    assert (1829, 1998227888) == (node.allocatable[CPU], node.allocatable[MEMORY])


def priority_matters(**changes):
    contract = load_contract("quality/priority-matters")
    assert isinstance(contract, PriorityMatters)
    return contract.model_copy(update=changes)


def test_priority_matters_is_skipped_with_a_message_where_its_seeds_are_not():
    contract = priority_matters(seeds_file="nowhere/seeds.txt")
    (row,) = measure_priority_matters(contract)

    assert row.holds
    assert "seeds.txt" in row.verdict
    assert row.verdict.startswith("skipped")


def test_priority_matters_counts_the_pods_placed(tmp_path):
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("484806185843093489\n")
    quick = Policy.model_validate({"tiers": ["pods"], "limits": {"deterministic": 1}})
    contract = priority_matters(
        seeds_file=str(seeds),
        policy=quick,
        cells=[Cell(nodes=4, pods_per_node=4, seeds=1, mean=14)],
    )
    (row,) = measure_priority_matters(contract)

    assert row.holds, row.verdict
    assert 16 >= row.facts["placed"] >= 14


def test_small_row_counts_cases_that_differ():
    contract = load_contract("quality/small")
    assert isinstance(contract, Small)
    (row,) = measure_small(contract.model_copy(update={"cases": 3}))

    assert 0 == row.ranges[0].value
    assert 3 == row.facts["cases"]


def test_measured_round_has_phases_ratios_and_ranges():
    contract = load_contract("rounds/1k")
    assert isinstance(contract, Rounds)
    run = contract.runs[0]
    slow = run.model_copy(update={"policy": Policy(limits=Limits(deterministic=0.2))})
    contract = contract.model_copy(
        update={"world": scaled(contract.world, 20), "runs": [slow], "repeat": 1}
    )
    (row,) = measure_rounds(contract)

    assert {"problem", "greedy", "search", "verify", "total"} <= set(row.seconds)
    assert row.greedy_seconds
    assert row.tiers
    assert ["seconds", "worst gap"] == [promise.what for promise in row.ranges]


def test_growth_promises_only_its_last_step():
    contract = load_contract("growth").model_copy(update={"nodes": [10, 20]})
    first, last = measure_growth(contract)

    assert () == first.ranges
    assert 8.0 == last.ranges[0].limit


def test_broken_range_breaks_the_report_and_says_its_numbers():
    kept = Range(what="seconds", value=0.5, limit=1.0)
    broken = Range(what="mean", value=240, limit=250, side="at least")
    good = Row(name="a", seconds={"total": 0.5}, ranges=(kept,))
    bad = replace(good, name="b", ranges=(kept, broken))
    report = BenchReport(measured=(good, bad))

    assert not report.ok
    assert BenchReport(measured=(good,)).ok
    assert "no: mean 240, at least 250" == report.rows()[1][-1]
    assert len(report.head()) == len(report.rows()[0])
    assert not report.document()["rows"][1]["holds"]
    assert '"kind": "Bench"' in report.to_json()


def test_a_gap_is_told_in_percent_and_as_open_where_it_is_huge():
    gap = Range(what="worst gap", value=0.005, limit=0.001, unit="%")

    assert "worst gap 0.500 %, at most 0.1 %" == str(gap)
    assert "worst gap open, at most 0.1 %" == str(replace(gap, value=1e7))


def test_the_first_tier_that_differs_stands_in_the_row():
    def line(name, greedy, value):
        return TierLine(
            name=name, greedy=greedy, value=value, bound=value, gap=0.0, proof="proven"
        )

    equal, more = line("entitled/100", 5, 5), line("entitled/50", 4, 5)
    rows = BenchReport(
        measured=(
            Row(name="a", tiers=(equal, more)),
            Row(name="b", tiers=(equal, replace(more, greedy=0))),
            Row(name="c", tiers=(equal,)),
        )
    )
    column = rows.head().index("FIRST DIFFERENCE")

    assert ["entitled/50 × 1.250", "entitled/50, new", "none"] == [
        cells[column] for cells in rows.rows()
    ]
