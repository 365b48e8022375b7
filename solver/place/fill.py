"""
Filling: pods of one leaf, each in the tightest place that it may have.
"""

from functools import partial
from itertools import takewhile

import numpy as np

from solver.place.by_turns import by_turns
from solver.place.round_state import RoundState
from solver.problem.gang_state import Standing
from solver.problem.node_room import Bools, Ints


def fill(
    work: RoundState, state: Standing, leaf: int, count: int, mask: Bools | None = None
) -> int:
    """
    Place up to ``count`` pods of a leaf, tightest nodes first; say how many.
    """
    count = work.ledger.most(state, leaf, count)
    if count <= 0 or not work.free.total(work.shape_of(state, leaf)):
        return 0
    said = work.problem.shapes.items[work.shape_of(state, leaf)].neighbours
    if work.around is not None and work.around.is_by_turns(said):
        room_in = partial(work.room_for, state, leaf)
        fill_one = partial(_fill_one, work, state, leaf)
        return by_turns(work.around, said, count, room_in, fill_one, mask)
    if work.preferred is not None and said.preferred:
        return _fill_by_preference(work, state, leaf, count, mask)
    return _fill(work, state, leaf, count, mask)


def _fill_one(work: RoundState, state: Standing, leaf: int, mask: Bools | None) -> int:
    """
    Place one pod; only where it would be is it asked whether volumes are left for it.
    """
    said = state.leaves[leaf].pod_set.neighbours
    if work.around is None or not said.takes_volumes or work.around.volumes.lacking:
        return _fill(work, state, leaf, 1, mask)
    mark, done, volumes = work.mark(), 0, work.around.volumes
    while not done:
        with volumes.on_trust() as known:
            done = _fill(work, state, leaf, 1, mask)
        if not done:
            return 0
        if volumes.lacking:
            host, done = work.placed[state.key][leaf][-1], 0
            work.undo(mark)
            volumes.rule_out(said, host, known)
    return done


def _fill_by_preference(
    work: RoundState, state: Standing, leaf: int, count: int, mask: Bools | None = None
) -> int:
    """
    Place pods one by one; the first of its kind where all of them have room.
    """
    assert work.preferred is not None
    said = work.problem.shapes.items[work.shape_of(state, leaf)].neighbours
    room = work.room_for(state, leaf, mask)
    first = work.preferred.first_domain(said, room, count)
    done = 0 if first is None else _fill(work, state, leaf, 1, first & (room > 0))
    turns = (_fill(work, state, leaf, 1, mask) for _ in range(count - done))
    return done + sum(takewhile(bool, turns))


def _fill_for_least(
    work: RoundState, state: Standing, leaf: int, count: int, mask: Bools | None = None
) -> int:
    """
    Place pods one by one, each where least is of no use to others afterwards.
    """
    assert work.left_over is not None
    shape = work.shape_of(state, leaf)
    for done in range(count):
        strain = work.free.strain(shape)
        room = work.room_for(state, leaf, mask)
        node = work.left_over.best(shape, room, strain)
        if node is None:
            return done
        work.place(state, leaf, np.array([node]), np.array([1]))
    return count


def _fill(
    work: RoundState, state: Standing, leaf: int, count: int, mask: Bools | None = None
) -> int:
    if work.left_over is not None:
        return _fill_for_least(work, state, leaf, count, mask)
    room, done = work.room_for(state, leaf, mask), 0
    # Parts of GPUs open an idle one only where no open one has room, and take the
    # fullest of these.
    request = work.request_of(state, leaf)
    while (here := work.room.on_open_devices(request, room)) is not None:
        done += _spread(work, state, leaf, count - done, here)
        if done == count:
            return done
        room = work.room_for(state, leaf, mask)
    return done + _spread(work, state, leaf, count - done, room)


def _spread(
    work: RoundState, state: Standing, leaf: int, count: int, room: Ints
) -> int:
    if not count:
        return 0
    said = work.problem.shapes.items[work.shape_of(state, leaf)].neighbours
    if work.preferred is not None and said.preferred and room.any():
        lacking = work.preferred.unmet_on(said)
        room = np.where(lacking == lacking[room > 0].min(), room, 0)
    hosts = work.free.by_fit(room, count, work.shape_of(state, leaf))
    if not len(hosts):
        return 0
    full = np.cumsum(room[hosts])
    last = int(np.searchsorted(full, count))
    hosts = hosts[: last + 1]
    counts = room[hosts]
    if last < len(full):
        counts[-1] -= int(full[last]) - count
    work.place(state, leaf, hosts, counts)
    return int(counts.sum())
