"""
`phalanx run` against a real API server: what it binds, and what it leaves alone.
"""

import time
from collections import Counter
from itertools import count

import pytest

from adapters.kube.acting.permissions import RoleLacksError, check
from adapters.kube.api.api_resources import Resource
from adapters.kube.api.connect import connect
from tests.cluster.manifests import custom, manifests, pod
from tests.cluster.role import bind, grant, needed
from tests.cluster.stage import GROUP, SPACE, Kubelet, Scheduler
from tests.helpers.eventually import eventually

pytestmark = pytest.mark.cluster
_SPACES = count()


@pytest.fixture
def space(stage):
    name = f"play-{next(_SPACES)}"
    stage.ensure(name)
    return name


@pytest.fixture
def scheduler(scheduler):
    """
    Run it as everywhere, and let it end as asked.
    """
    yield scheduler
    if scheduler.process.poll() is None:
        scheduler.process.terminate()
        assert 0 == scheduler.process.wait(30), scheduler.said()[-3000:]


def test_every_dialects_example_runs_to_bound(stage, scheduler):
    for raw in manifests():
        if space := raw["metadata"].get("namespace"):
            stage.ensure(space)
    made = manifests()
    stage.create(raw for raw in made if raw["kind"] != "Pod")
    # Once a cluster has queues, gangs that name none are in the one called default.
    free = {"quota": -1, "overQuotaWeight": 1, "limit": -1}
    shares = {"cpu": free, "memory": free, "gpu": free}
    spec = {"parentQueue": "root", "resources": shares}
    stage.create([custom("scheduling.run.ai/v2", "Queue", "default", **spec)])
    for raw in made:
        if "status" in raw and raw["kind"] == "Queue":
            path = "/apis/scheduling.volcano.sh/v1beta1/queues/batch/status"
            stage.admin.call("PATCH", path, {"status": raw["status"]})
    stage.create(raw for raw in made if raw["kind"] == "Pod")
    wanted = {
        "kai": 4,
        "volcano": 4,
        "coscheduling": 3,
        "koordinator": 4,
        "native": 3,
        "plain": 1,
    }

    eventually(
        lambda: wanted == {space: len(stage.bound(space)) for space in wanted}, 20
    )
    assert {"load": "gpu-1"} == stage.bound("others")


def test_a_gang_with_one_pod_missing_binds_nothing(stage, scheduler, space):
    stage.nodes(2)
    stage.create([stage.group(space, "lacks", 4)])
    pods = stage.members(space, "lacks", 4, 1)
    stage.create(pods[:3])
    stage.gang(space, "whole", 2, 1)
    eventually(lambda: stage.whole(space, whole=2))
    alone = stage.gangs_bound(space)
    stage.create(pods[3:])
    eventually(lambda: stage.whole(space, lacks=4))

    assert {"lacks": 0, "whole": 2} == alone


def test_of_twenty_gangs_that_compete_each_is_whole_or_not_there(
    stage, scheduler, space
):
    stage.nodes(6)  # 48 GPUs for 100
    stage.create(stage.group(space, f"g{i}", 5) for i in range(20))
    stage.create(pod for i in range(20) for pod in stage.members(space, f"g{i}", 5, 1))
    eventually(lambda: sum(stage.gangs_bound(space).values()) == 45)
    first = stage.gangs_bound(space)
    for name in [n for n, number in first.items() if number][:3]:
        for i in range(5):
            path = f"/api/v1/namespaces/{space}/pods/{name}-{i}"
            stage.admin.call("DELETE", path, {"gracePeriodSeconds": 0})
    eventually(lambda: sum(stage.gangs_bound(space).values()) == 45)

    assert {0, 5} == set(first.values())
    assert {0, 5} == set(stage.gangs_bound(space).values())


def test_a_group_of_gangs_over_two_namespaces_starts_together(stage, scheduler, space):
    other = f"{space}-too"
    stage.ensure(other)
    stage.nodes(2)
    prefix = "gang.scheduling.koordinator.sh"
    mates = f'["{space}/left", "{other}/right"]'

    def member(inside: str, gang: str, index: int) -> dict:
        said = {
            f"{prefix}/name": gang,
            f"{prefix}/min-available": "2",
            f"{prefix}/groups": mates,
        }
        return pod(inside, f"{gang}-{index}", gpus=4, annotations=said)

    stage.create(member(space, "left", i) for i in range(2))
    stage.create([member(other, "right", 0)])
    stage.gang(space, "witness", 1, 1)
    eventually(lambda: stage.whole(space, witness=1))
    alone = len(stage.bound(space)) - 1, len(stage.bound(other))
    path = f"/api/v1/namespaces/{space}/pods/witness-0"
    stage.admin.call("DELETE", path, {"gracePeriodSeconds": 0})
    stage.create([member(other, "right", 1)])
    eventually(lambda: len(stage.bound(other)) == 2 == len(stage.bound(space)))

    assert (0, 0) == alone


