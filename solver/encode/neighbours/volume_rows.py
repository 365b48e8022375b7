"""
Rows about free volumes that several nodes reach: each claim has one of its own.
"""

from collections.abc import Iterator, Mapping, Sequence

from models.neighbours import Neighbours, ReachedVolumes, sharer
from solver.effort.cp_sat import cp_model
from solver.encode.neighbours.domain_counts import DomainCounts
from solver.encode.variables import Linear, Var
from solver.problem.neighbours.spread_counts import REACHED
from solver.problem.neighbours.volume_matching import Asker


def give_volumes(counts: DomainCounts) -> None:
    """
    Ensure that each claim has a volume that suits it, and each volume one claim.

    A variable says how many claims of a kind, on nodes that reach the same volumes,
    have which of them: such flows are there exactly where each can have its own.
    """
    asked, shared = _asked(counts), _sharing(counts)
    matching = counts.around.volumes.matching
    for asker, there in matching.held.items():
        if isinstance(asker[0], str) and there:
            shared.setdefault(asker, {})
        elif there:
            asked.setdefault(asker, Linear()).constant += sum(there.values())
    if not (any(row.variables for row in asked.values()) or any(shared.values())):
        return
    of_volumes: dict[ReachedVolumes, list[Var]] = {}
    for asker, row in asked.items():
        given = {
            one: counts.model.new_int_var(0, one.number, "")
            for one in matching.suited(asker)
        }
        for one, var in given.items():
            of_volumes.setdefault(one, []).append(var)
        counts.model.add(row.expression == cp_model.LinearExpr.sum([*given.values()]))
    for asker, domains in shared.items():
        given = _give_to_all(counts, asker, domains)
        for one, var in given.items():
            of_volumes.setdefault(one, []).append(var)
    for one, given_to in of_volumes.items():
        counts.model.add(cp_model.LinearExpr.sum(given_to) <= one.number)


def _give_to_all(
    counts: DomainCounts, asker: Asker, domains: Mapping[int, Sequence[Var]]
) -> dict[ReachedVolumes, Var]:
    """
    Ensure that a claim has one volume at most, which each node of its pods reaches.
    """
    matching, model = counts.around.volumes.matching, counts.model
    where = {*domains, *matching.shared.get(asker, ())}
    each = dict.fromkeys(one for at in sorted(where) for one in matching.reached[at])
    given = {one: model.new_bool_var("") for one in each if asker[1] in one.kinds}
    model.add_at_most_one(given.values())
    if matching.held.get(asker):
        model.add_bool_or([given[one] for one in matching.suited(asker)])
    for domain, terms in domains.items():
        reached = [given[one] for one in matching.suited((domain, asker[1]))]
        model.add_bool_or([*reached, ~counts.some(terms)])
    return given


def _sharing(counts: DomainCounts) -> dict[Asker, dict[int, list[Var]]]:
    """
    Collect the pods that come and share a claim, by domain.
    """
    found: dict[Asker, dict[int, list[Var]]] = {}
    for domain, said, here in _coming(counts):
        for claim in said.shared:
            row = found.setdefault(sharer(claim, domain), {})
            row.setdefault(domain, []).extend(here)
    return found


def _asked(counts: DomainCounts) -> dict[Asker, Linear]:
    """
    Count the claims of single pods that come.
    """
    found: dict[Asker, Linear] = {}
    for domain, said, here in _coming(counts):
        for kind, number in said.claims:
            row = found.setdefault((domain, kind), Linear())
            for var in here:
                row.add(var, number, 1)
    return found


def _coming(counts: DomainCounts) -> Iterator[tuple[int, Neighbours, Sequence[Var]]]:
    """
    Walk the pods that come, by domain; of classes over several domains none.
    """
    for at, terms in enumerate(counts.terms):
        domain = counts.cell_of(at, REACHED)
        for shape, here in terms.items() if domain is not None else ():
            if domain is not None and shape in counts.items:
                yield domain, counts.items[shape].neighbours, here
