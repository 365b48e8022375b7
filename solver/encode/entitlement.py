"""
Entitlement: which starts fit the fair shares of their queues, and of those above.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from solver.effort.cp_sat import cp_model
from solver.encode.k_of_n import add_minimums
from solver.encode.queue_rows import Key, add_room, charge, placed
from solver.encode.roles import add_role_order
from solver.encode.variables import ChoiceVars, Count, Linear, RigidVars, TypeVars
from solver.problem.problem import Problem, Step
from solver.problem.when_empty.never_starts import needed


def add_entitlement(
    model: cp_model.CpModel,
    problem: Problem,
    types: Sequence[TypeVars],
    released: Mapping[Key, Linear] | None = None,
) -> None:
    """
    Ensure that cores of entitled starts fit the fair share on every queue of the path.

    Σ core × request of entitled starts ≤ max(0, F − running); where this can never
    bind, every start is entitled and no variable is needed.  With ``released``, what
    leaves an inner queue makes room for entitled starts below it.  In the step of those
    that borrow, what could be entitled and is not may borrow, too.
    """
    starting = [kind for kind in types if kind.sample.starts]
    parents = problem.queues.parents
    inner = {key: row for key, row in (released or {}).items() if key[0] in parents}
    tight = _tight_rows(problem, starting)
    shares = _Shares(model, problem, tight, inner)
    for kind in starting:
        shares.add(kind)
    shares.close()


@dataclass
class _Shares:
    """
    The rows of fair shares while starts are charged to them.
    """

    model: cp_model.CpModel
    problem: Problem
    tight: set[Key]
    inner: Mapping[Key, Linear]
    rows: dict[Key, Linear] = field(default_factory=dict)

    def add(self, kind: TypeVars) -> None:
        """
        Say how many units of a type are entitled, and charge their cores.
        """
        problem = self.problem
        keys = self._keys(kind)
        if not keys and problem.step is not Step.BORROWING:
            kind.entitled = kind.starts
            return
        outer = [key for key in keys if key not in self.inner]
        count = _most_entitled(problem, kind, outer)
        if not count:
            return
        kind.entitled = Count(self.model.new_int_var(0, count, ""), count)
        self.model.add(kind.entitled.chosen <= kind.starts.chosen)
        for vars_ in kind.states:
            _choose_core(self.model, vars_, kind)
            cores = entitled_core(vars_, kind)
            charge(problem, vars_.state.gang, vars_.state, cores, self.rows)

    def _keys(self, kind: TypeVars) -> list[Key]:
        return [
            (queue, resource)
            for state in kind.sample.states
            for queue in self.problem.queues.path(state.gang.queue)
            for resource in self.problem.queues.named
            if (queue, resource) in self.tight
        ]

    def close(self) -> None:
        """
        Ensure that what was charged fits.
        """
        queues, shares = self.problem.queues, self.problem.shares
        for key, row in self.rows.items():
            if key in self.tight and row.variables and key not in self.inner:
                self.model.add(row.expression <= queues.share_left(shares, *key))
        for key, gone in self.inner.items():
            if key in self.tight and key in self.rows:
                left = queues.claim_left(shares, *key)
                add_room(self.model, self.rows[key], left, gone)


def _most_entitled(problem: Problem, kind: TypeVars, keys: Sequence[Key]) -> int:
    """
    Count how many units of a type the fair share holds if no other is entitled.
    """
    most = kind.starts.upper
    for queue, resource in keys:
        needs = sum(
            needed(state, resource)
            for state in kind.sample.states
            if queue in problem.queues.path(state.gang.queue)
        )
        if needs:
            most = min(
                most,
                problem.queues.share_left(problem.shares, queue, resource) // needs,
            )
    return most


def _tight_rows(problem: Problem, types: Sequence[TypeVars]) -> set[Key]:
    most: dict[Key, int] = {}
    for kind in types:
        for vars_ in kind.states:
            state = vars_.state
            for i, leaf in enumerate(state.leaves):
                pods = (
                    vars_.core[i] if isinstance(vars_, RigidVars) else len(leaf.pending)
                )
                for queue in problem.queues.path(state.gang.queue):
                    for resource in problem.queues.named:
                        amount = leaf.pod_set.requests.get(resource, 0) * pods
                        if amount:
                            key = (queue, resource)
                            most[key] = most.get(key, 0) + amount * kind.starts.upper
    return {
        key
        for key, amount in most.items()
        if amount > problem.queues.share_left(problem.shares, *key)
    }


def entitled_core(vars_: RigidVars | ChoiceVars, kind: TypeVars) -> dict[int, Linear]:
    """
    Count the core pods of entitled starts, per leaf.
    """
    cores: dict[int, Linear] = {}
    if isinstance(vars_, RigidVars):
        for i, need in enumerate(vars_.core):
            row = cores.setdefault(i, Linear())
            row.add(kind.entitled.variable, need, kind.entitled.upper)
        return cores
    for i, core in vars_.core.items():
        cores.setdefault(i, Linear()).add(core.variable, 1, core.upper)
    return cores


def entitled_pods(problem: Problem, types: Sequence[TypeVars]) -> dict[int, Linear]:
    """
    Count the core pods of entitled starts, per shape.
    """
    found: dict[int, Linear] = {}
    for kind in types:
        for vars_ in kind.states if kind.entitled.variable is not None else ():
            for i, row in entitled_core(vars_, kind).items():
                shape = problem.shapes.of_leaf[vars_.state.key, i]
                found.setdefault(shape, Linear()).extend(row)
    return {shape: row for shape, row in found.items() if row.variables}


def _choose_core(
    model: cp_model.CpModel, vars_: RigidVars | ChoiceVars, kind: TypeVars
) -> None:
    """
    Ensure that an entitled start with a choice has a core among the pods placed.
    """
    if isinstance(vars_, RigidVars):
        return
    state = vars_.state
    for at, here in vars_.active.items():
        if at == 0:
            vars_.core_active[at] = kind.entitled
            continue
        on = model.new_bool_var("")
        vars_.core_active[at] = Count(on, 1)
        if here.variable is not None:
            model.add_implication(on, here.variable)
    totals = placed(vars_, kind.starts)
    for i, leaf in enumerate(state.leaves):
        if leaf.pending:
            core = Count(model.new_int_var(0, len(leaf.pending), ""), len(leaf.pending))
            vars_.core[i] = core
            model.add(core.chosen <= totals[i].expression)
    cores = entitled_core(vars_, kind)
    full = {i: cores.get(i, Linear()) for i in range(len(state.leaves))}
    add_minimums(model, state, vars_.core_active, full)
    add_role_order(model, state, vars_.core_active)
