"""
Gangs whose claims are told their nodes, and that are bound once they have volumes.
"""

import pytest

from adapters.kube.acting.intent import IntentStore
from adapters.kube.acting.operations import Deeds
from adapters.kube.acting.sink import ClusterSink
from adapters.kube.api.errors import answer_error
from adapters.kube.gangs.kinds import CLAIMS, CLASSES, STORAGE, VOLUMES
from adapters.kube.objects.node_record import node_record
from adapters.kube.objects.pod_reader import pod_record
from adapters.kube.objects.volume_records import NO_PROVISIONER
from adapters.kube.watch.cache import Cache
from adapters.loop.interfaces import Turn
from adapters.loop.memory.gangs import Memory
from models.gangs import Gang, PodPhase
from models.why.reasons import Reason, Waiting
from tests.adapters.kube.api_server import NODES, PODS
from tests.helpers.build import bind, gang, leaf, plan, required, snapshot
from tests.helpers.kube.kube_store import Store, pod_path, raw_pod

SELECTED = "volume.kubernetes.io/selected-node"
DONE = {"pv.kubernetes.io/bind-completed": "yes"}
STEPS = [bind(f"g-{i}", f"n{i}", uid=f"uid-g-{i}") for i in range(2)]


def claim_path(name: str) -> str:
    return f"/api/v1/namespaces/default/persistentvolumeclaims/{name}"


