"""
An answer of a step with evictions, turned into a draft: who leaves, and who goes where.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from models.gangs import Gang, pod_sets
from models.plan import Rule
from models.resources import num_gpus
from solver.decode.deal_places import Decoded, decode
from solver.effort.budget import Budget
from solver.encode.leaving.step_encoding import StepEncoding
from solver.encode.node_classes import NodeClass
from solver.encode.variables import (
    ChoiceVars,
    Linear,
    RigidVars,
    TypeVars,
    Var,
)
from solver.evict.freeze import without
from solver.evict.moved_gangs import Mover, with_pods
from solver.evict.victims import Thing, Wide
from solver.problem.gang_state import Standing
from solver.problem.leaving_pods import NOWHERE, Exit
from solver.problem.pod_shapes import Shapes
from solver.problem.problem import Problem, Unit
from solver.problem.running_gangs import Runner

Value = Callable[[Var], int]


def decode_step(
    encoding: StepEncoding, value: Value, budget: Budget
) -> tuple[Decoded, bool]:
    """
    Turn an answer into a draft with exits; say whether all that moves found its place.
    """
    return Decoding(encoding, value, budget).run()


@dataclass(slots=True)
class _Moved:
    """
    What is moved of one sort: the units that need a place.
    """

    kind: TypeVars
    units: list[Unit]


class Decoding:
    """
    One answer being read: who leaves, which nodes that converts, and who goes where.
    """

    def __init__(self, encoding: StepEncoding, value: Value, budget: Budget) -> None:
        self.encoding = encoding
        self.value = value
        self.budget = budget
        self.leaving = encoding.leaving
        self.victims = encoding.leaving.victims
        self.bins: list[list[int]] = [[] for _ in encoding.classes.items]
        self.gone: dict[int, list[tuple[Thing, int]]] = {}
        self.exits: list[Exit] = []
        self.moved: list[_Moved] = []

    def run(self) -> tuple[Decoded, bool]:
        """
        Give the draft, and whether all that moves found its place.
        """
        self.assign_nodes()
        moving = self._choose_rules()
        self._make_movers(moving)
        problem = without(self.encoding.problem, self.exits)
        problem = _with_movers(problem, self.moved)
        types = [*self.encoding.types, *(moved.kind for moved in self.moved)]
        decoded = decode(
            replace(
                self.encoding,
                problem=problem,
                types=types,
                classes=replace(self.encoding.classes, items=self.items()),
            ),
            self.value,
            self.budget,
        )
        return self._with_targets(decoded)

    def assign_nodes(self) -> None:
        """
        Deal the options of each group to its nodes, in their order.
        """
        for g, group in enumerate(self.leaving.conversion.groups):
            at = 0
            for o, option in enumerate(group.options):
                number = self.value(self.leaving.taken[g, o])
                for node in group.nodes[at : at + number]:
                    self._join(option.bin, node)
                    for column, count in enumerate(option.taken):
                        if count:
                            things = group.things(self.victims, node, column)
                            self.take(group.accounts[column], node, count, things)
                at += number
            for node in group.nodes[at:]:
                self._join(group.base, node)
        for c, crowd in enumerate(self.leaving.conversion.crowds):
            joined = [
                level.bin
                for x, level in enumerate(crowd.levels)
                if self.value(self.leaving.joins[c, x])
            ]
            self._join(joined[0] if joined else crowd.base, crowd.node)
            for account in crowd.accounts:
                literals = self.leaving.crowd.get((c, account), ())
                here = self.victims.on_node[crowd.node][account]
                self.take(account, crowd.node, sum(map(self.value, literals)), here)

    def _join(self, number: int, node: int) -> None:
        if number >= 0:
            self.bins[number].append(node)

    def take(
        self, account: int, node: int, count: int, things: Sequence[Thing]
    ) -> None:
        """
        Let so many of some things of an account leave a node, the least loss first.
        """
        if not count:
            return
        ordered = sorted(
            things, key=lambda thing: (thing.cost, thing.gang.key, -thing.pods[0][0])
        )
        row = self.gone.setdefault(account, [])
        row += [(thing, node) for thing in ordered[:count]]

    def items(self) -> tuple[NodeClass, ...]:
        """
        Give every bin the nodes that are converted to it.
        """
        return tuple(
            replace(
                item,
                nodes=tuple(nodes),
                parts=tuple(replace(part, nodes=tuple(nodes)) for part in item.parts),
            )
            for item, nodes in zip(self.encoding.classes.items, self.bins, strict=True)
        )

    def _sum(self, row: Linear) -> int:
        return row.constant + sum(
            c * self.value(v)
            for v, c in zip(row.variables, row.coefficients, strict=True)
        )

    # --- who leaves by which rule -------------------------------------------------

    def _choose_rules(self) -> dict[int, list[tuple[Thing, int]]]:
        """
        Split what leaves of each account into moved, reclaimed and preempted.

        Gives what is moved, by account.
        """
        moving: dict[int, list[tuple[Thing, int]]] = {}
        for account, things in sorted(self.gone.items()):
            record = self.victims.accounts[account]
            if record.wide >= 0:
                continue
            parting = self.leaving.parting[account]
            things.sort(key=lambda item: (item[0].cost, item[0].gang.key))
            moved = self._sum(parting["consolidate"])
            moving[account] = things[:moved]
            preempted = self._sum(parting["preempt"])
            for i, (thing, node) in enumerate(things[moved:]):
                rule: Rule = "preempt" if i < preempted else "reclaim"
                self._leave(
                    thing.gang, [(r, node) for r in thing.pods], rule, whole=True
                )
        for at, wide in enumerate(self.victims.wide):
            self._choose_wide(at, wide, moving)
        return moving

    def _choose_wide(
        self, at: int, wide: Wide, moving: dict[int, list[tuple[Thing, int]]]
    ) -> None:
        dead = bool(self.value(self.leaving.dead[at]))
        away = at in self.leaving.away and bool(self.value(self.leaving.away[at]))
        if away:
            return
        if wide.state is None:
            if dead:
                parting = self.leaving.parting[wide.accounts[0]]
                rule: Rule = "preempt" if self._sum(parting["preempt"]) else "reclaim"
                runners = list(zip(wide.pods, wide.hosts, strict=True))
                self._leave(wide.gang, runners, rule, whole=True)
            return
        for account in wide.accounts:
            parting = self.leaving.parting[account]
            things = self.gone.get(account, [])
            single = self.leaving.drifting.get(account)
            moved = 0 if single is None else self.value(single)
            moving[account] = things[:moved]
            runners = [(r, node) for thing, node in things[moved:] for r in thing.pods]
            if dead:
                runners += self._lost(account, wide)
            preempted = self._sum(parting["preempt"])
            self._leave(wide.gang, runners[:preempted], "preempt", whole=dead)
            self._leave(wide.gang, runners[preempted:], "reclaim", whole=dead)

    def _lost(self, account: int, wide: Wide) -> Iterator[tuple[Runner, int]]:
        """
        Walk the pods of an account on nodes that are gone.
        """
        leaf = self.victims.accounts[account].leaf
        first = next(a for a in wide.accounts if self.victims.accounts[a].leaf == leaf)
        for runner, host in zip(wide.pods, wide.hosts, strict=True):
            if host == NOWHERE and runner[0] == leaf and account == first:
                yield runner, host

    def _leave(
        self,
        gang: Gang,
        runners: Sequence[tuple[Runner, int]],
        rule: Rule,
        *,
        whole: bool,
    ) -> None:
        leaves = tuple(pod_sets(gang.tree)) if runners else ()
        problem = self.encoding.problem
        band, values = problem.bands.of(gang.priority), problem.values
        for (leaf, pod), node in runners:
            self.exits.append(
                Exit(
                    gang=gang.key,
                    leaf=leaf,
                    pod=pod,
                    host=node,
                    gpus=num_gpus(leaves[leaf].requests),
                    work=values.work(leaves[leaf].requests, pod.seconds),
                    size=values.of_pod(leaves[leaf].requests),
                    rule=rule,
                    whole=whole,
                    band=band,
                )
            )

    # --- what is moved ------------------------------------------------------------

    def _make_movers(self, moving: Mapping[int, list[tuple[Thing, int]]]) -> None:
        """
        Name the gangs and pods that are moved, and let them leave.
        """
        pairs = zip(self.encoding.movers, self.encoding.mover_types, strict=True)
        for mover, kind in pairs:
            groups: list[tuple[Gang, list[tuple[Runner, int]]]] = []
            if mover.wide >= 0:
                wide = self.victims.wide[mover.wide]
                if self.value(self.leaving.away[mover.wide]):
                    runners = list(zip(wide.pods, wide.hosts, strict=True))
                    groups.append((wide.gang, runners))
            else:
                record = self.victims.accounts[mover.account]
                if mover.single != (record.wide >= 0):
                    continue
                for thing, node in moving.get(mover.account, ()):
                    groups.append((thing.gang, [(r, node) for r in thing.pods]))
            if groups:
                self._move(mover, kind, groups)

    def _move(
        self,
        mover: Mover,
        kind: TypeVars,
        groups: Sequence[tuple[Gang, list[tuple[Runner, int]]]],
    ) -> None:
        units = []
        for number, (gang, runners) in enumerate(groups):
            self._leave(gang, runners, "consolidate", whole=not mover.single)
            pods = [runner for runner, _ in runners]
            units.append(with_pods(mover, pods, f"{number}"))
        states = [_renamed(vars_, units[0].states[0]) for vars_ in kind.states]
        named = replace(kind, units=tuple(units), states=states)
        self.moved.append(_Moved(named, units))

    def _with_targets(self, decoded: Decoded) -> tuple[Decoded, bool]:
        """
        Write the places of what is moved into the exits.
        """
        draft = decoded.draft
        places = dict(draft.places)
        targets: dict[int, int] = {}
        done = True
        for moved in self.moved:
            for unit in moved.units:
                found = places.pop(unit.key, None)
                if found is None:
                    done = False
                    continue
                for i, hosts in enumerate(found):
                    pods = unit.states[0].leaves[i].pending
                    for pod, host in zip(pods, sorted(hosts), strict=True):
                        targets[id(pod)] = host
        exits = tuple(
            replace(one, target=targets.get(id(one.pod), NOWHERE))
            if one.rule == "consolidate"
            else one
            for one in self.exits
        )
        result = replace(
            draft, places=places, exits=exits, guaranteed=self._guaranteed()
        )
        return replace(decoded, draft=result), done

    def _guaranteed(self) -> frozenset[str]:
        """
        Name the starts that an answer counts as guaranteed.
        """
        found: set[str] = set()
        for kind in self.encoding.types:
            sure = kind.guaranteed.variable
            number = 0 if sure is None else self.value(sure)
            for unit in kind.units[:number]:
                found.update(state.key for state in unit.states)
        return frozenset(found)


def _renamed(vars_: RigidVars | ChoiceVars, state: Standing) -> RigidVars | ChoiceVars:
    return replace(vars_, state=state)


def _with_movers(problem: Problem, moved: Sequence[_Moved]) -> Problem:
    """
    Let moved gangs stand among those that need a place.
    """
    if not moved:
        return problem
    of_leaf = dict(problem.shapes.of_leaf)
    units = list(problem.units)
    for one in moved:
        sample = one.kind.states[0].state
        first = _base_key(sample.key)
        for unit in one.units:
            state = unit.states[0]
            for i in range(len(state.leaves)):
                of_leaf[state.key, i] = of_leaf[first, i]
            units.append(unit)
    shapes: Shapes = replace(problem.shapes, of_leaf=of_leaf)
    return replace(problem, shapes=shapes, units=tuple(units))


def _base_key(key: str) -> str:
    """
    Give the name of the sample that a moved unit was made from.
    """
    return key.rsplit("*", 1)[0]
