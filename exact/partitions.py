"""
Gangs with claims on GPUs in parts: how many can start, device by device.

Nothing here is known of rows, bins or contents; a device is what it takes of a GPU.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from exact.solved import solved
from solver.effort.cp_sat import cp_model


@dataclass(frozen=True, slots=True)
class PartDevice:
    """
    A device of a node, of a sort; no two that take the same of a GPU are had at once.
    """

    node: str
    sort: str
    takes: frozenset[Hashable]


@dataclass(frozen=True, slots=True)
class ClaimingGang:
    """
    So many pods that start together, each with so many devices of one of some sorts.
    """

    pods: int
    choices: tuple[tuple[str, int], ...]


def most_that_start(
    devices: Iterable[PartDevice], gangs: Sequence[ClaimingGang]
) -> int:
    """
    Count the gangs that can start together at most.
    """
    model = cp_model.CpModel()
    used = {device: model.new_bool_var("") for device in devices}
    nodes = sorted({device.node for device in used})
    starts = [model.new_bool_var("") for _ in gangs]
    wanted: dict[tuple[str, str], list[cp_model.LinearExpr]] = {}
    for gang, does in zip(gangs, starts, strict=True):
        placed = []
        for node in nodes:
            for sort, number in gang.choices:
                pods = model.new_int_var(0, gang.pods, "")
                placed.append(pods)
                wanted.setdefault((node, sort), []).append(number * pods)
        model.add(sum(placed) == gang.pods * does)
    for (node, sort), numbers in wanted.items():
        had = [
            one
            for device, one in used.items()
            if (device.node, device.sort) == (node, sort)
        ]
        model.add(sum(had) == sum(numbers))
    for each in {(device.node, one) for device in used for one in device.takes}:
        model.add_at_most_one(
            one
            for device, one in used.items()
            if device.node == each[0] and each[1] in device.takes
        )
    model.maximize(sum(starts))
    solver = solved(model)
    return 0 if solver is None else round(solver.objective_value)
