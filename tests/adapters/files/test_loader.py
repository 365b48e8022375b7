"""
Files into a snapshot: defaults, numbers, names, trees and what stands beside them.
"""

from adapters.files import scenario_of
from adapters.files.writing.snapshot_writer import snapshot_document
from models.devices.gpu_parts import MigDevices
from models.gangs import Group, MatchPolicy, PodPhase, PodSet, pod_sets
from models.nodes import ANYWHERE
from models.queues import QueueResource
from models.snapshot import content_hash
from tests.adapters.documents import everything, gang, scenario


def only_gang(document):
    (found,) = scenario_of("test", document).snapshot.gangs
    return found


def leaf(**fields) -> PodSet:
    tree = only_gang(gang(**fields)).tree
    assert isinstance(tree, PodSet)
    return tree


def test_one_of_min_and_replicas_gives_the_other():
    assert (3, 3) == (leaf(min=3).minimum, leaf(min=3).replicas)
    assert (5, 5) == (leaf(min=None, replicas=5).minimum, leaf(replicas=5).replicas)
    assert (1, 5) == (leaf(replicas=5).minimum, leaf(replicas=5).replicas)


def test_all_children_are_needed_unless_a_minimum_of_pods_stands():
    children = [{"name": "a", "replicas": 2}, {"name": "b", "replicas": 3}]

    plain = only_gang(scenario(gangs=[{"name": "g", "groups": children}])).tree
    summed = only_gang(
        scenario(gangs=[{"name": "g", "minPods": 4, "groups": children}])
    ).tree

    assert isinstance(plain, Group)
    assert isinstance(summed, Group)
    assert (2, 0) == (plain.min_groups, plain.min_pods)
    assert (0, 4) == (summed.min_groups, summed.min_pods)
    assert [2, 3] == [child.minimum for child in pod_sets(plain)]
    assert [0, 0] == [child.minimum for child in pod_sets(summed)]


def test_a_minimum_of_pods_anywhere_above_makes_leaves_optional():
    inner = {"name": "inner", "groups": [{"name": "a", "replicas": 2}]}

    tree = only_gang(
        scenario(gangs=[{"name": "g", "minPods": 1, "groups": [inner]}])
    ).tree

    assert [0] == [child.minimum for child in pod_sets(tree)]


def test_count_numbers_nodes_and_gangs_from_zero():
    document = scenario(
        nodes=[{"name": "n", "count": 2, "allocatable": {}}],
        gangs=[
            {"name": "g", "count": 2, "min": 1},
            {"name": "h", "count": 1, "min": 1},
        ],
    )

    snapshot = scenario_of("test", document).snapshot

    assert ["n-0", "n-1"] == [node.name for node in snapshot.nodes]
    assert ["g-0", "g-1", "h"] == [gang.name for gang in snapshot.gangs]
    assert "g-1-0" == next(pod_sets(snapshot.gangs[1].tree)).pods[0].name


def test_phases_take_indices_in_their_order_and_the_rest_is_pending():
    found = leaf(
        replicas=9,
        created=8,
        running=[{"node": "n0", "pods": 2, "for": "1h"}],
        terminating=[{"node": "n1", "since": "5s"}],
        succeeded=1,
        failed=1,
        gated=1,
    )

    assert [
        (PodPhase.RUNNING, "n0", 3600),
        (PodPhase.RUNNING, "n0", 3600),
        (PodPhase.TERMINATING, "n1", 5),
        (PodPhase.SUCCEEDED, None, 0),
        (PodPhase.FAILED, None, 0),
        (PodPhase.GATED, None, 0),
        (PodPhase.PENDING, None, 0),
        (PodPhase.PENDING, None, 0),
    ] == [(pod.phase, pod.node, pod.seconds) for pod in found.pods]
    assert [f"train-{i}" for i in range(8)] == [pod.name for pod in found.pods]


def test_pods_of_a_tree_carry_the_name_of_their_leaf_only():
    inner = {"name": "inner", "groups": [{"name": "w", "min": 2}]}

    found = next(pod_sets(only_gang(gang(min=None, groups=[inner])).tree))

    assert ["train-w-0", "train-w-1"] == [pod.name for pod in found.pods]


def test_every_node_has_its_name_as_a_label_unless_it_says_otherwise():
    label = "kubernetes.io/hostname"
    nodes = [
        {"name": "a", "allocatable": {}},
        {"name": "b", "allocatable": {}, "labels": {label: "x"}},
    ]

    snapshot = scenario_of("test", scenario(nodes=nodes)).snapshot

    assert ["a", "x"] == [node.labels[label] for node in snapshot.nodes]