class Stage:
    """
    A gang of two pods on two nodes, each with a claim that waits for it.
    """

    def __init__(self) -> None:
        self.api, self.time = Store(), 0.0
        kinds = [PODS, NODES, CLAIMS, VOLUMES, *STORAGE]
        self.cache = Cache(kinds, clock=lambda: self.time)
        deeds = Deeds(self.api, self.cache, lambda: True, clock=lambda: self.time)
        store = IntentStore(self.api, ("ns", "intent"), "one")
        self.sink = ClusterSink(self.cache, deeds, store, Memory())
        self.sink.open(0.0)
        for i in range(2):
            node = {"metadata": {"name": f"n{i}", "labels": {"zone": f"z{i}"}}}
            self.cache.shelf(NODES).put(f"n{i}", 1, node_record(node), "1")
            self.pod(i)
            self.claim(i)

    def pod(self, i: int, claim: str = "", **spec: object) -> None:
        raw = raw_pod(f"g-{i}")
        raw["spec"] |= spec
        of = {"claimName": claim or f"c{i}"}
        raw["spec"].setdefault("volumes", [{"name": "v", "persistentVolumeClaim": of}])
        self.api.put(pod_path(f"g-{i}"), raw)
        self.cache.shelf(PODS).put(f"default/g-{i}", 1, pod_record(raw), "1")

    def claim(
        self, i: int, said: dict | None = None, meta: dict | None = None, **spec: str
    ) -> None:
        own = {"name": f"c{i}", "namespace": "default", "uid": f"uid-c{i}"}
        meta = own | {"annotations": said or {}} | (meta or {})
        phase = "Bound" if "volumeName" in spec else "Pending"
        raw = {"metadata": meta, "spec": spec, "status": {"phase": phase}}
        self.api.put(claim_path(f"c{i}"), raw)
        self.hear(i)

    def bound(self, i: int) -> None:
        """
        Bind a claim as its provisioner does, to a volume of the zone of its node.
        """
        rule = {"key": "zone", "operator": "In", "values": [f"z{i}"]}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
        spec = {"nodeAffinity": {"required": terms}}
        raw = {"metadata": {"name": f"pv{i}"}, "spec": spec}
        self.cache.shelf(VOLUMES).put(f"pv{i}", 1, raw, "1")
        self.claim(i, DONE | {SELECTED: f"n{i}"}, volumeName=f"pv{i}")

    def local(self, provisioner: str = NO_PROVISIONER, /, **zones: str) -> None:
        """
        Let the claims be of a class, as a rule without a provisioner, with some free
        volumes; what one provisions is in zone z0.
        """
        rules = [{"matchLabelExpressions": [{"key": "zone", "values": ["z0"]}]}]
        of = {"metadata": {"name": "local"}, "provisioner": provisioner}
        of |= {"allowedTopologies": rules} if provisioner != NO_PROVISIONER else {}
        of["volumeBindingMode"] = "WaitForFirstConsumer"
        self.cache.shelf(CLASSES).put("local", 1, of, "1")
        for i in range(2):
            self.claim(i, storageClassName="local")
        for name, zone in zones.items():
            rule = {"key": "zone", "operator": "In", "values": [zone]}
            terms = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
            self.volume(name, nodeAffinity={"required": terms})

    def volume(self, name: str, phase: str = "Available", **said: object) -> None:
        path = f"/api/v1/persistentvolumes/{name}"
        old = self.api.objects.get(path, {"spec": {"storageClassName": "local"}})
        raw = {"metadata": {"name": name}, "spec": {**old["spec"], **said}}
        self.api.put(path, {**raw, "status": {"phase": phase}})
        self.hear_of(name)

    def hear_of(self, name: str) -> None:
        raw = self.api.objects[f"/api/v1/persistentvolumes/{name}"]
        number = int(raw["metadata"]["resourceVersion"])
        self.cache.shelf(VOLUMES).put(name, number, raw, str(number))

    def given(self) -> dict[str, str]:
        volumes = {
            raw["metadata"]["name"]: raw["spec"].get("claimRef")
            for path, raw in self.api.objects.items()
            if "persistentvolumes" in path
        }
        return {name: ref["name"] for name, ref in volumes.items() if ref}

    def hear(self, *names: int) -> None:
        """
        Let the cache hear of claims as they are.
        """
        for i in names:
            raw = self.api.objects[claim_path(f"c{i}")]
            version = raw["metadata"]["resourceVersion"]
            shelf = self.cache.shelf(CLAIMS)
            shelf.put(f"default/c{i}", int(version), raw, version)

    def begin(self, *pods: int, there: Gang | None = None) -> list[str]:
        steps = [STEPS[i] for i in pods] or STEPS
        gangs = [there or gang("g", minimum=2)]
        turn = Turn(snapshot(gangs=gangs), plan(*steps), (), "r")
        self.sink.hold(turn)
        return self.results(turn)

    def results(self, turn: Turn) -> list[str]:
        self.receipts = self.sink.execute(turn.plan)
        return [receipt.result for receipt in self.receipts]

    def selected(self) -> list[str | None]:
        return [
            self.api.objects[claim_path(f"c{i}")]["metadata"]["annotations"].get(
                SELECTED
            )
            for i in range(2)
        ]

    @property
    def nodes(self) -> list[str | None]:
        return [
            self.api.objects[pod_path(f"g-{i}")]["spec"].get("nodeName")
            for i in range(2)
        ]


@pytest.fixture
def stage():
    return Stage()


def test_all_claims_of_a_gang_are_told_their_nodes_before_a_pod_is_bound(stage):
    assert ["held", "held"] == stage.begin()
    assert ["n0", "n1"] == stage.selected()
    assert [None, None] == stage.nodes


def test_its_pods_are_bound_once_all_claims_are(stage):
    stage.begin()
    stage.bound(0)
    early = stage.sink.due()
    stage.bound(1)

    assert early is None
    assert ["done", "done"] == stage.results(stage.sink.due())
    assert ["n0", "n1"] == stage.nodes
    assert stage.sink.due() is None


def test_meanwhile_its_pods_count_as_bound(stage):
    stage.begin()
    stage.hear(0, 1)
    for _ in range(20):
        stage.time += 20
        stage.sink.due()
        with stage.cache._lock:
            stage.cache._expire(stage.time)

    assert {"default/g-0", "default/g-1"} == set(stage.cache._assumed)
    assert PodPhase.PENDING is stage.cache.pods_named(["default/g-0"])[0].phase


