"""
What begins, drops and ends with leading, and what is not begun at all.
"""

import threading

from adapters.loop.memory.gangs import Memory
from models.why.reasons import Reason, Waiting
from solver.fallback import NOBODY_LEAVES
from solver.round import decide
from tests.helpers.build import gang, nodes, snapshot
from tests.unit.adapters.loop.playing import (
    Play,
)


def test_leading_begins_with_what_the_last_leader_left(play):
    play.leads.held = False
    play.step()
    before = play.sink.opened
    play.leads.held = True
    play.step()

    assert (0, 1) == (before, play.sink.opened)
    assert ["leading", "planned"] == play.told.news


def test_a_plan_of_who_leads_no_longer_is_dropped(play):
    play.sink.go.clear()
    play.step()
    play.source.change(snapshot(nodes(2), [gang("h", minimum=1)]))
    play.step()
    play.leads.held = False
    play.step()
    play.finish()
    play.step()

    assert 1 == len(play.sink.held)
    assert ["dropped", "leading"] == sorted(
        set(play.told.news) & {"dropped", "leading"}
    )
    play.leads.held = True
    play.step()
    assert 2 == play.sink.opened


def test_who_led_again_before_he_looked_begins_anew_once_nothing_is_carried_out(play):
    play.sink.go.clear()
    play.step()
    play.source.change(snapshot(nodes(2), [gang("h", minimum=1)]))
    play.step()
    play.sink.is_lost = True
    play.step()
    before = play.sink.opened
    play.finish()
    play.step()

    assert (1, 2) == (before, play.sink.opened)
    assert 1 == play.told.news.count("leading")
    assert 1 == play.told.news.count("dropped")
    play.step()
    assert 2 == play.sink.opened


def test_binds_of_an_earlier_term_end_before_a_new_one_begins(play):
    play.sink.go.clear()
    play.step()
    play.leads.held = False
    play.step()
    play.leads.held = True
    play.step()
    before = play.sink.opened
    play.finish()
    play.step()

    assert (1, 2) == (before, play.sink.opened)


def test_stopping_waits_for_what_is_begun_and_keeps_what_is_remembered(play):
    play.sink.go.clear()
    play.step()
    threading.Timer(0.1, play.sink.go.set).start()
    play.loop.stop()
    play.loop.run()

    assert "carried_out" in play.told.news
    assert 1 == play.sink.remembered
    assert play.loop.is_stopping


def test_who_stops_without_leading_writes_nothing(play):
    play.leads.held = False
    play.step()
    play.loop.stop()
    play.loop.run()

    assert 0 == play.sink.remembered


def test_keeping_promises_only_is_nothing_to_do(tmp_path):
    full = gang("v", minimum=1, terminating=["n0"], gpus=8)
    waits = gang("g", minimum=1, gpus=8, reserved=["n0"])
    play = Play(snapshot(nodes(1), [full, waits]), tmp_path)
    play.step()
    play.finish()
    play.step()
    play.step()

    assert 1 == len(play.sink.held)
    assert 2 == play.source.looks


def test_in_the_first_minutes_of_all_nobody_leaves(play):
    asked = []

    def planner(given, policy):
        asked.append(policy.evict)
        return decide(given, policy)

    memory = Memory(evict_after=600)
    memory.first_led = play.time.now
    play.change(planner=planner, memory=memory)
    play.step()
    told = play.told.given["planned"][0].policy.evict
    play.finish()
    play.step()
    play.time.now += 599
    play.source.change()
    play.step()
    play.time.now += 1  # nothing has changed, but the time is over
    play.step()

    assert [NOBODY_LEAVES] * (len(asked) - 1) == asked[:-1]
    assert play.parts.policy.evict == asked[-1]
    assert len(asked) >= 3
    assert NOBODY_LEAVES == told


def test_while_it_is_paused_a_round_is_told_and_nothing_is_begun(play):
    why = Waiting(Reason.PAUSED, {"by": "alice"})
    pauses = [why]
    play.change(pause=lambda: pauses[0])
    play.step()
    (line,) = play.told.given["planned"][0].plan.gangs
    play.step()

    assert ("Waiting", why, 0) == (line.state, line.waiting, line.pods.binding)
    assert not play.sink.held
    assert play.told.said.count("planned") == 1
    assert [why] == [pause for _, pause in play.sink.seen]

    pauses[0] = None
    play.step()
    assert ["g"] == [gang.name for gang in play.sink.held[0].snapshot.gangs]


def test_a_pause_drops_the_plan_that_waits(play):
    pauses = [None]
    play.change(pause=lambda: pauses[0])
    play.sink.go.clear()
    play.step()
    play.source.change(snapshot(nodes(2), [gang("g", minimum=2), gang("h", minimum=1)]))
    play.step()
    assert play.loop._carrying.next is not None
    pauses[0] = Waiting(Reason.PAUSED)
    play.finish()
    play.step()

    assert "dropped" in play.told.said
    assert 1 == len(play.sink.held)


def test_who_only_observes_tells_its_plans_as_they_are_and_begins_nothing(play):
    play.change(acts=False)
    play.step()
    (line,) = play.told.given["planned"][0].plan.gangs

    assert "Starting" == line.state
    assert not play.sink.held
