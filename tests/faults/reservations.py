"""
Faults of what follows evictions: frozen facts, reservations, and stale gangs.
"""

from dataclasses import replace

from models.gangs import PodSet
from models.plan import Placement
from tests.faults.fault import Fault
from tests.faults.switch import (
    Change,
    Switch,
    always,
    becomes,
    during,
    frozen_first,
    saying,
    seeing,
    switch,
)


def _what_is_left_over(problem, *_):
    """
    Offer the room that evictions leave over to the next step.
    """
    return replace(problem, room=replace(problem.room, later=problem.room.after))


def _who_leaves(frozen):
    """
    Count nobody as decided who has all its places.
    """
    return frozen.stale.union(one.gang for one in frozen.exits)


def _left_now(problem, *_):
    """
    Offer the room of those who leave at once.
    """
    return problem.in_room(problem.room.after)


def _names_first(old):
    """
    Keep reservations in the order of names, whatever their bands.
    """

    def keep(problem, promises, void=()):
        units = {unit.key: unit.band for unit in problem.units}
        flat = tuple(replace(unit, band=0) for unit in problem.units)
        kept = old(replace(problem, units=flat), promises, void)

        def with_band(unit):
            return replace(unit, band=units[unit.key])

        frozen = kept.frozen
        committed = tuple(map(with_band, frozen.committed))
        return replace(
            kept,
            units=tuple(map(with_band, kept.units)),
            frozen=replace(frozen, committed=committed),
        )

    return keep


def _of(**changes: Change) -> Change:
    """
    See a record that is changed, by field.
    """
    return lambda record: replace(
        record, **{name: make(getattr(record, name)) for name, make in changes.items()}
    )


def _stale_gang(**changes: Change) -> Switch:
    """
    Look at another gang when it is asked whether it is stale.
    """
    return switch("solver.problem.stale_gangs:is_stale", seeing(at0=_of(**changes)))


def _all_children(tree):
    if isinstance(tree, PodSet):
        return tree
    return replace(tree, min_groups=len(tree.children))


