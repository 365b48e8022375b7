"""
Reopening: pieces of a round with domains, and what they add to what is dealt by hand.
"""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.quality import exact_vector, vector_of
from models.policy import Evict, Limits, Policy
from models.resources import GPU
from solver.place.draft import Draft
from solver.place.greedy import greedy
from solver.problem.node_room import Places
from solver.problem.problem import problem_of
from solver.round import decide
from solver.score.tiers import score
from solver.search.reopened import Reopening, piece_of
from solver.shares.queue_tree import Booking
from solver.tuning import Encode, Search, Tuning
from tests.helpers.build import gang, node, queue, required, snapshot, topology
from tests.helpers.rounds.cases import random_snapshot

CALM = Evict(preempt=False, reclaim=False, consolidate=False, stale=False)
POLICY = Policy(evict=CALM, limits=Limits(gap=0.0))
BY_HAND = Tuning(encode=Encode(most_domains=0), search=Search(least_scoped=1e9))
"""
Domains are always left out first, and the model that knows them is never asked.
"""


@pytest.mark.drawn
@pytest.mark.parametrize("seed", [0, 4, 32, 36, 76])
def test_pieces_find_the_best_where_gangs_placed_by_hand_fall_short(seed, monkeypatch):
    case = random_snapshot(seed)
    best = exact_vector(case, POLICY)

    assert best == vector_of(decide(case, POLICY, tuning=BY_HAND))

    monkeypatch.setattr(Reopening, "drafts", lambda *_: iter(()))
    assert best != vector_of(decide(case, POLICY, tuning=BY_HAND))


def two_racks():
    nodes = tuple(node(f"n{i}", 8, rack=f"r{i // 2}") for i in range(4))
    gangs = [
        gang("a", minimum=2, gpus=8, topology=required()),
        gang("b", minimum=2, gpus=4, topology=required()),
        gang("c", gpus=4),
        gang("late", minimum=2, gpus=8, topology=required()),
    ]
    levels = topology(levels=("rack",))
    problem = problem_of(
        snapshot(nodes=nodes, gangs=gangs, topologies=(levels,)), POLICY
    )
    draft = greedy(problem)
    rack = np.array([0, 0, 1, 1])
    return problem, draft, rack, int(rack[next(iter(draft.places["default/a"].nodes))])


def test_a_piece_has_who_is_in_its_domains_and_who_asks_for_none():
    problem, draft, rack, mine = two_racks()

    piece = piece_of(problem, draft, rack, [mine])

    assert {"default/a", "default/c", "default/late"} == {
        unit.key for unit in piece.problem.units
    }
    assert {"default/b"} == piece.settled.places.keys()
    assert {"default/a", "default/c"} == piece.rest.places.keys()


def test_nodes_of_other_domains_have_room_and_no_labels():
    problem, draft, rack, mine = two_racks()

    piece = piece_of(problem, draft, rack, [mine])

    room = piece.problem.room
    labelled = ["rack" in one.labels for one in room.nodes]
    assert [cell == mine for cell in rack.tolist()] == labelled
    held = problem.room.now.sum() - room.now.sum()
    assert held == sum(
        problem.shapes.requests[problem.shapes.of_leaf["default/b", 0]] * 2
    )
    touched = piece.settled.places["default/b"].nodes
    assert all(room.holes[host] == 0 for host in touched)


def test_a_piece_put_together_again_is_the_draft():
    problem, draft, rack, mine = two_racks()

    piece = piece_of(problem, draft, rack, [mine])

    whole = piece.whole(piece.rest)
    assert draft.places == whole.places
    assert score(problem, draft) == score(problem, whole)


def test_who_runs_in_a_domain_already_is_not_placed_anew():
    problem, draft, rack, _ = two_racks()
    running = tuple(
        replace(unit, starts=False) if unit.key == "default/a" else unit
        for unit in problem.units
    )

    piece = piece_of(replace(problem, units=running), draft, rack, [0, 1])

    assert "default/a" in piece.settled.places
    assert "default/b" not in piece.settled.places


def test_room_that_others_leave_later_is_not_there_for_a_piece():
    problem, draft, rack, mine = two_racks()
    after = problem.room.after + problem.room.now
    leaving = replace(problem, room=replace(problem.room, after=after))

    piece = piece_of(leaving, draft, rack, [mine])

    assert (piece.problem.room.now == expected_room(problem, piece.settled)).all()


def expected_room(problem, settled):
    room = problem.room.now.copy()
    for key, places in settled.places.items():
        for leaf, hosts in enumerate(places):
            for host in hosts:
                room[host] -= problem.shapes.requests[problem.shapes.of_leaf[key, leaf]]
    return room


@pytest.mark.parametrize("leaves", [0, 4])
def test_a_limit_counts_what_is_settled_though_others_leave_later(leaves):
    levels = topology(levels=("rack",))
    gangs = [
        gang("a", minimum=1, gpus=4, queue="q", topology=required()),
        gang("b", gpus=4, queue="q"),
    ]
    nodes = (node("n0", 8, rack="r0"), node("n1", 8, rack="r1"))
    limited = [queue("q", limit=6)]
    case = snapshot(nodes=nodes, gangs=gangs, queues=limited, topologies=(levels,))
    problem = problem_of(case, POLICY)
    booking = Booking(problem.queues)
    booking.add(["q"], {GPU: leaves}, -1, "drift")
    problem = replace(problem, queues=booking.tree())
    draft = Draft(places={"default/a": Places(((0,),))})

    piece = piece_of(problem, draft, np.array([0, 1]), [1])

    assert 2 == piece.problem.queues.limit_left("q", GPU)
