"""
Faults of reasons: what a waiting gang is told.
"""

from models.gangs import pod_sets
from solver.place.draft import Draft
from solver.problem.leaving_pods import Exit
from solver.problem.node_room import NO_PLACES
from tests.faults.changes import no_reason
from tests.faults.fault import Fault
from tests.faults.switch import always, saying, switch


def _all_leave(protection, unit):
    """
    Let all that runs leave for a unit, whether or not it then starts.
    """
    exits = tuple(
        Exit(
            gang=gang.key,
            leaf=0,
            pod=pod,
            host=0,
            rule="reclaim",
            whole=True,
            gpus=0,
            work=0,
            size=0,
        )
        for gang in protection._problem.snapshot.gangs
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
        if pod.node
    )
    return Draft(places={unit.key: NO_PLACES}, exits=exits)


FAULTS: tuple[Fault, ...] = (
    Fault(
        "no-fitting-node-not-seen",
        "a pod that fits no empty node is no reason",
        no_reason("solver.problem.when_empty.never_starts:_no_fitting_node"),
        ("reasons/no-fitting-node-taints", "reasons/no-fitting-node-too-large"),
    ),
    Fault(
        "demand-exceeds-cluster-not-seen",
        "a gang larger than all matching nodes is no reason",
        no_reason("solver.problem.when_empty.never_starts:_exceeds_cluster"),
        ("reasons/demand-exceeds-cluster", "reasons/demand-exceeds-matching-nodes"),
    ),
    Fault(
        "topology-too-small-not-seen",
        "a gang larger than every domain is no reason",
        no_reason("solver.problem.when_empty.never_starts:_exceeds_domains"),
        ("reasons/topology-too-small",),
    ),
    Fault(
        "quota-exceeds-maximum-not-seen",
        "a gang larger than its queue's limit is no reason",
        no_reason("solver.problem.when_empty.never_starts:_exceeds_quota"),
        ("reasons/quota-exceeds-maximum",),
    ),
    Fault(
        "quota-limit-reached-not-seen",
        "a limit reached by what runs is no reason",
        no_reason("solver.explain.reasons:_over_limit"),
        ("reasons/quota-limit-reached",),
    ),
    Fault(
        "insufficient-capacity-not-seen",
        "too little free room is no reason",
        no_reason("solver.explain.reasons:_short_of_room"),
        ("reasons/insufficient-capacity",),
    ),
    Fault(
        "fragmentation-assumed",
        "a gang that greedy cannot place alone is said to be fragmented",
        switch("solver.explain.could_start_alone:Alone.starts", always(value=False)),
        ("reasons/lower-tier-where-only-an-exact-packing-fits",),
    ),
    Fault(
        "fragmentation-not-proven",
        "a gang that no packing holds is said to yield to others",
        switch("solver.explain.reasons:_Explainer._starts_alone", always(value=True)),
        ("reasons/fragmented", "peers/kueue-scattered-gpus-do-not-admit"),
    ),
    Fault(
        "protection-not-seen",
        "nobody is told that protected work is in its way",
        no_reason("solver.explain.protected:Protection.reason"),
        (
            "evict/protected/when-nothing-is-preemptible",
            "reasons/protected-by-its-min-runtime",
        ),
    ),
    Fault(
        "protection-assumed",
        "whoever is entitled is told of protected work, whatever it would take",
        switch(
            "solver.explain.protected:Protection._by_hand",
            lambda _old: lambda self, _problem, unit: _all_leave(self, unit),
        ),
        ("reasons/protected-work-that-would-not-be-enough",),
    ),
    Fault(
        "takers-not-seen",
        "nobody is told that others get what it needs",
        no_reason("solver.explain.reasons:_Explainer._outranked"),
        ("reasons/lower-tier-or-priority",),
    ),
    Fault(
        "limits-of-each-gang-alone",
        "what gangs of a group need of a limit is not added up",
        switch(
            "solver.explain.room_now:_by_queue",
            saying(lambda found, *_: {name: some[:1] for name, some in found.items()}),
        ),
        ("reasons/quota-limit-of-a-whole-group",),
    ),
)
