"""
The whole round in one model: who leaves, who is reserved, and what is idle after that.

A step's starts are bound or reserved, as freezing would have it; what they leave is the
room of all that follows.  Its bounds hold for every choice of a step, and its answers
say which choice leads to them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from models.policy import TierName
from solver.effort.cp_sat import PlainModel, cp_model
from solver.encode.encoding import Encoding
from solver.encode.entitlement import add_entitlement
from solver.encode.leaving.crowded_nodes import Pods, add_node_room
from solver.encode.leaving.joined_steps import join_steps
from solver.encode.leaving.round_stage import Stage, add_stage, placing, pods_on
from solver.encode.node_classes import Level
from solver.encode.queue_limit import add_limits
from solver.encode.queue_rows import Key, placed
from solver.encode.tier_rows import tier_sum
from solver.encode.variables import Linear, TypeVars, Var
from solver.evict.open_step import Opened
from solver.problem.problem import Problem, Step
from solver.problem.running_domains import may_leave, runs, staying
from solver.score.reserved_pods import kept_by
from solver.score.tier import LOSSES, TierKey


@dataclass(slots=True, kw_only=True)
class RoundEncoding:
    """
    All steps that may still make somebody leave, and all that starts in idle room.
    """

    model: cp_model.CpModel
    stages: dict[Step, Stage]
    idle: Encoding
    tiers: dict[TierKey, Linear] = field(default_factory=dict)

    @property
    def held(self) -> list[TypeVars]:
        """
        All starts that are reserved.
        """
        return [kind for stage in self.stages.values() for kind in stage.held]

    def tier(self, key: TierKey) -> Linear:
        """
        Write a tier's value in the whole round, once: it may need variables.
        """
        if key not in self.tiers:
            self.tiers[key] = self._tier(key)
        return self.tiers[key]

    def _tier(self, key: TierKey) -> Linear:
        idle = self.idle
        if key.name in LOSSES:
            stage = self.stages.get(LOSSES[key.name][0])
            return (idle if stage is None else stage.encoding).tier(key)
        match key.name:
            case "gpus" | "pods" | "gangs" | "neighbours":
                return idle.tier(key)
            case "packing" | "expected-fragments":
                return self._with_reserved(idle.tier(key), key.name)
            case "order":
                return replace(idle, types=[*idle.types, *self.held]).tier(key)
            case "topology":
                both = *product(idle.types, [may_leave]), *product(self.held, [runs])
                sure = [x for x, bars in both if not any(map(bars, x.sample.states))]
                return tier_sum(staying(idle.problem), sure, key)
            case _:
                return tier_sum(idle.problem, [*idle.types, *self.held], key)

    def _with_reserved(self, total: Linear, name: TierName) -> Linear:
        """
        Count the pods of reserved starts in a tier of what is kept idle.
        """
        kept = kept_by(self.idle.problem, name)
        for kind in self.held:
            for vars_ in kind.states:
                for i, row in placed(vars_, kind.starts).items():
                    total.extend(row, kept(vars_.state.leaves[i].pod_set.requests))
        return total


def encode_round(
    problem: Problem,
    opened: Mapping[Step, Opened],
    levels: Mapping[Step, Sequence[Level]],
) -> RoundEncoding:
    """
    Build the model of a round from its first step that may still choose.

    Of the topology ``levels`` that each step asks for the last are those of idle room.
    """
    model = PlainModel()
    stages: dict[Step, Stage] = {}
    gone: Mapping[Key, Linear] = {}
    for step, one in opened.items():
        stage = add_stage(model, one, levels[step], gone, is_first=not stages)
        stages[step], gone = stage, stage.gone
    idle = placing(model, problem, levels[Step.IDLE])
    found = RoundEncoding(model=model, stages=stages, idle=idle)
    _add_queues(found, gone)
    for node in range(len(problem.room.nodes)):
        _add_room(found, node)
    _add_links(found)
    join_steps(model, stages, idle)
    return found


def _add_queues(encoding: RoundEncoding, gone: Mapping[Key, Linear]) -> None:
    """
    Ensure limits now and later, and that all entitled starts fit the fair shares.
    """
    model, idle = encoding.model, encoding.idle
    add_limits(model, idle.problem, idle.types)
    everything = [*encoding.held, *idle.types]
    add_limits(model, idle.problem, everything, gone)
    first = encoding.stages.get(Step.ENTITLED)
    borrowing = replace(idle.problem, step=Step.BORROWING)
    makes_room = {} if first is None else first.gone
    add_entitlement(model, borrowing, everything, makes_room)
    for step, stage in encoding.stages.items():
        for kind, own in zip(stage.held, stage.encoding.types, strict=True):
            _entitle(model, step, kind, own)


def _entitle(
    model: cp_model.CpModel, step: Step, kind: TypeVars, own: TypeVars
) -> None:
    """
    Ensure that a reserved start is entitled in the first step, and borrows in the next.
    """
    entitled, starts = kind.entitled.variable, kind.starts.chosen
    if step is Step.ENTITLED:
        model.add(starts == (0 if entitled is None else entitled))
        return
    if own.entitled.variable is not None:
        model.add(starts + own.entitled.chosen <= 1)
    if entitled is not None:
        model.add(entitled == 0)


# --- room -------------------------------------------------------------------------


def _add_room(encoding: RoundEncoding, node: int) -> None:
    """
    Ensure that all that is reserved and bound has room on a node.

    Later steps get what is free without and with what earlier ones decided.
    """
    reserved: Pods = []
    freed = [Linear() for _ in encoding.idle.problem.room.later[node]]
    for stage in encoding.stages.values():
        wanted, bound = pods_on(stage.encoding, node), pods_on(stage.bound, node)
        leaves = stage.freed(node)
        _fit(encoding, node, wanted, leaves)
        before, freed = freed, list(map(_sum, freed, leaves))
        if reserved:
            _fit(encoding, node, [*wanted, *reserved], freed)
            _fit(encoding, node, [*bound, *reserved], before)
        reserved += wanted
        for row, number in bound:
            reserved.append((row, Linear()))
            reserved[-1][1].extend(number, -1)
    _fit(encoding, node, [*pods_on(encoding.idle, node), *reserved], freed)


def _fit(
    encoding: RoundEncoding, node: int, pods: Pods, freed: Sequence[Linear]
) -> None:
    """
    Ensure that a node has room for pods, once so much is given back.
    """
    problem = encoding.idle.problem
    left = [Linear(int(amount)) for amount in problem.room.later[node]]
    for row, gone in zip(left, freed, strict=True):
        row.extend(gone)
    add_node_room(encoding.model, problem, node, left, pods)


def _sum(one: Linear, other: Linear) -> Linear:
    total = Linear()
    total.extend(one)
    total.extend(other)
    return total


# --- who starts once --------------------------------------------------------------


def _add_links(encoding: RoundEncoding) -> None:
    """
    Ensure that nobody starts twice, and that who lost something gets nothing.
    """
    model = encoding.model
    taken: dict[str, list[Var]] = {}
    lost: dict[str, list[Var]] = {}
    promised: dict[str, list[Var]] = {}
    for stage in encoding.stages.values():
        for kind in stage.encoding.types:
            _start_unless(model, kind, taken.get(kind.sample.key, ()))
            for state in kind.sample.states:
                _start_unless(model, kind, lost.get(state.key, ()))
        for kind in stage.held:
            taken.setdefault(kind.sample.key, []).append(kind.starts.chosen)
            for state in kind.sample.states:
                promised.setdefault(state.key, []).append(kind.starts.chosen)
        for key, literal in stage.lost.items():
            for other in (*lost.get(key, ()), *promised.get(key, ())):
                model.add_at_most_one([literal, other])
            lost.setdefault(key, []).append(literal)
        _split_reserved(model, stage)
    for kind in encoding.idle.types:
        _start_unless(model, kind, taken.get(kind.sample.key, ()))
        for state in kind.sample.states:
            _start_unless(model, kind, lost.get(state.key, ()))


def _start_unless(
    model: cp_model.CpModel, kind: TypeVars, literals: Sequence[Var]
) -> None:
    """
    Ensure that a unit gets nothing where any of some literals holds.
    """
    for literal in literals:
        if kind.starts.variable is not None:
            model.add(kind.starts.variable + literal <= 1)
            continue
        for vars_ in kind.states:
            for row in placed(vars_, kind.starts).values():
                if row.variables:
                    model.add(row.expression <= row.most * (1 - literal))


def _split_reserved(model: cp_model.CpModel, stage: Stage) -> None:
    """
    Ensure that what is bound of a step has the places that the step found for it.
    """
    for at, item in enumerate(stage.bound.classes.items):
        mine = stage.bound.capacity.class_terms(at)
        here = stage.encoding.classes.alone(item.nodes[0])
        wanted = {} if here is None else stage.encoding.capacity.class_terms(here)
        for shape, counts in mine.items():
            row = cp_model.LinearExpr.sum(counts)
            model.add(row <= cp_model.LinearExpr.sum(wanted.get(shape, [])))
