"""
The columns of what ``get`` lists.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from adapters.cli.views.held_for import held_for, held_words
from adapters.cli.views.listing import ListColumn, Listing, none_of, span
from adapters.cli.views.owed import over_time_words, used_over_time
from adapters.compare.outcome import percent
from adapters.inventory.gangs import GangRow
from adapters.inventory.listed import Seen
from adapters.inventory.nodes import NodeRow
from adapters.inventory.queues import QueueRow
from models.devices.gpu_counts import (
    counted_gpus,
    gpus_asked,
    in_gpus,
    shown_amount,
    shown_gpus,
)
from models.gangs import PodPhase
from models.resources import CPU, GPU, GPU_SHARE, MEMORY, PODS, format_quantity
from models.why.reasons import counted

NOTHING = "–"
_WAITS = frozenset({"Waiting", "Reserved"})
Record = Mapping[str, Any]


_GANGS: Final[list[ListColumn[GangRow]]] = [
    ListColumn("NAME", lambda row: row.key),
    ListColumn("QUEUE", lambda row: row.queue),
    ListColumn("STATE", lambda row: row.state),
    ListColumn(
        "PODS",
        lambda row: f"{row.pods[PodPhase.RUNNING]:,}/{row.total:,}",
        by=lambda row: row.total,
        right=True,
        plain={
            "pods_running": lambda row: row.pods[PodPhase.RUNNING],
            "pods_total": lambda row: row.total,
        },
    ),
    ListColumn("MIN", lambda row: f"{row.minimum:,}", wide=True, right=True),
    ListColumn(
        "GPUS", lambda row: shown_gpus(row.gpus), by=lambda row: row.gpus, right=True
    ),
    ListColumn(
        "PRIORITY",
        lambda row: str(row.priority),
        by=lambda row: row.priority,
        wide=True,
        right=True,
    ),
    ListColumn(
        "AGE",
        lambda row: span(row.seconds),
        by=lambda row: row.seconds,
        plain={"age_seconds": lambda row: row.seconds},
    ),
    ListColumn("REASON", lambda row: (row.why and row.why.reason) or NOTHING),
    ListColumn("WAITS FOR", lambda row: row.waits_for or NOTHING),
    ListColumn("STARTS", lambda row: row.starts or NOTHING),
]
_GANGS_WIDE: Final[list[ListColumn[GangRow]]] = [
    ListColumn("NODES", lambda row: " ".join(row.nodes) or NOTHING, wide=True),
    ListColumn("MESSAGE", lambda row: row.message, wide=True),
]


def gangs_of(seen: Seen) -> Listing[GangRow]:
    """
    Show gangs as they are now.
    """
    return Listing(
        kind="GangList",
        by_name=True,
        columns=[*_GANGS, *_GANGS_WIDE],
        name=lambda row: row.key,
        document=GangRow.document,
        state=lambda row: row.state,
        foot=partial(_gangs, seen),
        empty=none_of(len(seen.snapshot.gangs), "gang", seen.source),
    )


def _gangs(seen: Seen, rows: Sequence[GangRow]) -> str:
    states = Counter(row.state for row in rows)
    parts = [f"{number:,} {state.lower()}" for state, number in sorted(states.items())]
    text = f"{counted(len(rows), 'gang')}: {', '.join(parts)}"
    if seen.whys_from and any(row.why for row in rows):
        text = f"{text}\nreasons {seen.whys_from}"
    total = gpus_asked((node.allocatable, 1) for node in seen.snapshot.nodes)
    used = in_gpus(sum(row.held for row in rows))
    if not total:
        return text
    base = f"{counted_gpus(total)} of all nodes"
    head, *rest = text.split("\n")
    held = f"they hold {shown_gpus(used)} of {base} ({_share(used, total)})"
    return "\n".join([f"{head}; {held}", *rest])


def _num_waiting(row: QueueRow) -> int:
    return sum(row.gangs.get(word, 0) for word in _WAITS)


_QUEUES: Final[list[ListColumn[QueueRow]]] = [
    ListColumn("NAME", lambda row: row.name),
    ListColumn("PARENT", lambda row: row.queue.parent or NOTHING),
    ListColumn("STATE", lambda row: row.state),
    ListColumn(
        "RUNNING",
        lambda row: f"{row.gangs.get('Running', 0):,}",
        by=lambda row: row.gangs.get("Running", 0),
        right=True,
    ),
    ListColumn(
        "WAITING",
        lambda row: f"{_num_waiting(row):,}",
        by=_num_waiting,
        right=True,
    ),
]


def queues_of(seen: Seen) -> Listing[QueueRow]:
    """
    Show queues with their GPUs; ``wide`` with the other resources.
    """
    heads = {**_HOLDINGS, **(_KEPT if _keeps(seen) else {})}
    return Listing(
        kind="QueueList",
        columns=[
            *_QUEUES,
            *(_held(head, pick) for head, pick in heads.items()),
            *used_over_time(seen),
            *held_for(seen),
            *(
                _held(head, pick, resource)
                for resource in _others(seen)
                for head, pick in heads.items()
            ),
        ],
        name=lambda row: row.name,
        document=QueueRow.document,
        state=lambda row: row.state,
        foot=lambda rows: (
            f"{counted(len(rows), 'queue')}; "
            f"SHARE is what a queue is entitled to now{_of_parents(seen)}"
            f"{'; KEPT is not lent' if _keeps(seen) else ''}{over_time_words(seen)}"
            f"{held_words(seen)}"
        ),
        empty=none_of(
            len(seen.snapshot.queues),
            "queue",
            seen.source,
            ": every gang is in one without bounds",
        ),
    )


def _of_parents(seen: Seen) -> str:
    if all(queue.parent is None for queue in seen.snapshot.queues):
        return ""
    return "; a parent counts what is below it, of gangs only its own"


def _held(
    head: str, pick: Callable[[Any], int | None], resource: str = GPU
) -> ListColumn[QueueRow]:
    """
    Show one amount of a resource in a queue; wide where it is not GPUs.
    """

    def cell(row: QueueRow) -> str:
        held = row.gpus if resource == GPU else row.holdings.get(resource)
        unit = GPU_SHARE if resource == GPU and row.counts_parts else resource
        return NOTHING if held is None else _amount(unit, pick(held))

    if resource != GPU:
        word = f"{resource.upper()} {head.removeprefix('GPUS ')}"
        return ListColumn(word, cell, wide=True, right=True)

    def key(row: QueueRow) -> int:
        return -1 if row.gpus is None else pick(row.gpus) or 0

    return ListColumn(head, cell, by=key, right=True)


_HOLDINGS: Mapping[str, Any] = {
    "GPUS USED": lambda held: held.used,
    "SHARE": lambda held: held.share,
    "QUOTA": lambda held: held.quota,
    "LIMIT": lambda held: held.limit,
}
_KEPT: Mapping[str, Any] = {"KEPT": lambda held: held.kept}


def _keeps(seen: Seen) -> bool:
    return any(queue.keeps for queue in seen.snapshot.queues)


def _others(seen: Seen) -> list[str]:
    named = {name for queue in seen.snapshot.queues for name in queue.resources}
    return sorted(named - {GPU, GPU_SHARE})


def _amount(resource: str, amount: int | None) -> str:
    if amount is None:
        return "none"
    return f"{amount:,}" if resource == GPU else shown_amount(resource, amount)


def _free(resource: str) -> Callable[[NodeRow], str]:
    return lambda row: format_quantity(resource, row.free.get(resource, 0))


_NODES: Final[list[ListColumn[NodeRow]]] = [
    ListColumn("NAME", lambda row: row.name),
    ListColumn("STATE", lambda row: row.state),
    ListColumn(
        "GPUS USED",
        lambda row: f"{shown_gpus(row.gpus_used)}/{shown_gpus(row.gpus)}",
        by=lambda row: row.gpus_used,
        right=True,
        plain={"gpus_used": lambda row: row.gpus_used, "gpus": lambda row: row.gpus},
    ),
    ListColumn(
        "FREE",
        lambda row: shown_gpus(row.gpus_free),
        by=lambda row: row.gpus_free,
        right=True,
    ),
    ListColumn(
        "PODS", lambda row: f"{row.pods:,}", by=lambda row: row.pods, right=True
    ),
    ListColumn(
        "GANGS",
        lambda row: f"{len(row.gangs):,}",
        by=lambda row: len(row.gangs),
        right=True,
    ),
    ListColumn("FREE CPU", _free(CPU), wide=True, right=True),
    ListColumn("FREE MEMORY", _free(MEMORY), wide=True, right=True),
    ListColumn("FREE PODS", _free(PODS), wide=True, right=True),
]


def nodes_of(seen: Seen) -> Listing[NodeRow]:
    """
    Show nodes with what is left on them, and where they are.
    """
    levels = [level for known in seen.snapshot.topologies for level in known.levels]
    return Listing(
        kind="NodeList",
        by_name=True,
        columns=[*_NODES, *map(_level, dict.fromkeys(levels))],
        name=lambda row: row.name,
        document=NodeRow.document,
        state=lambda row: row.state,
        foot=_nodes,
        empty=none_of(len(seen.snapshot.nodes), "node", seen.source),
    )


def _level(level: str) -> ListColumn[NodeRow]:
    head = level.rpartition("/")[2].upper()
    return ListColumn(head, lambda row: row.node.labels.get(level, NOTHING), wide=True)


def _nodes(rows: Sequence[NodeRow]) -> str:
    total = sum(row.gpus for row in rows)
    text = counted(len(rows), "node")
    closed = sum(row.state == "Closed" for row in rows)
    text += f", {closed:,} closed" if closed else ""
    if not total:
        return text
    used = sum(row.gpus_used for row in rows)
    held = f"{shown_gpus(used)} of {counted_gpus(total)} used"
    return f"{text}; {held} ({_share(used, total)})"


def _share(part: float, total: float) -> str:
    return percent(part / total) if part else "0 %"
