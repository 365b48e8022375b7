"""
By which right a gang leaves: reclaim above a share, preemption by bands.
"""

from dataclasses import replace

import pytest

from solver.evict.rights.cores import as_one
from solver.evict.rights.hand_rights import HandRights
from solver.evict.rights.leaving_sums import Leaver
from solver.problem.problem import Step
from tests.helpers.rounds.greedy_evictions import (
    GPU,
    leaving,
    planned,
    queues,
    reclaimable,
    runs,
    stage,
    started,
    waits,
)


def test_queue_within_its_share_loses_nothing():
    gangs = [runs("old", ("n0", 60)), waits("want")]

    draft = planned(reclaimable(gangs, 1, queues=queues(batch=8, prod=0)))

    assert {} == draft.places


def test_last_unit_may_take_a_queue_below_its_share():
    gangs = [runs("old", ("n0", 60), queue="batch"), waits("want", gpus=4)]

    draft = planned(reclaimable(gangs, 1, queues=queues(batch=4, prod=4)))

    assert {("old", "reclaim"): 1} == leaving(draft)


def test_queue_is_above_its_share_before_each_unit():
    gangs = [runs(f"v{i}", ("n0", 60 + i), gpus=2) for i in range(4)]
    gangs.append(waits("want", gpus=6))

    draft = planned(reclaimable(gangs, 1, queues=queues(batch=4, prod=4)))

    assert {} == draft.places


def test_department_that_uses_its_share_lets_its_queues_reclaim_from_each_other():
    both = [
        {"name": "dept", "resources": {GPU: {"quota": 8}}},
        *({**queue, "parent": "dept"} for queue in queues(batch=0, prod=8)),
        *queues(other=8),
    ]
    gangs = [
        runs("old", ("n0", 900)),
        runs("out", ("n1", 1), queue="other"),
        waits("want"),
    ]

    draft = planned(reclaimable(gangs, queues=both))

    assert {("old", "reclaim"): 1} == leaving(draft)


@pytest.mark.parametrize(("priority", "starts"), [(20, {"want"}), (10, set())])
def test_only_lower_bands_are_preempted(priority, starts):
    gangs = [
        runs("old", ("n0", 60), queue="prod", priority=10),
        waits("want", priority=priority),
    ]
    given = reclaimable(gangs, 1)

    assert starts == started(planned(given, {"reclaim": False}, Step.BORROWING))


def rights_of(gangs, step, shares=None, **given):
    """
    Give the rights once the only waiting gang starts.
    """
    problem, _ = stage(reclaimable(gangs, **given), step=step)
    if shares is not None:
        problem = replace(problem, shares={q: {GPU: n} for q, n in shares.items()})
    rights = HandRights(problem)
    (unit,) = problem.units
    entitled = step is Step.ENTITLED
    rights.start(unit, {unit.key: {0: 1}}, entitled=entitled)
    return rights


def leaver(rule, gpus, queue="batch", band=0):
    return Leaver(
        gang="default/some",
        queue=queue,
        band=band,
        rule=rule,
        parts=as_one({GPU: gpus}),
        pods=1,
    )


def test_no_more_is_preempted_than_starts_above_but_for_one_unit():
    gangs = [
        runs("old", ("n0", 60), queue="prod", priority=10),
        waits("want", gpus=4, priority=20),
    ]
    rights = rights_of(gangs, Step.BORROWING)

    units = [leaver("preempt", gpus, "prod") for gpus in (3, 3, 3)]

    assert [True, True, False] == [rights.take(unit) for unit in units]


def test_unit_without_the_resource_is_not_preempted_beside_one_with_it():
    gangs = [
        runs("old", ("n0", 60), queue="prod", priority=10),
        waits("want", gpus=4, priority=20),
    ]
    rights = rights_of(gangs, Step.BORROWING)
    other = replace(leaver("preempt", 0, "prod"), parts=as_one({"cpu": 1000}))

    assert rights.take(leaver("preempt", 3, "prod"))
    assert not rights.take(other)


def test_department_answers_only_for_what_leaves_it():
    both = [
        {"name": "dept", "resources": {GPU: {"quota": 8}}},
        *({**queue, "parent": "dept"} for queue in queues(batch=0, prod=4)),
        *queues(other=4),
    ]
    shares = {"dept": 8, "batch": 4, "prod": 4, "other": 4}
    old = runs("old", ("n0", 60))

    for queue, may in (("prod", True), ("other", False)):
        gangs = [old, waits("want", queue=queue, gpus=4)]
        rights = rights_of(gangs, Step.ENTITLED, shares, queues=both)

        assert may == rights.take(leaver("reclaim", 4))


def test_queue_at_its_limit_makes_room_below_itself():
    full = [
        {"name": "prod", "resources": {GPU: {"quota": 0, "limit": 8}}},
        *queues(other=0),
    ]
    gangs = [
        runs("cheap", ("n0", 1), queue="other"),
        runs("own", ("n1", 900), queue="prod", priority=10),
        waits("want", priority=20),
    ]

    draft = planned(reclaimable(gangs, 3, queues=full), step=Step.BORROWING)

    assert {("own", "preempt"): 1} == leaving(draft)
