"""
Rows about free volumes that several nodes reach: each claim has one of its own.
"""

from models.neighbours import ReachedVolumes
from solver.effort.cp_sat import cp_model
from solver.encode.neighbours.domain_counts import DomainCounts
from solver.encode.neighbours.volume_vars import VolumeVars
from solver.encode.variables import Linear, Var
from solver.problem.neighbours.claimed_volumes import Asker
from solver.problem.neighbours.spread_counts import REACHED


def give_volumes(counts: DomainCounts) -> None:
    """
    Ensure that each claim has a volume that suits it, and each volume one claim.

    A variable says how many claims of a kind, on nodes that reach the same volumes,
    have which of them: such flows are there exactly where each can have its own.
    """
    asked = _asked(counts)
    matching = counts.around.volumes.matching
    for asker, there in matching.held.items():
        asked.setdefault(asker, Linear()).constant += there.total()
    if not any(row.variables for row in asked.values()):
        return
    found = VolumeVars(matching)
    of_volumes: dict[ReachedVolumes, list[Var]] = {}
    for asker, row in asked.items():
        given = {
            one: counts.model.new_int_var(0, one.number, "")
            for one in matching.suited(asker)
        }
        for one, var in given.items():
            of_volumes.setdefault(one, []).append(var)
        total = cp_model.LinearExpr.sum(list(given.values())) if given else 0
        counts.model.add(row.expression == total)
        found.asked.append((asker, row, given))
    for one, given_to in of_volumes.items():
        counts.model.add(cp_model.LinearExpr.sum(given_to) <= one.number)
    counts.found.volumes = found


def _asked(counts: DomainCounts) -> dict[Asker, Linear]:
    """
    Count the claims that come; those of classes over several domains are left out.
    """
    found: dict[Asker, Linear] = {}
    for at, terms in enumerate(counts.terms):
        domain = counts.cell_of(at, REACHED)
        if domain is None:
            continue
        for shape, here in terms.items():
            item = counts.items.get(shape)
            for kind, number in item.neighbours.claims if item else ():
                row = found.setdefault((domain, kind), Linear())
                for var in here:
                    row.add(var, number, 1)
    return found
