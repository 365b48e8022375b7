"""
What a frame says of a round.
"""

from dataclasses import replace

from adapters.compare.outcome import outcome_of
from adapters.files import scenario_of
from adapters.loop.plan_round import planned as planned_round
from adapters.ui.frame import FramesMemo, RoundFacts, frame_document, natural
from adapters.ui.frame_store import MOST_FRAMES, FrameStore, RoundAnswers
from models.devices.gpu_parts import GpuDevice, GpuPart, TakenDevice
from models.memory.aged_gangs import AgedGangs
from models.policy import Policy
from models.queues import QueueResource
from models.resources import CPU
from solver import decide
from tests.adapters.documents import GPU, scenario
from tests.helpers.build import bind, gang, node, plan, queue, snapshot
from tests.helpers.looked_at import racks, seen_of, show


def frame(there, *, planned=True):
    plan = decide(there, Policy()) if planned else None
    return frame_document(seen_of(there), plan, RoundFacts(name="one"))


def test_nodes_stand_by_their_innermost_domain_in_the_order_people_count():
    found = frame(racks(20), planned=False)

    assert ["z / r0", "z / r1", "z / r2"] == found["groups"]
    assert [f"n-{i}" for i in range(20)] == [each[0] for each in found["nodes"]]


def test_without_domains_they_stand_by_the_stems_of_their_names():
    there = snapshot([node("a-0"), node("b-0"), node("a-1")], topologies=())

    assert ["a", "b"] == frame(there)["groups"]


def test_a_node_says_its_gpus_those_of_others_and_whether_it_is_closed():
    there = snapshot([node("n0", unschedulable=True, used={"nvidia.com/gpu": 3})])

    assert [["n0", 0, 8, 3, 1]] == frame(there)["nodes"]


def test_running_starting_leaving_and_reserved_pods_are_told_apart():
    there = snapshot(
        [node("n0"), node("n1")],
        [
            gang("borrows", queue="b", gpus=8, running=["n0"]),
            gang("starts", queue="a", gpus=8),
            gang("takes", queue="a", gpus=8, age=60),
        ],
        [queue("a", quota=16), queue("b")],
    )
    found = frame(there)
    names = [each["name"].removeprefix("default/") for each in found["gangs"]]
    cells = [[(names[g], gpus, how) for g, gpus, how in row] for row in found["cells"]]
    kinds = sorted(how for row in cells for _, _, how in row)

    assert ["b", "e", "k"] == kinds
    assert {"borrows": 8} == {n: g for row in cells for n, g, how in row if how == "e"}
    assert (8, 1, 1, 1) == tuple(
        found["plan"][word] for word in ("gpus", "starts", "waits", "leaves")
    )


def test_parts_of_devices_are_shown_where_they_are():
    half = GpuPart(cores=500, count=2)
    pod = gang("half", requests={"pods": 1, half.resource: 1}, running=["n0"])
    (one,) = pod.tree.pods
    one = replace(one, devices=(GpuDevice(3), GpuDevice(5)))
    pod = replace(pod, tree=replace(pod.tree, pods=(one,)))
    found = frame(snapshot([node("n0")], [pod]), planned=False)

    assert {0: [(0, 3, 500, "r"), (0, 5, 500, "r")]} == found["parts"]


def test_parts_that_others_have_are_shown_on_their_device_and_no_gpu_of_their_own():
    taken = TakenDevice(2, "phalanx", cores=500)
    used = {"nvidia.com/gpu": 2, "gpu-share": 10_500}
    shared = replace(node("n0", used=used), taken=(taken,))
    found = frame(snapshot([shared]), planned=False)

    assert {0: [(-1, 2, 500, "o")]} == found["parts"]
    assert 1 == found["nodes"][0][3]


def test_without_a_plan_only_what_is_there_is_shown():
    found = frame(racks(3), planned=False)

    assert found["plan"] is None
    assert {"r"} == {how for row in found["cells"] for _, _, how in row}


def test_names_that_move_cursors_are_spelled_out():
    there = snapshot([node("n\x1b[2J")], [gang("g\u202e", queue="q\n")])
    found = frame(there)

    assert r"n\x1b[2J" == found["nodes"][0][0]
    assert r"default/g\u202e" == found["gangs"][0]["name"]
    assert r"q\n" == found["queues"][0]["name"]


