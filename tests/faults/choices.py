"""
Faults of the choice among equal outcomes: what a step may freeze, and the whole round.
"""

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


FAULTS: tuple[Fault, ...] = (
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
        ("devices/no-more-whole-gpus-are-promised-than-there-are",),
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
        "first-is-best",
        "the first choice of a step passes for the best one, whatever follows from it",
        switch("solver.search.attempts:Attempts.has_none", always(value=True)),
        ("evict/reclaim/of-equal-victims-who-is-in-nobodys-way-goes",),
    ),
)
