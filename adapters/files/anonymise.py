"""
Snapshots without anything private: no name, no label value; the plan stays the same.

New names sort as the old ones did, since names decide between what is equal.  Resources
and well-known label keys keep their names: without them nobody could read the plan.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import TypeVar

from adapters.files.names_in import (
    FIELD,
    claims,
    demands,
    free_volumes,
    keys,
    kinds_of_claims,
    leaf_names,
    namespaces,
    nodes,
    queues,
    selectors,
    strings,
    topologies,
    values,
)
from adapters.files.renamed_neighbours import RenamedNeighbours
from adapters.files.writing.snapshot_writer import usual_names
from models.gangs import DisruptionBudget, Gang, Group, RunKind, Tree
from models.nodes import (
    HOSTNAME,
    LabelRule,
    Node,
    NodeDemand,
    Taint,
    Terms,
    Toleration,
)
from models.snapshot import Snapshot
from models.topology import Topology, TopologyDemand
from models.volume_slots import is_volume_slot, with_claims
from models.why.reasons import Waiting

_NUMBERS = 1_000_000
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
_HIDDEN = "…"
T = TypeVar("T")
Name = TypeVar("Name", str, tuple[str, str])


def anonymised(snapshot: Snapshot) -> Snapshot:
    """
    Give a snapshot in which everything is called otherwise.
    """
    return _Renamer(snapshot).snapshot()


class _Codes:
    """
    New names, in the order of the old ones; none begins like anything that was said.
    """

    def __init__(self, said: set[str]) -> None:
        self._said = said
        self._mark = next(m for m in _marks() if not any(s.startswith(m) for s in said))

    def __call__(self, letter: str, names: Iterable[Name]) -> dict[Name, str]:
        ordered = sorted(set(names))
        width = len(str(len(ordered)))
        return {
            name: f"{self._mark}{letter}{at:0{width}}"
            for at, name in enumerate(ordered)
        }

    def of_values(
        self, found_in: Mapping[str, tuple[set[str], bool]], nodes: Mapping[str, str]
    ) -> dict[tuple[str, str], str]:
        """
        Give each value of each key a new one; numbers that are compared stay numbers.
        """
        found: dict[tuple[str, str], str] = {}
        for key, (texts, compared) in found_in.items():
            if key == HOSTNAME or key.startswith(FIELD):
                others = self("o", texts - nodes.keys())
                for text in texts:
                    found[key, text] = nodes.get(text) or others[text]
                continue
            numbers = {t for t in texts if compared and _is_number(t)}
            free = (str(n) for n in count(_NUMBERS) if str(n) not in self._said)
            ranks = dict(zip(sorted({int(t) for t in numbers}), free, strict=False))
            found |= {(key, text): ranks[int(text)] for text in numbers}
            codes = self("v", texts - numbers)
            found |= {(key, text): code for text, code in codes.items()}
        return found


class _Renamer:
    """
    The new names of everything in one snapshot.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._old = snapshot
        wanted = list(demands(snapshot))
        codes = _Codes(set(strings(snapshot, wanted)))
        gangs = snapshot.gangs
        self._gangs = codes("g", ((g.namespace, g.name) for g in gangs))
        mates = {key for gang in gangs for key in (*gang.mates, *gang.lent_by)}
        self._mates = codes("h", mates - {gang.key for gang in gangs})
        self._spaces = codes("s", namespaces(snapshot))
        self._queues = codes("q", queues(snapshot))
        self._nodes = codes("n", nodes(snapshot))
        self._topologies = codes("t", topologies(snapshot))
        self._budgets = codes("b", (b.name for b in snapshot.budgets))
        self._leaves = codes("l", leaf_names(gangs))
        self._keys = codes("k", keys(snapshot, wanted))
        self._values = codes.of_values(values(snapshot, wanted), self._nodes)
        self._claims = codes("c", claims(snapshot))
        kinds = {*kinds_of_claims(snapshot)}
        slots = dict.fromkeys(filter(is_volume_slot, kinds), 0)
        self._neighbours = RenamedNeighbours(
            selectors=codes("p", selectors(snapshot)),
            keys=self._keys,
            kinds={
                **codes("w", (x for x in kinds if not is_volume_slot(x))),
                **dict(zip(slots, with_claims(slots, self._claims), strict=True)),
            },
            volumes=codes("f", (x.name for x in free_volumes(snapshot))),
            claims=self._claims,
        )

    def snapshot(self) -> Snapshot:
        old = self._old
        return Snapshot(
            nodes=_sorted(map(self._node, old.nodes), lambda node: node.name),
            gangs=_sorted(map(self._gang, old.gangs), lambda g: (g.namespace, g.name)),
            queues=_sorted(
                (
                    replace(
                        queue,
                        name=self._queues[queue.name],
                        parent=queue.parent and self._queues[queue.parent],
                    )
                    for queue in old.queues
                ),
                lambda queue: queue.name,
            ),
            topologies=_sorted(map(self._topology, old.topologies), lambda t: t.name),
            budgets=_sorted(map(self._budget, old.budgets), lambda b: b.name),
            unchanged_for=old.unchanged_for,
            held=old.held,
            also_waiting=old.also_waiting,
            run_times=old.run_times.renamed(self._kind),
        )

    def _topology(self, topology: Topology) -> Topology:
        levels = tuple(map(self._key, topology.levels))
        return Topology(name=self._topologies[topology.name], levels=levels)

    def _key(self, key: str) -> str:
        return self._keys.get(key, key)

    def _node(self, node: Node) -> Node:
        return replace(
            node,
            name=self._nodes[node.name],
            allocatable=with_claims(node.allocatable, self._claims),
            used=with_claims(node.used, self._claims),
            tied=tuple(with_claims(one, self._claims) for one in node.tied),
            others=self._neighbours.others(node),
            volumes=self._neighbours.volumes_of(node),
            labels={
                self._key(key): self._values[key, value]
                for key, value in node.labels.items()
            },
            taints=tuple(
                Taint(
                    key=self._key(t.key),
                    value=t.value and self._values[t.key, t.value],
                    effect=t.effect,
                )
                for t in node.taints
            ),
        )

    def _gang(self, gang: Gang) -> Gang:
        name = self._gangs[gang.namespace, gang.name]
        refused = gang.refused
        return usual_names(
            replace(
                gang,
                name=name,
                namespace=self._spaces[gang.namespace],
                tree=self._tree(gang.tree, name),
                queue=self._queues[gang.queue],
                mates=tuple(sorted(map(self._mate, gang.mates))),
                lent_by=tuple(sorted(map(self._mate, gang.lent_by))),
                refused=refused and Waiting(refused.reason, _facts(refused)),
                runs_like=gang.runs_like and self._kind(gang.runs_like),
            )
        )

    def _kind(self, kind: RunKind) -> RunKind:
        return RunKind(self._queues[kind.queue], self._spaces[kind.owner], kind.gpus)

    def _mate(self, mate: str) -> str:
        namespace, _, name = mate.partition("/")
        if (namespace, name) in self._gangs:
            return f"{self._spaces[namespace]}/{self._gangs[namespace, name]}"
        return f"{self._mates[mate]}/{self._mates[mate]}"

    def _tree(self, tree: Tree, name: str) -> Tree:
        topology = self._demand_for(tree.topology)
        if isinstance(tree, Group):
            children = tuple(self._tree(c, self._leaves[c.name]) for c in tree.children)
            return replace(tree, name=name, children=children, topology=topology)
        return replace(
            tree,
            name=name,
            requests=with_claims(tree.requests, self._claims),
            neighbours=self._neighbours.of(tree.neighbours),
            demand=self._demand(tree.demand),
            after=tuple(sorted(self._leaves[leaf] for leaf in tree.after)),
            topology=topology,
            gates=(),
            pods=tuple(
                replace(pod, node=pod.node and self._nodes[pod.node])
                for pod in tree.pods
            ),
        )

    def _demand_for(self, demand: TopologyDemand | None) -> TopologyDemand | None:
        if demand is None:
            return None
        return TopologyDemand(
            topology=self._topologies[demand.topology],
            required=demand.required and self._key(demand.required),
            preferred=demand.preferred and self._key(demand.preferred),
        )

    def _demand(self, demand: NodeDemand) -> NodeDemand:
        selector = (
            (self._key(key), self._values[key, value]) for key, value in demand.selector
        )
        tolerations = (
            Toleration(
                key=t.key and self._key(t.key),
                operator=t.operator,
                value=t.value and self._values[t.key, t.value],
                effect=t.effect,
            )
            for t in demand.tolerations
        )
        return NodeDemand(
            selector=tuple(sorted(selector)),
            terms=None if demand.terms is None else self._terms(demand.terms),
            tolerations=tuple(sorted(tolerations, key=repr)),
            volumes=tuple(sorted(map(self._terms, demand.volumes), key=repr)),
        )

    def _terms(self, terms: Terms) -> Terms:
        renamed = (tuple(sorted(map(self._rule, t), key=repr)) for t in terms)
        return tuple(sorted(renamed, key=repr))

    def _rule(self, rule: LabelRule) -> LabelRule:
        return LabelRule(
            key=self._key(rule.key),
            operator=rule.operator,
            values=tuple(sorted(self._values[rule.key, v] for v in rule.values)),
        )

    def _budget(self, budget: DisruptionBudget) -> DisruptionBudget:
        return replace(
            budget,
            name=self._budgets[budget.name],
            gangs=tuple(sorted(map(self._mate, budget.gangs))),
        )


def _facts(refused: Waiting) -> Mapping[str, str | int]:
    """
    Keep the numbers of a reason; its words name things.
    """
    return {
        key: fact if isinstance(fact, int) else _HIDDEN
        for key, fact in refused.facts.items()
    }


def _sorted(
    things: Iterable[T], key: Callable[[T], tuple[str, ...] | str]
) -> tuple[T, ...]:
    return tuple(sorted(things, key=key))


def _marks() -> Iterator[str]:
    for length in count(1):
        yield "z" * length


def _is_number(text: str) -> bool:
    return _WHOLE.fullmatch(text) is not None
