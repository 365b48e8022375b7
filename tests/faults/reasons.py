"""
Faults of reasons: what a waiting gang is told.
"""

from tests.faults.changes import no_reason
from tests.faults.fault import Fault
from tests.faults.switch import always, switch

FAULTS: tuple[Fault, ...] = (
    Fault(
        "no-fitting-node-not-seen",
        "a pod that fits no empty node is no reason",
        no_reason("solver.problem.never_starts:_no_fitting_node"),
        ("reasons/no-fitting-node-taints", "reasons/no-fitting-node-too-large"),
    ),
    Fault(
        "demand-exceeds-cluster-not-seen",
        "a gang larger than all matching nodes is no reason",
        no_reason("solver.problem.never_starts:_exceeds_cluster"),
        ("reasons/demand-exceeds-cluster", "reasons/demand-exceeds-matching-nodes"),
    ),
    Fault(
        "topology-too-small-not-seen",
        "a gang larger than every domain is no reason",
        no_reason("solver.problem.never_starts:_exceeds_domains"),
        ("reasons/topology-too-small",),
    ),
    Fault(
        "quota-exceeds-maximum-not-seen",
        "a gang larger than its queue's limit is no reason",
        no_reason("solver.problem.never_starts:_exceeds_quota"),
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
        switch("solver.explain.could_start_alone:starts_alone", always(value=False)),
        ("reasons/lower-tier-where-only-an-exact-packing-fits",),
    ),
    Fault(
        "fragmentation-not-proven",
        "a gang that no packing holds is said to yield to others",
        switch("solver.explain.could_start_alone:starts_alone", always(value=True)),
        ("reasons/fragmented", "peers/kueue-scattered-gpus-do-not-admit"),
    ),
)
