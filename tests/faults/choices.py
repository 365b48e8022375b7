"""
Faults of the choice among equal outcomes: what a step may freeze, and the whole round.
"""

from dataclasses import replace

from models.resources import GPU
from solver.problem.problem import Step
from tests.faults.fault import Fault
from tests.faults.switch import always, both, frozen_first, switch


def _entitled_or_not(old):
    """
    Let whoever is reserved in the second step count as one that borrows.
    """

    def entitle(model, step, kind, own):
        if step is Step.ENTITLED:
            old(model, step, kind, own)

    return entitle


def _as_if_nobody_leaves(old):
    """
    Count no GPUs of those who leave for entitled starts.
    """
    return lambda problem, _lost=0, **more: old(problem, 0, **more)


def _as_if_nobody_left(old):
    """
    Count no GPUs of those who leave in any case.
    """

    def gpus(problem, lost=0, **more):
        room = replace(problem.room, later=problem.room.now, after=problem.room.now)
        return old(replace(problem, room=room), lost, **more)

    return gpus


def _two_less(old):
    """
    Miss two of the GPUs that there may be.
    """
    return lambda problem, lost=0, **more: (old(problem, lost, **more) or 2) - 2


def _all_of_it(_old):
    """
    Count the GPUs of all pods of a unit, also beyond its minimum.
    """

    def gpus(unit):
        leaves = [leaf for state in unit.states for leaf in state.leaves]
        return sum(
            leaf.pod_set.requests.get(GPU, 0) * leaf.pod_set.replicas for leaf in leaves
        )

    return gpus


FAULTS: tuple[Fault, ...] = (
    Fault(
        "gpus-of-victims-forgotten",
        "who leaves frees nothing when the GPUs for those who borrow are added up",
        switch("solver.score.gpu_sums:gpus_at_most", _as_if_nobody_leaves),
        ("evict/reclaim/who-makes-room-leaves-idle-room-to-others",),
    ),
    Fault(
        "gpus-that-end-forgotten",
        "what becomes free in any case is not added up for those who borrow",
        switch("solver.score.gpu_sums:gpus_at_most", _as_if_nobody_left),
        ("evict/reclaim/idle-room-is-left-to-others-where-somebody-leaves-anyway",),
    ),
    Fault(
        "gpus-of-the-outranked-forgotten",
        "what may be preempted is not added up for those who borrow",
        switch("solver.score.gpu_sums:_gpus_outranked", always(0)),
        ("evict/reclaim/idle-room-is-left-to-who-needs-others-to-leave",),
    ),
    Fault(
        "gpus-of-a-pod-forgotten",
        "two GPUs are missing from the sum that those who borrow may have",
        switch("solver.score.gpu_sums:gpus_at_most", _two_less),
        ("queues/what-the-entitled-leave-is-filled-by-those-who-borrow",),
    ),
    Fault(
        "gpus-of-all-replicas",
        "who borrows is left out where there is no room for all its replicas",
        switch("solver.score.gpu_sums:gpus_needed", _all_of_it),
        ("evict/reclaim/idle-room-is-left-to-the-least-that-others-need",),
    ),
    Fault(
        "entitled-where-others-leave",
        "who is entitled waits for room that somebody leaves for one that borrows",
        both(
            switch("solver.search.tier_model:nodes_for_entitled", always(None)),
            switch("solver.evict.open_step:has_room_now", always(True)),
        ),
        ("evict/moves/an-entitled-start-stands-where-there-is-room-now",),
    ),
    Fault(
        "round-reserves-entitled",
        "the whole round reserves entitled starts in the second step, too",
        switch("solver.encode.leaving.whole_round:_entitle", _entitled_or_not),
        ("evict/preempt/a-lower-band-follows-where-others-leave",),
    ),
    Fault(
        "rights-of-others",
        "in the whole round who is entitled in the end gives a right to who borrows",
        both(
            switch("solver.encode.leaving.joined_steps:_keep_starting", always(None)),
            switch("solver.search.round_steps:_keep_rights", always(None)),
        ),
        ("evict/preempt/who-is-entitled-gives-no-right-to-who-borrows",),
    ),
    Fault(
        "rights-of-those-given-up",
        "what follows in idle room may take the place of who gives a right to reclaim",
        switch("solver.search.round_steps:_keep_rights", always(None)),
        ("evict/reclaim/what-makes-up-inside-a-department-starts-after-all",),
    ),
    Fault(
        "bounds-step-by-step",
        "the whole round bounds what leaves step by step, and not in all",
        switch("solver.encode.leaving.joined_steps:add_policy_bounds", always(None)),
        ("evict/policy/one-bound-for-all-steps-leaves-the-choice-open",),
    ),
    Fault(
        "limits-step-by-step",
        "in the whole round a limit knows what each step does, and not both",
        switch("solver.encode.leaving.joined_steps:_add_limits", always(None)),
        ("evict/reclaim/what-is-left-below-a-limit-is-nobodys",),
    ),
    Fault(
        "chosen-without-room",
        "a later step is taken as it was chosen with another one, room or not",
        switch("solver.evict.open_step:has_room_later", always(True)),
        ("evict/preempt/below-a-limit-a-pod-leaves-whose-room-nobody-can-use",),
    ),
    Fault(
        "any-device-has-room",
        "the whole round does not see what each device holds",
        switch("solver.encode.leaving.crowded_nodes:add_each_device", always({})),
        (
            "devices/no-more-whole-gpus-are-promised-than-there-are",
            "devices/who-has-room-now-waits-for-nobody",
        ),
    ),
    Fault(
        "not-dealt-again",
        "who is entitled gets no other place where its own has no room now",
        both(
            frozen_first(switch("solver.evict.entitled_first:_placed", always(None))),
            switch("solver.search.tier_model:nodes_for_entitled", always(frozenset())),
        ),
        ("evict/moves/what-a-move-frees-is-for-who-borrows",),
    ),
    Fault(
        "gaps-are-kept",
        "where the model of a step keeps a gap the whole round is not asked",
        both(
            switch("solver.search.tier_model:nodes_for_entitled", always(None)),
            switch("solver.search.choose:_has_gap", always(value=False)),
        ),
        ("evict/moves/an-entitled-start-stands-where-there-is-room-now",),
    ),
    Fault(
        "idle-from-the-first",
        "all tiers pass for ones of idle room alone, though somebody leaves",
        switch("solver.search.choices:Sure._idle_from", always(0)),
        ("evict/reclaim/of-equal-victims-who-is-in-nobodys-way-goes",),
    ),
    Fault(
        "first-is-best",
        "the first choice of a step passes for the best one, whatever follows from it",
        switch("solver.search.attempts:Attempts.at_once", always((True, None))),
        ("evict/reclaim/of-equal-victims-who-is-in-nobodys-way-goes",),
    ),
)
