"""
What is proven of gangs that wait is told to their pods, at a bounded price.
"""

from dataclasses import replace

import pytest

from adapters.kube.status.proofs import AGAIN, Proofs
from models.policy import Policy
from solver import NOBODY_LEAVES, decide
from tests.adapters.kube.status_cases import BY_PLACE, held, put, telling
from tests.cluster.manifests import node, pod

PODS = BY_PLACE["", "v1", "Pod"]


class Work:
    """
    Seconds that proofs took: so many for each that is asked.
    """

    def __init__(self, each=0.0):
        self.each = each
        self.asked = 0

    def __call__(self):
        self.asked += 1
        return self.asked * self.each / 2


@pytest.fixture
def volcano(tmp_path):
    drained = node(1)
    drained["spec"]["unschedulable"] = True
    with telling("volcano", tmp_path, drained) as tells:
        yield tells


def proving(tells, work=None):
    writer = tells.fresh()
    writer._proofs = Proofs(tells._seconds, work or Work())
    return writer


def said(tells, name="waits-0"):
    status = tells.server.object(PODS, f"team/{name}").get("status", {})
    conditions = status.get("conditions", [])
    found = [x["message"] for x in conditions if x["type"] == "PodScheduled"]
    return found[0] if found else ""


def test_a_pod_is_told_what_why_says(volcano):
    assert proving(volcano).write(volcano.told())

    assert said(volcano).startswith("DemandExceedsCluster: ")
    assert ": needs 16 GPUs; " in said(volcano)
    assert any(said(volcano) in line for line in held(volcano.server)["events"])


def test_where_proofs_cost_too_much_the_reason_of_the_round_is_told_first(volcano):
    work = Work(10.0)
    writer = proving(volcano, work)
    writer._proofs._saved = 0.0
    whole = writer.write(volcano.told())
    early = said(volcano)
    volcano.clock[0] += 30
    writer.write(volcano.told())

    assert not whole
    assert "needs 16 GPUs" in early
    assert ": needs 16 GPUs; " in said(volcano)


def test_a_long_proof_is_paid_for_before_the_next_one(volcano):
    work = Work(10.0)
    writer = proving(volcano, work)
    for _ in range(100):
        volcano.clock[0] += 1
        writer.write(volcano.told())

    assert work.asked <= 2


def test_nothing_is_written_while_what_is_waited_for_stays(volcano):
    writer = proving(volcano)
    writer.write(volcano.told())
    volcano.server.writes.clear()
    for _ in range(3):
        volcano.caught_up()
        volcano.clock[0] += 1.5 * AGAIN
        writer.write(volcano.told())

    assert [] == volcano.server.writes


def test_a_proof_that_breaks_leaves_the_reason_of_the_round(volcano, caplog):
    writer, told = proving(volcano), volcano.told()
    writer.write(replace(told, plan=replace(told.plan, operations=("broken",))))

    assert "needs 16 GPUs" in said(volcano)
    assert any(record.message == "why_failed" for record in caplog.records)


def without_reason(told):
    """
    Give a round in which no gang waits for anything.
    """
    gangs = tuple(replace(line, waiting=None) for line in told.plan.gangs)
    return replace(told, plan=replace(told.plan, gangs=gangs))


def test_what_was_proven_is_not_told_again_after_another_reason(volcano):
    work = Work()
    writer = proving(volcano, work)
    writer.write(volcano.told())
    early = work.asked
    writer.write(without_reason(volcano.told()))
    volcano.clock[0] += 60
    writer.write(volcano.told())

    assert work.asked > early


def test_who_waits_is_told_by_the_policy_of_the_round(volcano):
    # In the first minutes of all nobody leaves, so nobody could be made to.
    low = pod("team", "low-0", gpus=8, node="gpu-0")
    put(volcano.server, low | {"status": {"phase": "Running"}})
    put(volcano.server, pod("team", "high-0", gpus=8, priority=1))
    volcano.caught_up()
    nobody = Policy(evict=NOBODY_LEAVES)
    made = volcano.told().assembled
    told = replace(
        volcano.told(), policy=nobody, plan=decide(made.snapshot, nobody), receipts=()
    )
    assert proving(volcano).write(told)

    assert said(volcano, "high-0").startswith("InsufficientCapacity: nodes gpu-1: ")


def test_a_sentence_that_names_nodes_is_told_anew_once_these_have_changed(volcano):
    def full(index):
        low = pod("team", f"low-{index}", gpus=8, node=f"gpu-{index}")
        put(volcano.server, low | {"status": {"phase": "Running"}})

    def told():
        volcano.caught_up()
        first, nobody = volcano.told(), Policy(evict=NOBODY_LEAVES)
        plan = decide(first.assembled.snapshot, nobody)
        return replace(first, policy=nobody, plan=plan, receipts=())

    full(0)
    put(volcano.server, pod("team", "high-0", gpus=8, priority=1))
    writer = proving(volcano)
    writer.write(told())
    before = said(volcano, "high-0")
    put(volcano.server, node(1) | {"spec": {}})
    full(1)
    volcano.clock[0] += 60
    writer.write(told())

    assert before.startswith("InsufficientCapacity: nodes gpu-1: ")
    assert said(volcano, "high-0").startswith("InsufficientCapacity: room: ")
