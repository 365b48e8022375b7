"""
The devices of one node, one by one: what each may hold once some have left.

New pods share a device with those of their own contract only, and have it when all
others have left it.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from models.devices.gpu_parts import num_devices
from models.devices.mig_profiles import MIG_MODELS, SLICES
from models.resources import GPU
from solver.devices.device_columns import (
    COUNTED,
    FIRST_HOLDER,
    MIG,
    WHOLE_GPU,
    sharer,
)
from solver.devices.packing_items import Instance, Item, fresh_share, takes
from solver.devices.part_places import NodeDevices
from solver.devices.part_room import PartRoom
from solver.effort.cp_sat import cp_model
from solver.encode.variables import Linear, Var
from solver.problem.node_room import Ints
from solver.problem.problem import Problem

Expr = cp_model.LinearExprT
Pods = dict[tuple[str, Item, int], list[Expr]]
"""
Counts of pods by whom they share with, what each takes, and of how many devices.
"""
Held = dict[tuple[str, Item, int], dict[int, list[Expr]]]
"""
The same, by the device on which they lie: one count, or one for each place on it.
"""


def add_each_device(
    model: cp_model.CpModel,
    problem: Problem,
    node: int,
    left: Sequence[Linear],
    pods: Iterable[tuple[Ints, Expr]],
    beside: Held | None = None,
) -> Held:
    """
    Ensure that the devices of a node hold the parts and whole GPUs of its new pods.

    Some ``pods``, each with its requests, find what is ``left`` in each column of its
    room.  They are some of those ``beside``, whose devices are given.
    """
    parts = problem.room.parts
    assert parts is not None
    kind = parts.devices_of(parts.kind(node, problem.room.later[node])[0])
    wanted: Pods = {}
    whole: list[Expr] = []
    every: list[Expr] = []
    for row, number in pods:
        every.append(number)
        if row[parts.gpu]:
            whole.append(int(row[parts.gpu]) * number)
        for at, column in enumerate(parts.columns):
            if row[column]:
                _want(wanted, parts, kind, at, number)
    found = _OneByOne(model, parts, node, left, wanted)
    found.add(whole, _sum(every), beside)
    return found.held


def _want(
    wanted: Pods, parts: PartRoom, kind: NodeDevices, at: int, number: Expr
) -> None:
    one = kind.items[at]
    if one is not None:
        key = sharer(parts.parts[at]), one.item, one.devices
        wanted.setdefault(key, []).append(one.times * number)


class _OneByOne:
    """
    The devices of a node while the model is told of them.
    """

    def __init__(
        self,
        model: cp_model.CpModel,
        parts: PartRoom,
        node: int,
        left: Sequence[Linear],
        wanted: Pods,
    ) -> None:
        self.model = model
        self.parts = parts
        self.node = parts.nodes[node]
        self.columns = parts.devices
        self.left = left
        self.wanted = wanted
        self.names = sorted({name for name, _, _ in wanted})
        self.held: Held = {key: {} for key in wanted}
        self.opened: list[Expr] = []
        self.open_now = 0

    def add(self, whole: Sequence[Expr], every: Expr, beside: Held | None) -> None:
        """
        Ensure what each device holds, and that no more are opened than are idle.
        """
        used: dict[object, list[Sequence[Var]]] = {}
        for device in range(num_devices(self.node.allocatable.get(GPU, 0))):
            blocks = self._block(device)
            uses = self._uses(device, blocks)
            self._open(blocks, uses)
            for name, use in uses.items():
                self._hold(name, device, blocks, use)
            if beside is None and uses and not any(row.variables for row in blocks):
                key = (*uses, *(row.constant for row in blocks))
                used.setdefault(key, []).append([*uses.values()])
        for alike in used.values():
            for first, second in pairwise(alike):
                self.model.add(_sum(second) <= _sum(first))
        for key, pods in self.wanted.items():
            held = [count for row in self.held[key].values() for count in row]
            self.model.add(_sum(held) == key[2] * _sum(pods))
            if beside is not None:
                self._keep(self.held[key], beside[key])
        idle = self.left[self.parts.gpu]
        taken = _sum([*whole, *self.opened])
        fits = self.model.add(taken <= idle.expression + self.open_now)
        if idle.constant < 0:
            comes = self.model.new_bool_var("")
            fits.only_enforce_if(comes)
            self.model.add(every == 0).only_enforce_if(~comes)

    def _keep(
        self, now: Mapping[int, list[Expr]], later: Mapping[int, list[Expr]]
    ) -> None:
        """
        Ensure that what is on each device now is on it later.
        """
        for device, row in now.items():
            for count, most in zip(row, later.get(device, [0] * len(row)), strict=True):
                self.model.add(count <= most)

    def _block(self, device: int) -> Sequence[Linear]:
        """
        Give what is left of one device, column by column.
        """
        first = self.columns.first + device * self.columns.width
        return self.left[first : first + self.columns.width]

    def _there(self, block: Sequence[Linear]) -> dict[str, Linear]:
        """
        Give less the pods on a device, by whom they share it with.
        """
        first = FIRST_HOLDER
        return {
            name: row
            for name, row in zip(self.columns.sharers, block[first:], strict=False)
            if row.constant < 0
        }

    def _uses(self, device: int, block: Sequence[Linear]) -> dict[str, Var]:
        """
        Give for each contract whether new pods of it lie on a device, where they may.
        """
        found: dict[str, Var] = {}
        there = self._there(block)
        for name in self.names:
            others = [row for other, row in there.items() if other != name]
            if any(row.most < 0 for row in others):
                continue
            mig = self.node.mig
            may_cut = mig is not None and device in mig.devices
            if name == MIG and not may_cut and MIG not in there:
                continue
            use = found[name] = self.model.new_bool_var("")
            for row in others:
                self.model.add(row.expression >= 0).only_enforce_if(use)
            if name == MIG and not may_cut:
                self.model.add(use <= -there[MIG].expression)
        if len(found) > 1:
            self.model.add_at_most_one(found.values())
        return found

    def _open(self, block: Sequence[Linear], uses: Mapping[str, Var]) -> None:
        """
        Count a device that is shared once those have left who do, unless others do.
        """
        if block[COUNTED].constant:
            return
        rows = self._there(block).items()
        there = [row for name, row in rows if name != WHOLE_GPU]
        self.open_now += bool(there)
        if any(row.most < 0 for row in there):
            self.opened.append(1)
        elif uses or there:
            opened = self.model.new_bool_var("")
            self.opened.append(opened)
            for use in uses.values():
                self.model.add_implication(use, opened)
            for row in there:
                self.model.add(row.expression >= 0).only_enforce_if(~opened)

    def _hold(self, name: str, device: int, block: Sequence[Linear], use: Var) -> None:
        """
        Ensure what one device holds of the new pods of a contract.
        """
        if name == MIG:
            first = FIRST_HOLDER + len(self.columns.sharers)
            taken = self._slices(device, use)
            rows = list(zip(taken, block[first:], strict=True))
        else:
            taken = self._shares(name, device, use)
            rows = list(zip(taken, block[: len(taken)], strict=True))
        short = any(left.constant < 0 for _, left in rows)
        for terms, left in rows:
            if short:
                self.model.add(_sum(terms) <= left.expression).only_enforce_if(use)
            elif terms:
                self.model.add(_sum(terms) <= left.expression)

    def _shares(self, name: str, device: int, use: Var) -> list[list[Expr]]:
        """
        Count the parts on a device: of compute, and of memory.
        """
        taken: list[list[Expr]] = [[], []]
        fresh = fresh_share(self.node.gpu_memory)
        for key, pods in self.wanted.items():
            if key[0] != name:
                continue
            _, item, number = key
            most = takes(fresh, item)
            count = self.model.new_int_var(0, most, "")
            self.model.add(count <= most * use)
            if number > 1:
                self.model.add(count <= _sum(pods))
            self.held[key][device] = [count]
            for terms, amount in zip(taken, item.room, strict=True):
                if amount:
                    terms.append(amount * count)
        return taken

    def _slices(self, device: int, use: Var) -> list[list[Expr]]:
        """
        Place instances on a device: what is on each slice, and has the media engines.
        """
        taken: list[list[Expr]] = [[] for _ in range(SLICES + 1)]
        assert self.node.mig is not None
        for key, pods in self.wanted.items():
            _, item, number = key
            if not isinstance(item, Instance):
                continue
            profile = MIG_MODELS[self.node.mig.model][item.name]
            places = [self.model.new_bool_var("") for _ in profile.starts]
            self.held[key][device] = [*places]
            if number > 1:
                self.model.add(_sum(places) <= _sum(pods))
            for start, here in zip(profile.starts, places, strict=True):
                self.model.add_implication(here, use)
                for at in range(start, start + profile.size):
                    taken[at].append(here)
                if profile.is_single:
                    taken[SLICES].append(here)
        return taken


def _sum(terms: Sequence[Expr]) -> cp_model.LinearExpr:
    return cp_model.LinearExpr.sum([*terms])
