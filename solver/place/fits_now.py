"""
Whether a draft's places are free now: room, limits, and who is around them.
"""

from collections import Counter

import numpy as np

from solver.place.draft import Draft
from solver.place.round_state import RoundState, has_room
from solver.problem.gang_state import Standing
from solver.problem.problem import Unit


def fits_now(work: RoundState, unit: Unit, draft: Draft) -> bool:
    """
    Place a unit where a draft has it, or tell that there is no room.
    """
    mark = work.mark()
    beside: list[tuple[Standing, int, int]] = []
    volumes = None if work.around is None else work.around.volumes
    lacked = volumes and volumes.lacking
    for state in unit.states:
        for i, hosts in enumerate(draft.places[state.key]):
            said = state.leaves[i].pod_set.neighbours
            if said.meets_others and work.around is not None:
                beside += [(state, i, host) for host in hosts]
                continue
            if not hosts:
                continue
            counts = Counter(hosts)
            shape = work.problem.shapes.of_leaf[state.key, i]
            request = work.problem.shapes.requests[shape]
            asked = np.flatnonzero(request)
            where = np.array([*counts])
            number = np.array([*counts.values()])
            free = work.room.rows[where][:, asked]
            if (free < number[:, None] * request[asked]).any() or work.ledger.most(
                state, i, len(hosts)
            ) < len(hosts):
                work.undo(mark)
                return False
            work.take(state, i, counts)
    if _come_beside(work, beside) and (volumes and volumes.lacking) == lacked:
        return True
    work.undo(mark)
    return False


def _come_beside(work: RoundState, pods: list[tuple[Standing, int, int]]) -> bool:
    moved = True
    while pods and moved:
        moved = False
        for pod in list(pods):
            state, leaf, host = pod
            if has_room(work, state, leaf, host) and work.ledger.most(state, leaf, 1):
                work.take(state, leaf, {host: 1})
                pods.remove(pod)
                moved = True
    return not pods
