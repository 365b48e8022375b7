"""
Faults of queues: limits, quotas, fair shares, entitlement and borrowing.
"""

from dataclasses import replace

from models.resources import MODEL_MARK
from tests.faults.changes import gangs
from tests.faults.fault import Fault
from tests.faults.switch import always, asked, during, once, saying, seeing, switch


def _rules(**changes):
    """
    See queues whose rules are changed, by field.
    """

    def change(queues):
        return tuple(
            replace(
                queue,
                resources={
                    name: replace(
                        rule, **{k: make(rule) for k, make in changes.items()}
                    )
                    for name, rule in queue.resources.items()
                },
            )
            for queue in queues
        )

    return change


def _queues(**changes):
    """
    See queues that are changed, by field.
    """
    return lambda queues: tuple(
        replace(queue, **{k: make(queue) for k, make in changes.items()})
        for queue in queues
    )


def _without_remainders(_old):
    """
    Give whole parts only; what rounding leaves goes to the next band.
    """

    def fill(weights, wants, shares, left):
        whole, amount = sum(weights.values()), left
        for name in weights:
            part = min(amount * weights[name] // whole, wants[name] - shares[name])
            shares[name] += part
            left -= part
        return {}, left

    return fill


def _by_name(_old):
    return lambda _self, owed, _shares, _resource, _units: sorted(
        owed, key=lambda name: (-owed[name], name)
    )


def _by_age(_old):
    return lambda self, owed, _shares, _resource, _units: sorted(
        owed, key=lambda name: (-owed[name], -self.ages()[name])
    )


def _largest_factor(old):
    """
    Take each resource by itself, and the largest of their factors.
    """

    def factor(problem, queue):
        each = [
            replace(problem, queues=replace(problem.queues, named=(resource,)))
            for resource in problem.queues.named
        ]
        return max((old(one, queue) for one in each), default=1)

    return factor


def _as_large_as_they_are(_old):
    return lambda problem, states: sum(4 * problem.weight(state) for state in states)


LEAF_QUEUE_ONLY = switch(
    "solver.shares.queue_tree:QueueTree.path", saying(lambda path, *_: path[:1])
)


def _without_models(queues):
    """
    See queues that say nothing of models.
    """
    return tuple(
        replace(
            queue,
            resources={
                name: replace(rule, quota=None, limit=None)
                if MODEL_MARK in name
                else rule
                for name, rule in queue.resources.items()
            },
        )
        for queue in queues
    )


FAULTS: tuple[Fault, ...] = (
    Fault(
        "limit-rows-dropped",
        "the model knows neither limits nor quotas",
        switch("solver.encode.queue_limit:add_limits", always(None)),
        ("queues/limit-holds", "queues/surplus-stops-at-the-limit"),
    ),
    Fault(
        "limit-of-the-leaf-queue-only",
        "limits and quotas above the leaf queue are no constraints",
        during("solver.encode.queue_limit:add_limits", LEAF_QUEUE_ONLY),
        ("queues/limit-of-the-parent-holds",),
    ),
    Fault(
        "limit-without-running",
        "what runs in a queue does not count towards its limit",
        switch(
            "solver.shares.queue_tree:QueueTree.limit_left",
            lambda _old: lambda self, queue, r: self.queues[queue].rule(r).limit,
        ),
        ("queues/running-pods-count-towards-the-limit", "reasons/quota-limit-reached"),
    ),
    Fault(
        "limit-off-by-one",
        "a queue may exceed its limit by one",
        switch(
            "solver.shares.queue_tree:QueueTree.limit_left",
            saying(lambda left, *_: None if left is None else left + 1),
        ),
        ("queues/surplus-stops-at-the-limit", "reasons/quota-limit-reached"),
    ),
    Fault(
        "quota-rows-dropped",
        "non-preemptible work may exceed its quota",
        switch("solver.shares.queue_tree:QueueTree.quota_left", always(None)),
        ("queues/surplus-of-non-preemptible-work-stays-within-quota",),
    ),
    Fault(
        "quota-for-everybody",
        "preemptible work is held within quota, too",
        switch(
            "solver.problem.problem:problem_of",
            seeing(at0=gangs(preemptible=lambda _: False)),
        ),
        ("queues/preemptible-work-takes-no-quota",),
    ),
    Fault(
        "quota-charged-by-all-that-runs",
        "running preemptible work uses up the quota",
        switch(
            "solver.shares.queue_tree:QueueTree.quota_left",
            lambda _old: (
                lambda self, queue, r: (
                    None
                    if self.queues[queue].rule(r).quota is None
                    else max(
                        0,
                        self.queues[queue].rule(r).quota
                        - self.running.get(queue, {}).get(r, 0),
                    )
                )
            ),
        ),
        ("queues/preemptible-work-takes-no-quota",),
    ),
    Fault(
        "entitlement-rows-dropped",
        "every start is entitled",
        asked(once(switch("solver.encode.entitlement:_tight_rows", always(set())))),
        (
            "queues/entitled-before-borrowing",
            "queues/a-gang-beyond-the-share-borrows-after-the-entitled",
        ),
    ),
    Fault(
        "entitlement-on-the-leaf-queue-only",
        "fair shares above the leaf queue are no constraints",
        during("solver.encode.entitlement:add_entitlement", LEAF_QUEUE_ONLY),
        ("queues/a-child-shares-what-its-parent-has",),
    ),
    Fault(
        "entitlement-without-running",
        "what runs in a queue does not count towards its share",
        during(
            "solver.encode.entitlement:add_entitlement",
            switch(
                "solver.shares.queue_tree:QueueTree.claim_left",
                lambda _old: (
                    lambda _self, shares, queue, r: shares.get(queue, {}).get(r, 0)
                ),
            ),
        ),
        (
            "queues/entitled-before-borrowing",
            "queues/borrowing-by-value-when-factors-are-equal",
        ),
    ),
    Fault(
        "entitlement-of-one-resource",
        "only the last named resource decides who is entitled",
        asked(
            once(
                switch(
                    "solver.encode.entitlement:_tight_rows",
                    saying(
                        lambda rows, problem, *_: {
                            (queue, r)
                            for queue, r in rows
                            if r == problem.queues.named[-1]
                        }
                    ),
                )
            )
        ),
        ("queues/entitlement-needs-every-resource",),
    ),
    Fault(
        "borrowing-factor-always-one",
        "how much of its share a queue uses does not matter to what it starts",
        switch("solver.problem.start_values:quarters_owed", always(1)),
        (
            "queues/borrowing-below-a-quarter-counts-four-fold",
            "queues/borrowing-below-three-quarters-counts-twice",
        ),
    ),
    Fault(
        "borrowing-factor-of-the-least-used",
        "the resource of which a queue uses least decides what it is owed",
        switch("solver.problem.start_values:quarters_owed", _largest_factor),
        (
            "queues/the-resource-used-most-sets-the-borrowing-factor",
            "queues/the-resource-used-most-says-what-is-owed",
        ),
    ),
    Fault(
        "what-is-owed-does-not-matter",
        "how much of its share a queue uses does not matter to what is entitled",
        switch("solver.problem.start_values:entitled_value", _as_large_as_they_are),
        ("queues/who-is-owed-more-starts-first",),
    ),
    Fault(
        "remainders-to-the-next-band",
        "what rounding leaves of a fair share goes to the next priority",
        switch("solver.shares.fair_share:_fill", _without_remainders),
        ("queues/remainders-stay-in-their-band",),
    ),
    Fault(
        "units-go-by-name",
        "a unit that several queues are owed goes to the first by name",
        switch("solver.shares.fair_share:Precedence.order", _by_name),
        (
            "queues/a-unit-owed-to-two-goes-to-the-oldest-gang",
            "queues/a-unit-owed-to-two-stays-where-it-is-held",
        ),
    ),
    Fault(
        "units-go-by-age-only",
        "a unit that a queue holds goes to the one with the oldest gang",
        switch("solver.shares.fair_share:Precedence.order", _by_age),
        ("queues/a-unit-owed-to-two-stays-where-it-is-held",),
    ),
    Fault(
        "running-work-asks-for-no-share",
        "only what waits is asked for when fair shares are divided",
        switch(
            "solver.shares.queue_tree:QueueTree.requested",
            lambda _old: lambda _self, more: more,
        ),
        ("queues/idle-share-is-borrowed",),
    ),
    Fault(
        "weights-ignored",
        "fair shares are equal parts whatever the weights",
        switch(
            "solver.shares.fair_share:fair_shares",
            seeing(at0=_rules(weight=lambda rule: min(1, rule.weight))),
        ),
        ("queues/water-filling-by-weight",),
    ),
    Fault(
        "weight-zero-shares",
        "a queue of weight 0 shares in what the quotas leave",
        switch(
            "solver.shares.fair_share:fair_shares",
            seeing(at0=_rules(weight=lambda rule: max(1, rule.weight))),
        ),
        ("queues/weight-zero-gets-nothing-beyond-its-quota",),
    ),
    Fault(
        "limits-ignored-in-shares",
        "a fair share may exceed the limit",
        switch(
            "solver.shares.fair_share:fair_shares",
            seeing(at0=_rules(limit=lambda _: None)),
        ),
        ("queues/a-limit-caps-the-share",),
    ),
    Fault(
        "quotas-ignored-in-shares",
        "fair shares are divided by weight without the quotas",
        switch(
            "solver.shares.fair_share:fair_shares",
            seeing(at0=_rules(quota=lambda _: 0)),
        ),
        ("queues/quota-comes-before-queue-priority",),
    ),
    Fault(
        "queue-priority-ignored",
        "what the quotas leave is divided without looking at priorities",
        switch(
            "solver.shares.fair_share:fair_shares",
            seeing(at0=_queues(priority=lambda _: 0)),
        ),
        ("queues/a-higher-queue-takes-the-rest-first",),
    ),
    Fault(
        "children-share-the-cluster",
        "child queues divide the whole cluster instead of their parent's share",
        switch(
            "solver.shares.fair_share:fair_shares",
            seeing(at0=_queues(parent=lambda _: None)),
        ),
        ("queues/a-child-shares-what-its-parent-has",),
    ),
    Fault(
        "the-impossible-take-a-share",
        "gangs that can never start ask for a share",
        switch(
            "solver.problem.when_empty.never_starts:structural_reasons",
            lambda _old: lambda _s, b, *_: dict(b),
        ),
        ("queues/an-impossible-giant-takes-no-share",),
    ),
    Fault(
        "impossible-subtrees-take-a-share",
        "subtrees that can never be satisfied ask for a share",
        switch(
            "solver.problem.when_empty.possible_room:Possible.living",
            lambda _old: lambda _self, state: [len(x.pending) for x in state.leaves],
        ),
        ("queues/an-impossible-subtree-takes-no-share",),
    ),
    Fault(
        "usage-forgotten",
        "what queues used is no matter in fair shares",
        switch(
            "solver.problem.when_empty.shared_out:with_memory",
            lambda _old: lambda queues, _half_life: queues,
        ),
        ("queues/usage-weighs-on-the-share", "evict/usage-gives-a-right-to-reclaim"),
    ),
    Fault(
        "usage-without-a-half-life",
        "what queues used counts where the policy gives shares no memory",
        switch(
            "solver.problem.when_empty.shared_out:with_memory",
            lambda old: lambda queues, _half_life: old(queues, 1),
        ),
        ("queues/without-a-half-life-shares-have-no-memory",),
    ),
    Fault(
        "usage-of-the-whole-cluster",
        "what a queue used is weighed against all queues, not its siblings",
        switch(
            "solver.shares.fair_share:fair_parts",
            seeing(at0=_queues(parent=lambda _: None)),
        ),
        ("queues/usage-counts-among-siblings",),
    ),
    Fault(
        "usage-without-weights",
        "the fair part of usage is the same for every weight",
        switch(
            "solver.shares.fair_share:FairPart.weighs",
            lambda _old: property(
                lambda part: (
                    10**6
                    * part.weight
                    * part.whole
                    // max(1, part.whole + 2 * part.usage)
                    or 1
                )
            ),
        ),
        ("queues/usage-of-a-department-counts",),
    ),
    Fault(
        "kept-room-lent",
        "others may use all of a quota, whatever its queue lends of it",
        switch("solver.shares.queue_tree:outsiders", always([])),
        (
            "queues/a-queue-keeps-what-it-does-not-lend",
            "evict/kept-room-is-no-place-for-the-entitled",
        ),
    ),
    Fault(
        "kept-room-of-one-queue-only",
        "what several queues keep does not add up",
        switch(
            "solver.shares.kept_room:combinations",
            lambda old: lambda some, number: old(some, number) if number == 1 else (),
        ),
        ("queues/two-queues-keep-room-from-a-third",),
    ),
    Fault(
        "kept-room-lent-to-siblings",
        "below the limit of a department nobody keeps room",
        switch(
            "solver.shares.queue_tree:outsiders",
            saying(
                lambda teams, _snapshot: [
                    team for team in teams if team.queue.name.startswith("all but")
                ]
            ),
        ),
        ("queues/kept-room-of-a-child-counts-in-its-department",),
    ),
    Fault(
        "kept-room-of-nodes-that-are-gone",
        "who keeps room may not use it where all keep more than there is",
        switch(
            "solver.shares.kept_room:_kept",
            lambda old: lambda *given: dict.fromkeys(old(*given), 0),
        ),
        ("queues/queues-that-keep-more-than-there-is-start-all-the-same",),
    ),
    Fault(
        "models-without-limits",
        "limits and quotas of single models of GPUs hold for nobody",
        switch(
            "solver.shares.queue_tree:QueueTree.of",
            lambda old: classmethod(
                lambda cls, snapshot, census: old.__func__(
                    cls,
                    replace(snapshot, queues=_without_models(snapshot.queues)),
                    census,
                )
            ),
        ),
        (
            "queues/a-limit-of-one-gpu-model-holds",
            "queues/what-is-not-preemptible-keeps-to-the-quota-of-its-model",
        ),
    ),
    Fault(
        "models-without-shares",
        "fair shares know GPUs, and no models of them",
        switch(
            "solver.shares.fair_share:fair_shares",
            saying(
                lambda shares, _queues, totals, *_: {
                    queue: {
                        name: totals.get(name, 0) if MODEL_MARK in name else amount
                        for name, amount in row.items()
                    }
                    for queue, row in shares.items()
                }
            ),
        ),
        ("evict/gpus-of-one-model-are-shared",),
    ),
)