def test_they_count_so_however_long_another_plan_takes(stage):
    stage.begin()
    stage.time += 300
    with stage.cache._lock:
        stage.cache._expire(stage.time)

    assert {"default/g-0", "default/g-1"} == set(stage.cache._assumed)


def test_who_leads_anew_takes_none_for_bound(stage):
    stage.begin()
    stage.sink.open(1.0)

    assert not stage.cache._assumed


def test_volumes_that_do_not_come_in_time_are_let_go_and_it_is_said(stage):
    stage.begin()
    stage.hear(0, 1)
    stage.time = 601.0

    assert ["refused", "refused"] == stage.results(stage.sink.due())
    assert "its volumes were not there within 600 s" in stage.receipts[0].message
    assert [None, None] == stage.selected()
    assert [None, None] == stage.nodes
    assert not stage.cache._assumed


def test_a_provisioner_that_gives_up_ends_it_for_the_whole_gang(stage):
    stage.begin()
    stage.hear(0, 1)
    stage.claim(1)

    assert ["refused", "refused"] == stage.results(stage.sink.due())
    assert "claim default/c1 got no volume" in stage.receipts[0].message
    assert [None, None] == stage.selected()


def test_what_we_wrote_and_have_not_heard_of_yet_is_no_giving_up(stage):
    stage.begin()

    assert stage.sink.due() is None


def test_a_volume_that_is_elsewhere_ends_it(stage):
    stage.begin()
    stage.bound(0)
    stage.bound(1)
    stage.claim(1, DONE, volumeName="pv0")

    assert ["again", "again"] == stage.results(stage.sink.due())
    assert "volume pv0 cannot be used on node n1" in stage.receipts[0].message


def test_a_pod_that_goes_meanwhile_ends_it(stage):
    stage.begin()
    stage.hear(0, 1)
    stage.cache.shelf(PODS).drop("default/g-1", "9")

    assert ["again", "again"] == stage.results(stage.sink.due())
    assert [None, None] == stage.selected()


@pytest.mark.parametrize(
    "meta", [{"uid": "another"}, {"deletionTimestamp": "2026-11-28T12:00:00Z"}]
)
@pytest.mark.parametrize("is_local", [True, False])
def test_a_claim_made_anew_or_deleted_meanwhile_ends_it(stage, meta, is_local):
    if is_local:
        stage.local(disk0="z0", disk1="z1")
    stage.begin()
    stage.hear(0, 1)
    for name in ("disk0", "disk1") if is_local else ():
        stage.hear_of(name)
    early = stage.sink.due()
    stage.claim(1, meta=meta, storageClassName="local")

    assert early is None
    assert ["again", "again"] == stage.results(stage.sink.due())
    assert "default/c1 is being deleted, or another one" in stage.receipts[0].message
    assert {} == stage.given()
    assert [None, None] == stage.selected()


def test_a_claim_that_is_deleted_once_it_has_its_volume_binds_no_half_gang(stage):
    stage.begin()
    stage.bound(0)
    has = DONE | {SELECTED: "n1"}
    leaves = {"deletionTimestamp": "2026-11-28T12:00:00Z"}
    stage.claim(1, has, meta=leaves, volumeName="pv1")

    assert ["again", "again"] == stage.results(stage.sink.due())
    assert [None, None] == stage.nodes


def give(stage, volume, claim, uid):
    """
    Let a volume be that of a claim, whoever gave it.
    """
    path = f"/api/v1/persistentvolumes/{volume}"
    whose = {"claimRef": {"namespace": "default", "name": claim, "uid": uid}}
    raw = stage.api.objects[path]
    stage.api.put(path, {**raw, "spec": {**raw["spec"], **whose}})


