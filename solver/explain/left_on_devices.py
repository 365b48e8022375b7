"""
What devices have left for a part that a unit asks for, in words.
"""

import numpy as np

from models.devices.free_shares import free_shares
from models.devices.gpu_parts import (
    WHOLE,
    GpuPart,
    is_part,
    memory_words,
    part_named,
    shown,
)
from models.devices.mig_profiles import MIG_MODELS, MigProfile
from models.resources import GPU_SHARE
from models.why.reasons import Facts
from solver.devices.part_room import PartRoom
from solver.problem.node_room import Bools, Ints
from solver.problem.problem import Problem, Unit
from solver.problem.when_empty.never_starts import needed


def rest_of_devices(
    problem: Problem, nodes: Bools, resource: str, rows: Ints, then: str = ""
) -> str:
    """
    Say how much less than a part the devices of some nodes have room for.

    Where one of them has room for the part little more is said.  ``rows`` are free;
    ``then`` is a word for when that is, with a space after it.
    """
    room, part = problem.room.parts, part_named(resource)
    if room is None:
        return ""
    where = np.flatnonzero(nodes)
    here = rows[where]
    is_full = not here[:, problem.room.resources.index(resource)].any()
    if part.profile:
        return _of_instances(room, part, where, here, then) if is_full else ""
    left = _Devices(room, part, where, here)
    if part.count == 1:
        return left.short(then) if is_full else left.less(then)
    most = int(left.holding.sum(axis=1).max(initial=0))
    what = f"the most GPUs with room for that on one node are {then}{most}"
    return what if is_full else ""


class _Devices:
    """
    What the devices have left that the part's contract may share, by node.
    """

    def __init__(self, room: PartRoom, part: GpuPart, where: Ints, rows: Ints) -> None:
        self._part = part
        there, cores, memory = room.devices.left_under(rows, part.contract)
        whole = np.array([room.nodes[at].gpu_memory for at in where.tolist()])
        idle = np.arange(room.devices.number) < np.maximum(rows[:, [room.gpu]], 0)
        whole = np.broadcast_to(whole.reshape(-1, 1), idle.shape)
        self._whole = np.hstack([whole, whole])
        self._cores = np.hstack([cores * there, WHOLE * idle])
        self._memory = np.hstack([memory * there, whole * idle])
        needs = part.memory or part.share * self._whole // WHOLE
        self.holding = (self._cores >= max(1, part.cores)) & (self._memory >= needs)

    def less(self, then: str) -> str:
        """
        Say how many have room for less of the part, and for how much.
        """
        if self._part.memory:
            return ""
        share = self._memory * WHOLE // np.maximum(self._whole, 1)
        rooms = self._cores if self._part.cores else share
        if self._part.cores and self._part.share:
            rooms = np.minimum(rooms, share)
        less = rooms[(rooms > 0) & ~self.holding]
        if not len(less):
            return ""
        have = f"{len(less):,} GPUs {then}have" if len(less) > 1 else f"1 GPU {then}has"
        or_less = " or less" if len(less) > 1 else ""
        return f"{have} room for {shown(int(less.max()))}{or_less}"

    def short(self, then: str) -> str:
        """
        Say what is short on single devices: of its compute, its memory, or both.
        """
        if not self._part.memory:
            return self.less(then) or f"no GPU {then}has any free for it"
        cores, memory = (int(x.max(initial=0)) for x in (self._cores, self._memory))
        if cores < self._part.cores:
            return f"the most compute {then}free on one is {shown(cores)}"
        if memory < self._part.memory:
            what = "memory " if self._part.cores else ""
            return f"the most {what}{then}free on one is {memory_words(memory)}"
        return f"no GPU {then}has both free"


def _of_instances(
    room: PartRoom, part: GpuPart, where: Ints, rows: Ints, then: str
) -> str:
    """
    Say which memory slices no device has free, or that no node has room for several.
    """
    at = room.parts.index(part)
    kinds = room.kinds(rows, where)
    for kind in np.unique(kinds).tolist():
        devices = room.devices_of(kind)
        one = devices.items[at]
        if one is None:
            continue
        sort = devices.sorts[one.sort]
        idle = (rows[kinds == kind, room.gpu] > 0).any() and sort.most > 0
        if idle or any(cut.put(one.item) for cut in sort.bins):  # type: ignore[arg-type]
            return f"no node {then}has room for {part.count} at once"
    nodes = [room.nodes[node] for node in where.tolist()]
    models = (node.mig.model for node in nodes if node.mig is not None)
    known = (MIG_MODELS[model].get(part.profile) for model in models)
    profile = next((one for one in known if one is not None), None)
    return "" if profile is None else f"no device {then}has {_slices(profile)} free"


def _slices(profile: MigProfile) -> str:
    """
    Name the slices of which an instance takes some: memory slices 0-3 or 4-7.
    """
    if profile.size == 1:
        first, last = min(profile.starts), max(profile.starts)
        media = " and its media engines" if profile.is_single else ""
        return f"any of memory slices {first}-{last}{media}"
    *most, last_one = [f"{at}-{at + profile.size - 1}" for at in profile.starts]
    text = f"{', '.join(most)} or {last_one}" if most else last_one
    return f"memory slices {text}"


def lacking_device(problem: Problem, unit: Unit, left: Ints) -> str:
    """
    Name the part, or GPUs, of which a unit needs most beyond what is left, if of any.

    ``left`` is summed up by column.
    """
    room = problem.room
    if room.parts is None:
        return ""
    best, most = "", 1.0
    for column in (room.parts.gpu, *room.parts.columns):
        resource = room.resources[column]
        needs = sum(needed(state, resource) for state in unit.states)
        strain = needs / max(0.5, float(left[column]))
        if needs > left[column] and strain > most:
            best, most = resource, strain
    return best


def of_devices(
    problem: Problem,
    unit: Unit,
    nodes: Bools,
    rows: Ints,
    resource: str,
    then: str = "",
) -> Facts:
    """
    Say what a unit needs of GPUs and their parts, and what lies free of them.

    ``rows`` are free when the part, or GPUs, are short; ``then`` is a word for when
    that is, with a space after it.
    """
    free = free_shares(problem.room.nodes, problem.snapshot.gangs)
    facts: Facts = {
        "resource": GPU_SHARE,
        "needs": sum(needed(state, GPU_SHARE) for state in unit.states),
        "free": int(np.array(free)[nodes].sum()),
    }
    if not is_part(resource):
        return facts
    column = problem.room.resources.index(resource)
    room = int(rows[nodes, column].clip(min=0).sum())
    rest = rest_of_devices(problem, nodes, resource, rows, then)
    told = [f"there is {then}room for {room}"] * bool(room) + [rest] * bool(rest)
    pods = sum(needed(state, resource) for state in unit.states)
    return {**facts, "part": resource, "pods": pods, "rest": "; ".join(told)}
