"""
Faults of groups, match policies and readiness: who may start at all.
"""

from models.gangs import MatchPolicy, PodPhase
from tests.faults.changes import no_reason
from tests.faults.fault import Fault
from tests.faults.switch import Switch, always, asked, becomes, saying, switch


def _counting(policy: MatchPolicy, *phases: PodPhase) -> Switch:
    """
    Let pods of these phases count under one policy, and no others.
    """

    def change(table):
        return {**table, policy: frozenset(phases)}

    return switch("solver.problem.gang_state:_COUNTED", change)


def _without_demands(place, *_):
    """
    Forget the topologies of a gang.
    """
    return place._replace(demands=(), pinned="")


def _without_minimums(kind, _shapes, state):
    """
    Know no number of a gang but what its leaves miss.
    """
    return kind._replace(needs=tuple(leaf.need for leaf in state.leaves), tree=())


def _entitles_the_first_only(old):
    """
    Charge only the first gang of a group to the fair share.
    """

    def add(model, problem, types, *more):
        kept = [kind.states for kind in types]
        for kind in types:
            kind.states = kind.states[:1]
        old(model, problem, types, *more)
        for kind, states in zip(types, kept, strict=True):
            kind.states = states

    return add


def _highest_priority(states):
    return max(state.gang.priority for state in states)


FAULTS: tuple[Fault, ...] = (
    Fault(
        "like-gangs-without-their-racks",
        "gangs are equal whatever topology stands above their leaves",
        switch("solver.problem.unit_kind:_place_of", saying(_without_demands)),
        (
            "subgroups/a-like-gang-that-may-spread-starts",
            "reasons/like-gangs-have-reasons-of-their-own",
        ),
    ),
    Fault(
        "like-gangs-without-their-minimums",
        "gangs are equal whatever minimums stand above their leaves",
        switch("solver.problem.unit_kind:gang_kind", saying(_without_minimums)),
        ("subgroups/a-like-gang-with-fewer-min-pods-starts",),
    ),
    Fault(
        "like-gangs-refused-together",
        "greedy passes over a gang whose like found no rack with room",
        switch("solver.problem.unit_kind:place_of", saying(_without_demands)),
        ("subgroups/a-like-gang-is-tried-by-itself",),
        "greedy",
    ),
    Fault(
        "groups-start-apart",
        "each gang of a GangGroup starts by itself",
        switch("solver.problem.problem:together", becomes(lambda state, _: (state,))),
        (
            "groups/all-or-none",
            "peers/koordinator-interleaved-groups-do-not-hold-each-other",
        ),
    ),
    Fault(
        "group-in-its-highest-band",
        "a GangGroup is in the band of its highest gang",
        switch("solver.problem.problem:_lowest_priority", becomes(_highest_priority)),
        ("groups/the-band-is-that-of-the-lowest-gang",),
    ),
    Fault(
        "one-gang-entitles-the-group",
        "a GangGroup is entitled when its first gang is",
        asked(
            switch(
                "solver.encode.entitlement:add_entitlement", _entitles_the_first_only
            )
        ),
        ("groups/entitled-only-when-every-gang-is",),
    ),
    Fault(
        "missing-mates-do-not-matter",
        "a gang starts although one of its group does not exist",
        no_reason("solver.problem.eligibility:_missing_mates"),
        ("groups/a-missing-gang-blocks-the-group",),
    ),
    Fault(
        "lists-need-not-agree",
        "a group list that the others do not hold is accepted",
        no_reason("solver.problem.eligibility:_group_conflict"),
        ("groups/who-lists-alone-is-in-error-alone", "reasons/config-conflict"),
    ),
    Fault(
        "a-blocked-mate-does-not-matter",
        "a gang starts although one of its group never can",
        switch(
            "solver.problem.eligibility:spread_to_groups",
            lambda _old: lambda _s, b: dict(b),
        ),
        ("reasons/waiting-for-group",),
    ),
    Fault(
        "only-waiting-counts-running",
        "under only-waiting, pods that run count",
        _counting(MatchPolicy.ONLY_WAITING, PodPhase.RUNNING),
        (
            "matchpolicy/only-waiting-counts-no-running-pod",
            "matchpolicy/only-waiting-needs-room-for-the-whole-set",
        ),
    ),
    Fault(
        "waiting-and-running-counts-succeeded",
        "under waiting-and-running, pods that succeeded count",
        _counting(
            MatchPolicy.WAITING_AND_RUNNING, PodPhase.RUNNING, PodPhase.SUCCEEDED
        ),
        ("matchpolicy/waiting-and-running-ignores-finished-pods",),
    ),
    Fault(
        "succeeded-pods-do-not-count",
        "under waiting-running-succeed, pods that succeeded do not count",
        _counting(MatchPolicy.WAITING_RUNNING_SUCCEED, PodPhase.RUNNING),
        (
            "matchpolicy/waiting-running-succeed-counts-finished-pods",
            "matchpolicy/waiting-running-succeed-adds-all-three",
        ),
    ),
    Fault(
        "never-once-satisfied",
        "under once-satisfied, a gang keeps its minimum for ever",
        switch("solver.problem.gang_state:_is_ordinary", always(value=False)),
        (
            "matchpolicy/once-satisfied-pods-are-ordinary",
            "matchpolicy/once-satisfied-leaf-below-its-minimum-refills",
        ),
    ),
    Fault(
        "satisfied-only-by-the-mark",
        "under once-satisfied, a gang that has its minimum now is not seen",
        switch(
            "solver.problem.gang_state:_is_ordinary",
            lambda _old: (
                lambda g, _: g.match_policy == "once-satisfied" and g.once_satisfied
            ),
        ),
        ("matchpolicy/once-satisfied-holds-for-every-subset",),
    ),
    Fault(
        "waits-for-no-pods",
        "a gang whose pods do not exist is taken as ready",
        no_reason("solver.problem.eligibility:_readiness"),
        (
            "readiness/waits-for-pods-that-do-not-exist",
            "readiness/failed-pods-do-not-count",
        ),
    ),
    Fault(
        "time-out-and-back-off-ignored",
        "a gang that timed out or was refused is planned",
        no_reason("solver.problem.eligibility:_held"),
        ("readiness/timed-out-is-not-planned", "readiness/back-off-lets-others-pass"),
    ),
    Fault(
        "min-resources-ignored",
        "a gang starts although the free total is below its minResources",
        no_reason("solver.problem.eligibility:_short_of_minimum"),
        ("readiness/min-resources-short",),
    ),
    Fault(
        "queues-never-closed",
        "a queue that is closed, missing or not a leaf starts gangs",
        no_reason("solver.problem.eligibility:_queue_reason"),
        (
            "queues/a-closed-queue-starts-nothing",
            "queues/a-missing-queue-starts-nothing",
        ),
    ),
)
