"""
Faults of evictions: how many may leave, at what cost, and who moves.
"""

from dataclasses import replace

from models.gangs import PodSet
from models.nodes import ANYWHERE
from models.resources import num_gpus
from solver.encode.leaving.losses import lost_gangs
from solver.encode.variables import Linear
from solver.problem.problem import Frozen
from tests.faults.changes import tiers_by
from tests.faults.fault import Fault
from tests.faults.in_model import dropped, in_model
from tests.faults.switch import always, during, seeing, switch


def _whole_gangs(_old):
    """
    Count the gangs that are evicted whole only.
    """
    return lambda _model, leaving: lost_gangs(leaving)


FAULTS: tuple[Fault, ...] = (
    # --- the policy's bounds
    Fault(
        "bounds-ignored",
        "the model knows no bounds of the policy",
        dropped("solver.encode.leaving.step_rules:add_policy_bounds"),
        (
            "evict/policy/max-pods-3",
            "evict/policy/max-moves-1",
        ),
    ),
    Fault(
        "bounds-anew-in-each-step",
        "each step may evict as much as the policy allows for all",
        in_model(
            switch(
                "solver.encode.leaving.step_rules:add_policy_bounds",
                seeing(at1=lambda problem: replace(problem, frozen=Frozen())),
            )
        ),
        ("evict/policy/max-pods-2-in-both-steps",),
    ),
    Fault(
        "surplus-costs-no-gang",
        "gangs that lose some pods do not count towards maxGangs",
        in_model(
            switch("solver.encode.leaving.losses:gangs_touched", _whole_gangs),
        ),
        ("evict/policy/max-gangs-1-of-surplus",),
    ),
    Fault(
        "what-starts-anyway-gains",
        "GPUs that start without any eviction count against what is lost",
        in_model(switch("solver.evict.open_step:Opened.holds", always(value=True))),
        ("evict/policy/max-lost-per-gpu-79-of-what-waits",),
    ),
    # --- rounds
    Fault(
        "rounds-never-settle",
        "others leave again though nothing has changed since the last ones did",
        switch("solver.evict.open_step:is_settled", always(value=False)),
        ("evict/settled/unchanged-for-60s",),
    ),
    Fault(
        "time-gives-no-right",
        "that a pod has run for long enough since is no reason to decide again",
        switch("solver.evict.settled:_clocks", always(())),
        ("evict/settled/a-min-runtime-has-passed-since",),
    ),
    # --- losses
    Fault(
        "gangs-before-work",
        "fewer gangs count before less work",
        tiers_by(lambda key: {"entitled": 0, "disruption-gangs": 1}.get(key.name, 2)),
        ("evict/reclaim/least-work-is-lost",),
    ),
    Fault(
        "gangs-cost-nothing",
        "that a gang stops counts for nothing",
        in_model(switch("solver.encode.leaving.losses:lost_gangs", always(Linear()))),
        ("evict/reclaim/of-equal-work-the-fewest-gangs-go",),
    ),
    Fault(
        "pods-cost-nothing",
        "how many pods leave counts for nothing",
        in_model(
            during(
                "solver.encode.encoding:Encoding.tier",
                switch("solver.encode.leaving.losses:lost_pods", always(Linear())),
            )
        ),
        ("evict/reclaim/of-equal-victims-who-is-in-nobodys-way-goes",),
    ),
    Fault(
        "rank-costs-nothing",
        "that a higher priority leaves counts for nothing",
        in_model(switch("solver.encode.leaving.losses:lost_rank", always(Linear()))),
        ("evict/reclaim/of-equal-losses-the-lower-priority-goes",),
    ),
    Fault(
        "work-costs-nothing",
        "lost work counts for nothing",
        in_model(switch("solver.encode.leaving.losses:lost_work", always(Linear()))),
        (
            "evict/reclaim/least-work-is-lost",
            "evict/moves/three-nodes-become-two",
        ),
    ),
    Fault(
        "work-without-gpus-costs-nothing",
        "what runs without GPUs loses nothing when it leaves",
        switch(
            "solver.problem.pod_values:PodValues.work",
            lambda _old: lambda _self, requests, seconds: num_gpus(requests) * seconds,
        ),
        (
            "evict/reclaim/without-gpus-the-least-work-is-lost",
            "evict/reclaim/work-without-gpus-counts-in-the-same-scale",
        ),
    ),
    Fault(
        "age-costs-nothing",
        "for how long pods have run counts for nothing beside their work",
        in_model(switch("solver.encode.leaving.losses:lost_age", always(Linear()))),
        ("evict/reclaim/of-equal-losses-the-youngest-goes",),
    ),
    Fault(
        "size-costs-nothing",
        "how large what leaves is counts for nothing",
        in_model(switch("solver.encode.leaving.losses:lost_size", always(Linear()))),
        ("evict/reclaim/of-equal-losses-the-smaller-unit-goes",),
    ),
    # --- moves
    Fault(
        "moved-anywhere",
        "who is moved may go to any node",
        in_model(
            switch(
                "solver.evict.moved_gangs:_unit",
                seeing(
                    at0=lambda gang: (
                        replace(gang, tree=replace(gang.tree, demand=ANYWHERE))
                        if isinstance(gang.tree, PodSet)
                        else gang
                    )
                ),
            )
        ),
        ("evict/moves/a-new-place-fits-what-is-moved",),
    ),
    Fault(
        "moved-pod-by-pod",
        "single pods of gangs with a topology or exclusive hosts may move",
        in_model(
            switch("solver.evict.moved_gangs:may_move_singly", always(value=True))
        ),
        (
            "evict/moves/no-single-pod-of-a-gang-with-a-topology",
            "evict/moves/no-single-pod-of-an-exclusive-gang",
        ),
    ),
    Fault(
        "moved-for-nothing",
        "what is moved takes no place",
        in_model(
            switch(
                "solver.encode.leaving.step_rules:add_type",
                lambda old: (
                    lambda model, problem, classes, demand, *rest: old(
                        model, problem, classes, type(demand)(), *rest
                    )
                ),
            )
        ),
        (
            "evict/moves/a-moved-gang-stays-in-one-rack",
            "evict/moves/a-new-place-fits-what-is-moved",
        ),
    ),
)
