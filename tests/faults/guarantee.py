"""
Faults of guarantees: who takes up a quota that is not used, and from whom.
"""

from dataclasses import replace

from solver.plan.short_lived import ShortLived
from tests.faults.fault import Fault
from tests.faults.in_model import dropped, in_model
from tests.faults.switch import always, both, saying, switch

IDLE = "evict/guarantee/idle-in-pieces"
DEPARTMENT = "evict/guarantee/what-leaves-a-department-makes-room-in-its-quota"

NEXT = "who-would-leave-in-the-next-round-does-not-start"


def _remembering_units(problem, _before, keys):
    """
    Forget those that were evicted before and are left out of a round.
    """
    kept = {k: row for k, row in problem.remembered.items() if k not in keys}
    return replace(problem, remembered=kept)


FAULTS: tuple[Fault, ...] = (
    Fault(
        "nobody-is-guaranteed",
        "the model takes nothing from queues within their shares",
        dropped("solver.encode.leaving.step_rules:add_guarantee"),
        (IDLE, DEPARTMENT),
    ),
    Fault(
        "nobody-is-offered-for-a-quota",
        "only work of queues above their shares may be reclaimed",
        switch("solver.evict.rights.guarantees:is_beyond_quota", always(value=False)),
        (IDLE, "evict/guarantee/where-departments-quotas-exceed-the-cluster"),
    ),
    Fault(
        "guaranteed-beyond-its-quota",
        "every entitled start counts as guaranteed",
        in_model(
            switch("solver.shares.queue_tree:QueueTree.guarantee_left", always(None))
        ),
        ("evict/guarantee/not-beyond-its-own-quota",),
    ),
    Fault(
        "taken-from-within-the-quota",
        "all that a queue runs counts as above its quota",
        both(
            in_model(),
            switch(
                "solver.shares.queue_tree:QueueTree.beyond_quota",
                lambda _old: (
                    lambda self, queue, name: self.running.get(queue, {}).get(name, 0)
                ),
            ),
        ),
        ("evict/guarantee/not-from-a-queue-within-its-quota",),
    ),
    Fault(
        "greedy-guarantees-nobody",
        "greedy takes nothing from queues within their shares",
        switch("solver.evict.rights.guarantees:Guarantees.elsewhere", always(0)),
        (IDLE, "evict/guarantee/inside-a-department-that-uses-its-quota"),
        "greedy",
    ),
    Fault(
        "greedy-guarantees-without-end",
        "greedy lets all starts take what guaranteed ones may",
        switch(
            "solver.evict.rights.guarantees:Guarantees.elsewhere",
            saying(lambda asked, *_: asked * 100),
        ),
        ("evict/guarantee/others-get-no-second-unit",),
        "greedy",
    ),
    Fault(
        "greedy-forgets-what-leaves-a-department",
        "greedy counts a department's quota as if nobody left it",
        switch("solver.evict.rights.hand_rights:HandRights._released", always({})),
        ("evict/guarantee/inside-a-department-that-uses-its-quota",),
        "greedy",
    ),
    Fault(
        "guaranteed-in-name-only",
        "nobody is named for whom a queue loses below its share",
        switch(
            "solver.evict.freeze:_guaranteed",
            lambda _old: lambda _problem, _draft, reserved: (reserved, frozenset()),
        ),
        (IDLE,),
    ),
    Fault(
        "starts-that-do-not-last",
        "what the next round would evict is bound all the same",
        switch("solver.plan.short_lived:short_lived", always(ShortLived())),
        (f"evict/preempt/{NEXT}", f"evict/guarantee/{NEXT}"),
    ),
    Fault(
        "nobody-moves-next",
        "the next round is not asked where somebody would have to move in it",
        switch("solver.plan.short_lived:_movable", always([])),
        ("evict/preempt/what-moves-next-round-does-not-keep-it-from-evicting",),
    ),
    Fault(
        "starts-of-one-queue-only-last",
        "nobody asks who would take up a quota in the next round",
        switch("solver.plan.short_lived:_within_quotas", always(())),
        (f"evict/guarantee/{NEXT}",),
    ),
    Fault(
        "left-out-for-nobody",
        "who would not last is left out also where nobody starts for that",
        switch(
            "solver.round:started",
            lambda _old: lambda outcome: frozenset(outcome.problem.states),
        ),
        ("evict/preempt/who-makes-way-for-nobody-starts-all-the-same",),
    ),
    Fault(
        "greedy-lasts-unseen",
        "the round without who would not last is taken, though greedy's is better",
        switch("solver.search.search_outcome:is_ahead", always(value=False)),
        ("evict/preempt/a-plan-by-hand-that-lasts-is-not-left-for-less",),
    ),
    Fault(
        "left-out-and-forgotten",
        "who was evicted and does not last counts no more in what its queue may claim",
        switch("solver.round:without", saying(_remembering_units)),
        ("evict/reclaim/who-does-not-start-after-all-is-still-remembered",),
    ),
)
