import json
from dataclasses import replace

import pytest

from adapters.loop.memory.gangs import Memory
from adapters.loop.memory.promises import Promise, Promises
from models.devices.gpu_parts import GpuDevice
from models.gangs import MatchPolicy
from models.receipt import Receipt
from models.why.reasons import Reason, Waiting
from tests.helpers.build import bind, binds, gang, line, node, nodes, plan, snapshot

NOW = 1_000_000.0
FULL = Waiting(Reason.INSUFFICIENT_CAPACITY, {"needs": 1, "free": 0, "resource": "x"})
UNREADY = Waiting(Reason.WAITING_FOR_PODS, {"needs": 2, "have": 1})


def seen(memory: Memory, subject, now: float):
    """
    Give the gang as the next round sees it.
    """
    if now > NOW and not subject.age:
        subject = replace(subject, age=int(now - NOW))
    (found,) = memory.applied(snapshot(nodes(4), [subject]), now).gangs
    return found


def receipts(steps, *results: str):
    return [
        Receipt(operation=step, result=result)
        for step, result in zip(steps, results, strict=True)
    ]


def test_a_gang_of_which_nothing_is_remembered_stays_as_it_is():
    subject = gang("g", minimum=2)

    assert subject is seen(Memory(), subject, NOW)


def test_who_is_not_chosen_is_passed_over_until_it_starts():
    memory, subject = Memory(), gang("g", minimum=2)
    waits = plan(lines=[line("g", waiting=FULL)])
    memory.planned(snapshot(gangs=[subject]), waits, NOW)
    memory.planned(snapshot(gangs=[subject]), waits, NOW + 40)
    waited = seen(memory, subject, NOW + 60).passed_over
    runs = gang("g", minimum=2, running=["n0", "n0"])
    started = seen(memory, runs, NOW + 70)
    back = seen(memory, subject, NOW + 80).passed_over

    assert (60, 0, 0) == (waited, started.passed_over, back)


def test_the_time_in_which_a_gang_is_not_ready_does_not_count():
    memory, subject = Memory(), gang("g", minimum=2)
    here = snapshot(gangs=[subject])
    for moment, waiting in ((0, FULL), (30, UNREADY), (500, FULL)):
        memory.planned(here, plan(lines=[line("g", waiting=waiting)]), NOW + moment)

    assert 40 == seen(memory, subject, NOW + 510).passed_over


def test_a_gang_that_had_to_leave_is_remembered():
    memory, subject = Memory(), gang("g", minimum=1, running=["n0"])
    steps = [bind("g-0", op="Evict", rule="reclaim")]
    memory.carried_out(snapshot(gangs=[subject]), receipts(steps, "done"), NOW)

    assert 25 == seen(memory, gang("g", minimum=1), NOW + 25).evicted_ago


def test_an_eviction_that_was_refused_is_none_and_voids_what_it_was_for():
    memory, subject = Memory(), gang("g", minimum=1, running=["n0"])
    waits = gang("h", minimum=1)
    here = snapshot(nodes(1), [subject, waits])
    steps = [
        bind("g-0", op="Evict", rule="reclaim", beneficiaries=("default/h",)),
        bind("h-0", op="Reserve"),
    ]
    memory.planned(here, plan(*steps), NOW)
    memory.carried_out(here, receipts(steps, "again", "done"), NOW)

    assert 0 == len(memory.promises)
    assert None is seen(memory, subject, NOW).evicted_ago


def test_a_refused_gang_waits_longer_each_time_and_forgets_it_when_bound():
    memory, subject = Memory(), gang("g", minimum=1)
    here, steps = snapshot(gangs=[subject]), binds("g", "n0")
    pauses = []
    for _ in range(3):
        memory.carried_out(here, receipts(steps, "refused"), NOW)
        pauses.append(seen(memory, subject, NOW).backoff)
    memory.carried_out(here, receipts(steps, "done"), NOW)

    assert [5, 10, 20] == pauses
    assert 0 == seen(memory, subject, NOW).backoff


def test_a_clock_that_was_ahead_holds_up_nobody_once_it_is_right():
    memory, subject, year = Memory(), gang("g", minimum=2), NOW + 3e7
    here, steps = snapshot(gangs=[subject]), binds("g", "n0", "n0")
    half = gang("g", minimum=2, running=["n0"], replicas=2)
    memory.carried_out(here, receipts(steps, "done", "refused"), year)
    assert 5 == seen(memory, replace(half, age=int(3e7)), year).backoff
    memory.gangs["default/g"].evicted_at = year
    now = seen(memory, half, NOW)
    later = seen(memory, half, NOW + 70)

    assert (0, 0, 0) == (now.backoff, now.stale_since, now.evicted_ago)
    assert (0, 70, 70) == (later.backoff, later.stale_since, later.evicted_ago)


