"""
Lose less: fewer who leave for the starts of an answer.

A model that is asked what starts does not care who leaves for it: it is asked that
later, where there is time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from models.plan import Rule
from solver.effort.budget import Budget
from solver.evict.freeze import held_by, without
from solver.evict.open_step import Opened
from solver.evict.rights.policy_bounds import EVICTS, MOVED
from solver.place.complete import loaded
from solver.place.draft import Draft
from solver.problem.leaving_pods import NOWHERE, Exit, loss_of
from solver.problem.node_room import Ints, NodeRoom
from solver.problem.problem import Problem


def losing_less(opened: Opened | None, draft: Draft, budget: Budget) -> Iterator[Draft]:
    """
    Walk drafts for which fewer leave, with all or some of the starts of one.
    """
    if opened is not None and draft.exits:
        yield let_stay(opened, draft)
        yield opened.again_by_hand(draft, budget)


def let_stay(opened: Opened, draft: Draft) -> Draft:
    """
    Leave out of a draft who need not leave, the dearest gangs first.

    As many of them as leave a draft that holds; each with all of its pods that leave.
    """
    if not draft.exits:
        return draft
    room = loaded(without(opened.problem, draft.exits), draft).room
    stay = [*_not_needed(room, opened.problem, draft)]
    while stay:
        exits = tuple(one for one in draft.exits if one.gang not in stay)
        fewer = replace(draft, exits=exits)
        if _within_shares(opened, fewer) and opened.holds(fewer, whole=False):
            return fewer
        stay = stay[: len(stay) // 2]
    return draft


def _within_shares(opened: Opened, draft: Draft) -> bool:
    """
    Tell whether entitled starts fit shares, also those of queues that lose somebody.
    """
    shares = loaded(without(opened.problem, draft.exits), draft).ledger.share
    return all(left >= 0 for share in shares.values() for left in share.values())


def _not_needed(room: NodeRoom, problem: Problem, draft: Draft) -> Iterator[str]:
    """
    Walk the gangs whose room is still free beside all starts, and take it.

    Nobody with parts who is moved, and none reclaimed where starts are guaranteed.
    """
    evicts: tuple[Rule, ...] = ("preempt",) if draft.guaranteed else EVICTS
    gangs: dict[str, list[Exit]] = {}
    for one in draft.exits:
        gangs.setdefault(one.gang, []).append(one)
    for key, pods in sorted(gangs.items(), key=_dearest):
        rules = evicts if any(one.pod.pieces for one in pods) else (*evicts, MOVED)
        if any(one.rule not in rules or one.host == NOWHERE for one in pods):
            continue
        rows: dict[int, Ints] = {}
        for one in pods:
            row = held_by(problem, one)
            for node, sign in ((one.host, 1), (one.target, -1)):
                if node != NOWHERE:
                    rows[node] = rows.get(node, 0 * row) + sign * row
        if room.has(rows):
            for node, row in rows.items():
                room.take_one(row, node)
            yield key


def _dearest(pair: tuple[str, Sequence[Exit]]) -> tuple[tuple[int, ...], str]:
    key, pods = pair
    return tuple(-measure for measure in loss_of(pods).measures), key
