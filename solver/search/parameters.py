"""
Manners: parameters of the search under which different cases close at once.

A routine says in which manners a model is searched: in turns by one worker, or by two
at once.  All that tells large models from small ones stands here (decision 0006).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from solver.effort.cp_sat import SatParameters, cp_model
from solver.tuning import Search

_HARDLY = 0.001
"""
Deterministic units of probing where it would take longer than it gains.
"""


class Presolve(Enum):
    """
    How much is done to a model before it is searched; ``ONCE`` is a single pass.

    Rows that overlap are not looked for in it: of thousands that took a turn's limit.
    """

    NONE = "none"
    ONCE = "once"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Manner:
    """
    One way to search: presolved or not, and how to branch.

    Without ``branching`` the solver has its own way; else the relaxation leads it.
    An ``eager`` one has all rows in the relaxation from the start, one without ``cuts``
    only those.  What is not ``probing`` hardly begins with what presolve tries value
    by value, and does not before the search; to leave the first out altogether calls
    models infeasible that are not.
    """

    presolve: Presolve
    branching: SatParameters.SearchBranching | None = None
    eager: bool = False
    cuts: bool = True
    probing: bool = True

    def configure(self, solver: cp_model.CpSolver) -> None:
        """
        Set the parameters in which manners differ.
        """
        parameters = solver.parameters
        parameters.cp_model_presolve = self.presolve is not Presolve.NONE
        if self.presolve is Presolve.ONCE:
            parameters.max_presolve_iterations = 1
            parameters.find_big_linear_overlap = False
        if self.branching is not None:
            parameters.search_branching = self.branching
        if self.eager:
            parameters.add_lp_constraints_lazily = False
        if not self.cuts:
            parameters.cut_level = 0
        if not self.probing:
            parameters.cp_model_probing_level = 1
            parameters.presolve_probing_deterministic_time_limit = _HARDLY
            parameters.probing_deterministic_time_limit = 0.0


IMPROVING = Manner(Presolve.FULL)
DIVING = Manner(Presolve.NONE, cp_model.LP_SEARCH, eager=True)
WEIGHING = replace(DIVING, branching=cp_model.PSEUDO_COST_SEARCH)
RELAXED = replace(DIVING, presolve=Presolve.FULL)
STEERED = replace(DIVING, presolve=Presolve.ONCE)
CUTTING = replace(STEERED, branching=None, probing=False)
PLAIN = replace(CUTTING, cuts=False)


@dataclass(slots=True)
class Routine:
    """
    The manners for a model in the order in which they are tried.

    ``turns`` are for one worker, ``lanes`` for two at once.
    """

    turns: list[Manner]
    lanes: tuple[list[Manner], list[Manner]]

    def prefer(self, manner: Manner) -> None:
        """
        Try a manner first from now on: it closed a tier.
        """
        for line in (self.turns, *self.lanes):
            if manner in line:
                line.remove(manner)
                line.insert(0, manner)


def is_large(model: cp_model.CpModel, tuning: Search) -> bool:
    """
    Tell whether a model is so large that a full presolve costs more than it gains.
    """
    return len(model.proto.variables) > tuning.many_variables[0]


def is_huge(model: cp_model.CpModel, tuning: Search) -> bool:
    """
    Tell whether a model is so large that one pass of presolve may take all the time.
    """
    return len(model.proto.variables) > tuning.many_variables[1]


def routine_of(*, large: bool, scoped: bool, presolved: bool = False) -> Routine:
    """
    Give the routine for small or for large models.

    Parameters
    ----------
    large
        Whether it is for models that are presolved once only.
    scoped
        Whether pods are counted by domain: large models stall in presolve then.
    presolved
        Whether an answer is in sight only once they are presolved.  Trying value by
        value took most of a turn of these.
    """
    turns = [presolved_once(x) if large else x for x in (IMPROVING, RELAXED)]
    if presolved:
        turns = [replace(x, probing=False) for x in turns]
        return Routine(turns, (turns[:1], turns[1:]))
    at = 0 if large and scoped else 1
    turns[at:at] = [DIVING, WEIGHING]
    first = [IMPROVING, RELAXED] if scoped else [PLAIN, STEERED]
    if large:
        whole = replace(CUTTING, presolve=Presolve.FULL)
        first = [CUTTING, whole if scoped else PLAIN]
    return Routine(turns, (first, [DIVING, WEIGHING]))


def presolved_once(manner: Manner) -> Manner:
    """
    Give a manner for a large model.
    """
    return replace(manner, presolve=Presolve.ONCE)


def passes(tuning: Search, manners: int) -> tuple[tuple[float, Sequence[float]], ...]:
    """
    Give the part of the gap at which manners may stop, and their parts of the limit.
    """
    first = tuning.pass_of_two if manners == 2 else tuning.first_pass
    return (tuning.fine, first), (1.0, [tuning.second_pass] * manners)
