"""
The transport, the reflector and the cache against a real API server.
"""

import threading
import time
from dataclasses import replace
from random import Random

import pytest

from adapters.kube.api.api_resources import Resource
from adapters.kube.api.connect import connect
from adapters.kube.api.errors import ConflictError, ForbiddenError
from adapters.kube.watch.cache import Cache
from adapters.kube.watch.pace import Pace, State
from tests.adapters.kube.api_server import NODES, PODS
from tests.adapters.kube.following import Following
from tests.cluster.crds import TEXT, definition, fields
from tests.helpers.eventually import eventually

pytestmark = pytest.mark.cluster
PACE = Pace(limit=20, watch=2, missing=0.2, first=0.05, longest=0.5)


def pod(name: str, space: str) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": space},
        "spec": {
            "schedulerName": "phalanx",
            "automountServiceAccountToken": False,
            "containers": [{"name": "main", "image": "none"}],
        },
    }


def bind(transport, space: str, name: str, node: str, uid: str | None = None) -> dict:
    return transport.call(
        "POST",
        f"/api/v1/namespaces/{space}/pods/{name}/binding",
        {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name} | ({"uid": uid} if uid else {}),
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        },
    )


def delete(transport, space: str, name: str) -> None:
    path = f"/api/v1/namespaces/{space}/pods/{name}"
    transport.call("DELETE", path, {"gracePeriodSeconds": 0})


def fresh(transport) -> dict:
    """
    Read all pods anew.
    """
    with Following(transport, PODS, pace=PACE) as following:
        eventually(lambda: following.reflectors[0].synced)
        return following.held(PODS)


def test_pages_and_watches_show_what_is_there(admin, apply):
    for index in range(45):
        apply(pod(f"paged-{index}", "paged"))
    with Following(admin, PODS, NODES, pace=PACE) as following:
        eventually(lambda: all(r.synced for r in following.reflectors))
        listed = [n for n in following.names(PODS) if n.startswith("paged/")]
        apply(pod("later", "paged"))
        eventually(lambda: "paged/later" in following.held(PODS))

        assert 45 == len(listed)


def test_a_binding_is_assumed_then_confirmed(admin, apply):
    made = apply(pod("bound", "binding"))
    uid = made["metadata"]["uid"]
    with Following(admin, PODS, pace=PACE) as following:
        cache: Cache = following.cache
        eventually(lambda: "binding/bound" in following.held(PODS))
        cache.assume("binding/bound", uid, "node-1")
        assumed = cache.view(following.reflectors).assumed
        bind(admin, "binding", "bound", "node-1", uid)
        eventually(lambda: following.held(PODS)["binding/bound"].node == "node-1")

        assert ("binding/bound",) == assumed
        assert () == cache.view(following.reflectors).assumed


def test_a_binding_of_another_pod_of_that_name_is_a_conflict(admin, apply):
    apply(pod("other", "binding"))
    with pytest.raises(ConflictError):
        bind(admin, "binding", "other", "node-1", "another-uid")


def test_a_role_is_told_which_rule_it_lacks(control_plane, apply):
    nobody = connect(control_plane.kubeconfig("nobody"))
    with Following(nobody, PODS, pace=PACE) as following:
        (reflector,) = following.reflectors
        eventually(lambda: isinstance(reflector.error, ForbiddenError))
        said = reflector.error.rule
        rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]}]
        names = {"metadata": {"name": "reader"}}
        api = {"apiVersion": "rbac.authorization.k8s.io/v1"}
        apply(api | {"kind": "ClusterRole", "rules": rules} | names)
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole"}
        user = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User"}
        apply(
            api
            | {"kind": "ClusterRoleBinding", "roleRef": role | {"name": "reader"}}
            | {"subjects": [user | {"name": "nobody"}]}
            | names
        )
        eventually(lambda: reflector.synced)

    assert '{apiGroups: [""], resources: ["pods"], verbs: ["list"]}' == said


def test_who_may_not_read_a_kind_that_is_not_installed_does_not_need_to(control_plane):
    nobody = connect(control_plane.kubeconfig("nobody"))
    absent = Resource(group="absent.example.io", version="v1", plural="xs", kind="X")
    with Following(nobody, absent, pace=PACE) as following:
        eventually(lambda: following.reflectors[0].state is State.MISSING)


def test_a_definition_that_appears_is_picked_up_and_one_that_goes_is_let_go(
    admin, apply
):
    spec = fields(color=TEXT)
    kind = definition("late.example.io/v1", "Widget", spec, None)
    late = Resource(
        group="late.example.io", version="v1", plural="widgets", kind="Widget"
    )
    with Following(admin, late, pace=PACE) as following:
        (reflector,) = following.reflectors
        eventually(lambda: reflector.state is State.MISSING)
        apply(kind)
        eventually(lambda: reflector.synced)
        apply(
            {
                "apiVersion": "late.example.io/v1",
                "kind": "Widget",
                "metadata": {"name": "one", "namespace": "late"},
                "spec": {"color": "red"},
            }
        )
        eventually(lambda: following.names(late) == ["late/one"])
        eventually(lambda: reflector.synced)
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        admin.call("DELETE", f"{path}/widgets.late.example.io")
        eventually(lambda: reflector.state is State.MISSING, 30.0)

        assert [] == following.names(late)


def test_churn_leaves_the_cache_equal_to_a_fresh_list(admin, apply):
    """
    Three writers create, bind and delete while watches end every second.
    """
    pace = replace(PACE, watch=1)
    with Following(admin, PODS, pace=pace) as following:
        eventually(lambda: following.reflectors[0].synced)
        writers = [
            threading.Thread(target=churn, args=(admin, apply, f"churn-{n}", n))
            for n in range(3)
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        wanted = fresh(admin)
        eventually(lambda: wanted == following.held(PODS))

        assert len(wanted) > 20


def churn(transport, apply, space: str, seed: int) -> None:
    chance = Random(seed)
    alive: list[str] = []
    for index in range(80):
        name = f"pod-{index}"
        apply(pod(name, space))
        alive.append(name)
        if chance.random() < 0.5:
            bind(transport, space, name, f"node-{index % 7}")
        if chance.random() < 0.6:
            delete(transport, space, alive.pop(chance.randrange(len(alive))))


def test_a_reflector_stops_at_once_behind_tls(admin):
    with Following(admin, PODS, NODES, pace=replace(PACE, watch=60)) as following:
        eventually(lambda: all(r._stream for r in following.reflectors))
        began = time.monotonic()
        for reflector in following.reflectors:
            reflector.stop()

        assert all(reflector.join(2.0) for reflector in following.reflectors)
        assert time.monotonic() - began < 8


def test_every_definition_is_taken_by_the_server(installed, admin):
    crds = admin.call("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
    names = {raw["metadata"]["name"] for raw in crds["items"]}

    assert "podgroups.scheduling.run.ai" in names
    for raw in crds["items"]:
        conditions = {c["type"]: c for c in raw["status"]["conditions"]}
        assert "NonStructuralSchema" not in conditions, raw["metadata"]["name"]
