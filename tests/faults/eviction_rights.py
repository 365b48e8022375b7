"""
Faults of the right to evict: reclaim and preemption.
"""

from solver.problem.when_empty.never_starts import needed
from tests.faults.evictions_by_hand import surplus_with_its_core
from tests.faults.fault import Fault
from tests.faults.in_model import dropped, in_model
from tests.faults.queues import LEAF_QUEUE_ONLY
from tests.faults.switch import always, both, during, saying, seeing, switch


def _as_many_as_one_band_more(old):
    """
    Let whole bands start above that only equal those that leave.
    """

    def make(self, problem):
        old(self, problem)
        for queue in self._top:
            self._top[queue] += 1

    return make


def _never(_old):
    """
    Give a literal that is false.
    """
    return lambda model, *_: model.new_constant(0)


def _whatever_was_placed(old):
    """
    Take every answer as if all its starts had found their places.
    """
    return lambda self, draft, **_: old(self, draft)


FOR_THEIR_LIKE = (
    switch("solver.encode.leaving.preempt_bound:_add_no_profit", always(None)),
    switch(
        "solver.evict.idle_starts:without_profit",
        lambda _old: lambda _problem, draft: draft,
    ),
)
"""
In the model and in what is read from it a start may be like those that leave.
"""
FAULTS: tuple[Fault, ...] = (
    # --- reclaim
    Fault(
        "reclaim-without-bound",
        "the model lets queues lose anything to others",
        dropped("solver.encode.leaving.reclaim_bound:Reclaim.add"),
        (
            "evict/reclaim/a-queue-below-its-share-gives-no-second-unit",
            "evict/reclaim/single-pods-are-units-by-themselves",
        ),
    ),
    Fault(
        "reclaim-without-the-last-unit",
        "a queue must stay at its share after the last unit, too",
        in_model(
            during(
                "solver.encode.leaving.reclaim_bound:Reclaim.add",
                switch("solver.encode.leaving.unit_sums:LargestUnit.add", always(None)),
            )
        ),
        (
            "evict/reclaim/the-last-unit-may-take-it-below",
            "evict/reclaim/a-gang-that-goes-whole-is-one-unit",
        ),
    ),
    Fault(
        "surplus-with-its-core",
        "a gang that goes whole is one unit, with all its surplus",
        in_model(switch("solver.evict.rights.cores:core_of", surplus_with_its_core)),
        (
            "evict/reclaim/an-elastic-gang-does-not-go-whole-for-one-unit",
            "evict/reclaim/the-core-of-a-tree-is-what-it-needs",
        ),
    ),
    Fault(
        "surplus-before-no-core",
        "a surplus pod has to hold what is reclaimed, though it goes with a core",
        in_model(switch("solver.encode.leaving.unit_sums:_emptied", _never)),
        ("evict/reclaim/surplus-without-the-resource-goes-with-its-core",),
    ),
    Fault(
        "reclaim-at-the-share",
        "a queue may lose a unit when it is at its share and not above",
        in_model(
            switch(
                "solver.encode.leaving.reclaim_bound:Reclaim._excess",
                saying(lambda excess, *_: excess + 1),
            )
        ),
        ("evict/reclaim/single-pods-are-units-by-themselves",),
    ),
    Fault(
        "reclaim-past-departments",
        "only the share of the victim's own queue counts, not of those above it",
        in_model(
            during(
                "solver.encode.leaving.reclaim_bound:Reclaim.__init__",
                switch(
                    "solver.shares.queue_tree:QueueTree.chain",
                    saying(lambda chain, *_: chain[:1]),
                ),
            )
        ),
        (
            "evict/reclaim/a-department-within-its-share-loses-nothing",
            "evict/reclaim/one-level-within-its-share-is-enough",
        ),
    ),
    Fault(
        "reclaim-of-all-that-leaves-a-queue",
        "an inner queue answers for what its own queues take as well",
        in_model(
            switch(
                "solver.encode.leaving.reclaim_bound:Reclaim._add_queue",
                seeing(at4=lambda _inside: None),
            )
        ),
        ("evict/reclaim/a-department-answers-only-for-what-leaves-it",),
    ),
    Fault(
        "reclaim-credits-the-whole-unit",
        "of the largest unit more is credited to an inner queue than leaves it",
        in_model(
            switch(
                "solver.encode.leaving.reclaim_bound:Reclaim._excess",
                lambda old: (
                    lambda self, queue, name: (
                        old(self, queue, name) + (queue in self.problem.queues.parents)
                    )
                ),
            )
        ),
        (
            "evict/reclaim/a-department-at-its-share-gives-nothing-beside",
            "evict/reclaim/a-department-within-its-share-loses-nothing",
        ),
    ),
    Fault(
        "reclaim-of-any-resource",
        "what a queue is above its share in need not be what somebody else asks for",
        in_model(
            switch(
                "solver.encode.leaving.reclaim_bound:Reclaim._add_only_row",
                lambda _old: lambda *_args: None,
            )
        ),
        (
            "evict/reclaim/a-queue-below-its-share-gives-no-second-unit",
            "evict/reclaim/single-pods-are-units-by-themselves",
        ),
    ),
    Fault(
        "departments-make-no-room",
        "what leaves a department makes no room in its share",
        in_model(
            switch(
                "solver.encode.entitlement:add_entitlement", seeing(at3=lambda _: None)
            )
        ),
        (
            "evict/reclaim/queues-of-one-department-reclaim-from-each-other",
            "evict/reclaim/the-paths-part-three-levels-up",
        ),
    ),
    Fault(
        "memory-lost",
        "gangs that were evicted and wait do not count where their queue would evict",
        switch(
            "solver.evict.open_step:remembering", lambda _old: lambda problem: problem
        ),
        ("evict/reclaim/a-queue-that-gave-its-last-unit-does-not-evict-in-turn",),
    ),
    Fault(
        "evicted-gangs-claim",
        "others leave for a gang that was evicted itself",
        switch("solver.evict.open_step:was_evicted", always(value=False)),
        ("evict/reclaim/nobody-leaves-for-a-gang-that-was-evicted",),
    ),
    Fault(
        "entitled-starts-in-the-second-step",
        "in the second step others leave for what is entitled",
        both(
            switch("solver.search.tier_model:_without_anybody", always({})),
            switch("solver.search.tier_model:nodes_for_entitled", always(None)),
            switch("solver.evict.open_step:has_room_now", always(value=True)),
        ),
        ("evict/moves/they-serve-what-borrows-and-nothing-else-later",),
    ),
    Fault(
        "rights-of-who-found-no-place",
        "who found no place still gives the right to evict",
        switch("solver.evict.open_step:Opened.holds", _whatever_was_placed),
        ("evict/preempt/no-right-from-a-start-without-a-place",),
    ),
    Fault(
        "memory-of-pods-that-fit-nowhere",
        "what was evicted counts with its cheapest pods, also where none fits",
        switch(
            "solver.problem.problem:_least_living",
            lambda _old: (
                lambda state, _possible, named: {
                    name: needed(state, name) for name in named
                }
            ),
        ),
        ("evict/reclaim/what-was-evicted-counts-with-what-it-can-place",),
    ),
    Fault(
        "memory-on-the-leaf-queue-only",
        "what was evicted does not count in queues above its own",
        during("solver.evict.open_step:remembering", LEAF_QUEUE_ONLY),
        ("evict/reclaim/what-was-evicted-counts-on-the-whole-path",),
    ),
    # --- preempt
    Fault(
        "preempt-without-bound",
        "more may be preempted than higher bands start",
        dropped("solver.encode.leaving.preempt_bound:_add_band"),
        ("evict/preempt/no-more-than-is-started",),
    ),
    Fault(
        "preempt-without-the-last-unit",
        "the last unit that is preempted may not be larger than what starts",
        in_model(
            during(
                "solver.encode.leaving.preempt_bound:add_preempt",
                switch("solver.encode.leaving.unit_sums:LargestUnit.add", always(None)),
            )
        ),
        (
            "evict/preempt/the-last-unit-may-be-larger",
            "evict/preempt/a-lower-priority-of-its-queue",
        ),
    ),
    Fault(
        "preempt-with-a-right-that-was-used",
        "who gets just what it was promised gives the right to preempt once more",
        switch("solver.evict.reservations:is_as_promised", always(False)),
        (
            "evict/reservations/gives-no-right-to-evict-a-second-time",
            "evict/reservations/reserved-once-more-gives-no-right-to-evict",
        ),
    ),
    Fault(
        "preempt-equals",
        "work of the same band is preempted, too",
        in_model(
            switch(
                "solver.evict.rights.may_leave:Permissions.__init__",
                _as_many_as_one_band_more,
            ),
            *FOR_THEIR_LIKE,
            switch(
                "solver.encode.leaving.preempt_bound:_add_band",
                seeing(at3=lambda band: band - 1),
            ),
        ),
        (
            "evict/preempt/not-within-one-band",
            "evict/preempt/not-an-equal-priority",
        ),
    ),
    Fault(
        "queues-by-name-though-none-is-listed",
        "gangs that name other queues share none where no queue is listed",
        switch("solver.shares.queue_tree:QueueTree.leaf", saying(lambda _, __, n: n)),
        ("evict/preempt/where-no-queue-is-listed-all-share-one",),
    ),
    Fault(
        "preempt-for-its-like",
        "a band may start where something of it was preempted",
        in_model(*FOR_THEIR_LIKE),
        ("evict/preempt/nobody-leaves-for-the-like-of-it",),
    ),
    Fault(
        "borrowing-preempts-for-the-entitled",
        "in the step of those that borrow entitled starts count as well",
        in_model(
            switch(
                "solver.encode.leaving.starts_asked:_borrowed",
                lambda _old: lambda _m, _k, _v, p: p,
            )
        ),
        ("evict/preempt/entitled-starts-give-borrowing-no-right",),
    ),
    Fault(
        "limits-stay-taken",
        "what leaves a queue makes no room below its limit",
        in_model(
            switch("solver.encode.queue_limit:add_limits", seeing(at3=lambda _: None)),
        ),
        (
            "evict/preempt/the-limit-of-a-queue-is-made-room-in",
            "evict/preempt/the-limit-above-the-queue-is-made-room-in",
        ),
    ),
)