def test_what_fails_in_passing_is_tried_at_once_where_it_was_to_be():
    memory = Memory()
    before = gang("g", minimum=3)
    steps = binds("g", "n0", "n1", "n2")
    here = snapshot(nodes(4), [before])
    memory.carried_out(here, receipts(steps, "done", "again", "skipped"), NOW)
    after = seen(memory, gang("g", minimum=3, running=["n0"]), NOW + 1)

    assert 0 == after.backoff
    assert ["n1", "n2"] == [pod.node for pod in after.tree.pods[1:]]
    assert {"Reserved"} == {pod.phase for pod in after.tree.pods[1:]}


def test_what_fails_in_passing_twice_waits():
    memory, subject = Memory(), gang("g", minimum=1)
    here, steps = snapshot(gangs=[subject]), binds("g", "n0")
    memory.carried_out(here, receipts(steps, "again"), NOW)
    first = seen(memory, subject, NOW).backoff
    memory.carried_out(here, receipts(steps, "again"), NOW)

    assert (0, 10) == (first, seen(memory, subject, NOW).backoff)


def test_what_was_not_tried_is_no_failure():
    memory, subject = Memory(), gang("g", minimum=2)
    steps = binds("g", "n0", "n0")
    memory.carried_out(
        snapshot(gangs=[subject]), receipts(steps, "skipped", "skipped"), NOW
    )

    assert 0 == seen(memory, subject, NOW).backoff


@pytest.mark.parametrize("fault", [True, False])
def test_a_gang_in_half_by_our_fault_turns_stale_where_its_system_never_does(fault):
    memory = Memory(stale_after=60)
    half = gang("g", minimum=3, replicas=3, running=["n0"], stale_after=-1)
    if fault:
        steps = binds("g", "n0", "n1", "n2")
        memory.carried_out(
            snapshot(gangs=[half]), receipts(steps, "done", "refused", "skipped"), NOW
        )
    seen(memory, half, NOW)
    later = seen(memory, half, NOW + 61)

    assert 61 == later.stale_since
    assert (60 if fault else -1) == later.stale_after


@pytest.mark.parametrize("left", [True, False])
def test_a_gang_that_left_in_part_turns_stale_and_one_that_none_left_does_not(left):
    whole = gang("g", minimum=2, running=["n0", "n1"], stale_after=-1)
    half = gang("g", minimum=2, running=["n0"], replicas=2, stale_after=-1)
    here, memory = snapshot(nodes(4), [whole]), Memory(stale_after=60)
    steps = [bind(f"g-{i}", op="Evict", rule="reclaim") for i in range(2)]
    memory.planned(here, plan(*steps), NOW)
    again = Memory(stale_after=60)  # who leads next may not know what became of it
    again.restore(json.loads(json.dumps(memory.document())), NOW)
    result = "done" if left else "refused"
    memory.carried_out(here, receipts(steps, "refused", result), NOW)
    for each in (memory, again):
        if not left:
            seen(each, whole, NOW + 1)
        seen(each, half, NOW + 2)
        later = seen(each, half, NOW + 63)
        assert (61, 60 if left else -1) == (later.stale_since, later.stale_after)


def test_a_gang_that_lends_a_moved_pod_is_not_in_half_by_our_fault():
    half = gang("g", minimum=2, running=["n0"], replicas=2, stale_after=-1)
    memory, here = Memory(stale_after=60), snapshot(nodes(4), [half])
    steps = [bind("g-0", "n1", op="Move", rule="consolidate")]
    memory.planned(here, plan(*steps), NOW)
    memory.carried_out(here, receipts(steps, "done"), NOW)

    assert -1 == seen(memory, half, NOW + 63).stale_after


def test_a_gang_that_is_whole_again_is_no_longer_in_half():
    memory = Memory()
    half = gang("g", minimum=2, running=["n0"], replicas=2, stale_after=-1)
    steps = binds("g", "n0", "n1")
    memory.carried_out(snapshot(gangs=[half]), receipts(steps, "done", "refused"), NOW)
    seen(memory, gang("g", minimum=2, running=["n0", "n1"]), NOW + 5)
    later = seen(memory, half, NOW + 500)

    assert (0, -1) == (later.stale_since, later.stale_after)


