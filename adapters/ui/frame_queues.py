"""
The queues of a frame with their GPUs: what they may use, use now, and use after a plan.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adapters.inventory.gangs import GangRow
from adapters.inventory.listed import Seen
from adapters.inventory.queues import QueueRow, rows_without_gangs
from adapters.ui.gpu_cells import GpuCells
from models.devices.gpu_counts import in_gpus
from models.errors import printable
from models.resources import is_gpu
from solver import RoundMemo

_Parents = Mapping[str, str | None]


def queues_of(
    seen: Seen, rows: Sequence[GangRow], cells: GpuCells, memo: RoundMemo
) -> list[dict[str, Any]]:
    """
    Give each queue with its numbers of GPUs, and then those that only gangs name.

    Where no queue names GPUs, what is used is what its gangs have at work.
    """
    found = {
        printable(row.name): {
            "name": printable(row.name),
            "parent": None if row.queue.parent is None else printable(row.queue.parent),
            "open": row.queue.open,
            **_gpus(row),
        }
        for row in rows_without_gangs(seen, memo)
    }
    parents = {name: queue["parent"] for name, queue in found.items()}
    before, after = Counter[str](), Counter[str]()
    for at, row in enumerate(rows):
        before[printable(row.queue)] += cells.before.get(at, 0)
        after[printable(row.queue)] += cells.then.get(at, 0)
    none = {"parent": None, "open": True, **dict.fromkeys(_NUMBERS)}
    for name in sorted(before.keys() - found.keys()):
        found[name] = {"name": name, **none}
    before, after = (_with_those_above(each, parents) for each in (before, after))
    for name, queue in found.items():
        if queue["used"] is None:
            queue["used"] = in_gpus(before[name])
        queue["after"] = in_gpus(after[name])
    return list(found.values())


_NUMBERS = ("quota", "limit", "share", "used")


def _gpus(row: QueueRow) -> dict[str, Any]:
    named = filter(is_gpu, sorted(row.holdings))
    held = row.gpus or next((row.holdings[name] for name in named), None)
    amounts = {key: getattr(held, key, None) for key in _NUMBERS}
    if not row.counts_parts:
        return amounts
    return {key: None if n is None else in_gpus(n) for key, n in amounts.items()}


def _with_those_above(amounts: Counter[str], parents: _Parents) -> Counter[str]:
    """
    Add what is counted in queues to all that are above them.
    """
    found = Counter[str]()
    for name, amount in amounts.items():
        for above in _path(name, parents):
            found[above] += amount
    return found


def _path(name: str, parents: _Parents) -> Iterator[str]:
    at: str | None = name
    while at is not None:
        yield at
        at = parents.get(at)
