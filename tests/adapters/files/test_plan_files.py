import json
from pathlib import Path

import pytest

from adapters.files import plan_document, plan_json, read_plan, read_scenario
from models.errors import InputRejectedError
from models.plan import GangLine, ModelSize, Operation, Plan, PodCounts, TierResult
from models.why.reasons import Reason, Waiting
from solver.round import decide
from solver.verify import verify

GOLDEN = Path(__file__).parents[2] / "golden"
DEVICES = Path(__file__).parents[3] / "scenarios" / "devices"
COUNTS = {"succeeded": 0, "failed": 0, "evicting": 0}


def sample() -> Plan:
    gang, other = "default/train", "default/old"
    pods = PodCounts(total=6, minimum=4, running=2, binding=2, **COUNTS)
    waiting = Waiting(
        Reason.INSUFFICIENT_CAPACITY,
        {"resource": "memory", "needs": 2**34, "free": 2**30},
    )
    return Plan(
        strategy="solver",
        status="feasible",
        deterministic=True,
        snapshot="sha256:00",
        seed=7,
        versions={"ortools": "9.15", "phalanx": "0.1.0"},
        tiers=(
            TierResult(
                name="entitled",
                band=50,
                direction="max",
                value=10,
                bound=12,
                proof="gap",
            ),
            TierResult(
                name="packing",
                band=None,
                direction="min",
                value=4,
                bound=4,
                proof="conditional",
            ),
        ),
        gangs=(
            GangLine(
                name=other,
                queue="research",
                state="Waiting",
                entitled=False,
                waiting=waiting,
                pods=pods,
            ),
            GangLine(
                name=gang,
                queue="research",
                state="Starting",
                entitled=True,
                waiting=None,
                pods=pods,
            ),
        ),
        operations=(
            Operation(op="Bind", pod=f"{gang}-2", gang=gang, node="dgx-1"),
            Operation(
                op="Evict",
                pod=f"{other}-0",
                gang=other,
                node="dgx-3",
                beneficiaries=(gang,),
                rule="reclaim",
            ),
            Operation(
                op="Move",
                pod="default/x-1",
                gang="default/x",
                source="dgx-0",
                node="dgx-2",
                beneficiaries=(gang,),
                rule="consolidate",
            ),
            Operation(op="Reserve", pod=f"{gang}-5", gang=gang, node="dgx-3"),
        ),
        model=ModelSize(variables=5, constraints=4, node_classes=3),
    )


def test_plan_json_is_stable():
    assert (GOLDEN / "plan.json").read_text() == plan_json(sample())


def test_a_written_plan_is_read_back(tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(plan_json(sample()))

    assert sample() == read_plan(str(path))


def test_unknown_keys_of_a_plan_are_passed_over(tmp_path):
    document = plan_document(sample()) | {"note": "mine"}
    document["operations"][0]["extra"] = 1
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document))

    assert sample() == read_plan(str(path))


def test_a_plan_of_operations_alone_is_enough_to_be_judged(tmp_path):
    bind = {"op": "Bind", "pod": "default/a-0", "gang": "default/a", "node": "n"}
    path = tmp_path / "plan.yaml"
    path.write_text(
        json.dumps({"apiVersion": "phalanx/v1", "kind": "Plan", "operations": [bind]})
    )

    assert "n" == read_plan(str(path)).operations[0].node


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"op": "Bend"}, 'mean "Bind"'),
        ({"node": None}, "operations[0].node: a Bind needs"),
        ({"op": "Move"}, "operations[0].from: a Move needs"),
        ({"pod": "a-0"}, "operations[0].pod"),
        ({"pod": 3}, "not text"),
        ({"gang": None}, "operations[0].gang"),
    ],
)
def test_a_bad_operation_is_named(change, word, tmp_path):
    document = plan_document(sample())
    document["operations"][0] |= change
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document))

    with pytest.raises(InputRejectedError) as caught:
        read_plan(str(path))

    assert word in "; ".join(map(str, caught.value.problems))


@pytest.mark.parametrize("text", ["[]", "{}", "null", '{"kind": "Scenario"}', "x"])
def test_what_is_no_plan_is_refused(text, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(text)

    with pytest.raises(InputRejectedError):
        read_plan(str(path))


def test_a_plan_of_very_many_bad_operations_is_refused_early(tmp_path):
    document = plan_document(sample()) | {"operations": [{"op": "Bend"}] * 50_000}
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document))

    with pytest.raises(InputRejectedError) as caught:
        read_plan(str(path))

    assert 1000 < len(caught.value.problems) < 10_000


def test_a_long_plan_is_read_as_a_short_one_is(tmp_path):
    document = plan_document(sample())
    document["operations"] = document["operations"][:1] * 3000
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document))

    assert 3000 == len(read_plan(str(path)).operations)


def test_an_eviction_stays_where_its_pod_is_whatever_else_is_said(tmp_path):
    document = plan_document(sample())
    document["operations"][1]["to"] = "elsewhere"
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document))

    assert "dgx-3" == read_plan(str(path)).operations[1].node


@pytest.mark.drawn
@pytest.mark.parametrize("name", sorted(p.stem for p in DEVICES.glob("*.yaml")))
def test_a_plan_with_parts_of_gpus_holds_when_it_is_read_back(name, tmp_path):
    given = read_scenario(str(DEVICES / f"{name}.yaml"))
    path = tmp_path / "plan.json"
    path.write_text(plan_json(decide(given.snapshot, given.policy)))

    assert () == verify(given.snapshot, given.policy, read_plan(str(path)))


def test_a_plan_says_what_a_pod_gets_of_each_gpu():
    shown = {}
    for name in (
        "memory-and-cores-count-apart",
        "instances-of-a-gpu-fit-where-slices-are-free",
    ):
        given = read_scenario(str(DEVICES / f"{name}.yaml"))
        for step in plan_document(decide(given.snapshot, given.policy))["operations"]:
            shown[step["pod"]] = step["devices"]

    assert [{"device": 0, "mig": "4g.20gb", "start": 0}] == shown["default/large-0"]
    both = [{"device": 0, "cores": 900, "memory": 10240}]
    assert both == shown["default/cores-0"]
    assert [{"device": 0, "cores": 0, "memory": 30720}] == shown["default/memory-1"]


def test_gpus_are_written_and_read_with_their_parts(tmp_path):
    given = read_scenario(str(DEVICES / "parts-count-in-the-tier-of-gpus.yaml"))
    plan = decide(given.snapshot, given.policy, strategy="greedy")
    path = tmp_path / "plan.json"
    path.write_text(plan_json(plan))
    first, *_ = plan_document(plan)["tiers"]

    assert (1.75, 3.25) == (first["value"], first["bound"])
    assert plan.tiers == read_plan(str(path)).tiers
