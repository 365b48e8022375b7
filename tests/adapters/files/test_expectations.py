from dataclasses import replace

import pytest

from adapters.compare.expectations import differences
from adapters.compare.outcome import outcome_of
from adapters.files import scenario_of
from models.documents.expect import Expect
from models.plan import GangLine, ModelSize, Operation, Plan, PodCounts, TierResult
from models.why.reasons import Reason, Waiting
from tests.adapters.documents import scenario

COUNTS = PodCounts(
    total=3, minimum=2, running=0, succeeded=0, failed=0, binding=0, evicting=0
)


def line(name: str, **fields) -> GangLine:
    words = {"queue": "default", "entitled": False, "waiting": None, "pods": COUNTS}
    return GangLine(name=f"default/{name}", **(words | {"state": "Running"} | fields))


def bind(pod: str, gang: str, node: str) -> Operation:
    return Operation(op="Bind", pod=f"default/{pod}", gang=f"default/{gang}", node=node)


def tier(band: int, value: int) -> TierResult:
    return TierResult(
        name="entitled",
        band=band,
        direction="max",
        value=value,
        bound=value,
        proof="proven",
    )


NODES = [
    {"name": f"n{i}", "allocatable": {}, "labels": {"rack": f"r{i // 2}"}}
    for i in range(3)
]
GANGS = [
    {"name": "a", "groups": [{"name": "x", "min": 1}, {"name": "y", "min": 1}]},
    {"name": "b", "min": 2, "running": [{"node": "n0"}]},
    {"name": "c", "min": 1},
]
SNAPSHOT = scenario_of(
    "test",
    scenario(nodes=NODES, gangs=GANGS, topologies=[{"name": "t", "levels": ["rack"]}]),
).snapshot
PLAN = Plan(
    strategy="solver",
    status="optimal",
    deterministic=True,
    snapshot="",
    seed=0,
    versions={},
    tiers=(tier(100, 7), tier(50, 2)),
    gangs=(
        line("a", state="Starting"),
        line("b", state="Growing"),
        line("c", state="Waiting", waiting=Waiting(Reason.QUEUE_CLOSED)),
    ),
    operations=(
        bind("a-x-0", "a", "n0"),
        bind("a-y-0", "a", "n1"),
        bind("b-1", "b", "n2"),
    ),
    model=ModelSize(),
)

MET = [
    {"starts": {"a": 2, "b": 1}},
    {"starts": {"default/a": 2, "b": None}},
    {"runs": {"a": 2, "b": 2, "c": 0}},
    {"leaves": {"a": {"x": 1, "y": 1}}},
    {"waits": {"c": "QueueClosed"}},
    {"waits": {"c": "any"}},
    {"evicts": {}, "moves": 0, "reserves": {}},
    {"same": [{"gang": "a", "level": "rack"}]},
    {"on": {"a-x-0": "n0", "b-0": "n0"}},
    {"tiers": {"entitled": 9, "entitled/50": 2}},
    {"idle": False},
    {"greedy": {"starts": {"c": 1}}},
]
UNMET = [
    ({"starts": {"a": 2}}, "starts: default/b 1 pods, expected 0"),
    ({"starts": {"a": 1, "b": 1}}, "starts: default/a 2 pods, expected 1"),
    ({"runs": {"b": 1}}, "runs: b 2 pods, expected 1"),
    ({"leaves": {"a": {"x": 0}}}, "leaves: a x 1 pods, expected 0"),
    ({"leaves": {"a": {"z": 0}}}, "leaves: a has no leaf z"),
    ({"waits": {"a": "any"}}, "waits: a is Starting (no reason), expected any"),
    (
        {"waits": {"c": "QueueNotFound"}},
        "waits: c is Waiting (QueueClosed), expected QueueNotFound",
    ),
    ({"evicts": {"a": 1}}, "evicts: default/a 0 pods, expected 1"),
    ({"moves": 1}, "moves 0 pods, expected 1"),
    (
        {"same": [{"gang": "b", "level": "rack"}]},
        "same: b is in 2 of rack: ('r0',), ('r1',)",
    ),
    ({"on": {"a-x-0": "n1"}}, "on: a-x-0 is on n0, expected n1"),
    ({"tiers": {"entitled": 7}}, "tiers: entitled 9, expected 7"),
    ({"tiers": {"gpus": 7}}, "tiers: the plan has no tier gpus"),
    ({"idle": True}, "idle: 3 operations, expected none"),
]


@pytest.mark.parametrize("words", MET)
def test_an_expectation_that_is_met_says_nothing(words):
    assert [] == differences(Expect.model_validate(words), SNAPSHOT, PLAN)


@pytest.mark.parametrize(("words", "said"), UNMET)
def test_an_expectation_that_is_not_met_says_both_numbers(words, said):
    assert [said] == differences(Expect.model_validate(words), SNAPSHOT, PLAN)


def test_greedy_has_its_own_words_where_it_differs():
    expect = Expect.model_validate(
        {
            "starts": {"a": 9, "b": 1},
            "waits": {"a": "any"},
            "greedy": {"starts": {"a": 2}},
        }
    )

    assert [] == differences(expect, SNAPSHOT, replace(PLAN, strategy="greedy"))
    assert [] != differences(expect, SNAPSHOT, PLAN)


def test_a_gang_that_waits_for_greedy_need_not_be_unlisted():
    expect = Expect.model_validate(
        {"starts": {"a": 2, "b": 1, "c": 1}, "greedy": {"waits": {"c": "any"}}}
    )

    assert [] == differences(expect, SNAPSHOT, replace(PLAN, strategy="greedy"))