def test_once_satisfied_is_remembered():
    memory = Memory()
    once = MatchPolicy.ONCE_SATISFIED
    memory.carried_out(
        snapshot(gangs=[gang("g", minimum=2)]),
        receipts(binds("g", "n0", "n0"), "done", "again"),
        NOW,
    )
    runs = gang("g", minimum=2, running=["n0", "n0"], match_policy=once)
    seen(memory, runs, NOW)
    lost = gang("g", minimum=2, running=["n0"], replicas=2, match_policy=once)

    assert seen(memory, lost, NOW + 900).once_satisfied
    assert seen(memory, lost, NOW + 900).stale_since is None


@pytest.mark.parametrize("is_held", [True, False])
def test_what_is_only_shown_as_bound_has_not_started(is_held):
    memory, once = Memory(), MatchPolicy.ONCE_SATISFIED
    waits = gang("g", minimum=2, match_policy=once)
    here, steps = snapshot(gangs=[waits]), binds("g", "n0", "n0")
    memory.planned(here, plan(lines=[line("g", waiting=FULL)]), NOW)
    memory.planned(here, plan(*steps), NOW + 40)
    if is_held:
        memory.carried_out(here, receipts(steps, "held", "held"), NOW + 41)
        memory.planned(here, plan(), NOW + 42)
    shown = gang("g", minimum=2, running=["n0", "n0"], match_policy=once)
    seen(memory, shown, NOW + 50)
    memory.carried_out(here, receipts(steps, "refused", "skipped"), NOW + 60)
    after = seen(memory, waits, NOW + 70)

    assert (False, 40) == (after.once_satisfied, after.passed_over)


def test_another_gang_of_that_name_is_not_the_one_we_remember():
    memory = Memory()
    old = gang("g", minimum=1, age=3600)
    waits = plan(lines=[line("g", waiting=FULL)])
    memory.planned(snapshot(gangs=[old]), waits, NOW)
    steps = [bind("g-0", op="Evict", rule="reclaim")]
    memory.carried_out(snapshot(gangs=[old]), receipts(steps, "done"), NOW)
    young = seen(memory, replace(old, age=1), NOW + 100)

    assert 0 == young.passed_over
    assert 100 == young.evicted_ago  # its pods may have been made anew


def test_gangs_that_are_gone_are_forgotten():
    memory = Memory()
    for index in range(50):
        subject = gang(f"g{index}", minimum=1)
        here = snapshot(gangs=[subject])
        memory.carried_out(here, receipts(binds(f"g{index}", "n0"), "refused"), NOW)
    memory.applied(snapshot(), NOW + 601)

    assert {} == memory.gangs


def test_what_is_remembered_survives_a_restart():
    memory, subject = Memory(), gang("g", minimum=2)
    here = snapshot(nodes(2), [subject])
    memory.planned(here, plan(lines=[line("g", waiting=FULL)]), NOW)
    memory.carried_out(
        here, receipts(binds("g", "n0", "n1"), "refused", "skipped"), NOW
    )
    memory.planned(
        here,
        plan(bind("g-0", "n1", op="Reserve"), lines=[line("g", waiting=FULL)]),
        NOW,
    )
    other = Memory()
    other.restore(memory.document(), NOW + 50)

    assert seen(memory, subject, NOW + 60) == seen(other, subject, NOW + 60)
    assert memory.document() == other.document()


def test_what_the_last_leader_was_about_to_bind_is_promised():
    memory = Memory()
    subject = gang("g", minimum=2)
    uids = [replace(pod, uid=f"u{i}") for i, pod in enumerate(subject.tree.pods)]
    subject = replace(subject, tree=replace(subject.tree, pods=tuple(uids)))
    memory.intended(
        [
            Promise(gang="default/g", pod="default/g-0", node="n1", uid="u0"),
            Promise(gang="default/g", pod="default/g-1", node="n2", uid="elder"),
        ],
        NOW,
    )
    pods = seen(memory, subject, NOW).tree.pods

    assert [("Reserved", "n1"), ("Pending", None)] == [(p.phase, p.node) for p in pods]


def test_a_promise_on_a_node_that_is_gone_is_void():
    memory, subject = Memory(), gang("g", minimum=1)
    memory.intended([Promise(gang="default/g", pod="default/g-0", node="n9")], NOW)

    assert "Pending" == seen(memory, subject, NOW).tree.pods[0].phase


