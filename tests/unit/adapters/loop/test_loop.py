"""
What a loop does in a round: plan, carry out, remember.
"""

from adapters.loop.memory.gang_memory import GangMemory
from models.why.reasons import Reason, Waiting
from tests.helpers.build import gang, nodes, snapshot
from tests.unit.adapters.loop.playing import RUNS, WAITS, break_off


def test_what_can_start_is_carried_out(play):
    play.step()
    play.finish()
    play.step()

    assert ["leading", "planned", "carried_out", "planned"] == play.told.news[:4]
    (turn,) = play.told.given["carried_out"]
    assert ["done", "done"] == [receipt.result for receipt in turn.receipts]
    assert {"snapshot", "plan", "execute"} == set(turn.seconds)


def test_who_does_not_lead_looks_at_nothing(play):
    play.leads.held = False
    play.step()

    assert ["ticked"] == play.told.said
    assert 0 == play.source.looks


def test_the_next_round_is_planned_while_binds_are_under_way(play):
    play.sink.go.clear()
    play.step()
    play.source.change(snapshot(nodes(2), [gang("h", minimum=1)]))
    play.step()

    assert ["planned", "planned"] == play.told.news[1:]
    assert 1 == len(play.sink.held)  # it waits for the one before it
    play.step()
    assert 2 == play.source.looks  # and one plan waits at most
    play.finish()
    play.step()
    assert 2 == len(play.sink.held)


def test_a_plan_that_waits_for_too_long_is_made_anew(play):
    play.sink.go.clear()
    play.step()
    play.source.change(snapshot(nodes(2), [gang("h", minimum=1)]))
    play.step()
    play.parts.clock.now += play.parts.pulse.interval
    held = Waiting(Reason.HELD, {"by": "alice"})
    play.source.change(snapshot(nodes(2), [gang("h", minimum=1, refused=held)]))
    play.finish()
    play.step()
    play.step()

    assert "dropped" in play.told.said
    assert 1 == len(play.sink.held)
    (turn,) = play.told.given["planned"]
    assert held == turn.plan.gangs[0].waiting


def test_while_binds_are_under_way_and_nothing_has_changed_nothing_is_planned(play):
    play.sink.go.clear()
    play.step()
    play.step()
    waited = play.source.looks
    play.parts.clock.now += play.parts.pulse.interval
    play.step()
    after_an_interval = play.source.looks
    play.finish()
    play.step()

    assert (1, 2) == (waited, after_an_interval)
    assert "carried_out" in play.told.news


def test_what_binds_left_over_is_decided_once_they_are_over(play):
    play.step()
    play.finish()
    play.step()

    assert 2 == play.source.looks


def test_a_plan_is_dropped_when_the_one_before_it_went_wrong(play):
    play.sink.go.clear()
    play.sink.result = "refused"
    play.step()
    play.source.change(snapshot(nodes(2), [gang("h", minimum=1)]))
    play.step()
    play.finish()
    play.step()

    assert "dropped" in play.told.news
    assert 3 == play.source.looks  # it is planned anew at once


def test_what_did_not_go_as_planned_is_remembered_at_once(play):
    play.sink.result = "again"
    play.step()
    play.finish()
    before = play.sink.remembered
    play.step()

    assert (0, 1) == (before, play.sink.remembered)


def test_what_could_not_be_remembered_is_tried_again_later_and_rounds_go_on(play):
    play.sink.result = "again"
    play.step()
    play.finish()
    play.sink.deaf = True
    looks = play.source.looks
    for _ in range(5):
        play.source.change()
        play.step()
    failed = play.told.said.count("failed")
    play.sink.deaf = False
    play.parts.clock.now += 60.0
    play.step()

    assert (1, 1) == (failed, play.sink.remembered)
    assert play.source.looks > looks


def test_what_broke_while_it_was_carried_out_leaves_its_intent_as_it_is(play):
    break_off(play, ValueError("broken"))
    play.sink.error = None
    play.step()

    assert 0 == play.sink.remembered


def test_what_is_remembered_is_kept_also_where_something_changes_before_each_look(play):
    play.step()
    play.finish()
    for _ in range(5):
        play.source.change(RUNS)
        play.step()
    before = play.sink.remembered
    play.parts.clock.now += 60.0
    play.source.change()
    play.step()

    assert (0, 1) == (before, play.sink.remembered)


def test_what_is_remembered_is_kept_also_where_each_look_finds_something_to_do(play):
    kept = []
    for _ in range(5):
        play.parts.clock.now += 60.0
        play.source.change(WAITS)
        play.step()
        play.finish()
        kept.append(play.sink.remembered)

    assert [0, 1, 2, 3, 4] == kept


def test_a_round_with_nothing_to_do_leaves_what_is_under_way_as_it_is(play):
    memory, now = play.parts.memory, play.time.now
    play.source.change(aged(0))
    memory.gangs["default/g"] = GangMemory(born=now, seen=now, waited=500.0)
    play.sink.go.clear()
    play.sink.result = "refused"
    play.step()
    for seconds in (20, 40):  # it is shown as bound before it is
        play.time.now = now + seconds
        play.source.change(aged(seconds, running=["n0", "n0"]))
        play.step()
    play.finish()
    play.source.change(aged(40))
    play.step()

    assert 500.0 == memory.gangs["default/g"].waited


def test_what_broke_while_it_was_carried_out_is_under_way_no_longer(play):
    memory, now = play.parts.memory, play.time.now
    play.source.change(aged(0))
    memory.gangs["default/g"] = GangMemory(born=now, seen=now, waited=500.0)
    break_off(play, ValueError("broken"))
    play.source.change(aged(0, running=["n0", "n0"]))
    play.step()

    assert 0.0 == memory.gangs["default/g"].waited


def aged(seconds, **fields):
    return snapshot(nodes(1), [gang("g", minimum=2, age=seconds, **fields)])
