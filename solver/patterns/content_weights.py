"""
Weights of parts that no content of a device exceeds, where contents are too many.

With all contents as columns the round's linear program is as near as any count per
class comes.  They are found one by one: by the prices of parts a knapsack says which
content is missing (Gilmore and Gomory).  In the end the prices of parts, divided by
that of a device, are weights of which no device holds more than 1: rows of the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from solver.devices.packing_items import DeviceShare
from solver.effort.budget import Budget
from solver.effort.cp_sat import cp_model
from solver.effort.linear_program import NONE, LinearProgram
from solver.encode.devices.device_contents import ClassDevices, has_many_contents
from solver.encode.encoding import Encoding
from solver.encode.variables import Linear, Var
from solver.patterns.relaxation import relaxation

_MOST_CELLS, _MOST_ROUNDS = 2000, 60
"""
Steps of amounts that a knapsack tells apart, and how often contents are added.
"""
_WHOLE = 5040
"""
What a device weighs: a number with many divisors, as weights are often 1/2, 1/3, 2/3.
"""


@dataclass(frozen=True, slots=True)
class Amounts:
    """
    What items and devices of one sort come to in steps of one of their sums.
    """

    items: tuple[DeviceShare, ...]
    steps: tuple[int, ...]
    bins: tuple[int, ...]
    fresh: int

    def knapsack(self, worth: Sequence[float]) -> list[float]:
        """
        Give what devices with so many steps left hold at most.
        """
        pairs = [(s, one) for s, one in zip(self.steps, worth, strict=True) if one > 0]
        best = [0.0]
        for room in range(1, self.fresh + 1):
            found = [best[room - step] + one for step, one in pairs if step <= room]
            best.append(max(best[-1], *found) if found else best[-1])
        return best

    def content(self, worth: Sequence[float]) -> list[int]:
        """
        Give how often each item lies on an idle device that holds as much as can be.
        """
        best, content, left = self.knapsack(worth), [0] * len(self.items), self.fresh
        while left > 0:
            for at, (step, one) in enumerate(zip(self.steps, worth, strict=True)):
                if one > 0 and step <= left and best[left] == best[left - step] + one:
                    content[at] += 1
                    left -= step
                    break
            else:
                left -= 1
        return content


@dataclass(slots=True)
class _ManyContents:
    """
    One sort of a class's devices in the linear program.

    ``terms`` are the counts of pods with the item they take, or that of whole GPUs.
    """

    devices: ClassDevices
    amounts: Amounts
    terms: list[tuple[int | None, int, Var]]
    item_rows: list[int]
    idle_row: int

    def add_missing(self, program: LinearProgram) -> bool:
        """
        Add the content that would be worth more than a device costs, if there is one.
        """
        worth = [program.price(row) for row in self.item_rows]
        content = self.amounts.content(worth)
        gain = sum(one * number for one, number in zip(worth, content, strict=True))
        if gain <= program.price(self.idle_row) + NONE:
            return False
        held = zip(self.item_rows, content, strict=True)
        entries = [(row, -float(number)) for row, number in held if number]
        program.column(0.0, [*entries, (self.idle_row, 1.0)])
        return True

    def add_weights(self, model: cp_model.CpModel, program: LinearProgram) -> None:
        """
        Ensure that Σ weight of parts + whole GPUs ≤ what idle and open devices hold.
        """
        price = program.price(self.idle_row)
        if price <= NONE or not self.terms:
            return
        prices = [program.price(row) / price for row in self.item_rows]
        weights = [max(0, round(_WHOLE * one)) for one in prices]
        holds = [int(number) for number in self.amounts.knapsack(weights)]
        each = holds[self.amounts.fresh]
        body = cp_model.LinearExpr.weighted_sum(
            [count for _, _, count in self.terms],
            [n * (each if at is None else weights[at]) for at, n, _ in self.terms],
        )
        total = each * self.devices.idle + sum(holds[one] for one in self.amounts.bins)
        model.add(body <= total * self.devices.nodes)


def add_content_weights(encoding: Encoding, goal: Linear, budget: Budget) -> None:
    """
    Bound what devices of classes hold by the weights that count for a sum.
    """
    program, columns = relaxation(encoding.model, goal)
    many = []
    for at, item in enumerate(encoding.classes.items):
        for sort in range(len(item.devices.kind.sorts) if item.devices else 0):
            assert item.devices is not None
            amounts = _amounts(item.devices, sort)
            if amounts is not None:
                many.append(_added(encoding, program, columns, at, sort, amounts))
    per_unit = encoding.problem.tuning.search.rows_per_unit
    for _ in range(_MOST_ROUNDS if many else 0):
        budget.charge(program.size / per_unit)
        if budget.left <= 0 or not program.solve():
            return
        if not sum([one.add_missing(program) for one in many]):
            break
    for one in many:
        one.add_weights(encoding.model, program)


def _amounts(devices: ClassDevices, sort: int) -> Amounts | None:
    """
    See one sort of devices by one sum; none where contents are few, or steps too many.
    """
    if not has_many_contents(devices, sort):
        return None
    taken = [one.item for one in devices.items if one is not None and one.sort == sort]
    items = sorted({item for item in taken if isinstance(item, DeviceShare)})
    kind = devices.kind.sorts[sort]
    for dimension, whole in enumerate(kind.fresh.room):
        amounts = [item.room[dimension] for item in items]
        step = gcd(whole, *amounts)
        if amounts and all(amounts) and whole // step <= _MOST_CELLS:
            return Amounts(
                items=tuple(items),
                steps=tuple(amount // step for amount in amounts),
                bins=tuple(one.room[dimension] // step for one in kind.bins),
                fresh=whole // step,
            )
    return None


def _added(
    encoding: Encoding,
    program: LinearProgram,
    columns: dict[int, int],
    at: int,
    sort: int,
    amounts: Amounts,
) -> _ManyContents:
    """
    Ensure that what a class gets of each part lies in contents of its devices.
    """
    item = encoding.classes.items[at]
    devices = item.devices
    assert devices is not None
    terms: list[tuple[int | None, int, Var]] = []
    for shape, counts in encoding.capacity.class_terms(at).items():
        one = devices.items[item.shapes.index(shape)]
        whole = devices.whole[item.shapes.index(shape)]
        if one is not None and one.sort == sort:
            place = amounts.items.index(one.item)
            terms += [(place, one.devices * one.times, count) for count in counts]
        elif whole:
            terms += [(None, whole, count) for count in counts]
    item_rows = [program.row(0.0) for _ in amounts.items]
    idle_row = program.row(devices.idle * devices.nodes)
    for place_at, number, count in terms:
        row = idle_row if place_at is None else item_rows[place_at]
        program.set(row, columns[count.index], number)
    for row, step in zip(item_rows, amounts.steps, strict=True):
        program.column(0.0, [(row, -(amounts.fresh // step)), (idle_row, 1.0)])
    return _ManyContents(devices, amounts, terms, item_rows, idle_row)
