"""
Whether somebody who was let go may stay after all, and all lie well among others.
"""

from collections.abc import Iterable

from models.gangs import pod_sets
from solver.evict.greedy.what_goes import Going
from solver.evict.rights.hand_rights import HandRights
from solver.evict.rights.policy_bounds import MOVED
from solver.place.round_state import RoundState, around_now
from solver.place.stranded import stranded


def may_stay(work: RoundState, rights: HandRights, going: Going) -> bool:
    """
    Tell whether the room that somebody left, and its part of limits, is unused.
    """
    limit = work.ledger.limit
    return (
        is_share_free(work, rights, going)
        and work.room.has(going.rooms)
        and all(
            limit[queue][name] >= amount
            for queue in rights.path(going.leaver.queue)
            for name, amount in going.released.items()
            if amount and name in limit[queue] and rights.has_starts(queue)
        )
    )


def is_share_free(work: RoundState, rights: HandRights, going: Going) -> bool:
    """
    Tell whether entitled starts fit shares and quotas without somebody's eviction.
    """
    shares = work.ledger.inner_shares(going.leaver.queue)
    return going.leaver.rule == MOVED or (
        rights.keep_quotas(going.leaver, going.released)
        and all(
            left >= going.released.get(name, 0)
            for queue, share in shares.items()
            for name, left in share.items()
            if rights.is_claimed(queue, name)
        )
    )


def lie_well(
    work: RoundState, goings: Iterable[Going], going: Going | None = None
) -> bool:
    """
    Tell whether all that have places lie well among others, where somebody changed.
    """
    if work.around is None:
        return True
    leaves = () if going is None else tuple(pod_sets(going.item.victim.gang.tree))
    if going is not None and not any(leaf.neighbours.meets_others for leaf in leaves):
        return True
    around = around_now(work.problem)
    assert around is not None
    for one in goings:
        for (leaf, _), host in one.runners:
            around.leave(one.item.victim.gang, leaf, host)
    return not stranded(work.problem, work.placed, around)
