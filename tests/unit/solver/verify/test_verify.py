"""
For every rule a plan that breaks it and nothing else, and the same plan repaired.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from models.gangs import Gang, MatchPolicy, PodSet
from models.nodes import Taint
from models.plan import Hold, Operation
from models.policy import Policy
from models.queues import QueueResource
from models.resources import GPU
from models.snapshot import Snapshot
from models.why.reasons import Reason, Waiting
from solver.verify import RULES, Violation, verify
from tests.helpers.build import (
    bind,
    binds,
    gang,
    group,
    leaf,
    line,
    node,
    nodes,
    plan,
    queue,
    required,
    selector,
    snapshot,
    tier,
)
from tests.unit.solver.verify.verify_cases import POLICY, broken
from tests.unit.solver.verify.verify_devices import DEVICES
from tests.unit.solver.verify.verify_evictions import EVICTIONS
from tests.unit.solver.verify.verify_neighbours import NEIGHBOURS
from tests.unit.solver.verify.verify_reserves import RESERVES
from tests.unit.solver.verify.verify_rights import RIGHTS

REFUSED = Waiting(Reason.CONFIG_CONFLICT, {"detail": "two memberships"})
DOCUMENT = Path(__file__).parents[4] / "docs" / "reference" / "verify.md"


def uid(made: Gang, value: str) -> Gang:
    assert isinstance(made.tree, PodSet)
    pods = tuple(replace(pod, uid=value) for pod in made.tree.pods)
    return replace(made, tree=replace(made.tree, pods=pods))


def operations():
    one = snapshot(nodes(2), [gang("a", minimum=1, replicas=2)])
    good = plan(bind("a-0"))
    yield broken(
        "unknown-operation",
        one,
        plan(bind("a-0"), bind("a-1", op="Drain")),
        good,
    )
    yield broken("unknown-pod", one, plan(bind("a-0"), bind("a-7"), lines=()), good)
    yield broken(
        "unknown-pod",
        one,
        plan(bind("a-0"), bind("a-1", gang="b"), lines=()),
        good,
        "its gang does not exist",
    )
    yield broken(
        "unknown-pod",
        snapshot(nodes(2), [gang("a"), gang("b", replicas=2, minimum=1)]),
        plan(bind("a-0"), bind("b-0"), bind("b-1", gang="a"), lines=()),
        plan(bind("a-0"), bind("b-0"), bind("b-1")),
        "it belongs to another gang",
    )
    yield broken(
        "unknown-pod",
        snapshot(nodes(1), [uid(gang("a"), "one")]),
        plan(bind("a-0", uid="two")),
        plan(bind("a-0", uid="one")),
        "another uid",
    )
    yield broken(
        "unknown-pod",
        snapshot(nodes(1), [gang("a", minimum=1, replicas=2, created=1)]),
        plan(bind("a-0"), bind("a-1"), lines=()),
        good,
        "it was not created",
    )
    yield broken("unknown-node", one, plan(bind("a-0", "n7")), good)
    phases = {
        "gated": {"gated": 1},
        "succeeded": {"succeeded": 1},
        "failed": {"failed": 1},
        "running": {"running": ["n1"]},
        "terminating": {"terminating": ["n1"]},
    }
    for label, phase in phases.items():
        yield broken(
            "pod-not-pending",
            snapshot(nodes(2), [gang("a", minimum=1, replicas=3, **phase)]),
            plan(bind("a-0"), bind("a-1")),
            plan(bind("a-1")),
            label,
        )
    yield broken(
        "pod-not-pending", one, plan(bind("a-0"), bind("a-0", "n1")), good, "twice"
    )


def rooms():
    two = [gang("a", gpus=5), gang("b", gpus=4)]
    yield broken(
        "node-capacity",
        snapshot(nodes(2), two),
        plan(bind("a-0"), bind("b-0")),
        plan(bind("a-0"), bind("b-0", "n1")),
    )
    yield broken(
        "node-capacity",
        snapshot(nodes(2), [gang("a", gpus=5), gang("b", gpus=4, running=["n0"])]),
        plan(bind("a-0", "n0")),
        plan(bind("a-0", "n1")),
        "running pods",
    )
    yield broken(
        "node-capacity",
        snapshot(
            nodes(2),
            [
                gang("a", gpus=5),
                gang("b", gpus=4, minimum=1, replicas=2, terminating=["n0"]),
            ],
        ),
        plan(bind("a-0", "n0")),
        plan(bind("a-0", "n1")),
        "terminating pods",
    )
    yield broken(
        "node-capacity",
        snapshot([node("n0", used={GPU: 4}), node("n1")], [gang("a", gpus=5)]),
        plan(bind("a-0", "n0")),
        plan(bind("a-0", "n1")),
        "load of others",
    )
    full = node("n0", 8, used={GPU: 9})
    yield broken(
        "node-capacity",
        snapshot([full], [gang("a", gpus=1), gang("b", gpus=0)]),
        plan(bind("a-0"), bind("b-0")),
        plan(bind("b-0")),
        "already overcommitted",
    )
    yield broken(
        "node-capacity",
        snapshot(
            [node("n0", allocatable={"pods": 1}), node("n1")], [gang("a", minimum=2)]
        ),
        plan(*binds("a", "n0", "n0")),
        plan(*binds("a", "n0", "n1")),
        "number of pods",
    )
    demands = {
        "selector": ([node("n0"), node("n1", labels={"kind": "a"})], {"kind": "a"}),
        "taint": ([node("n0", taints=(Taint(key="x"),)), node("n1")], {}),
        "unschedulable": ([node("n0", unschedulable=True), node("n1")], {}),
    }
    for label, (machines, labels) in demands.items():
        yield broken(
            "node-demand",
            snapshot(machines, [gang("a", demand=selector(**labels))]),
            plan(bind("a-0", "n0")),
            plan(bind("a-0", "n1")),
            label,
        )
    yield broken(
        "exclusive",
        snapshot(nodes(2), [gang("a", minimum=2, exclusive=True)]),
        plan(*binds("a", "n0", "n0")),
        plan(*binds("a", "n0", "n1")),
    )
    yield broken(
        "exclusive",
        snapshot(
            nodes(3),
            [gang("a", minimum=1, replicas=2, exclusive=True, running=["n0"])],
        ),
        plan(bind("a-1", "n0"), lines=()),
        plan(bind("a-1", "n1"), lines=()),
        "with a running pod",
    )
    yield broken(
        "exclusive",
        snapshot(nodes(2), [gang("a", leaf("x", 1, exclusive=True), leaf("y", 1))]),
        plan(bind("a-x-0", "n0", "a"), bind("a-y-0", "n0", "a")),
        plan(bind("a-x-0", "n0", "a"), bind("a-y-0", "n1", "a")),
        "with another leaf",
    )


def racks():
    machines = [
        node("n0", rack="r0", zone="z0"),
        node("n1", rack="r1", zone="z0"),
        node("n2", rack="r1", zone="z0"),
        node("n3", zone="z0"),
    ]
    yield broken(
        "topology-required",
        snapshot(machines, [gang("a", minimum=2, topology=required())]),
        plan(*binds("a", "n0", "n1")),
        plan(*binds("a", "n2", "n1")),
    )
    yield broken(
        "topology-required",
        snapshot(machines, [gang("a", minimum=1, topology=required())]),
        plan(bind("a-0", "n3")),
        plan(bind("a-0", "n2")),
        "a node outside every domain",
    )
    grown = gang("a", minimum=1, replicas=2, running=["n0"], topology=required())
    yield broken(
        "topology-required",
        snapshot([*machines, node("n4", rack="r0", zone="z0")], [grown]),
        plan(bind("a-1", "n1"), lines=()),
        plan(bind("a-1", "n4"), lines=()),
        "running members pin",
    )
    spread = gang("a", minimum=2, replicas=3, running=["n0", "n1"], topology=required())
    yield broken(
        "topology-required",
        snapshot(machines, [spread]),
        plan(bind("a-2", "n1"), lines=()),
        plan(),
        "already spread over two",
    )
    inner = gang(
        "a",
        group("g", leaf("x", 1), leaf("y", 1), topology=required()),
        leaf("z", 1),
        topology=required("zone"),
    )
    yield broken(
        "topology-required",
        snapshot(machines, [inner]),
        plan(
            bind("a-x-0", "n0", "a"),
            bind("a-y-0", "n1", "a"),
            bind("a-z-0", "n1", "a"),
        ),
        plan(
            bind("a-x-0", "n2", "a"),
            bind("a-y-0", "n1", "a"),
            bind("a-z-0", "n0", "a"),
        ),
        "an inner node",
    )


def minimums():
    yield broken(
        "gang-minimum",
        snapshot(nodes(1), [gang("a", minimum=3, replicas=4)]),
        plan(*binds("a", "n0", "n0")),
        plan(*binds("a", "n0", "n0", "n0")),
    )
    counting = {
        MatchPolicy.ONLY_WAITING: ({"running": ["n0"]}, 2),
        MatchPolicy.WAITING_AND_RUNNING: ({"succeeded": 1}, 2),
        MatchPolicy.WAITING_RUNNING_SUCCEED: ({"failed": 1}, 2),
        MatchPolicy.ONCE_SATISFIED: ({"failed": 1}, 2),
    }
    for match, (phase, enough) in counting.items():
        yield broken(
            "gang-minimum",
            snapshot(
                nodes(1),
                [gang("a", minimum=2, replicas=4, match_policy=match, **phase)],
            ),
            plan(*binds("a", "n0", start=1)),
            plan(*binds("a", *["n0"] * enough, start=1)),
            match.value,
        )
    some = gang("a", leaf("x", 1), leaf("y", 1), leaf("z", 1), min_groups=2)
    yield broken(
        "gang-minimum",
        snapshot(nodes(1), [some]),
        plan(bind("a-z-0", gang="a")),
        plan(bind("a-x-0", gang="a"), bind("a-z-0", gang="a")),
        "K of N children",
    )
    pods = gang("a", leaf("x", 0, 3), leaf("y", 0, 3, gpus=2), min_pods=3)
    yield broken(
        "gang-minimum",
        snapshot(nodes(1), [pods]),
        plan(*binds("a", "n0", "n0", leaf="x")),
        plan(*binds("a", "n0", "n0", leaf="x"), *binds("a", "n0", leaf="y")),
        "pods of several shapes",
    )
    empty = gang("a", leaf("x", 0, 1), leaf("y", 1), min_groups=2)
    yield broken(
        "gang-minimum",
        snapshot(nodes(1), [empty]),
        plan(bind("a-y-0", gang="a")),
        plan(bind("a-x-0", gang="a"), bind("a-y-0", gang="a")),
        "a child without pods does not count",
    )
    pair = gang("a", leaf("x", 1), leaf("y", 2), min_groups=1)
    yield broken(
        "leaf-minimum",
        snapshot(nodes(1), [pair]),
        plan(bind("a-x-0", gang="a"), *binds("a", "n0", leaf="y")),
        plan(bind("a-x-0", gang="a"), *binds("a", "n0", "n0", leaf="y")),
    )
    tree = gang("a", leaf("x", 1), group("g", leaf("y", 1), leaf("z", 1)), min_groups=1)
    start = bind("a-x-0", gang="a")
    yield broken(
        "subgroup-minimum",
        snapshot(nodes(1), [tree]),
        plan(start, bind("a-y-0", gang="a")),
        plan(start, bind("a-y-0", gang="a"), bind("a-z-0", gang="a")),
    )
    roles = gang(
        "a", leaf("driver", 1), leaf("worker", 0, 3, after=("driver",)), min_pods=2
    )
    workers = binds("a", "n0", "n0", leaf="worker")
    yield broken(
        "role-order",
        snapshot(nodes(1), [roles]),
        plan(*workers),
        plan(bind("a-driver-0", gang="a"), *workers),
    )


def groups():
    both = [gang("a", mates=["a", "b"]), gang("b", mates=["a", "b"])]
    yield broken(
        "gang-group",
        snapshot(nodes(1), both),
        plan(bind("a-0")),
        plan(bind("a-0"), bind("b-0")),
    )
    yield broken(
        "gang-group",
        snapshot(nodes(1), [gang("a", mates=["a", "b"]), gang("b")]),
        plan(bind("a-0")),
        plan(bind("b-0")),
        "a list held alone",
    )
    yield broken(
        "gang-group",
        snapshot(nodes(1), [gang("a", mates=["b"]), gang("b", mates=["b"])]),
        plan(bind("a-0")),
        plan(bind("b-0")),
        "a list without itself",
    )
    yield broken(
        "not-ready",
        snapshot(nodes(1), [gang("a", mates=["a", "b"])]),
        plan(bind("a-0")),
    )
    yield broken(
        "timed-out",
        snapshot(nodes(1), [gang("a", timed_out=True), gang("b")]),
        plan(bind("a-0")),
        plan(bind("b-0")),
    )
    yield broken(
        "refused",
        snapshot(nodes(1), [gang("a", refused=REFUSED), gang("b")]),
        plan(bind("a-0")),
        plan(bind("b-0")),
    )
    yield broken(
        "backoff",
        snapshot(nodes(1), [gang("a", backoff=30), gang("b")]),
        plan(bind("a-0")),
        plan(bind("b-0")),
    )
    yield broken(
        "min-resources",
        snapshot(
            [*nodes(1), node("n1", unschedulable=True)],
            [gang("a", min_resources={GPU: 8}), gang("b", running=["n0"]), gang("c")],
        ),
        plan(bind("a-0")),
        plan(bind("c-0")),
    )


def queues():
    one = [gang("a", queue="q", gpus=4), gang("b", queue="q", gpus=2)]
    other = [gang("a", queue="q"), gang("b", queue="p")]
    here, there = plan(bind("a-0")), plan(bind("b-0"))
    p = queue("p")
    yield broken("queue-missing", snapshot(nodes(1), other, [p]), here, there)
    yield broken(
        "queue-missing",
        snapshot(nodes(1), other, [queue("q", "top"), p]),
        here,
        there,
        "the parent",
    )
    yield broken(
        "queue-closed",
        snapshot(nodes(1), other, [queue("q", open=False), p]),
        here,
        there,
    )
    yield broken(
        "queue-closed",
        snapshot(nodes(1), other, [queue("q", "top"), queue("top", open=False), p]),
        here,
        there,
        "the parent",
    )
    yield broken(
        "queue-inner",
        snapshot(nodes(1), other, [queue("q"), queue("p", "q")]),
        here,
        there,
    )
    yield broken(
        "queue-limit",
        snapshot(nodes(1), one, [queue("q", limit=5)]),
        plan(bind("a-0"), bind("b-0")),
        here,
    )
    busy = [*one, gang("c", queue="p", gpus=3, running=["n1"])]
    top = queue("top", limit=6)
    yield broken(
        "queue-limit",
        snapshot(nodes(2), busy, [queue("q", "top"), queue("p", "top"), top]),
        here,
        there,
        "on the path, with what runs",
    )
    keeps = queue("p", resources={GPU: QueueResource(quota=6, lend=2)})
    yield broken(
        "lending-limit",
        snapshot(nodes(1), one, [queue("q"), keeps]),
        plan(bind("a-0"), bind("b-0")),
        here,
    )
    hard = [replace(made, preemptible=False) for made in one]
    yield broken(
        "queue-quota",
        snapshot(nodes(1), hard, [queue("q", quota=5)]),
        plan(bind("a-0"), bind("b-0")),
        here,
    )
    yield broken(
        "queue-quota",
        snapshot(nodes(1), hard, [queue("q", resources={}), queue("p", quota=8)]),
        here,
        plan(),
        "none where another queue names the resource",
    )
    fair = [queue("q", quota=4), queue("p", quota=4)]
    rivals = [
        gang("a", queue="q", gpus=5),
        gang("b", queue="q", gpus=4),
        gang("c", queue="p", minimum=2, gpus=4),
    ]
    yield broken(
        "entitled",
        snapshot(nodes(1), rivals, fair),
        plan(bind("a-0"), entitled=["a"]),
        plan(bind("a-0")),
    )
    yield broken(
        "entitled",
        snapshot(nodes(2, 5), rivals, fair),
        plan(bind("a-0"), bind("b-0", "n1"), entitled=["a", "b"]),
        plan(bind("a-0"), bind("b-0", "n1"), entitled=["b"]),
        "two together",
    )
    both = [
        gang("a", queue="q", gpus=4, mates=["a", "c"]),
        gang("c", queue="p", gpus=4, mates=["a", "c"]),
    ]
    steps = (bind("a-0"), bind("c-0"))
    yield broken(
        "entitled-group",
        snapshot(nodes(1), both, fair),
        plan(*steps, entitled=["a"]),
        plan(*steps, entitled=["a", "c"]),
    )


def claims():
    one = snapshot(nodes(1), [gang("a")])
    step = bind("a-0")
    yield broken(
        "tier-bound",
        one,
        plan(step, tiers=[tier("gpus", 5, 4)]),
        plan(step, tiers=[tier("gpus", 4, 5)]),
    )
    yield broken(
        "tier-bound",
        one,
        plan(step, tiers=[tier("topology", 4, 5, direction="min")]),
        plan(step, tiers=[tier("topology", 5, 4, direction="min")]),
        "of a tier to be small",
    )
    yield broken(
        "tier-proof",
        one,
        plan(step, tiers=[tier("gpus", 4, 5, proof="proven")]),
        plan(step, tiers=[tier("gpus", 5, 5)]),
    )
    yield broken(
        "tier-proof",
        one,
        plan(step, tiers=[tier("gpus", 4, 5), tier("pods", 3)]),
        plan(step, tiers=[tier("gpus", 4, 5), tier("pods", 3, proof="conditional")]),
        "after one that is not",
    )
    yield broken(
        "plan-status",
        one,
        plan(step, tiers=[tier("gpus", 4, 5)], status="optimal"),
        plan(step, tiers=[tier("gpus", 5)], status="optimal"),
    )
    yield broken("plan-status", one, plan(step, status="idle"), plan(), "idle")
    lines = {
        "number of binds": [line("a", "Starting", 2)],
        "Starting without a bind": [line("a", "Starting", 1), line("b", "Starting")],
        "Waiting with a bind": [line("a", "Waiting", 1)],
        "listed twice": [line("a", "Starting", 1), line("a", "Starting", 1)],
        "no such gang": [line("a", "Starting", 1), line("c")],
    }
    idle = snapshot(nodes(2), [gang("a"), gang("r", running=["n0"])])
    for label, held in {"less than none": -1, "more than idle": 16}.items():
        yield broken(
            "held-claim",
            idle,
            replace(plan(), held=held),
            replace(plan(), held=15),
            label,
        )
    yield broken(
        "held-claim",
        replace(idle, held=8 * 3600),
        replace(plan(), held=1),
        plan(),
        "after the budget",
    )
    yield broken(
        "held-claim",
        idle,
        replace(plan(), held=1),
        plan(),
        "without heads",
        policy=Policy.model_validate({"waiting": {"heads": 0}}),
        allowing=POLICY,
    )
    hold = Hold(gang="default/a", nodes=("n0",), expected=3600)
    held = snapshot(nodes(2), [gang("a", held_for=3601, held_first=3600)])
    yield broken("hold-claim", held, replace(plan(), holds=(hold,)), plan(), "too long")
    yield broken(
        "hold-claim",
        idle,
        replace(plan(), holds=(replace(hold, gang="default/c"),)),
        replace(plan(), holds=(hold,)),
        "no such gang",
    )
    for label, said in lines.items():
        yield broken(
            "gang-line",
            snapshot(nodes(1), [gang("a"), gang("b")]),
            plan(step, lines=said),
            plan(step, lines=[line("a", "Starting", 1), line("b")]),
            label,
        )


CASES = [
    *operations(),
    *rooms(),
    *DEVICES,
    *racks(),
    *minimums(),
    *groups(),
    *queues(),
    *claims(),
    *RESERVES,
    *EVICTIONS,
    *RIGHTS,
    *NEIGHBOURS,
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verify_names_exactly_the_broken_rule(case):
    found = verify(case.given, case.policy, case.plan)

    assert {case.rule} == {violation.rule for violation in found}, found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verify_passes_the_repaired_plan(case):
    assert () == verify(case.given, case.allowing or case.policy, case.repaired)


def test_messages_are_single_sentences_about_something():
    for case in CASES:
        for found in verify(case.given, case.policy, case.plan):
            assert found.subject
            assert re.fullmatch(r"[^.\n][^\n]*[^.\n]", found.message)


def test_every_rule_has_a_broken_plan():
    assert set(RULES) == {case.rule for case in CASES}


def test_the_reference_lists_every_rule_in_order():
    rows = re.findall(r"^\| `([a-z-]+)` \|", DOCUMENT.read_text(), re.MULTILINE)

    assert list(RULES) == rows


def test_a_violation_reads_as_rule_subject_and_message():
    given = snapshot(nodes(1), [gang("a", gpus=9)])

    (found,) = verify(given, POLICY, plan(bind("a-0")))

    assert "node-capacity: n0: nvidia.com/gpu: 0 in use and 9 bound exceed 8" == str(
        found
    )
    assert isinstance(found, Violation)


def test_an_empty_plan_holds_in_an_empty_snapshot():
    assert () == verify(snapshot(), POLICY, plan())


# What looks broken and is not


def holds(given: Snapshot, *steps: Operation, **fields) -> bool:
    return verify(given, POLICY, plan(*steps, lines=(), **fields)) == ()


def test_every_queue_name_is_fine_when_no_queue_is_listed():
    assert holds(snapshot(nodes(1), [gang("a", queue="anything")]), bind("a-0"))


def test_a_queue_over_its_limit_may_get_what_the_limit_does_not_name():
    given = snapshot(
        nodes(2),
        [
            gang("a", queue="q", gpus=8, running=["n0"]),
            gang("b", queue="q", gpus=0, preemptible=False),
        ],
        [queue("q", quota=2, limit=4)],
    )

    assert holds(given, bind("b-0", "n1"))


def test_a_gang_below_its_minimum_may_be_completed():
    given = snapshot(nodes(1), [gang("a", minimum=3, running=["n0"])])

    assert holds(given, *binds("a", "n0", "n0", start=1))


@pytest.mark.parametrize(
    "fields",
    [{"once_satisfied": True}, {"running": ["n0", "n0"]}, {"succeeded": 2}],
    ids=["marked", "running", "succeeded"],
)
def test_pods_are_ordinary_after_the_first_success(fields):
    made = gang(
        "a",
        leaf("x", 2, 3, **{k: v for k, v in fields.items() if k != "once_satisfied"}),
        leaf("y", 2, 2, after=("x",)),
        min_groups=1,
        match_policy=MatchPolicy.ONCE_SATISFIED,
        once_satisfied="once_satisfied" in fields,
    )

    assert holds(snapshot(nodes(1), [made]), bind("a-y-0", gang="a"))


def test_succeeded_pods_count_where_the_policy_says_so():
    for match in (MatchPolicy.WAITING_RUNNING_SUCCEED, MatchPolicy.ONCE_SATISFIED):
        made = gang("a", minimum=3, match_policy=match, succeeded=1)

        assert holds(snapshot(nodes(1), [made]), *binds("a", "n0", "n0", start=1))


def test_a_member_lost_later_starts_again_alone():
    mates = ["a", "b"]
    given = snapshot(
        nodes(1), [gang("a", mates=mates), gang("b", mates=mates, running=["n0"])]
    )

    assert holds(given, bind("a-0"))


def test_a_satisfied_member_grows_without_the_others():
    mates = ["a", "b"]
    grown = gang("a", mates=mates, minimum=1, replicas=2, running=["n0"])

    assert holds(snapshot(nodes(1), [grown, gang("b", mates=mates)]), bind("a-1"))
    assert holds(snapshot(nodes(1), [grown]), bind("a-1"))


def test_members_on_nodes_that_are_gone_pin_nothing():
    made = gang("a", minimum=1, replicas=2, running=["gone"], topology=required())

    assert holds(
        snapshot([node("n0", rack="r0", zone="z0")], [made]), bind("a-1", "n0")
    )


def test_a_node_without_the_labels_does_not_matter_where_nothing_is_required():
    made = gang("a", leaf("x", 1, topology=required()), leaf("y", 1))
    given = snapshot([node("n0", rack="r0", zone="z0"), node("n1")], [made])

    assert holds(given, bind("a-x-0", "n0", "a"), bind("a-y-0", "n1", "a"))


def test_surplus_does_not_use_up_entitlement():
    elastic = gang("a", queue="q", minimum=4, replicas=8)
    given = snapshot(
        nodes(1),
        [elastic, gang("b", queue="p", gpus=8)],
        [queue("q", quota=4), queue("p", quota=4)],
    )

    assert () == verify(given, POLICY, plan(*binds("a", *["n0"] * 8), entitled=["a"]))


def test_the_cheapest_core_decides_about_entitlement():
    made = gang(
        "a", leaf("x", 1, gpus=4), leaf("y", 1, gpus=2), queue="q", min_groups=1
    )
    given = snapshot(
        nodes(1),
        [made, gang("b", queue="p", gpus=8)],
        [queue("q", quota=2), queue("p", quota=6)],
    )
    steps = [bind("a-x-0", gang="a"), bind("a-y-0", gang="a")]

    assert () == verify(given, POLICY, plan(*steps, entitled=["a"]))
    assert ["entitled"] == [
        found.rule for found in verify(given, POLICY, plan(steps[0], entitled=["a"]))
    ]


def test_gangs_that_can_never_start_take_no_share():
    queues = [queue("q", weight=1), queue("p", weight=1)]
    mine = gang("a", queue="q", gpus=8)
    impossible = {
        "a pod larger than any node": gang("b", queue="p", gpus=9),
        "larger than the cluster": gang("b", queue="p", minimum=9),
        "more than one rack": gang("b", queue="p", minimum=5, topology=required()),
        "timed out": gang("b", queue="p", gpus=8, timed_out=True),
        "too few pods": gang("b", queue="p", minimum=4, created=3),
        "no such group": gang("b", queue="p", gpus=8, mates=["b", "c"]),
    }
    made = plan(bind("a-0"), entitled=["a"])
    for label, other in impossible.items():
        given = snapshot(nodes(1), [mine, other], queues)

        assert () == verify(given, POLICY, made), label
    rival = snapshot(nodes(1), [mine, gang("b", queue="p", gpus=8)], queues)

    assert ["entitled"] == [found.rule for found in verify(rival, POLICY, made)]


def test_impossible_subtrees_take_no_share_and_the_rest_of_the_tree_does():
    mine = gang("a", queue="q", gpus=8)
    tree = gang(
        "b", leaf("x", 1, gpus=8), leaf("y", 1, gpus=9), min_groups=1, queue="p"
    )
    given = snapshot(nodes(1), [mine, tree], [queue("q"), queue("p")])

    found = verify(given, POLICY, plan(bind("a-0"), entitled=["a"]))

    assert ["entitled"] == [violation.rule for violation in found]


@pytest.mark.parametrize(("exclusive", "rules"), [(True, []), (False, ["entitled"])])
def test_what_is_arguably_impossible_is_read_in_favour_of_the_plan(exclusive, rules):
    mine = gang("a", queue="q", minimum=3, gpus=4)
    other = gang("b", queue="p", minimum=3, gpus=4, running=["n0"], exclusive=exclusive)
    given = snapshot(nodes(2), [mine, other], [queue("q"), queue("p")])
    made = plan(*binds("a", "n0", "n1", "n1"), entitled=["a"])

    assert rules == [violation.rule for violation in verify(given, POLICY, made)]


@pytest.mark.parametrize(("quota", "rules"), [(7, []), (6, ["entitled"])])
def test_the_cheapest_core_keeps_the_order_of_roles(quota, rules):
    roles = gang(
        "a",
        leaf("driver", 1, gpus=6),
        leaf("worker", 0, 2, gpus=1, after=("driver",)),
        min_pods=2,
        queue="q",
    )
    rival = gang("b", queue="p", gpus=8)
    queues = [queue("q", quota=quota), queue("p", quota=8 - quota)]
    given = snapshot(nodes(1), [roles, rival], queues)
    workers = binds("a", "n0", "n0", leaf="worker")
    made = plan(bind("a-driver-0", gang="a"), *workers, entitled=["a"])

    assert rules == [violation.rule for violation in verify(given, POLICY, made)]


def test_a_policy_without_entitlement_ignores_the_word():
    given = snapshot(
        nodes(1), [gang("a", queue="q", gpus=8)], [queue("q"), queue("p", quota=8)]
    )
    made = plan(bind("a-0"), entitled=["a"])

    assert () == verify(given, Policy(tiers=["gpus"]), made)


def test_minimum_resources_bind_only_gangs_that_start():
    grown = gang("a", replicas=2, minimum=1, running=["n0"], min_resources={GPU: 8})

    assert holds(snapshot(nodes(1), [grown]), bind("a-1"))


def test_a_pod_of_no_room_fits_a_full_node():
    given = snapshot(nodes(1), [gang("a", requests={}), gang("b", gpus=9)])

    assert holds(given, bind("a-0"))