ROOM = scenario_of(
    "room",
    scenario(
        nodes=NODES,
        topologies=[{"name": "t", "levels": ["rack"]}],
        gangs=[
            {
                "name": "old",
                "min": 1,
                "replicas": 3,
                "running": [{"node": "n0", "pods": 3}],
            },
            {"name": "gone", "min": 1, "running": [{"node": "n1"}]},
            {"name": "web", "min": 1, "running": [{"node": "n1"}]},
            {"name": "new", "min": 2},
        ],
    ),
).snapshot


def step(op: str, pod: str, node: str, **fields) -> Operation:
    gang = f"default/{pod.rsplit('-', 1)[0]}"
    return Operation(op=op, pod=f"default/{pod}", gang=gang, node=node, **fields)


MAKES_ROOM = replace(
    PLAN,
    tiers=(replace(tier(0, 9), name="disruption", band=None),),
    gangs=(
        line("gone", state="Evicting"),
        line("new", state="Reserved"),
        line("old", state="Evicting"),
        line("web", state="Evicting"),
    ),
    operations=(
        step("Evict", "old-2", "n0"),
        step("Evict", "gone-0", "n1"),
        step("Move", "web-0", "n2", source="n1"),
        step("Reserve", "new-0", "n0"),
        step("Reserve", "new-1", "n1"),
    ),
)


@pytest.mark.parametrize(
    "words",
    [
        {"evicts": {"old": 1, "gone": 1}, "moves": {"web": 1}, "reserves": {"new": 2}},
        {"moves": 1, "reserves": 2, "starts": {}},
        {"runs": {"old": 2, "gone": 0, "web": 1, "new": 0}},
        {"on": {"web-0": "n2", "new-1": "n1", "old-0": "n0"}},
        {"same": [{"gang": "new", "level": "rack"}, {"gang": "web", "level": "rack"}]},
        {"tiers": {"disruption": 9, "disruption-gangs": 0, "preemption": 0}},
        {"idle": False},
        {"greedy": {"reserves": {"old": 1}}, "waits": {}},
    ],
)
def test_what_leaves_and_what_is_reserved_is_counted(words):
    assert [] == differences(Expect.model_validate(words), ROOM, MAKES_ROOM)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"evicts": {"old": 1}}, "evicts: default/gone 1 pods, expected 0"),
        ({"moves": {}}, "moves: default/web 1 pods, expected 0"),
        ({"reserves": 1}, "reserves 2 pods, expected 1"),
        ({"runs": {"new": 2}}, "runs: new 0 pods, expected 2"),
        ({"on": {"old-2": "n0"}}, "on: old-2 is on no node, expected n0"),
        ({"idle": True}, "idle: 3 operations, expected none"),
    ],
)
def test_what_leaves_and_what_is_reserved_is_told(words, said):
    assert [said] == differences(Expect.model_validate(words), ROOM, MAKES_ROOM)


def test_a_gang_that_gave_only_surplus_away_still_has_enough():
    totals = outcome_of(ROOM, MAKES_ROOM).totals

    assert (3, 2) == (totals.pods, totals.gangs)


def test_a_gang_that_greedy_reserves_need_not_be_unlisted():
    expect = Expect.model_validate(
        {"waits": {"new": "any"}, "greedy": {"reserves": {"new": 2}}}
    )

    assert [] == differences(expect, ROOM, replace(MAKES_ROOM, strategy="greedy"))
    assert [] != differences(expect, ROOM, MAKES_ROOM)


def test_a_gang_with_reserved_places_waits_for_that_reason_and_for_no_other():
    reserved = line(
        "new", state="Reserved", waiting=Waiting(Reason.WAITING_FOR_PREEMPTION)
    )
    told = replace(MAKES_ROOM, gangs=(reserved,))
    named, other = (
        differences(Expect.model_validate({"waits": {"new": word}}), ROOM, told)
        for word in ("WaitingForPreemption", "any")
    )

    assert [] == named
    assert ["waits: new is Reserved (WaitingForPreemption), expected any"] == other


@pytest.mark.parametrize(
    "words", [{"moves": 5}, {"idle": True}, {"starts": {"old": 1}}, {"on": {"x": "n0"}}]
)
def test_null_removes_for_greedy_what_is_expected(words):
    nothing = dict.fromkeys(words)
    expect = Expect.model_validate({**words, "greedy": nothing})

    assert [] == differences(expect, ROOM, replace(MAKES_ROOM, strategy="greedy"))
    assert [] != differences(expect, ROOM, MAKES_ROOM)


def test_a_plan_is_proven_where_each_tier_of_it_is():
    (one, other) = PLAN.tiers
    open_tier = replace(other, bound=3, proof="gap")
    part = replace(PLAN, tiers=(one, open_tier))

    assert not differences(Expect(proven=True), SNAPSHOT, PLAN)
    (wrong,) = differences(Expect(proven=True), SNAPSHOT, part)
    assert "proven: not entitled/50, expected every tier" == wrong
    assert not differences(Expect(proven=False), SNAPSHOT, part)
    (wrong,) = differences(Expect(proven=False), SNAPSHOT, PLAN)
    assert "proven: every tier, expected some that are not" == wrong


def test_nothing_is_asked_of_greedys_proofs():
    greedy = replace(
        PLAN, strategy="greedy", tiers=(replace(PLAN.tiers[0], proof="gap"),)
    )

    assert not differences(Expect(proven=True), SNAPSHOT, greedy)


@pytest.mark.parametrize("said", [True, False])
def test_of_greedys_proofs_is_asked_what_its_own_words_say(said):
    expected = Expect.model_validate({"proven": True, "greedy": {"proven": said}})

    assert said is expected.of("greedy").proven
