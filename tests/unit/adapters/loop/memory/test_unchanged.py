import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from adapters.loop.memory.gangs import Memory
from adapters.loop.memory.unchanged import Stillness, digest
from models.gangs import DisruptionBudget
from models.plan import Plan
from models.receipt import Receipt
from tests.helpers.build import bind, gang, node, nodes, plan, queue, snapshot

NOW = 1_000_000.0
HERE = nodes(2)
LENT = gang("lent", minimum=1, replicas=3, running=["n0", "n0", "n1"])
WAITS = gang("waits", minimum=2)
NOBODY = gang("lent", minimum=1, terminating=["n0"])
ALLOWED = DisruptionBudget(name="keep", gangs=("default/lent",), allowed=2)


def shown(*gangs, there=HERE, allowed: int = 2, **fields):
    budgets = (replace(ALLOWED, allowed=allowed),)
    return replace(snapshot(there, gangs or (LENT, WAITS)), budgets=budgets, **fields)


def evicting(*pods: str, rule: str = "reclaim") -> Plan:
    for_whom = () if rule == "stale" else ("default/waits",)
    return plan(
        *(bind(p, op="Evict", rule=rule, beneficiaries=for_whom) for p in pods),
        bind("waits-0", op="Reserve"),
        bind("waits-1", op="Reserve"),
    )


def began() -> Stillness:
    """
    Give a stillness that begins now, with two pods of the gang that must leave.
    """
    stillness = Stillness()
    stillness.seconds(shown(), NOW)
    stillness.planned(evicting("lent-0", "lent-1"), NOW)
    return stillness


def restarted(stillness: Stillness) -> Stillness:
    """
    Give what another process knows that reads what this one kept.
    """
    other = Stillness()
    other.restore(json.loads(json.dumps(stillness.document())))
    return other


def test_before_anybody_left_nothing_is_known():
    stillness = Stillness()

    assert None is stillness.seconds(shown(), NOW)
    assert None is stillness.seconds(shown(), NOW + 50)


@pytest.mark.parametrize("then", [lambda s: s, restarted], ids=["same", "restarted"])
def test_what_our_own_plans_do_is_no_change(then):
    stillness = began()
    leaving = gang("lent", minimum=1, running=["n1"])
    again = gang("lent", minimum=1, replicas=3, running=["n1"])
    bound = gang("waits", minimum=2, running=["n0", "n0"])
    course = [
        shown(
            gang(
                "lent", minimum=1, replicas=3, running=["n1"], terminating=["n0", "n0"]
            ),
            WAITS,
        ),
        shown(leaving, WAITS, allowed=0),
        shown(replace(leaving, passed_over=9, age=40, evicted_ago=3), bound, allowed=0),
        shown(again, bound, allowed=0),
    ]

    found = []
    for at, state in enumerate(course, 1):
        stillness = then(stillness)
        found.append(stillness.seconds(state, NOW + 10 * at))

    assert [10, 20, 30, 40] == found


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(shown(LENT, WAITS, gang("new", minimum=1)), id="gang-came"),
        pytest.param(shown(LENT), id="gang-ended"),
        pytest.param(shown(LENT, gang("waits", minimum=2, failed=1)), id="pod-failed"),
        pytest.param(shown(LENT, replace(WAITS, queue="other")), id="gang-moved"),
        pytest.param(shown(LENT, gang("waits", minimum=3)), id="gang-grew"),
        pytest.param(shown(LENT, replace(WAITS, backoff=5)), id="gang-waits-longer"),
        pytest.param(shown(NOBODY, WAITS), id="more-left-than-were-told"),
        pytest.param(
            shown(gang("lent", minimum=1, replicas=4, running=["n0", "n1"]), WAITS),
            id="more-came-than-left",
        ),
        pytest.param(shown(there=nodes(3)), id="node-came"),
        pytest.param(shown(there=nodes(1)), id="node-went"),
        pytest.param(
            shown(there=(node("n0", unschedulable=True), HERE[1])), id="node-cordoned"
        ),
        pytest.param(shown(queues=(queue("default"),)), id="queue-came"),
        pytest.param(shown(allowed=3), id="budget-lets-more-go"),
    ],
)
@pytest.mark.parametrize("then", [lambda s: s, restarted], ids=["same", "restarted"])
def test_what_others_do_is_a_change(after, then):
    stillness = then(began())

    assert 5 == stillness.seconds(shown(), NOW + 5)
    assert None is stillness.seconds(after, NOW + 6)
    assert None is stillness.seconds(shown(), NOW + 7)


def test_a_pause_that_ends_of_who_has_all_its_pods_is_no_change():
    stillness = Stillness()
    runs = gang("runs", minimum=1, running=["n1"], backoff=5)
    stillness.seconds(shown(LENT, WAITS, runs), NOW)
    stillness.planned(evicting("lent-0", "lent-1"), NOW)

    assert 6 == stillness.seconds(shown(LENT, WAITS, replace(runs, backoff=0)), NOW + 6)


def test_the_next_that_must_leave_begin_it_anew():
    stillness = began()
    stillness.seconds(shown(there=nodes(3)), NOW + 6)
    stillness.planned(evicting("lent-2"), NOW + 8)

    assert 2 == stillness.seconds(shown(there=nodes(3)), NOW + 10)