def test_a_pod_of_another_scheduler_is_load_and_left_alone(stage, scheduler, space):
    stage.nodes(1)
    stage.create(
        [
            pod(space, "load", gpus=6, scheduler="default-scheduler", node="gpu-0"),
            pod(space, "theirs", gpus=1, scheduler="default-scheduler"),
        ]
    )
    stage.gang(space, "large", 1, 4)
    stage.gang(space, "small", 2, 1)
    eventually(lambda: stage.whole(space, small=2))

    assert {"load", "small-0", "small-1"} == set(stage.bound(space))


def test_what_a_role_lacks_is_said_at_the_start(stage, tmp_path):
    from tests.cluster.role import grant, needed

    lacking = next(r for r in needed() if r.resource == "pods/eviction")
    grant(stage.admin, "meagre", SPACE, without=lacking)
    with Scheduler(stage, folder=tmp_path, user="meagre") as scheduler:
        code = scheduler.process.wait(60)

    assert 5 == code
    rule = '{apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"]}'
    assert rule in scheduler.said()
    assert "pods/binding" not in scheduler.said()


def test_every_rule_that_is_missing_is_found_by_itself(stage):
    texts = Counter(map(str, needed()))  # of kinds in two versions there are two
    once = [rule for rule in needed() if texts[str(rule)] == 1]
    rules = [rule for rule in once if is_asked(stage, rule)]
    meagre = connect(stage.plane.kubeconfig("meagre"))
    for rule, other in zip(rules, [*rules[1:], rules[0]], strict=True):
        grant(stage.admin, "meagre", SPACE, without=rule)

        def lacking(asked=(other, rule)) -> tuple[str, ...]:
            try:
                check(meagre, asked, SPACE)
            except RoleLacksError as error:
                return error.rules
            return ()

        eventually(lambda wanted=(str(rule),), said=lacking: wanted == said(), 10)
    meagre.close()

    assert len(rules) > 40


GET_PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
ALL = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}


@pytest.mark.parametrize(
    ("kind", "rule", "lacking"),
    [
        pytest.param("ClusterRole", GET_PODS, 0, id="as-asked"),
        pytest.param("ClusterRole", ALL, 0, id="wildcards"),
        pytest.param("ClusterRole", GET_PODS | {"resources": ["pods/*"]}, 1, id="part"),
        pytest.param(
            "ClusterRole", GET_PODS | {"resourceNames": ["one"]}, 1, id="some-names"
        ),
        pytest.param("Role", GET_PODS, 1, id="own-namespace-only"),
    ],
)
def test_a_rule_is_there_only_where_it_holds_for_all_that_is_asked(
    stage, kind, rule, lacking
):
    asked = next(r for r in needed() if (r.resource, r.verb) == ("pods", "get"))
    for other, place in (("ClusterRole", ""), ("Role", SPACE)):
        bind(stage.admin, "meagre", other, [rule] if other == kind else [], place)
    meagre = connect(stage.plane.kubeconfig("meagre"))

    def said() -> int:
        try:
            check(meagre, [asked], SPACE)
        except RoleLacksError as error:
            return len(error.rules)
        return 0

    time.sleep(0.5)  # the server hears of roles a moment later
    eventually(lambda: said() == lacking, 10)
    meagre.close()


def is_asked(stage, rule) -> bool:
    """
    Tell whether a rule is needed here: of kinds that are not installed none is.
    """
    kind = rule.resource.partition("/")[0]
    resource = Resource(group=rule.group, version=rule.version, plural=kind, kind=kind)
    return not rule.optional or stage.admin.serves(resource)


def test_two_shards_do_not_touch_each_others_nodes(stage, space, tmp_path):
    key = "example.com/pool"
    stage.nodes(2, **{"example.com__pool": "a"})
    stage.nodes(2, first=2, **{"example.com__pool": "b"})
    for pool in "ab":
        group = stage.group(space, f"big-{pool}", 3)
        group["metadata"]["labels"] = {key: pool}
        stage.create([group])
        for raw in stage.members(space, f"big-{pool}", 3, 8):
            raw["metadata"]["labels"][key] = pool
            stage.create([raw])
        stage.create([stage.group(space, f"fits-{pool}", 2)])
        for raw in stage.members(space, f"fits-{pool}", 2, 8):
            raw["metadata"]["labels"][key] = pool
            stage.create([raw])
    shards = [
        Scheduler(stage, f"--shard={p}", f"--node-pool={key}={p}", folder=tmp_path)
        for p in "ab"
    ]
    with Kubelet(stage), shards[0], shards[1]:
        eventually(lambda: stage.whole(space, **{"fits-a": 2, "fits-b": 2}))
        bound = stage.bound(space)

    assert {"gpu-0", "gpu-1"} == {n for p, n in bound.items() if "-a-" in p}
    assert {"gpu-2", "gpu-3"} == {n for p, n in bound.items() if "-b-" in p}
    assert 4 == len(bound)  # neither big gang took a node of the other pool