def test_a_volume_that_an_older_claim_of_that_name_has_is_not_free(stage):
    stage.local(disk0="z0", disk1="z1")
    give(stage, "disk1", "c1", "older")

    assert ["skipped", "again"] == stage.begin()
    assert "disk1 is no longer free" in stage.receipts[1].message


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_node_that_takes_nothing_more_binds_no_half_gang(stage, is_gone):
    stage.begin()
    stage.bound(0)
    stage.bound(1)
    if is_gone:
        stage.cache.shelf(NODES).drop("n1", "9")
    else:
        meta = {"name": "n1", "labels": {"zone": "z1"}}
        node = {"metadata": meta, "spec": {"unschedulable": True}}
        stage.cache.shelf(NODES).put("n1", 9, node_record(node), "9")

    assert ["refused" if is_gone else "again"] * 2 == stage.results(stage.sink.due())
    assert "node n1" in stage.receipts[0].message
    assert [None, None] == stage.nodes


TAINT = {"key": "maintenance", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("taint", "pool", "result"),
    [
        (TAINT, "a", "again"),
        (TAINT | {"effect": "PreferNoSchedule"}, "a", "done"),
        (None, "b", "again"),
    ],
)
def test_a_node_that_suits_a_pod_no_more_binds_no_half_gang(stage, taint, pool, result):
    def becomes(version: int, pool: str, **spec: object) -> None:
        meta = {"name": "n1", "labels": {"zone": "z1", "pool": pool}}
        record = node_record({"metadata": meta, "spec": spec})
        stage.cache.shelf(NODES).put("n1", version, record, str(version))

    stage.pod(1, nodeSelector={"pool": "a"})
    becomes(8, "a")
    stage.begin()
    stage.bound(0)
    stage.bound(1)
    becomes(9, pool, taints=[taint] if taint else [])

    assert [result] * 2 == stage.results(stage.sink.due())


def test_where_a_claim_cannot_be_told_the_others_are_let_go(stage):
    def fault(method: str, path: str) -> None:
        if method == "PATCH" and path.endswith("c1") and stage.selected()[0]:
            raise answer_error("patch", 403, "forbidden")

    stage.api.fault = fault

    assert ["skipped", "refused"] == stage.begin()
    assert [None, None] == stage.selected()
    assert stage.sink.due() is None


def test_a_claim_that_somebody_changed_meanwhile_is_read_again(stage):
    raw = dict(stage.api.objects[claim_path("c0")])
    stage.api.put(claim_path("c0"), raw)  # a newer version that the cache has not

    assert ["held", "held"] == stage.begin()
    assert ["n0", "n1"] == stage.selected()


def test_one_claim_of_two_pods_is_told_the_node_of_the_first(stage):
    stage.pod(1, "c0")

    assert ["held", "held"] == stage.begin()
    assert ["n0", None] == stage.selected()


def test_a_gang_that_grows_while_it_is_held_is_bound_whole(stage):
    stage.begin(0)
    stage.begin(1)
    stage.bound(0)
    first = stage.results(stage.sink.due())
    stage.bound(1)

    assert ["done"] == first
    assert ["done"] == stage.results(stage.sink.due())
    assert ["n0", "n1"] == stage.nodes


@pytest.mark.parametrize("comes", [True, False])
def test_what_has_no_claim_waits_for_its_gang_that_is_held(stage, comes):
    stage.pod(1, volumes=[])
    stage.begin(0)
    grown = stage.begin(1)
    stage.hear(0)
    early = stage.sink.due()
    stage.claim(0)
    if comes:
        stage.bound(0)
    ends = [stage.results(stage.sink.due()) for _ in range(2)]

    assert (["held"], None) == (grown, early)
    assert [["done" if comes else "refused"]] * 2 == ends
    assert (["n0", "n1"] if comes else [None, None]) == stage.nodes


def test_a_gang_that_runs_grows_by_a_pod_while_another_waits_for_its_volume(stage):
    stage.pod(1, volumes=[])
    runs = gang("g", minimum=1, replicas=3, running=["n0"])
    stage.begin(0, there=runs)

    assert ["done"] == stage.begin(1, there=runs)


