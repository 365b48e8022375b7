"""
Faults of the search: its tiers, their order, their locks and their values.
"""

from dataclasses import replace

from solver.encode.without_topology import without_topology
from solver.problem.problem import Step
from solver.score.tier import LOSSES
from tests.faults.changes import NO_REPAIR, tiers_by
from tests.faults.fault import Fault
from tests.faults.switch import (
    Switch,
    always,
    becomes,
    both,
    number,
    saying,
    seeing,
    switch,
)


def _swapped(one: str, other: str) -> Switch:
    """
    Let two tiers change places; what is lost stays where it is.
    """
    names = {one: other, other: one}
    first, second = (
        [loss for loss, (of, _) in LOSSES.items() if of is step]
        for step in (Step.ENTITLED, Step.BORROWING)
    )
    values = ("entitled", *first, "borrowing", *second, "topology", "surplus")
    listed = [*values, "packing", "gpus", "pods", "gangs", "order"]
    return tiers_by(lambda key: listed.index(names.get(key.name, key.name)))


def _locks_the_bound(old):
    """
    Lock what the relaxed model promised instead of what was decoded.
    """

    def ask(self, model, at, share, held=None):
        promised = seeing(at2=lambda _values: tuple(self.best.bounds))
        with switch("solver.search.tier_model:Model.ready", promised)():
            return old(self, model, at, share, held)

    return ask


def _only_relaxed(old):
    """
    Solve a tier without domains, and not again with them.
    """

    def solve(self, at):
        if self.relaxed is None:
            old(self, at)
        else:
            self._solve_relaxed(self.relaxed, at, self.questions.share(at))

    return solve


def _unpacked(_old):
    """
    Go on from an answer without a look at its packing.
    """

    def adopt(self, at, answer):
        self.held.adopt(at, answer)
        return True

    return adopt


def _only_the_first(old):
    return lambda self, at: old(self, at) if at == 0 else None


def _unsolved(name: str) -> Switch:
    """
    Leave a tier as the tiers before it and greedy made it.
    """

    def change(old):
        def solve(self, at):
            if self.keys[at].name != name:
                old(self, at)

        return solve

    return switch("solver.search.tier_search:TierSearch._solve_tier", change)


def _youngest_first(types, problem, *_):
    return [
        tuple(sorted(units, key=lambda u: -problem.positions.get(u.key, 0)))
        for units in types
    ]


ALWAYS_RELAXED = number("encode.most_domains", 0)

