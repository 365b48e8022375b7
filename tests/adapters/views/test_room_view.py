"""
What a person reads of evictions, moves and reserved places.
"""

from dataclasses import replace
from typing import get_args

import pytest

from adapters.cli.terminal.output import Paint
from adapters.cli.views.plan_view import view
from adapters.cli.views.room_view import work
from adapters.cli.views.tier_view import _WANTED
from adapters.compare.outcome import LOSSES
from adapters.files import scenario_of
from models.policy import TierName
from tests.adapters.documents import GPU, scenario
from tests.helpers.build import bind, line, plan, tier

GANGS = [
    {"name": "train", "queue": "vip", "min": 2, "requests": {GPU: 4}},
    {
        "name": "old",
        "queue": "rest",
        "min": 1,
        "replicas": 3,
        "requests": {GPU: 2},
        "running": [{"node": "a", "pods": 3, "for": "90m"}],
    },
    {
        "name": "web",
        "queue": "rest",
        "min": 1,
        "requests": {GPU: 2},
        "running": [{"node": "a", "for": "1h"}],
    },
    {
        "name": "torn",
        "queue": "rest",
        "min": 3,
        "requests": {GPU: 1},
        "running": [{"node": "b", "pods": 2, "for": "10h"}],
        "staleSince": "1h",
    },
]
SCENARIO = scenario_of(
    "test",
    scenario(
        nodes=[{"name": n, "allocatable": {GPU: 8}} for n in "abc"],
        queues=[{"name": "vip"}, {"name": "rest"}],
        gangs=GANGS,
    ),
)


def leaves(op, pod, rule, **fields):
    for_whom = {} if rule == "stale" else {"beneficiaries": ("default/train",)}
    return bind(pod, op=op, rule=rule, **(for_whom | fields))


PLAN = plan(
    leaves("Evict", "old-1", "reclaim", node="a"),
    leaves("Evict", "old-2", "reclaim", node="a"),
    leaves("Move", "web-0", "consolidate", source="a", node="c"),
    leaves("Evict", "torn-0", "stale", node="b"),
    leaves("Evict", "torn-1", "stale", node="b"),
    bind("train-0", "a", op="Reserve"),
    bind("train-1", "b", op="Reserve"),
    lines=[
        line("old", "Evicting", running=3, total=3, queue="rest"),
        line("torn", "Evicting", running=2, total=3, minimum=3, queue="rest"),
        line("train", "Reserved", total=2, minimum=2, queue="vip"),
        line("web", "Evicting", running=1, total=1, queue="rest"),
    ],
    tiers=[
        tier("entitled", 10, band=0),
        tier("disruption", 28_800, direction="min"),
        tier("disruption-gangs", 1, direction="min"),
        tier("disruption-pods", 3, direction="min"),
        tier("order", 0),
    ],
)
NOTHING = replace(
    plan(tiers=[tier("entitled", 0, band=0), tier("disruption", 0), tier("order", 0)]),
    strategy="greedy",
)


def shown(greedy=None, *, wide=False, width=None, made=PLAN):
    paint = Paint(no_color=True)
    diff = greedy is not None
    return view(SCENARIO, made, greedy, paint, wide=wide, diff=diff, width=width)


def row(lines, *begin):
    return next(
        text.split() for text in lines if text.split()[: len(begin)] == [*begin]
    )


def test_each_gang_says_what_it_loses_for_whom_and_by_which_rule():
    lines = shown()

    assert (
        "3 gangs make room: 4 pods evicted, 1 moved, 8 GPUs; work lost: 8.0 GPU-h"
        in lines
    )
    assert "default/old rest 2 of 3 pods 4 6.0 GPU-h reclaim default/train a×2" == (
        " ".join(row(lines, "default/old"))
    )
    assert (
        "default/web rest 1 pod, moved 2 2.0 GPU-h consolidate default/train a→c"
        == " ".join(row(lines, "default/web"))
    )
    assert "default/torn rest all 2 pods 2 not counted stale nobody b×2" == (
        " ".join(row(lines, "default/torn"))
    )


def test_every_rule_in_the_table_is_explained_and_no_other():
    lines = shown()

    for rule in ("reclaim", "consolidate", "stale", "work lost"):
        assert any(text.startswith(f"  {rule}: ") for text in lines), rule
    assert not any(text.startswith("  preempt: ") for text in lines)
    # What is guaranteed takes from queues within their fair share, too.
    assert any("fair share or its quota, and work of another" in text for text in lines)


def test_reserved_places_have_a_table_of_their_own():
    lines = shown()

    assert (
        "1 gang has its places reserved, to start when others have left: 2 pods, 8 GPUs"
    ) in lines
    assert "default/train vip 2 8 a b" == " ".join(row(lines, "default/train"))
    assert "No gang starts or grows." in lines


def test_losses_have_units_in_the_tiers():
    lines = shown()

    assert row(lines, "2", "disruption")[2:6] == [
        "least",
        "work",
        "lost,",
        "GPU-seconds",
    ]
    assert row(lines, "3", "disruption-gangs")[2:6] == [
        "fewest",
        "gangs",
        "evicted",
        "whole",
    ]
    assert row(lines, "4", "disruption-pods")[2:5] == ["fewest", "pods", "evicted"]


@pytest.mark.parametrize("name", ["disruption-rank", "preemption-rank"])
def test_bands_below_those_evicted_are_explained_where_they_count(name):
    ranked = replace(PLAN, tiers=(*PLAN.tiers, tier(name, 2, direction="min")))
    note = "  bands: those below the priority of each evicted pod, added up"

    assert note in shown(made=ranked)
    assert note not in shown()
    assert row(shown(made=ranked), "6", name)[2:4] == ["lowest", "priorities"]


def test_every_tier_says_what_is_wanted():
    assert {*get_args(TierName), *LOSSES} == _WANTED.keys()


@pytest.mark.parametrize("pair", [(PLAN, NOTHING), (NOTHING, PLAN)])
def test_plans_with_and_without_losses_stand_side_by_side(pair):
    made, other = (
        replace(each, strategy=name)
        for each, name in zip(pair, ("solver", "greedy"), strict=True)
    )
    lines = shown(other, made=made)

    assert row(lines, "3", "disruption-gangs")
    assert sorted(("4", "0")) == sorted(row(lines, "pods", "evicted")[2:])
    assert sorted(("1", "0")) == sorted(row(lines, "pods", "moved")[2:])
    assert "8.0 GPU-h" in " ".join(row(lines, "work", "lost"))


def test_a_narrow_screen_keeps_every_word():
    lines = shown(width=60)

    assert any(text.strip() == "a→c" for text in lines)
    assert max(map(len, lines)) <= 110


def test_a_plan_without_evictions_has_no_word_about_them():
    text = "\n".join(shown(made=NOTHING))

    assert "make" not in text
    assert "reserved" not in text


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "none"),
        (1, "< 0.1 GPU-h"),
        (3600, "1.0 GPU-h"),
        (4_000_000, "1,111.1 GPU-h"),
    ],
)
def test_lost_work_that_is_not_nothing_never_reads_as_nothing(seconds, said):
    assert said == work(seconds)


def test_free_room_is_what_nobody_uses_reserved_or_not():
    held = scenario_of(
        "test",
        scenario(
            gangs=[
                {
                    "name": "g",
                    "min": 1,
                    "requests": {GPU: 2},
                    "reserved": [{"node": "n0"}],
                }
            ]
        ),
    )
    lines = view(
        held, plan(bind("g-0")), None, Paint(no_color=True), wide=False, diff=False
    )

    assert "8 of 8 GPUs free" in lines[0]