FAULTS: tuple[Fault, ...] = (
    # --- what is frozen, and reservations
    Fault(
        "nobody-waits",
        "nobody has to wait for pods that are leaving",
        switch("solver.evict.freeze:fits_now", always(value=True)),
        (
            "evict/reservations/borrowing-waits-for-leaving-pods-too",
            "evict/reservations/leaving-pods-are-room-for-a-new-one",
        ),
    ),
    Fault(
        "left-over-room-is-lent",
        "who borrows takes what an eviction for others has left over",
        switch("solver.evict.freeze:with_facts", saying(_what_is_left_over)),
        ("evict/preempt/borrowing-does-not-use-what-is-left-over",),
    ),
    Fault(
        "room-of-those-who-leave-is-lent",
        "room of pods that have not left is used in the last step",
        switch("solver.evict.freeze:with_facts", saying(_left_now)),
        ("evict/reclaim/what-is-left-over-stays-idle",),
    ),
    Fault(
        "anybody-gets-the-room",
        "those who leave are said to do so for gangs that have no right to it",
        switch("solver.evict.beneficiaries:may_be_for", always(value=True)),
        ("evict/preempt/for-who-may-though-another-gets-its-room",),
    ),
    Fault(
        "who-is-promised-leaves",
        "pods leave of a gang that has the places of all it misses",
        switch("solver.problem.problem:Frozen.decided", becomes(property(_who_leaves))),
        (
            "evict/reservations/keeps-what-runs-of-its-gang",
            "evict/preempt/not-who-was-promised-the-rest-in-this-plan",
        ),
    ),
    Fault(
        "leaving-pods-are-no-room",
        "nobody is reserved where pods are leaving",
        switch("solver.problem.pod_counts:is_leaving", always(value=False)),
        (
            "evict/reservations/leaving-pods-are-room-for-a-new-one",
            "evict/protected/who-leaves-already-is-no-victim",
        ),
    ),
    Fault(
        "leaving-pods-a-second-longer",
        "pods that have been leaving for two minutes are counted on",
        switch("solver.problem.pod_counts:LONGEST_LEAVING", becomes(121)),
        (
            "evict/protected/a-pod-that-does-not-go-is-not-counted-on",
            "evict/reservations/after-two-minutes-somebody-else-goes",
        ),
    ),
    Fault(
        "reservations-ignored",
        "what an earlier round promised is forgotten",
        switch("solver.evict.reservations:promises_of", always({})),
        (
            "evict/reservations/held-against-an-equal-priority",
            "evict/reservations/kept-in-its-place-while-somebody-leaves",
        ),
    ),
    Fault(
        "reservations-of-too-few-pods-kept",
        "a reservation is kept though the gang needs more",
        switch("solver.evict.reservations:is_core", always(value=True)),
        ("evict/reservations/void-when-it-is-not-enough",),
    ),
    Fault(
        "reservations-by-name",
        "of reservations that do not fit together the first by name is kept",
        switch("solver.evict.reservations:keep", _names_first),
        ("evict/reservations/two-for-one-place",),
    ),
    Fault(
        "reservations-for-ever",
        "a higher priority does not get what is reserved",
        switch("solver.round:_outranked", always(frozenset())),
        (
            "evict/reservations/given-up-for-a-higher-priority",
            "evict/reservations/a-higher-priority-takes-a-place-that-is-free-now",
        ),
    ),
    Fault(
        "reservations-given-up-in-vain",
        "a reservation is void where a higher priority waits, whether it helps or not",
        frozen_first(
            during(
                "solver.round:_ranked",
                switch("solver.search.search_outcome:is_ahead", always(value=True)),
            )
        ),
        ("evict/reservations/not-given-up-where-it-would-not-help",),
    ),
    # --- stale gangs
    Fault(
        "stale-off-by-one",
        "a gang is not stale at exactly its grace",
        _stale_gang(stale_since=lambda s: s - 1),
        ("evict/stale/exactly-the-grace-is-too-late",),
    ),
    Fault(
        "stale-by-the-policy-only",
        "what a gang says of its grace does not count",
        _stale_gang(stale_after=lambda _: None),
        ("evict/stale/a-gang-has-its-own-grace",),
    ),
    Fault(
        "stale-though-never",
        "a negative grace is over at once",
        _stale_gang(stale_after=lambda after: after and max(0, after)),
        ("evict/stale/a-negative-grace-never-ends",),
    ),
    Fault(
        "stale-without-an-optional-child",
        "every child counts where it is asked whether a gang is stale",
        _stale_gang(tree=_all_children),
        (
            "evict/stale/optional-subtrees-do-not-matter",
            "evict/peers/without-its-optional-subgroup-nobody-kills-it",
        ),
    ),
    Fault(
        "stale-though-helped",
        "a stale gang goes although this plan completes it",
        switch(
            "solver.evict.stale:stale_departures", seeing(at1=lambda _: Placement())
        ),
        (
            "evict/stale/what-this-plan-completes-stays",
            "evict/stale/what-is-reserved-in-this-plan-stays",
        ),
    ),
    Fault(
        "stale-room-is-nobodys",
        "what a stale gang leaves is no room in this round",
        switch("solver.evict.stale:letting_go", seeing(at1=lambda _: ())),
        (
            "evict/stale/its-room-is-promised-to-who-waits",
            "evict/stale/nobody-else-leaves-where-this-round-cannot-help-it",
        ),
    ),
    Fault(
        "stale-room-on-nodes-only",
        "what a stale gang leaves is no room below a limit",
        switch(
            "solver.evict.stale:letting_go",
            saying(lambda x, *_: replace(x, queues=replace(x.queues, leaving={}))),
        ),
        ("evict/stale/what-it-leaves-is-room-below-a-limit",),
    ),
    Fault(
        "stale-in-part",
        "of a stale gang one pod stays",
        switch(
            "solver.evict.stale:stale_departures",
            saying(lambda found, *_: dict(sorted(found.items())[1:])),
        ),
        ("evict/stale/after-its-grace",),
    ),
)