def test_what_a_gang_grew_by_is_given_up_with_it(stage):
    stage.begin(0)
    stage.begin(1)
    stage.hear(0, 1)
    stage.claim(0)
    first = stage.results(stage.sink.due())
    stage.bound(1)

    assert ["refused"] == first
    assert ["refused"] == stage.results(stage.sink.due())
    assert [None, None] == stage.nodes


BOTH = ["n0", "n1"]
HELD = Waiting(Reason.HELD, {"by": "alice", "detail": "not yet"})
CHANGED = [
    ([gang("g", minimum=3, running=BOTH)], None, "needs other pods now"),
    (
        [gang("g", leaf("", 3, 3, running=BOTH), leaf("b", 0), min_groups=0)],
        None,
        "needs other pods now",
    ),
    ([gang("g", minimum=1, running=["n0"])], None, "needs other pods now"),
    (
        [gang("g", leaf("", 2, running=BOTH), leaf("b", 1))],
        None,
        "needs other pods now",
    ),
    ([gang("g", minimum=2, running=BOTH, queue="else")], None, "is in queue else now"),
    (
        [gang("g", minimum=2, running=BOTH, mates=("default/h",))],
        None,
        "starts with other gangs",
    ),
    (
        [gang("g", minimum=2, running=BOTH, topology=required())],
        None,
        "asks for another topology",
    ),
    ([gang("g", minimum=2, running=BOTH, refused=HELD)], None, HELD.message),
    ([], None, "is gone"),
    (
        [gang("g", minimum=2, running=BOTH)],
        Waiting(Reason.PAUSED, {}),
        "Phalanx is paused",
    ),
]


@pytest.mark.parametrize(("there", "pause", "why"), CHANGED)
def test_a_gang_that_changes_meanwhile_is_let_go_and_it_is_said(
    stage, there, pause, why
):
    stage.begin()
    stage.bound(0)
    stage.bound(1)
    stage.sink.looked(snapshot(gangs=there), pause)
    ended = stage.results(stage.sink.due())

    assert [None, None] == stage.nodes
    assert ["skipped" if pause else "again"] * 2 == ended
    assert why in stage.receipts[0].message


@pytest.mark.parametrize(
    "there",
    [
        gang("g", minimum=2, running=BOTH),
        gang("g", minimum=1, replicas=4, running=BOTH),
        gang("g", minimum=2, running=BOTH, priority=7, backoff=9),
        gang("g", leaf("", 2, running=BOTH), leaf("b", 1), min_groups=1),
    ],
)
def test_a_gang_that_may_still_begin_is_bound_once_its_claims_are(stage, there):
    stage.begin()
    stage.sink.looked(snapshot(gangs=[there]), None)
    early = stage.sink.due()
    stage.bound(0)
    stage.bound(1)

    assert early is None
    assert ["done", "done"] == stage.results(stage.sink.due())


def test_claims_without_a_provisioner_get_volumes_of_their_nodes(stage):
    stage.local(disk0="z0", disk1="z1", other="z2")
    begun = stage.begin()
    given, told = stage.given(), stage.selected()
    stage.bound(0)
    stage.bound(1)

    assert ["held", "held"] == begun
    assert {"disk0": "c0", "disk1": "c1"} == given
    assert [None, None] == told
    assert ["done", "done"] == stage.results(stage.sink.due())


def test_a_free_volume_goes_before_one_that_would_be_made(stage):
    stage.local("csi.example.com", disk0="z0", disk1="z1")

    assert ["held", "held"] == stage.begin()
    assert {"disk0": "c0", "disk1": "c1"} == stage.given()
    assert [None, None] == stage.selected()


def test_a_free_volume_goes_first_to_a_claim_for_which_none_can_be_made(stage):
    stage.local("csi.example.com", wide="")
    stage.volume("wide", nodeAffinity=None)

    assert ["held", "held"] == stage.begin()
    assert {"wide": "c1"} == stage.given()
    assert ["n0", None] == stage.selected()