def test_pods_are_a_resource_with_defaults():
    snapshot = scenario_of("test", scenario()).snapshot

    assert 110 == snapshot.nodes[0].allocatable["pods"]
    assert 1 == next(pod_sets(snapshot.gangs[0].tree)).requests["pods"]


def test_requests_round_up_and_capacities_down():
    document = scenario(
        nodes=[{"name": "n", "allocatable": {"cpu": "1.0005", "memory": "1.5"}}],
        gangs=[{"name": "g", "min": 1, "requests": {"cpu": "1.0005", "memory": "1.5"}}],
    )

    snapshot = scenario_of("test", document).snapshot
    requests = next(pod_sets(snapshot.gangs[0].tree)).requests

    assert (1000, 1) == tuple(
        snapshot.nodes[0].allocatable[name] for name in ("cpu", "memory")
    )
    assert (1001, 2) == (requests["cpu"], requests["memory"])


def test_queues_default_to_no_quota_no_limit_and_weight_one():
    words = {"a": {}, "b": {"quota": "unlimited"}, "c": {"limit": 4, "weight": 0}}
    document = scenario(queues=[{"name": "q", "resources": words}])

    (queue,) = scenario_of("test", document).snapshot.queues

    assert QueueResource(quota=0, limit=None, weight=1) == queue.resources["a"]
    assert QueueResource(quota=None, limit=None, weight=1) == queue.resources["b"]
    assert QueueResource(quota=0, limit=4, weight=0) == queue.resources["c"]


def test_node_demand_is_read_in_both_spellings_and_shared():
    rule = {"key": "k", "operator": "NotIn", "values": ["b", "a"]}
    required = {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [rule]}]
        }
    }
    gangs = [
        {"name": "a", "min": 1, "affinity": required},
        {"name": "b", "min": 1, "affinity": {"nodeAffinity": required}},
        {"name": "c", "min": 1},
    ]

    snapshot = scenario_of("test", scenario(gangs=gangs)).snapshot
    a, b, c = (next(pod_sets(gang.tree)).demand for gang in snapshot.gangs)

    assert a is b
    assert c is ANYWHERE
    assert (("a", "b"),) == tuple(r.values for r in (a.terms or ((),))[0])


def test_the_only_topology_needs_no_name():
    document = scenario(
        topologies=[{"name": "fabric", "levels": ["rack"]}],
        gangs=[{"name": "g", "min": 1, "topology": {"required": "rack"}}],
    )

    demand = only_gang(document).tree.topology

    assert demand is not None
    assert ("fabric", "rack", None) == (
        demand.topology,
        demand.required,
        demand.preferred,
    )


def test_everything_in_the_schema_is_read():
    found = scenario_of("test", everything())
    run, _, tree = found.snapshot.gangs

    assert MatchPolicy.ONCE_SATISFIED is run.match_policy
    assert (-1, 3, 3600, 7200) == (
        run.stale_after,
        run.stale_since,
        run.evicted_ago,
        run.passed_over,
    )
    assert (60, 86400, 5) == (run.waiting_time, run.max_runtime, run.backoff)
    assert ("default/run-0", "default/tree") == tree.mates
    assert 5400 == tree.age
    assert (80 * 1024, MigDevices("H100-80GB", (0, 7))) == (
        found.snapshot.nodes[0].gpu_memory,
        found.snapshot.nodes[0].mig,
    )
    assert 1 == found.snapshot.budgets[0].allowed
    assert 300 == found.snapshot.queues[0].preempt_min_runtime
    assert 2 == len(found.snapshot.warnings)
    assert 3 == found.policy.seed


def test_reserved_pods_come_after_those_that_leave():
    one = only_gang(
        gang(
            replicas=4,
            running=[{"node": "n0"}],
            reserved=[{"node": "gone", "pods": 2}],
            terminating=[{"node": "n0", "since": "5s"}],
        )
    )

    assert [
        ("Running", "n0"),
        ("Terminating", "n0"),
        ("Reserved", "gone"),
        ("Reserved", "gone"),
    ] == [(pod.phase.value, pod.node) for pod in one.tree.pods]


def test_what_rounds_remember_is_written_and_read_again():
    before = scenario_of("before", everything()).snapshot
    document = snapshot_document(before)
    run = next(g for g in document["given"]["gangs"] if g["name"] == "run-0")

    assert [{"node": "dgx-2"}] == run["reserved"]
    assert [{"node": "dgx-1", "since": 10}] == run["terminating"]
    assert (3600, 3, 7200, -1) == tuple(
        run[word] for word in ("evictedAgo", "staleSince", "passedOver", "staleAfter")
    )
    assert before == scenario_of("after", document).snapshot


