"""
Takers: who gets the room that a waiting unit could have used, and how much of it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from models.devices.gpu_counts import shares_held
from models.gangs import pod_sets
from models.neighbours import Neighbours, linked_kinds
from models.resources import GPU_SHARE, Resources
from models.why.reasons import Facts, listed
from solver.evict.freeze import requests_of
from solver.explain.left_on_devices import lacking_device, of_devices
from solver.explain.room_now import (
    NEVER_SHORT,
    fitting_nodes,
    limits_of,
    matching,
    places_beside,
    strain,
)
from solver.place.draft import Draft
from solver.place.queue_ledger import Ledger
from solver.place.round_state import RoundState
from solver.problem.leaving_pods import NOWHERE
from solver.problem.neighbours.kept_away import told
from solver.problem.neighbours.pods_around import PodsAround
from solver.problem.node_room import Bools, Ints
from solver.problem.problem import Problem, Unit

Said = tuple[Mapping[Neighbours, set[str]], Mapping[str, str]]


class Takers:
    """
    The gangs that a plan binds, reserves or moves, with the room that each gets.
    """

    def __init__(self, bare: Problem, after: Problem, draft: Draft) -> None:
        self._bare = bare
        self.names: list[str] = []
        self._below: dict[tuple[str, bool], Share] = {}
        given = list(self._given(after, draft))
        moves = sum(one.target != NOWHERE for one in after.frozen.exits)
        self.said = said_by(bare, self.names)
        self._is_new = np.arange(len(given)) < len(given) - moves
        gangs, nodes, requests = zip(*given, strict=True) if given else ((), (), ())
        self._gangs = np.array(gangs, dtype=np.int64)
        self._nodes = np.array(nodes, dtype=np.int64)
        kinds = {id(one): one for one in requests}
        place = {name: at for at, name in enumerate(kinds)}
        table = np.array(
            [bare.room.row(dict(one)) for one in kinds.values()], dtype=np.int64
        ).reshape(len(kinds), len(bare.room.resources))
        self._rows = table[[place[id(one)] for one in requests]]
        self._there = self._rows.copy()
        if GPU_SHARE in bare.room.resources:
            held = [
                shares_held(x, bare.room.nodes[at].gpu_memory) for _, at, x in given
            ]
            self._there[:, bare.room.resources.index(GPU_SHARE)] = held
        self._ranks = np.argsort(np.argsort(np.array(self.names, dtype=object)))

    def _given(
        self, after: Problem, draft: Draft
    ) -> Iterator[tuple[int, int, Resources]]:
        """
        Walk the pods that get a place: number of their gang, node, and requests.
        """
        frozen = after.frozen
        for unit in (*after.units, *frozen.units, *frozen.committed):
            for state in unit.states:
                for table in (draft.places, frozen.places, frozen.bound):
                    if state.key in table:
                        at = self._index(state.key)
                        leaves = zip(state.leaves, table[state.key], strict=True)
                        for leaf, hosts in leaves:
                            requests = leaf.pod_set.requests
                            yield from ((at, host, requests) for host in hosts)
                        break
        for one in frozen.exits:
            if one.target != NOWHERE:
                yield self._index(one.gang), one.target, requests_of(after, one)

    def _index(self, name: str) -> int:
        if not self.names or self.names[-1] != name:
            self.names.append(name)
        return len(self.names) - 1

    def on(self, nodes: Bools) -> "Share":
        """
        Give what each gets on some nodes.
        """
        return self._sum(nodes[self._nodes], self._there)

    def in_queue(self, queue: str, *, fixed: bool) -> "Share":
        """
        Give what each gets below a queue; of non-preemptible gangs only if so asked.

        What is moved is charged to its queue already.
        """
        key = (queue, fixed)
        if key not in self._below:
            path = self._bare.queues.path
            below = [
                queue in path(gang.queue) and not (fixed and gang.preemptible)
                for gang in map(self._bare.gangs.__getitem__, self.names)
            ]
            chosen = self._is_new & np.array(below, dtype=bool)[self._gangs]
            self._below[key] = self._sum(chosen, self._rows)
        return self._below[key]

    def _sum(self, chosen: Bools, rows: Ints) -> "Share":
        amounts = np.zeros((len(self.names), rows.shape[1]), dtype=np.int64)
        np.add.at(amounts, self._gangs[chosen], rows[chosen])
        return Share(self.names, self._ranks, amounts)


@dataclass(frozen=True, slots=True)
class Share:
    """
    What gangs get of some room: gangs × resources.

    ``ranks`` are the gangs' places in the order of their names.
    """

    names: Sequence[str]
    ranks: Ints
    amounts: Ints

    def __bool__(self) -> bool:
        """
        Tell whether anybody gets anything.
        """
        return bool(self.amounts.any())

    def total(self, column: int) -> int:
        """
        Add up what all get of a resource.
        """
        return int(self.amounts[:, column].sum())

    def who(self) -> set[str]:
        """
        Name those who get anything.
        """
        several = np.flatnonzero(self.amounts.any(axis=1))
        return {self.names[at] for at in several.tolist()}

    def facts(self, column: int) -> Facts:
        """
        Say who gets how much of a resource, those first that get most.
        """
        amounts = self.amounts[:, column]
        several = np.lexsort((self.ranks, -amounts))[: np.count_nonzero(amounts)]
        names = list(dict.fromkeys(self.names[at] for at in several.tolist()))
        given, to = self.total(column), listed(names, "gang")
        return {"given": given, "gangs": len(names), "to": to}


def room_taken(
    bare: Problem,
    takers: Takers,
    unit: Unit,
    left: Callable[[], Ints],
    *,
    evicting: bool = False,
) -> Facts | None:
    """
    Say who gets what a unit could have used on the nodes where its pods fit now.

    With evictions, on all nodes where its pods may be.  ``left`` gives what is free
    once all have got it, where parts of GPUs are asked for.
    """
    nodes = matching(bare, unit)
    if not evicting:
        nodes &= fitting_nodes(bare, unit)
    share = takers.on(nodes)
    if not share:
        return None
    free = bare.room.now[nodes].clip(min=0).sum(axis=0)
    given = share.amounts.sum(axis=0)
    facts = _device_taken(bare, share, unit, nodes, left)
    if facts is None:
        less = np.where(given, free - given, NEVER_SHORT)
        column, resource, needs = strain(bare, unit, less)
        facts = {"resource": resource, "needs": needs, "free": int(free[column])}
        facts |= share.facts(column)
    return facts | ({"evicting": 1} if evicting else {})


def said_by(problem: Problem, names: Iterable[str]) -> Said:
    """
    Group gangs by what their pods say of others; say which kinds share free volumes.
    """
    found: dict[Neighbours, set[str]] = {}
    for name in names:
        for leaf in pod_sets(problem.gangs[name].tree):
            found.setdefault(leaf.neighbours, set()).add(name)
    volumes = chain.from_iterable(node.volumes for node in problem.room.nodes)
    return found, linked_kinds(volumes)


def concerned(said: Said, unit: Unit) -> list[str]:
    """
    Name gangs whose pods say anything of those that a unit wants, or these of theirs.
    """
    leaves = (leaf for state in unit.states for leaf in state.leaves if leaf.pending)
    ours = {leaf.pod_set.neighbours for leaf in leaves}
    told, linked = said
    found = (y for x, y in told.items() if any(x.concerns(z, linked) for z in ours))
    return sorted({*chain.from_iterable(found)} - {s.key for s in unit.states})


def place_taken(
    bare: Problem, takers: Takers, unit: Unit, now: RoundState, rest: RoundState
) -> Facts | None:
    """
    Name those who start beside whom a unit has no place, if not room alone lacks.

    Who looks for others may find some of those who take its room.
    """
    who = concerned(takers.said, unit)
    near = any(x.pod_set.neighbours.near for s in unit.states for x in s.leaves)
    has_room = bool(who) and places_beside(rest, unit, now.around)
    if not who or (not (near or has_room) and places_beside(now, unit, rest.around)):
        return None
    if not has_room:
        nodes = matching(bare, unit) & fitting_nodes(bare, unit)
        who = sorted({*who, *takers.on(nodes).who()})
    facts: Facts = {"gangs": len(who), "to": listed(who, "gang")}
    return facts | {"detail": rules_told(rest.around, unit)}


def rules_told(around: PodsAround | None, unit: Unit) -> str:
    """
    Say by which rules the first pods of a unit that have any may not be everywhere.
    """
    leaves = (leaf.pod_set for state in unit.states for leaf in state.leaves)
    said = next(leaf.neighbours for leaf in leaves if leaf.neighbours)
    return told(around, said) if around else ""


def _device_taken(
    bare: Problem, share: "Share", unit: Unit, nodes: Bools, left: Callable[[], Ints]
) -> Facts | None:
    """
    Say who gets GPUs, or parts of them, of which a unit then finds too little.
    """
    if bare.room.parts is None:
        return None
    column = bare.room.resources.index(GPU_SHARE)
    if not share.total(column):
        return None
    rows = left()
    resource = lacking_device(bare, unit, rows[nodes].clip(min=0).sum(axis=0))
    if not resource:
        return None
    return of_devices(bare, unit, nodes, rows, resource, "then ") | share.facts(column)


def limit_taken(
    bare: Problem, takers: Takers, unit: Unit, ledger: Ledger
) -> Facts | None:
    """
    Say who gets what a unit could have used of a limit, or of a quota if it is fixed.

    The ``ledger`` says what is left beside all that is planned: also of what others
    leave of a limit.
    """
    for one in limits_of(bare, unit):
        left = (ledger.quota if one.fixed else ledger.limit)[one.queue][one.resource]
        if one.needs > left:
            share = takers.in_queue(one.queue, fixed=one.fixed)
            facts = share.facts(bare.room.resources.index(one.resource))
            free = left + int(facts["given"])
            facts |= {"resource": one.resource, "needs": one.needs, "free": free}
            gone = {"leaving": free - one.left} if free > one.left else {}
            if team := bare.queues.outside.get(one.queue):
                facts |= team.facts(one.resource)
            return facts | {"queue": one.queue} | gone
    return None
