"""
What goes as one unit by a rule, and what budgets and queues are given back by it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from models.plan import Rule
from solver.encode.leaving.losses import pods_of
from solver.encode.leaving.variables import Leaving
from solver.encode.variables import Linear, Var
from solver.evict.rights.cores import core_amounts
from solver.evict.rights.policy_bounds import EVICTS
from solver.evict.victims import Wide
from solver.problem.gang_state import Standing
from solver.problem.running_gangs import asked_by


def units(leaving: Leaving, rule: Rule) -> Iterator["Piece"]:
    """
    Walk what goes as one unit by a rule: its queue, band, amounts and its number.
    """
    victims = leaving.victims
    for at, account in enumerate(victims.accounts):
        number = leaving.parting[at][rule]
        if not number.variables:
            continue
        amounts = dict(account.requests)
        if victims.goes_whole(at):
            wide = victims.wide[account.wide]
            amounts = asked_by(wide.gang, wide.pods)
        yield Piece(
            queue=account.queue,
            band=account.band,
            amounts=amounts,
            number=number,
            exists=number,
            wide=account.wide,
            leaves=(account.leaf,),
        )
    for at, wide in enumerate(victims.wide):
        if wide.state is not None:
            yield from _bundles(leaving, rule, at, wide, wide.state)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """
    Units of one size: how many go, and a sum that is positive only if one does.

    A core, whose pods are counted elsewhere, has no ``number``; it is there for its
    size.  ``leaves`` are those of the gang ``wide`` of which it is.
    """

    queue: str
    band: int
    amounts: dict[str, int]
    number: Linear | None
    exists: Linear
    wide: int
    leaves: tuple[int, ...]
    needs: int = 1
    emptied: Var | None = None


def _bundles(
    leaving: Leaving, rule: Rule, at: int, wide: Wide, state: Standing
) -> Iterator[Piece]:
    """
    Walk the tree nodes that may be emptied: their cores are units.
    """
    for t, node in enumerate(state.nodes):
        empty = leaving.emptied.get((at, t))
        running = sum(len(state.leaves[i].running) for i in node.leaves)
        if empty is None or running < 2:
            continue
        exists = Linear()
        for account in wide.accounts:
            if leaving.victims.accounts[account].leaf in node.leaves:
                exists.extend(leaving.parting[account][rule])
        if not exists.variables:
            continue
        yield Piece(
            queue=wide.queue,
            band=wide.band,
            amounts=core_amounts(state, t),
            number=None,
            exists=exists,
            wide=at,
            leaves=node.leaves,
            needs=running,
            emptied=empty,
        )


def budget_rows(leaving: Leaving) -> dict[int, Linear]:
    """
    Count the pods that leave, per budget.
    """
    rows: dict[int, Linear] = {}
    for at, account in enumerate(leaving.victims.accounts):
        pods = pods_of(leaving.victims, account)
        for budget in account.budgets:
            row = rows.setdefault(budget, Linear())
            row.extend(leaving.gone[at], pods)
    return rows


def released(
    leaving: Leaving, paths: dict[str, Sequence[str]], named: Sequence[str]
) -> dict[tuple[str, str], Linear]:
    """
    Add up what queues no longer hold, per queue on the path and named resource.
    """
    rows: dict[tuple[str, str], Linear] = {}
    for rule in EVICTS:
        for piece in units(leaving, rule):
            if piece.number is None:
                continue
            for queue in paths[piece.queue]:
                for name in named:
                    amount = piece.amounts.get(name, 0)
                    if amount:
                        row = rows.setdefault((queue, name), Linear())
                        row.extend(piece.number, amount)
    return rows