FAULTS: tuple[Fault, ...] = (
    Fault(
        "surplus-before-topology",
        "surplus pods come before preferred domains",
        _swapped("surplus", "topology"),
        ("topology/surplus-adds-no-preferred-domain",),
    ),
    Fault(
        "borrowing-before-entitled",
        "borrowing starts come before entitled ones",
        _swapped("entitled", "borrowing"),
        (
            "queues/entitled-before-borrowing",
            "queues/a-gang-beyond-the-share-borrows-after-the-entitled",
        ),
    ),
    Fault(
        "packing-before-surplus",
        "whole holes come before surplus pods",
        _swapped("packing", "surplus"),
        ("gang/running-elastic-gang-grows", "peers/kai-elastic-pytorch-job"),
    ),
    Fault(
        "packing-ignored",
        "which holes stay whole does not matter",
        _unsolved("packing"),
        ("packing/two-full-nodes-leave-the-third-whole",),
    ),
    Fault(
        "order-ignored",
        "which of equal gangs starts does not matter",
        _unsolved("order"),
        ("tiers/order-puts-older-gangs-in-place-of-younger-ones",),
    ),
    Fault(
        "youngest-first",
        "inside a type the youngest gang starts",
        switch("solver.encode.activation:gang_types", saying(_youngest_first)),
        ("tiers/order-among-equals-beside-a-larger-gang",),
    ),
    Fault(
        "oldest-last",
        "across types the youngest gang starts",
        switch(
            "solver.problem.problem:problem_of",
            saying(
                lambda p, *_: replace(
                    p,
                    positions={
                        k: len(p.positions) - 1 - at for k, at in p.positions.items()
                    },
                )
            ),
        ),
        ("tiers/order-the-oldest-of-equals", "tiers/order-across-unlike-gangs"),
    ),
    Fault(
        "running-work-not-counted",
        "the tiers gpus and pods count only what is bound",
        switch(
            "solver.problem.problem:problem_of",
            saying(lambda p, *_: replace(p, running_gpus=0, running_pods=0)),
        ),
        ("tiers/gpus-counts-what-runs",),
    ),
    Fault(
        "first-tier-only",
        "the search stops after its first tier",
        switch("solver.search.tier_search:TierSearch._solve_tier", _only_the_first),
        (
            "tiers/gpus-then-gangs",
            "subgroups/the-larger-child-starts-where-there-is-room",
        ),
    ),
    Fault(
        "no-search",
        "greedy's answer is taken as it is",
        switch("solver.search.tier_search:TierSearch._solve_tier", always(None)),
        ("priority/inside-a-band-the-value-decides", "tiers/gpus"),
    ),
    Fault(
        "tiers-not-locked",
        "an earlier tier is not locked while a later one is solved",
        switch("solver.search.tier_model:keep_at", always(None)),
        ("demo/fragmented", "packing/two-full-nodes-leave-the-third-whole"),
    ),
    Fault(
        "relaxed-value-locked",
        "the value of the relaxed model is locked instead of the decoded one",
        both(
            switch("solver.search.questions:Questions.ask", _locks_the_bound),
            NO_REPAIR,
        ),
        ("packing/a-packing-that-fails-gives-way-to-the-next-best",),
    ),
    Fault(
        "claims-are-believed",
        "tiers are what the model claims, and nobody looks whether it can be packed",
        both(
            number("search.small_model", -1),
            switch("solver.search.claims:ClaimedTiers._adopt", _unpacked),
            switch(
                "solver.search.best_so_far:BestSoFar.first_short",
                becomes(lambda _self, _draft, claims: len(claims)),
            ),
        ),
        ("packing/a-packing-that-fails-gives-way-to-the-next-best",),
    ),
    Fault(
        "relaxation-is-the-end",
        "a round first solved without its domains is not solved with them",
        both(
            ALWAYS_RELAXED,
            switch("solver.search.tier_search:TierSearch._solve_tier", _only_relaxed),
        ),
        ("topology/preferred-racks-are-filled-together",),
    ),
    Fault(
        "relaxation-is-dealt",
        "what starts in a round without domains is placed without them",
        both(
            ALWAYS_RELAXED,
            switch("solver.decode.place_relaxed:deal", seeing(at0=without_topology)),
        ),
        ("topology/three-in-a-rack-of-seven-leave-one-idle",),
    ),
    Fault(
        "values-are-all-one",
        "every pod is worth the same, whatever it asks for",
        switch("solver.problem.pod_values:PodValues.of_pod", always(1)),
        ("peers/one-large-gang-against-many-small-ones",),
    ),
    Fault(
        "values-are-sums",
        "a pod is worth the sum of its shares instead of the largest",
        switch(
            "solver.problem.pod_values:PodValues.of_pod",
            lambda _old: (
                lambda self, requests: sum(
                    -(-(10**9) * amount // self.totals[name])
                    for name, amount in requests.items()
                    if self.totals.get(name)
                )
            ),
        ),
        ("tiers/order-across-unlike-gangs",),
    ),
    Fault(
        "values-round-each-pod",
        "what a pod asks for is rounded up as a whole, so that four are not twice two",
        switch(
            "solver.problem.pod_values:_share",
            lambda _old: lambda _name, amount, total: -(-(10**9) * amount // total),
        ),
        ("tiers/order-among-as-many-gpus-of-a-cluster-of-24",),
    ),
)
