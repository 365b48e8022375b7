"""
An answer of a step with evictions, turned into a draft: who leaves, and who goes where.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from models.gangs import Gang
from solver.decode.converted_nodes import ConvertedNodes
from solver.decode.deal_places import Decoded, decode
from solver.decode.exit_rules import ExitRules, Gone, Value
from solver.effort.budget import Budget
from solver.encode.encoding import Encoding
from solver.encode.leaving.variables import Leaving
from solver.encode.node_classes import NodeClass
from solver.encode.variables import ChoiceVars, RigidVars, TypeVars
from solver.evict.freeze import without
from solver.evict.moved_gangs import Mover, with_pods
from solver.problem.gang_state import Standing
from solver.problem.leaving_pods import NOWHERE
from solver.problem.pod_shapes import Shapes
from solver.problem.problem import Problem, Unit
from solver.problem.running_gangs import Runner


def decode_step(
    encoding: Encoding, leaving: Leaving, value: Value, budget: Budget
) -> tuple[Decoded, bool]:
    """
    Turn an answer into a draft with exits; say whether all that moves found its place.
    """
    nodes = ConvertedNodes(encoding, leaving, value)
    return decode_leaving(encoding, leaving, value, budget, nodes.gone, nodes.items())


def decode_leaving(
    encoding: Encoding,
    leaving: Leaving,
    value: Value,
    budget: Budget,
    gone: Gone,
    items: tuple[NodeClass, ...],
) -> tuple[Decoded, bool]:
    """
    Turn an answer into a draft, where it is known what leaves which nodes.
    """
    classes = replace(encoding.classes, items=items)
    found = _Decoding(replace(encoding, classes=classes), leaving, value, gone)
    return found.run(budget)


@dataclass(slots=True)
class _Moved:
    """
    What is moved of one kind: the units that need a place.
    """

    kind: TypeVars
    units: list[Unit]


class _Decoding:
    """
    One answer being read: by which rules victims leave, and who goes where.
    """

    def __init__(
        self, encoding: Encoding, leaving: Leaving, value: Value, gone: Gone
    ) -> None:
        self.encoding = encoding
        self.value = value
        self.leaving = leaving
        self.victims = leaving.victims
        self.rules = ExitRules(encoding.problem, leaving, value, gone)
        self.moved: list[_Moved] = []

    def run(self, budget: Budget) -> tuple[Decoded, bool]:
        """
        Give the draft, and whether all that moves found its place.
        """
        self._make_movers()
        problem = without(self.encoding.problem, self.rules.exits)
        problem = _with_movers(problem, self.moved)
        types = [*self.encoding.types, *(moved.kind for moved in self.moved)]
        encoding = replace(self.encoding, problem=problem, types=types)
        return self._with_targets(decode(encoding, self.value, budget))

    def _make_movers(self) -> None:
        """
        Name the gangs and pods that are moved, and let them leave.
        """
        for mover, kind in self.leaving.moved:
            groups: list[tuple[Gang, list[tuple[Runner, int]]]] = []
            if mover.wide >= 0:
                wide = self.victims.wide[mover.wide]
                if self.value(self.leaving.moved_whole[mover.wide]):
                    runners = list(zip(wide.pods, wide.hosts, strict=True))
                    groups.append((wide.gang, runners))
            else:
                record = self.victims.accounts[mover.account]
                if mover.single != (record.wide >= 0):
                    continue
                for victim, node in self.rules.moving.get(mover.account, ()):
                    groups.append((victim.gang, [(r, node) for r in victim.pods]))
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
            self.rules.leave(gang, runners, "consolidate", whole=not mover.single)
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
            for one in self.rules.exits
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
        first = one.kind.states[0].state.key.rsplit("*", 1)[0]  # the sample's own
        for unit in one.units:
            state = unit.states[0]
            for i in range(len(state.leaves)):
                of_leaf[state.key, i] = of_leaf[first, i]
            units.append(unit)
    shapes: Shapes = replace(problem.shapes, of_leaf=of_leaf)
    return replace(problem, shapes=shapes, units=tuple(units))
