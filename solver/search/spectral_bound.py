"""
Scattered victims: what emptying many nodes costs where gangs lie everywhere.

Each node by itself looks cheap, and the relaxed model believes it.  But a gang that
goes for one node goes on all of its nodes, and where gangs lie at random few of those
are emptied, too.  How few, the eigenvalues of who shares nodes with whom tell.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np
import numpy.typing as npt

from models.resources import num_gpus
from solver.effort.budget import Budget
from solver.evict.open_step import Opened
from solver.evict.victims import Victims, vacated
from solver.problem.node_room import Ints
from solver.problem.problem import Problem
from solver.problem.running_gangs import work_of
from solver.tuning import Spectral

Reals = npt.NDArray[np.float64]
MARGIN = 1e-7
"""
What floating point may have lost.
"""
_GOLDEN = 0.381966


@dataclass(frozen=True, slots=True)
class _WantedRoom:
    """
    Pods of one shape that all get a place.
    """

    shape: int
    pods: int


def least_work(opened: Opened, budget: Budget) -> int:
    """
    Give the GPU-seconds that are lost at least if every unit of a step starts.

    With z_n = 1 for K nodes that get a pod, w_g the work of gang g, m_g the number of
    those nodes that it must leave: all that leaves weighs at least (Σ w m)² / Σ w m²,
    and Σ w m² = zᵀMz is at most K λ(M - sJ) + sK² for every shift s.
    """
    problem, victims = opened.problem, opened.victims
    if not victims.wide or problem.room.parts is not None:
        return 0
    wanted = _most_wanted(problem)
    room = vacated(problem, victims)
    if wanted is None:
        return 0
    request = problem.shapes.requests[wanted.shape]
    asked = np.flatnonzero(request)
    most = (room[:, asked] // request[asked]).min(axis=1)
    most[~problem.shapes.allowed[wanted.shape]] = 0
    hosts = np.flatnonzero(most > 0)
    number = -(-wanted.pods // max(1, int(most.max(initial=0))))
    if not number <= len(hosts) <= problem.tuning.spectral.most_nodes:
        return 0
    if budget.left <= 0:
        budget.cut.add("losses")
        return 0
    sums, square = _weights(problem, victims, room, request, hosts)
    low = float(np.sort(sums)[:number].sum())
    if low == 0.0:
        return 0
    high = _largest(square, number, budget, problem.tuning.spectral)
    unit = _unit(problem, victims)
    return ceil(low * low / high / unit * (1 - MARGIN)) * unit


def _most_wanted(problem: Problem) -> _WantedRoom | None:
    """
    Choose the shape with the largest pods, of units without a choice of pods.
    """
    pods: dict[int, int] = {}
    size: dict[int, int] = {}
    for unit in problem.units:
        for state in unit.states if unit.starts else ():
            if not state.rigid:
                continue
            for i, leaf in enumerate(state.leaves):
                shape = problem.shapes.of_leaf[state.key, i]
                pods[shape] = pods.get(shape, 0) + leaf.need
                size[shape] = num_gpus(leaf.pod_set.requests)
    shapes = [shape for shape in pods if pods[shape] and size[shape]]
    if not shapes:
        return None
    best = max(shapes, key=lambda shape: (size[shape], pods[shape], -shape))
    return _WantedRoom(best, pods[best])


def _weights(
    problem: Problem, victims: Victims, room: Ints, request: Ints, hosts: Ints
) -> tuple[Reals, Reals]:
    """
    Give for each node the work that must leave it for a pod, and M.
    """
    own = np.zeros(len(hosts))
    share = np.zeros((len(hosts), len(victims.wide)))
    values = problem.values
    works = [work_of(values, wide.gang, wide.pods) for wide in victims.wide]
    work = np.array(works, float)
    for at, host in enumerate(hosts.tolist()):
        for index, alike in victims.on_node.get(host, {}).items():
            for victim in alike:
                held = problem.room.row(dict(victim.requests))
                if (room[host] - held >= request).all():
                    continue
                if victims.goes_whole(index):
                    share[at, victims.accounts[index].wide] = 1.0
                else:
                    own[at] += victim.work
    return share @ work + own, (share * work) @ share.T + np.diag(own)


def _largest(square: Reals, number: int, budget: Budget, tuning: Spectral) -> float:
    """
    Give the most that zᵀMz can be with so many ones, over shifts by a golden section.
    """
    ones = np.ones_like(square)

    def bound(shift: float) -> float:
        budget.charge(len(square) ** 3 / tuning.cubes_per_unit)
        top = float(np.linalg.eigvalsh(square - shift * ones)[-1])
        return number * top + shift * number * number

    best = bound(0.0)
    low, high = 0.0, 2.0 * best / number / len(square)
    left, right = _inner(low, high)
    at_left, at_right = bound(left), bound(right)
    for _ in range(tuning.probes):
        if budget.left <= 0:
            budget.cut.add("losses")
            break
        best = min(best, at_left, at_right)
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = _inner(low, high)[0]
            at_left = bound(left)
        else:
            low, left, at_left = left, right, at_right
            right = _inner(low, high)[1]
            at_right = bound(right)
    return min(best, at_left, at_right)


def _inner(low: float, high: float) -> tuple[float, float]:
    step = _GOLDEN * (high - low)
    return low + step, high - step


def _unit(problem: Problem, victims: Victims) -> int:
    """
    Give the greatest number that divides the work of all that may leave.
    """
    values = problem.values
    works = [work_of(values, wide.gang, wide.pods) for wide in victims.wide]
    works += [
        victim.work
        for accounts in victims.on_node.values()
        for index, alike in accounts.items()
        if not victims.goes_whole(index)
        for victim in alike
    ]
    return int(np.gcd.reduce(np.array([*works, 0], dtype=np.int64))) or 1