def test_where_no_volume_is_left_and_none_can_be_made_nothing_is_bound(stage):
    stage.local("csi.example.com", wide="")
    stage.volume("wide", nodeAffinity=None)
    steps = [bind(f"g-{i}", "n1", uid=f"uid-g-{i}") for i in range(2)]
    turn = Turn(snapshot(gangs=[gang("g", minimum=2)]), plan(*steps), (), "r")
    stage.sink.hold(turn)

    assert ["skipped", "again"] == stage.results(turn)
    assert {} == stage.given()
    assert [None, None] == stage.selected()


def test_a_claim_that_names_a_node_gets_its_volume_made(stage):
    stage.local("csi.example.com", disk0="z0", disk1="z1")
    stage.claim(0, {SELECTED: "n0"}, storageClassName="local")

    assert ["held", "held"] == stage.begin()
    assert {"disk1": "c1"} == stage.given()
    assert ["n0", None] == stage.selected()


def test_a_claim_of_two_pods_gets_a_volume_that_both_nodes_reach(stage):
    stage.pod(1, "c0")
    stage.local(disk0="z0", wide="")
    stage.volume("wide", nodeAffinity=None)

    assert ["held", "held"] == stage.begin()
    assert {"wide": "c0"} == stage.given()


def test_two_claims_never_get_one_volume(stage):
    stage.local(disk0="z0", disk1="z0")
    stage.sink.hold(
        Turn(
            snapshot(gangs=[gang("g", minimum=2)]),
            plan(*(bind(f"g-{i}", "n0", uid=f"uid-g-{i}") for i in range(2))),
            (),
            "r",
        )
    )
    stage.sink.execute(stage.sink._turn.plan)

    assert {"disk0", "disk1"} == set(stage.given())


def test_a_volume_that_is_no_longer_free_ends_it_for_the_whole_gang(stage):
    stage.local(disk0="z0", disk1="z1")
    give(stage, "disk1", "else", "u")

    assert ["skipped", "again"] == stage.begin()
    assert {"disk1": "else"} == stage.given()


def test_a_volume_taken_from_a_claim_ends_it(stage):
    stage.local(disk0="z0", disk1="z1")
    stage.begin()
    early = stage.sink.due()
    for name in ("disk0", "disk1"):
        stage.hear_of(name)
    stage.volume("disk1", claimRef=None)

    assert early is None
    assert ["refused", "refused"] == stage.results(stage.sink.due())
    assert "claim default/c1: volume disk1 was taken" in stage.receipts[0].message
    assert not stage.given()


def test_a_volume_that_is_bound_is_not_taken_back(stage):
    stage.local(disk0="z0", disk1="z1")
    stage.begin()
    stage.volume("disk0", "Bound")
    stage.time = 601.0

    assert ["refused", "refused"] == stage.results(stage.sink.due())
    assert {"disk0": "c0"} == stage.given()


def test_a_volume_that_somebody_kept_for_a_claim_is_waited_for(stage):
    stage.local(disk0="z0", disk1="z1")
    stage.volume("disk0", claimRef={"namespace": "default", "name": "c0"})
    stage.begin()
    stage.time = 601.0

    assert ["refused", "refused"] == stage.results(stage.sink.due())
    assert {"disk0": "c0"} == stage.given()


def test_a_volume_that_is_none_for_the_claim_that_it_names_is_not_waited_for(stage):
    stage.local(disk0="z0", disk1="z1", more="z0")
    named = {"namespace": "default", "name": "c0"}
    stage.volume("disk0", claimRef=named, volumeMode="Block")
    stage.begin()

    assert {"disk0": "c0", "more": "c0", "disk1": "c1"} == stage.given()


def test_the_next_leader_is_told_what_is_under_way(stage):
    stage.begin()
    stage.sink.remember()
    memory = Memory()
    after = ClusterSink(
        stage.cache,
        Deeds(stage.api, stage.cache, lambda: True),
        IntentStore(stage.api, ("ns", "intent"), "two"),
        memory,
    )
    after.open(1.0)

    assert 2 == len(memory.promises)
