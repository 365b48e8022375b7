"""
What joins the steps of a round: rows that no step of it can have by itself.

What the policy bounds it bounds for all steps together; whoever gave a right to evict
starts in the end as well, entitled or not as he was; and mates stand by each other.
"""

from collections.abc import Mapping, Sequence

from solver.effort.cp_sat import cp_model
from solver.encode.encoding import Encoding
from solver.encode.leaving.round_stage import Stage
from solver.encode.leaving.step_rules import add_policy_bounds, released_by
from solver.encode.queue_limit import add_limits
from solver.evict.group_mates import mates_that_stay
from solver.problem.problem import Problem, Step


def join_steps(
    model: cp_model.CpModel, stages: Mapping[Step, Stage], idle: Encoding
) -> None:
    """
    Ensure what holds of two steps together, and of each with what starts in the end.
    """
    problem = idle.problem
    leavings = [stage.leaving for stage in stages.values()]
    if len(leavings) > 1:
        add_policy_bounds(model, problem, leavings)
        _add_limits(model, problem, *stages.values())
    for step, stage in stages.items():
        _keep_starting(model, step, stage, idle)
    _keep_mates(model, problem, list(stages.values()), idle)


def _add_limits(
    model: cp_model.CpModel, problem: Problem, first: Stage, second: Stage
) -> None:
    """
    Ensure that queues hold what the first step reserves and what the second starts.

    What leaves in the first step makes no room below a limit for those of the second.
    """
    own = second.encoding
    add_limits(model, problem, [*first.held, *second.bound.types], first.gone)
    add_limits(model, problem, [*first.held, *own.types], second.gone)
    add_limits(model, problem, own.types, released_by(problem, second.leaving))


def _keep_starting(
    model: cp_model.CpModel, step: Step, stage: Stage, idle: Encoding
) -> None:
    """
    Ensure that who is bound in a step starts in the end, and for the same right.
    """
    last = {kind.sample.key: kind for kind in idle.types}
    for bound, own in zip(stage.bound.types, stage.encoding.types, strict=True):
        kind, starts = last[bound.sample.key], bound.starts.chosen
        claims, mine = kind.entitled.variable, own.entitled.variable
        if step is Step.ENTITLED:
            model.add(starts <= (0 if claims is None else claims))
            continue
        model.add(starts <= kind.starts.chosen)
        for one, other in ((claims, mine), (mine, claims)):
            if one is not None:
                model.add(starts + one <= 1 + (0 if other is None else other))


def _keep_mates(
    model: cp_model.CpModel, problem: Problem, stages: Sequence[Stage], idle: Encoding
) -> None:
    """
    Ensure that no gang is evicted whole beside which another of its group starts.
    """
    held = [kind for stage in stages for kind in stage.held]
    for stage in stages:
        leaving = stage.leaving
        index = {wide.gang.key: at for at, wide in enumerate(leaving.victims.wide)}
        for kind in [*held, *idle.types] if index else []:
            mates = mates_that_stay(problem, [kind.sample]) & index.keys()
            for mate in sorted(mates) if kind.sample.starts else []:
                model.add(kind.starts.chosen + leaving.stopped(index[mate]) <= 1)