def test_queues_say_quota_limit_share_and_use_of_gpus():
    there = snapshot(
        [node("n0")],
        [gang("g", queue="q", gpus=2, running=["n0"])],
        [queue("q", quota=4, limit=6)],
    )
    (found,) = frame(there)["queues"]

    assert (4, 6, 2) == (found["quota"], found["limit"], found["used"])


def test_after_a_plan_a_queue_has_what_is_moved_and_what_was_on_nodes_that_are_gone():
    there = snapshot(
        [node("n0"), node("n1")],
        [
            gang("moves", queue="q", gpus=2, running=["n0"]),
            gang("goes", queue="q", gpus=3, running=["n0"]),
            gang("vanished", queue="q", gpus=1, running=["gone"]),
            gang("starts", queue="q", gpus=4),
        ],
        [queue("above", quota=8), queue("q", parent="above", quota=8)],
    )
    made = plan(
        bind("moves-0", "n1", op="Move", source="n0"),
        bind("goes-0", "n0", op="Evict"),
        bind("starts-0", "n0"),
    )
    found = frame_document(seen_of(there), made, RoundFacts(name="one"))

    assert [(6, 7)] * 2 == [(each["used"], each["after"]) for each in found["queues"]]
    assert 6 == found["plan"]["gpus"] == outcome_of(there, made).totals.gpus


def test_a_queue_counts_memory_of_gpus_the_same_before_and_after_a_plan():
    runs = [{"node": "large", "devices": [0]}]
    given = {
        "nodes": [
            {"name": "large", "allocatable": {GPU: 1}, "gpuMemory": "80Gi"},
            {"name": "small", "allocatable": {GPU: 1}, "gpuMemory": "40Gi"},
        ],
        "queues": [{"name": "q", "resources": {GPU: {}}}],
        "gangs": [
            {
                "name": "g",
                "queue": "q",
                "min": 1,
                "gpu": {"memory": "20Gi"},
                "running": runs,
            },
        ],
    }
    (found,) = frame(scenario_of("case", scenario(**given)).snapshot)["queues"]

    assert (0.5, 0.5) == (found["used"], found["after"])


def test_a_queue_of_which_nobody_limits_gpus_says_what_it_uses():
    there = snapshot(
        [node("n0")],
        [gang("g", queue="q", gpus=2, running=["n0"])],
        [queue("q", resources={CPU: QueueResource(quota=4)})],
    )

    assert [2] == [each["used"] for each in frame(there)["queues"]]


def test_names_are_ordered_as_people_count():
    assert ["a-2", "a-10", "b"] == sorted(["b", "a-10", "a-2"], key=natural)


def test_the_oldest_frames_are_let_go_and_the_newest_can_be_planned_by_greedy():
    store = FrameStore("x", live=True)
    for number in range(MOST_FRAMES + 3):
        store.add(
            {"name": str(number), "began": None}, RoundAnswers(dict, lambda _: {})
        )

    assert MOST_FRAMES == len(store.lines()["rounds"])
    assert store.body(0) is None
    assert store.body(MOST_FRAMES + 2) is not None
    assert store.greedy(MOST_FRAMES + 1) is None
    assert store.greedy(MOST_FRAMES + 2) is not None


def test_who_waits_is_told_of_a_frame_and_of_trouble():
    store = FrameStore("x", live=True)
    before = store.version
    show(store, racks(2))
    assert before != store.wait(before, 0)
    store.fail("the server is gone")

    assert "the server is gone" == store.lines()["trouble"]


def test_what_frames_share_changes_none_of_them():
    runs = gang("runs", queue="a", gpus=4, running=["n0"], age=60)
    held = gang("held", queue="a", gpus=4, running=["n0"], age=60)
    waits = gang("waits", queue="b", gpus=8, age=30)
    nodes = [node("n0", 8), node("n1", 4)]
    read = (held, runs, waits)
    memo = FramesMemo()
    for gangs, later in ((read, 0), (read, 9), ((runs, waits), 20)):
        aged = AgedGangs(gangs, (100,) * len(gangs), 100 + later)
        seen = seen_of(replace(snapshot(nodes, gangs), gangs=aged))
        plan = planned_round(seen.snapshot, seen.policy)
        for each in (None, plan):
            facts = RoundFacts(name="one")
            fresh = frame_document(seen, each, facts)

            assert fresh == frame_document(seen, each, facts, memo)
            assert [gang.age for gang in aged] == [x["age"] for x in fresh["gangs"]]