def test_a_plan_that_only_keeps_promises_does_nothing_new():
    memory, subject = Memory(), gang("g", minimum=1)
    keeps = plan(bind("g-0", op="Reserve"))
    here = snapshot(nodes(1), [subject])
    first = memory.promises.repeats(keeps)
    memory.planned(here, keeps, NOW)

    assert (False, True) == (first, memory.promises.repeats(keeps))
    assert not memory.promises.repeats(plan(bind("g-0", "n1", op="Reserve")))
    assert not memory.promises.repeats(plan(bind("g-0")))


def test_promises_that_a_plan_does_not_repeat_are_void():
    memory, subject = Memory(), gang("g", minimum=1)
    here = snapshot(nodes(1), [subject])
    memory.planned(here, plan(bind("g-0", op="Reserve")), NOW)
    memory.planned(here, plan(), NOW + 1)

    assert 0 == len(memory.promises)


def test_a_moved_pods_place_is_held_until_it_is_made_anew_under_any_name():
    memory = Memory()
    runs = gang("g", minimum=1, running=["n0"], gpus=3)
    move = bind("g-0", "n1", op="Move", source="n0", rule="consolidate")
    memory.planned(snapshot(nodes(2), [runs]), plan(move), NOW)
    leaves = gang("g", minimum=1, terminating=["n0"], gpus=3)
    held = memory.applied(snapshot(nodes(2), [leaves]), NOW + 1)
    anew = gang("g", minimum=1, gpus=3)
    pods = tuple(replace(pod, name="g-x7f") for pod in anew.tree.pods)
    anew = replace(anew, tree=replace(anew.tree, pods=pods))
    reserved = memory.applied(snapshot(nodes(2), [anew]), NOW + 2)
    late = memory.applied(snapshot(nodes(2), [leaves]), NOW + 121)
    before = memory.applied(snapshot(nodes(2), [leaves]), NOW - 200)  # a clock set back

    assert 3 == held.nodes[1].used["nvidia.com/gpu"]
    assert "nvidia.com/gpu" not in before.nodes[1].used
    assert ("Reserved", "n1") == (
        reserved.gangs[0].tree.pods[0].phase,
        reserved.gangs[0].tree.pods[0].node,
    )
    assert reserved.nodes == late.nodes == (node("n0"), node("n1"))


def test_a_moved_pod_that_is_bound_holds_no_other_place():
    memory = Memory()
    runs = gang("g", minimum=1, replicas=3, running=["n0"])
    here = snapshot(nodes(2), [runs])
    memory.planned(here, plan(bind("g-0", "n1", op="Move", source="n0")), NOW)
    memory.planned(here, plan(bind("g-1", "n1")), NOW + 1)

    assert 0 == len(memory.promises)


def test_the_first_minutes_of_all_are_over_once_and_for_all():
    memory = Memory(evict_after=600)
    unknown = memory.calm_for(NOW)
    memory.first_led = NOW
    left = [memory.calm_for(NOW + s) for s in (0, 599, 600, 10**6, -1)]
    again = Memory(evict_after=600)
    again.restore(memory.document(), NOW + 30)

    assert 0 == unknown
    assert [600, 1, 0, 0, 0] == left
    assert 570 == again.calm_for(NOW + 30)
    assert 0 == again.restore({"gangs": {}}, NOW)
    assert 0 == again.calm_for(NOW)


def test_a_promise_keeps_the_devices_of_a_part_through_a_restart():
    step = bind("a-0", "n0", op="Reserve", devices=(GpuDevice(1), GpuDevice(3)))
    promises, again = Promises(), Promises()
    promises.hold(Promise.of(step))
    lost = again.restore(json.loads(json.dumps(promises.document())))
    given = snapshot(nodes=nodes(1), gangs=[gang("a", minimum=1)])

    (pod,) = again.applied(given, 0.0).gangs[0].tree.pods
    assert 0 == lost
    assert ("n0", step.devices) == (pod.node, pod.devices)


@pytest.mark.parametrize("first", ["g-0", "g-1", "g-x7f"])
def test_of_two_pods_moved_to_one_node_the_second_keeps_its_place(first):
    memory = Memory()
    runs = gang("g", minimum=2, running=["n0", "n0"], gpus=3)
    moves = [bind(f"g-{i}", "n1", op="Move", source="n0") for i in (0, 1)]
    memory.planned(snapshot(nodes(2), [runs]), plan(*moves), NOW)
    memory.planned(snapshot(nodes(2), [runs]), plan(bind(first, "n1")), NOW + 1)
    leaves = gang("g", minimum=2, running=["n1"], terminating=["n0"], gpus=3)
    held = memory.applied(snapshot(nodes(2), [leaves]), NOW + 2).nodes[1]

    assert 1 == len(memory.promises)
    assert 3 == held.used["nvidia.com/gpu"]
