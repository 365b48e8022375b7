"""
Conservative backfilling: nobody starts later than was reserved, and nobody is delayed.
"""

from dataclasses import replace
from random import Random

import pytest

from adapters.traces.clusters import floor_of
from models.queues import Queue, QueueResource
from models.resources import GPU
from tests.helpers.played import job, played, run


def starts(folder, line, strategy="conservative", **said):
    known = {"estimates": 1.0, "every": 0} | said
    found = played(folder, run(line, strategy=strategy, **known))
    return {name: int(row["start"]) for name, row in found.items()}


def test_easy_may_delay_the_second_in_line_and_conservative_backfilling_does_not(
    tmp_path,
):
    line = [
        job("runs", gpus=8, duration=30),
        job("half", submit=1, gpus=4, duration=50),
        job("first", submit=2, pods=2, duration=6),
        job("second", submit=3, pods=3, duration=6),
        job("third", submit=4, gpus=4, duration=90),
    ]
    easy = starts(tmp_path / "easy", line, "easy", cluster="3x8")
    kept = starts(tmp_path / "kept", line, cluster="3x8")

    assert {"runs": 0, "half": 1, "third": 4, "first": 30, "second": 94} == easy
    assert {"runs": 0, "half": 1, "first": 30, "second": 51, "third": 57} == kept


def test_who_ends_before_the_reservations_of_all_older_ones_passes_them(tmp_path):
    line = [
        job("runs", gpus=8, duration=3000),
        job("wide", submit=1, pods=2, duration=600),
        job("short", submit=2, gpus=8, duration=600),
        job("long", submit=3, gpus=8, duration=6000),
    ]

    assert {"runs": 0, "short": 2, "wide": 3000, "long": 3600} == starts(tmp_path, line)


def some_line(seed, number=12):
    """
    Jobs of up to three nodes that come one by one, faster than they can be served.
    """
    random, at, line = Random(seed), 0, []
    for idx in range(number):
        at += random.randrange(1, 9)
        pods = random.choice((1, 1, 1, 2, 3))
        gpus = random.choice((1, 2, 4)) if pods == 1 else random.choice((2, 4))
        length = random.randrange(3, 60)
        line.append(
            job(f"j{idx:02d}", submit=at, duration=length, pods=pods, gpus=gpus)
        )
    return line


def reserved(line, nodes=3, gpus=4, limit=None):
    """
    Give each job, as it comes, the first seconds in which it fits; never change it.
    """
    free = [[gpus] * nodes for _ in range(1000)]
    left = [limit or gpus * nodes] * 1000
    found = {}
    for each in line:
        (role,) = each.roles
        size = role.requests[GPU]
        begin = each.submit
        while True:
            window = range(begin, begin + each.duration)
            room = [min(free[at][n] for at in window) // size for n in range(nodes)]
            paid = min(left[at] for at in window)
            if sum(room) >= role.pods and paid >= size * role.pods:
                break
            begin += 1
        found[each.name] = begin
        missing = role.pods
        for node in range(nodes):
            here = min(missing, room[node])
            missing -= here
            for at in window:
                free[at][node] -= here * size
        for at in window:
            left[at] -= size * role.pods
    return found


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(8))
def test_with_exact_estimates_everybody_starts_when_it_was_reserved(tmp_path, seed):
    line = some_line(seed)

    assert reserved(line) == starts(tmp_path, line, cluster="3x4")


@pytest.mark.parametrize("seed", range(4))
def test_limits_of_queues_are_reserved_as_room_on_nodes_is(tmp_path, seed):
    line = [replace(each, queue="q") for each in some_line(seed)]
    small = [each for each in line if each.gpus <= 8]
    rule = QueueResource(quota=8, limit=8)
    queues = (Queue(name="q", resources={GPU: rule}),)
    floor = replace(floor_of("3x4"), queues=queues)

    assert reserved(small, limit=8) == starts(tmp_path, small, floor=floor)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(4))
def test_whoever_comes_later_delays_nobody_before(tmp_path, seed):
    line = some_line(seed)
    alone = starts(tmp_path / "alone", line[:-1], cluster="3x4")
    both = starts(tmp_path / "both", line, cluster="3x4")

    assert alone == {name: both[name] for name in alone}
