"""
Faults of priority: bands, ageing, and what makes gangs unlike.
"""

from dataclasses import replace

from tests.faults.fault import Fault
from tests.faults.switch import always, once, saying, seeing, switch


def _without_queue(unit):
    return replace(
        unit,
        states=tuple(
            replace(s, gang=replace(s.gang, queue="", preemptible=True))
            for s in unit.states
        ),
    )


def _ageless(unit):
    states = tuple(replace(s, gang=replace(s.gang, age=0)) for s in unit.states)
    return replace(unit, states=states)


def _one_band(bands, *_):
    low = min((label for _, label in bands.tiers), default=0)
    return replace(bands, cuts=(), tiers=((range(1), low),) if bands.tiers else ())


def _one_band_for_each_tier(bands, *_):
    labels = sorted(label for _, label in bands.tiers)
    tiers = [(range(at, at + 1), label) for at, label in enumerate(labels)]
    return replace(bands, cuts=tuple(labels[1:]), tiers=tuple(reversed(tiers)))


def _lowest_first(bands, *_):
    return replace(bands, tiers=bands.tiers[::-1])


FAULTS: tuple[Fault, ...] = (
    Fault(
        "ageing-ignored",
        "a gang's value does not grow with its age",
        switch("models.policy:Policy.quarters", always(4)),
        (
            "priority/ten-minutes-of-age-count-five-quarters",
            "priority/six-hours-of-age-count-twice",
        ),
    ),
    Fault(
        "ages-mixed-in-a-type",
        "gangs of different age steps are taken as alike",
        switch("solver.encode.activation:_kind", seeing(at1=_ageless)),
        ("priority/the-age-of-a-twin-is-not-its-own",),
    ),
    Fault(
        "queues-mixed-in-a-type",
        "gangs of different queues are taken as alike",
        switch("solver.encode.activation:_kind", seeing(at1=_without_queue)),
        ("queues/the-limit-of-one-queue-is-not-that-of-another",),
    ),
    Fault(
        "bands-merged",
        "all priorities are one band",
        switch("solver.problem.priority_bands:cut_bands", saying(_one_band)),
        ("priority/a-higher-band-comes-first", "priority/age-never-lifts-over-a-band"),
    ),
    Fault(
        "bands-shared-as-tiers-are",
        "priorities that share a tier may not preempt each other",
        switch(
            "solver.problem.priority_bands:cut_bands", saying(_one_band_for_each_tier)
        ),
        (
            "evict/preempt/of-nine-priorities-that-wait-each-counts-by-itself",
            "priority/of-nine-priorities-the-higher-starts-first",
        ),
    ),
    Fault(
        "cut-points-ignored",
        "every priority is a band of its own, whatever the policy's cut points",
        switch(
            "solver.problem.priority_bands:cut_bands",
            seeing(at1=lambda policy: policy.model_copy(update={"bands": None})),
        ),
        ("priority/cut-points-join-priorities-into-bands",),
    ),
    Fault(
        "lowest-band-first",
        "the tiers go from the lowest band to the highest",
        once(switch("solver.problem.priority_bands:cut_bands", saying(_lowest_first))),
        ("priority/a-higher-band-comes-first", "priority/three-bands-in-their-order"),
    ),
)
