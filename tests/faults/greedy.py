"""
Faults of greedy.
"""

from tests.faults.changes import FIRST_CHILDREN_BY_HAND
from tests.faults.fault import Fault
from tests.faults.switch import always, number, once, saying, switch


def _in_first_domain(pairs, *_):
    seen = set()
    for leaf, mask in pairs:
        if leaf not in seen:
            seen.add(leaf)
            yield leaf, mask


FAULTS: tuple[Fault, ...] = (
    Fault(
        "greedy-adds-pods-in-one-domain",
        "greedy adds pods for the minPods of a node in one domain of each group only",
        switch(
            "solver.place.place_gang:_Placing._open_leaves", saying(_in_first_domain)
        ),
        ("topology/min-pods-above-a-group-reach-beyond-its-preferred-rack",),
        "greedy",
    ),
    Fault(
        "greedy-ignores-limits",
        "greedy starts gangs beyond the limit of their queue",
        switch(
            "solver.place.queue_ledger:Ledger.most",
            lambda _old: lambda _self, _state, _leaf, count: count,
        ),
        ("queues/limit-holds", "queues/limit-of-the-parent-holds"),
        "greedy",
    ),
    Fault(
        "greedy-entitles-everybody",
        "greedy calls every start entitled",
        switch("solver.place.queue_ledger:Ledger.entitles", always(value=True)),
        ("queues/idle-share-is-borrowed", "queues/water-filling-by-weight"),
        "greedy",
    ),
    Fault(
        "greedy-leaves-halves",
        "greedy does not take back the pods of a gang that does not fit",
        switch("solver.place.round_state:RoundState.undo", always(None)),
        ("groups/all-or-none", "subgroups/one-missing-child-stops-the-gang"),
        "greedy",
    ),
    Fault(
        "greedy-starts-the-first-of-a-group",
        "greedy starts each gang of a group that fits",
        switch("solver.place.place_gang:place_gang", saying(lambda *_: True)),
        ("groups/all-or-none", "groups/entitled-only-when-every-gang-is"),
        "greedy",
    ),
    Fault(
        "greedy-without-roles",
        "greedy gives pods to a leaf before those it comes after",
        switch("solver.place.place_gang:_Placing._roles_reached", always(value=True)),
        (
            "roles/executors-never-start-alone",
            "roles/surplus-of-a-later-role-waits-too",
        ),
        "greedy",
    ),
    Fault(
        "greedy-tries-the-first-children",
        "greedy tries only the first K of the children",
        FIRST_CHILDREN_BY_HAND,
        ("subgroups/only-the-second-subset-fits", "subgroups/only-the-last-pair-fits"),
        "greedy",
    ),
    Fault(
        "greedy-without-domains",
        "greedy places gangs in any domain",
        switch(
            "solver.place.domain_choice:Masks._required",
            lambda _old: lambda _self, _demand, mask: iter([mask]),
        ),
        (
            "topology/required-rack-holds-the-gang-together",
            "topology/required-at-three-levels",
        ),
        "greedy",
    ),
    Fault(
        "greedy-shares-hosts",
        "greedy puts two pods of an exclusive gang on one host",
        switch("solver.place.round_state:keep_hosts_apart", always(None)),
        ("exclusive/each-pod-has-its-own-host", "exclusive/surplus-stops-at-the-hosts"),
        "greedy",
    ),
    Fault(
        "greedy-fits-worst",
        "greedy takes the emptiest node first",
        switch(
            "solver.place.free_room:FreePlaces.strain",
            saying(lambda strain, *_: -strain),
        ),
        ("packing/the-largest-hole-stays-whole", "packing/an-exact-fit-is-taken"),
        "greedy",
    ),
    Fault(
        "greedy-wastes-gpu-nodes",
        "greedy puts pods without GPUs on GPU nodes as readily as on others",
        number("place.waste", 0.0),
        ("packing/processor-pods-keep-off-gpu-nodes",),
        "greedy",
    ),
    Fault(
        "greedy-never-steps-back",
        "greedy tries the children of a node in one order only",
        number("place.most_orders", 1),
        ("packing/largest-first-would-fail",),
        "greedy",
    ),
    Fault(
        "greedy-prefers-nothing",
        "greedy does not try preferred domains",
        switch(
            "solver.place.domain_choice:Masks._preferred",
            lambda _old: lambda _self, _demand, masks: iter(masks),
        ),
        (
            "topology/preferred-keeps-together-where-it-can",
            "topology/required-zone-and-preferred-rack",
        ),
        "greedy",
    ),
    Fault(
        "greedy-grows-anywhere",
        "greedy opens a further preferred domain for surplus",
        switch("solver.place.round_state:_is_frugal", always(value=False)),
        ("topology/surplus-does-not-leave-a-full-preferred-domain",),
        "greedy",
    ),
    Fault(
        "greedy-entitles-nobody",
        "greedy calls every start a borrowing one",
        once(switch("solver.place.queue_ledger:Ledger.entitles", always(value=False))),
        (
            "queues/quota-comes-before-queue-priority",
            "queues/weights-divide-what-quotas-leave",
        ),
        "greedy",
    ),
    Fault(
        "greedy-charges-no-share",
        "greedy does not charge entitled starts to the fair share",
        switch("solver.place.queue_ledger:Ledger.entitle", always(None)),
        (
            "queues/a-child-shares-what-its-parent-has",
            "queues/weights-divide-what-quotas-leave",
        ),
        "greedy",
    ),
    Fault(
        "greedy-youngest-first",
        "greedy starts the youngest gang of a queue first",
        switch(
            "solver.place.gang_order:rank_of",
            saying(lambda rank, *_: (rank[0], -rank[1], rank[2])),
        ),
        ("tiers/order-the-oldest-of-equals",),
        "greedy",
    ),
    Fault(
        "greedy-lowest-priority-first",
        "greedy starts the lowest priority of a queue first",
        once(
            switch(
                "solver.place.gang_order:rank_of",
                saying(lambda rank, *_: (-rank[0], rank[1], rank[2])),
            )
        ),
        ("priority/a-higher-band-comes-first", "priority/three-bands-in-their-order"),
        "greedy",
    ),
    Fault(
        "greedy-queues-by-name",
        "greedy serves queues by name instead of by share",
        switch("solver.place.greedy:_standing_of", always((0, 0.0))),
        ("queues/water-filling-by-weight",),
        "greedy",
    ),
)