def test_a_queue_takes_back_what_it_lent_when_the_budget_lets_it(
    stage, scheduler, space
):
    stage.nodes(2)
    for name, parent, gpus in (
        ("top", "", 16),
        ("rich", "top", 16),
        ("poor", "top", 0),
    ):
        stage.create([queue(name, parent, gpus)])
    kai_gang(stage, space, "lent", "poor", pods=4, gpus=4)
    eventually(lambda: stage.whole(space, lent=4))
    allow = budget(stage, space, "lent", of=4)
    kai_gang(stage, space, "back", "rich", pods=1, gpus=8)
    eventually(lambda: waits(scheduler, "PreemptionProtected"))
    before = len(stage.bound(space))
    allow(2)
    eventually(lambda: stage.whole(space, back=1))

    assert 4 == before
    assert ["lent"] * 2 == evicted(stage, space)
    assert 2 == stage.gangs_bound(space)["lent"]


def test_a_gang_makes_room_for_one_of_higher_priority_in_its_queue(
    stage, scheduler, space
):
    stage.nodes(2)
    stage.create([queue("top", "", 16), queue("one", "top", 16)])
    for name, value in (("low", 10), ("high", 20)):
        version = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        stage.create([version | {"metadata": {"name": name}, "value": value}])
    kai_gang(stage, space, "low", "one", pods=2, gpus=8, least=2, named="low")
    eventually(lambda: stage.whole(space, low=2))
    allow = budget(stage, space, "low", of=2)
    kai_gang(stage, space, "high", "one", pods=1, gpus=8, named="high")
    eventually(lambda: stage.gangs_bound(space).get("high") == 0)
    eventually(lambda: waits(scheduler, "InsufficientCapacity", "PreemptionProtected"))
    before = evicted(stage, space)
    allow(2)
    eventually(lambda: stage.whole(space, high=1))

    assert [] == before
    assert ["low"] * 2 == evicted(stage, space)  # below its minimum it goes whole
    eventually(lambda: not stage.gangs_bound(space).get("low"))


def queue(name: str, parent: str, gpus: int) -> dict:
    room = {"quota": -1, "overQuotaWeight": 1, "limit": -1}
    gpu = {"quota": gpus, "overQuotaWeight": 1, "limit": -1}
    spec: dict = {"resources": {"cpu": room, "memory": room, "gpu": gpu}}
    spec |= {"parentQueue": parent} if parent else {}
    return custom("scheduling.run.ai/v2", "Queue", name, **spec)


def kai_gang(
    stage,
    space: str,
    name: str,
    inside: str,
    *,
    pods: int,
    gpus: int,
    least: int = 1,
    named: str = "",
) -> None:
    spec = {"queue": inside, "minMember": least}
    spec |= {"priorityClassName": named} if named else {}
    stage.create(
        [custom("scheduling.run.ai/v2alpha2", "PodGroup", name, space, **spec)]
    )
    mark = {"annotations": {"pod-group-name": name}, "labels": {GROUP: name}}
    stage.create(pod(space, f"{name}-{i}", gpus=gpus, **mark) for i in range(pods))


def budget(stage, space: str, gang: str, *, of: int):
    """
    Protect a gang whole; the answer lets some of its pods go.
    """
    made = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "keep", "namespace": space},
        "spec": {"minAvailable": of, "selector": {"matchLabels": {GROUP: gang}}},
    }
    stage.create([made])
    path = f"/apis/policy/v1/namespaces/{space}/poddisruptionbudgets/keep"

    def allow(number: int) -> None:
        status = {
            "observedGeneration": 1,
            "disruptionsAllowed": number,
            "currentHealthy": of,
            "desiredHealthy": of - number,
            "expectedPods": of,
        }
        stage.admin.call("PATCH", f"{path}/status", {"status": status})

    allow(0)
    return allow


def evicted(stage, space: str) -> list[str]:
    """
    List the gangs of the pods that were evicted, one entry a pod.
    """
    return [
        name.rpartition("-")[0]
        for _, verb, name, code in stage.plane.deeds(space)
        if verb == "eviction" and code == 201
    ]


def waits(scheduler, *reasons: str) -> bool:
    planned = scheduler.events("round_planned")
    return any(reason in planned[-1]["waiting"] for reason in reasons)
