"""
What the starts of a step ask for, by queue and band.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from solver.effort.cp_sat import cp_model
from solver.encode.queue_rows import placed
from solver.encode.variables import Linear, RigidVars, StateVars, TypeVars
from solver.problem.problem import Problem, Step


@dataclass(frozen=True, slots=True)
class Start:
    """
    What the starts of one type ask for in one queue, and those that are guaranteed.
    """

    queue: str
    band: int
    amounts: Mapping[str, Linear]
    sure: Mapping[str, Linear] = field(default_factory=dict)


def starts_of(
    model: cp_model.CpModel, problem: Problem, types: Sequence[TypeVars]
) -> list[Start]:
    """
    Add up what the starts of a step ask for, per gang of each type.

    For entitled gangs nothing leaves any more in the step of those that borrow.
    """
    found = []
    for kind in types:
        if not kind.sample.starts:
            continue
        for at, vars_ in enumerate(kind.states):
            pods: Mapping[int, Linear] = placed(vars_, kind.starts)
            if problem.step is Step.BORROWING:
                pods = _borrowed(model, kind, vars_, pods)
            sure = _amounts(vars_, kind.sure[at]) if kind.sure else {}
            gang = vars_.state.gang
            amounts = _amounts(vars_, pods)
            queue = problem.queues.leaf(gang.queue)
            found.append(Start(queue, kind.sample.band, amounts, sure))
    return found


def _amounts(vars_: StateVars, pods: Mapping[int, Linear]) -> dict[str, Linear]:
    amounts: dict[str, Linear] = {}
    for i, row in pods.items():
        requests = vars_.state.leaves[i].pod_set.requests
        for name, amount in requests.items():
            if amount:
                amounts.setdefault(name, Linear()).extend(row, amount)
    return amounts


def _borrowed(
    model: cp_model.CpModel,
    kind: TypeVars,
    vars_: StateVars,
    pods: Mapping[int, Linear],
) -> Mapping[int, Linear]:
    """
    Leave out the pods of entitled starts.
    """
    entitled = kind.entitled
    if entitled.variable is None:
        return pods
    if entitled.variable is kind.starts.variable:
        return {}
    found = {}
    for i, row in pods.items():
        found[i] = Linear()
        if isinstance(vars_, RigidVars):
            found[i].extend(row)
            found[i].add(entitled.variable, -vars_.core[i], entitled.upper)
            continue
        part = model.new_int_var(0, row.most, "")
        model.add(part <= row.expression)
        model.add(part <= row.most * (1 - entitled.variable))
        found[i].add(part, 1, row.most)
    return found


def asked_of(starts: Sequence[Start], name: str) -> Linear:
    """
    Add up what some starts ask for of a resource.
    """
    total = Linear()
    for start in starts:
        if name in start.amounts:
            total.extend(start.amounts[name])
    return total