def test_a_budget_names_each_gang_once():
    document = scenario(
        budgets=[{"name": "b", "gangs": ["train", "default/train"], "allowed": 1}]
    )

    assert ("default/train",) == scenario_of("test", document).snapshot.budgets[0].gangs


def test_evictions_are_on_unless_a_policy_says_otherwise():
    plain = scenario_of("test", scenario()).policy.evict
    said = scenario() | {
        "policy": {"evict": {"reclaim": True, "stale": False, "maxMoves": None}}
    }
    chosen = scenario_of("test", said).policy.evict

    assert (True, True, True, True) == (
        plain.preempt,
        plain.reclaim,
        plain.consolidate,
        plain.stale,
    )
    assert (60, 16, None, 0) == (
        plain.stale_after,
        plain.max_moves,
        plain.max_pods,
        plain.again,
    )
    assert (True, False, None) == (chosen.reclaim, chosen.stale, chosen.max_moves)


def test_a_gang_may_use_two_topologies():
    document = scenario(
        topologies=[
            {"name": "x", "levels": ["rack"]},
            {"name": "y", "levels": ["block"]},
        ],
        gangs=[
            {
                "name": "g",
                "groups": [
                    {
                        "name": "a",
                        "min": 1,
                        "topology": {"name": "x", "required": "rack"},
                    },
                    {
                        "name": "b",
                        "min": 1,
                        "topology": {"name": "y", "required": "block"},
                    },
                ],
            }
        ],
    )

    assert ["x", "y"] == [
        child.topology.topology for child in only_gang(document).tree.children
    ]


def test_levels_of_run_times_are_read_and_written_as_they_are():
    kind = {"queue": "research", "owner": "team-a", "gpus": 8}
    times = [{**kind, "ended": [{"within": "1h", "gangs": 30}]}]
    said = [{"after": 3600, "half": 0.4321, "most": 0.7, "nearly": 0.9}]

    snapshot = scenario_of(
        "test", scenario(runTimes=times, runTimeLevels=said)
    ).snapshot

    assert (43210, 70000, 90000) == snapshot.run_times.levels_of(7200)
    assert said == snapshot_document(snapshot)["given"]["runTimeLevels"]
    without = scenario_of("test", scenario(runTimes=times)).snapshot
    assert content_hash(without) != content_hash(snapshot)


def test_run_times_are_read_by_kind_and_written_as_they_are_counted():
    kind = {"queue": "research", "owner": "team-a", "gpus": 8}
    said = [
        {**kind, "ended": [{"within": "1h", "gangs": 30}]},
        {**kind, "gpus": 7, "ended": [{"within": "1h", "gangs": 2}]},
    ]

    snapshot = scenario_of("test", {**scenario(runTimes=said)}).snapshot
    record = snapshot_document(snapshot)["given"]["runTimes"]
    again = scenario_of("test", scenario(runTimes=record)).snapshot

    assert [{**kind, "ended": [{"within": 4096, "gangs": 32}]}] == record
    assert again.run_times == snapshot.run_times
    assert content_hash(again) == content_hash(snapshot)
    assert content_hash(again) != content_hash(scenario_of("test", scenario()).snapshot)


def test_a_node_of_pods_that_is_not_there_is_named_with_what_is_meant():
    document = gang(replicas=1, running=[{"node": "m-0"}])
    document["given"]["nodes"] = [{"name": "m", "allocatable": {"nvidia.com/gpu": 8}}]
    (warning,) = scenario_of("test", document).snapshot.warnings

    assert "1 pod on m-0, which is not among the nodes; is m meant?" == warning


def test_a_bound_of_what_nobody_has_is_named_where_another_name_is_like_it():
    bounds = {"resources": {"nvidia.com/gpus": {"limit": 1}, "example.com/fpga": {}}}
    queues = [{"name": name, **bounds} for name in ("a", "b")]
    (warning,) = scenario_of("test", scenario(queues=queues)).snapshot.warnings

    assert "2 queues bound nvidia.com/gpus" in warning
    assert "which no node offers; is nvidia.com/gpu meant?" in warning


def test_gangs_that_are_planned_as_strict_are_counted():
    strict = {"name": "g", "min": 1, "mode": "NonStrict"}
    one, two = (
        scenario_of("test", scenario(gangs=[strict | more])).snapshot.warnings[0]
        for more in ({}, {"count": 2})
    )

    assert one.startswith("1 gang says NonStrict and is planned as Strict")
    assert two.startswith("2 gangs say NonStrict and are planned as Strict")