def test_while_it_lasts_others_that_must_leave_do_not_begin_it_anew():
    stillness = began()
    stillness.seconds(shown(gang("lent", minimum=1, running=["n1"]), WAITS), NOW + 6)
    stillness.planned(evicting("lent-2"), NOW + 8)

    assert 10 == stillness.seconds(shown(NOBODY, WAITS), NOW + 10)


def test_once_they_are_there_again_one_that_goes_is_a_change():
    stillness = began()
    stillness.seconds(shown(gang("lent", minimum=1, running=["n1"]), WAITS), NOW)
    stillness.seconds(shown(), NOW + 1)
    ended = gang("lent", minimum=1, replicas=2, running=["n0", "n1"])

    assert None is stillness.seconds(shown(ended, WAITS), NOW + 2)


def test_a_gang_that_had_to_leave_whole_may_be_gone():
    stillness = Stillness()
    stillness.seconds(shown(), NOW)
    stillness.planned(evicting("lent-0", "lent-1", "lent-2"), NOW)

    assert 4 == stillness.seconds(shown(WAITS), NOW + 4)


def test_what_others_do_while_nobody_leads_is_a_change():
    stillness = restarted(began())

    assert None is stillness.seconds(shown(there=nodes(3)), NOW + 6)
    assert None is restarted(stillness).seconds(shown(), NOW + 7)


def test_who_is_told_to_leave_after_a_restart_begins_it_anew():
    stillness = restarted(began())
    stillness.seconds(shown(), NOW + 6)
    stillness.planned(evicting("waits-0"), NOW + 8)
    less = gang("waits", minimum=2, replicas=1)

    assert 8 == stillness.seconds(shown(), NOW + 8)
    assert None is stillness.seconds(shown(LENT, less), NOW + 10)


def test_a_new_leader_knows_who_left_last_and_that_nothing_has_changed_since():
    memory, acts = Memory(), evicting("lent-0", "lent-1")
    here = memory.applied(shown(), NOW)
    memory.planned(here, acts, NOW)
    kept = json.loads(json.dumps(memory.document()))
    memory.carried_out(
        here, [Receipt(operation=s, result="done") for s in acts.operations], NOW + 1
    )
    leader = Memory()
    leader.restore(kept, NOW + 20)
    after = leader.applied(shown(), NOW + 30)
    (lent,) = (g for g in after.gangs if g.name == "lent")

    assert 30 == after.unchanged_for
    assert 30 == lent.evicted_ago


@pytest.mark.drawn
def test_what_is_kept_is_small_whatever_the_cluster():
    gangs = [gang(f"g{i}", minimum=1, running=["n0"]) for i in range(2000)]
    stillness = Stillness()
    stillness.seconds(shown(LENT, WAITS, *gangs, there=nodes(500)), NOW)
    stillness.planned(evicting("lent-0"), NOW)

    assert len(json.dumps(stillness.document())) < 1000


def test_every_process_writes_equal_values_alike():
    labels = {f"label-{i}": str(i) for i in range(20)}
    turned = dict(reversed(labels.items()))
    program = (
        "from adapters.loop.memory.unchanged import digest; "
        "from tests.helpers.build import node; "
        f"print(digest(node('n0', labels={turned!r})))"
    )
    there = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        check=True,
        capture_output=True,
        text=True,
    )

    assert digest(node("n0", labels=labels)) == there.stdout.strip()
    assert digest(node("n0", labels={})) != there.stdout.strip()


def test_stale_gangs_that_leave_are_a_change():
    stillness = began()
    stillness.planned(evicting("waits-0", rule="stale"), NOW + 1)

    assert None is stillness.seconds(shown(), NOW + 2)


@pytest.mark.parametrize(
    ("results", "known"),
    [
        (("done", "done", "done", "done"), 9),
        (("done", "again", "done", "done"), None),
        (("done", "skipped", "done", "done"), None),
    ],
)
def test_what_failed_is_a_change_and_what_was_done_counts_from_the_round(
    results, known
):
    memory, acts = Memory(), evicting("lent-0", "lent-1")
    here = memory.applied(shown(), NOW)
    memory.planned(here, acts, NOW)
    under_way = {g.name: g for g in memory.applied(shown(), NOW + 1).gangs}
    memory.carried_out(
        here,
        [
            Receipt(operation=step, result=result)
            for step, result in zip(acts.operations, results, strict=True)
        ],
        NOW + 3,
    )
    after = memory.applied(shown(), NOW + 9)
    found = {g.name: g for g in after.gangs}

    assert 1 == under_way["lent"].evicted_ago
    assert 6 == found["lent"].evicted_ago
    assert known == after.unchanged_for


def test_usage_that_grows_is_no_change_of_what_is_wanted():
    stillness = Stillness()
    stillness.seconds(shown(queues=(queue("default"),)), NOW)
    stillness.planned(evicting("lent-0", "lent-1"), NOW)
    later = shown(queues=(queue("default", usage={"nvidia.com/gpu": 5}),))

    assert 30 == stillness.seconds(later, NOW + 30)
