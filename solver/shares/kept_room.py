"""
Room that queues keep of their quotas: what all others together may hold beside it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from models.nodes import Node
from models.queues import Queue, QueueResource, queues_above
from models.resources import format_quantity
from models.snapshot import Snapshot
from models.why.reasons import Fact

Limits = Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class Outsiders:
    """
    The queues that are no part of some that keep room, as one queue with a limit.

    Σ running of the members ≤ limit = what there is - Σ kept; what is kept counts as
    there, though nodes may be gone.
    """

    queue: Queue
    members: frozenset[str]
    keepers: Sequence[Queue]
    top: str | None

    def facts(self, resource: str) -> dict[str, Fact]:
        """
        Say who they are, and who keeps how much from them.
        """
        names = " and ".join(keeper.name for keeper in self.keepers)
        below = f" of {self.top}" if self.top else ""
        return {
            "outside": f"all queues{below} but {names}",
            "kept": " and ".join(
                f"queue {keeper.name} keeps {format_quantity(resource, rule.kept)} "
                f"of its {format_quantity(resource, rule.quota or 0)} for itself"
                for keeper in self.keepers
                if (rule := keeper.rule(resource)).kept
            ),
        }


def outsiders(snapshot: Snapshot) -> list[Outsiders]:
    """
    List all whom kept room bounds: for queues that keep some, all that are no part.

    Σ running of those outside ≤ total - Σ kept, for every set of queues of which none
    is below another; below a queue with a limit that limit is the total.  So Σ over
    queues of max(kept, running) never passes the total.
    """
    queues = {queue.name: queue for queue in snapshot.queues}
    keeping = [queue for queue in snapshot.queues if queue.keeps]
    if not keeping:
        return []
    above = {name: queues_above(queues, name) for name in queues}
    totals = _totals(snapshot)
    limits: list[tuple[str | None, Limits]] = [(None, totals)]
    limits += [
        (q.name, {name: q.rule(name).limit for name in totals}) for q in snapshot.queues
    ]
    kept = {name: _kept(snapshot.queues, above, name) for name in totals}
    return [
        _outside(top, limit, some, above, {name: kept[name][top] for name in totals})
        for top, limit in limits
        for some in _apart([q for q in keeping if _is_below(top, above[q.name])], above)
        if any(q.rule(name).kept for q in some for name, most in limit.items() if most)
    ]


def _kept(
    queues: Sequence[Queue], above: Mapping[str, Sequence[str]], resource: str
) -> dict[str | None, int]:
    """
    Add up what is kept below each queue: by one below it, or by those below that one.
    """
    kept: dict[str | None, int] = {None: 0, **{queue.name: 0 for queue in queues}}
    for queue in sorted(queues, key=lambda queue: -len(above[queue.name])):
        parent = queue.parent if queue.parent in kept else None
        kept[parent] += max(queue.rule(resource).kept, kept[queue.name])
    return kept


def _totals(snapshot: Snapshot) -> dict[str, int]:
    named = sorted({name for queue in snapshot.queues for name in queue.resources})
    return {
        name: sum(_offered(node, name) for node in snapshot.nodes) for name in named
    }


def _offered(node: Node, resource: str) -> int:
    return max(0, node.offers(resource))


def _is_below(top: str | None, path: Sequence[str]) -> bool:
    return top is None or top in path[1:]


def _apart(
    keeping: Sequence[Queue], above: Mapping[str, Sequence[str]]
) -> Iterator[tuple[Queue, ...]]:
    """
    Walk the sets of queues of which none is below another.
    """
    for number in range(1, len(keeping) + 1):
        for some in combinations(keeping, number):
            names = {queue.name for queue in some}
            if all(names.isdisjoint(above[name][1:]) for name in names):
                yield some


def _outside(
    top: str | None,
    limits: Limits,
    keepers: Sequence[Queue],
    above: Mapping[str, Sequence[str]],
    below: Mapping[str, int],
) -> Outsiders:
    names = [queue.name for queue in keepers]
    rules = {}
    for resource, total in limits.items():
        kept = sum(queue.rule(resource).kept for queue in keepers)
        most = None if total is None else max(total, below[resource])
        limit = None if most is None or not kept else most - kept
        rules[resource] = QueueResource(quota=None, limit=limit)
    queue = Queue(name=f"{top or 'all'} but {', '.join(names)}", resources=rules)
    members = frozenset(
        name
        for name, path in above.items()
        if (top is None or top in path) and not set(names) & set(path)
    )
    return Outsiders(queue, members, keepers, top)
