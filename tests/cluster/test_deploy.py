"""
What ``deploy/`` installs, judged by the API server: its schemas, its admission, its
roles.
"""

import urllib.request
from copy import deepcopy

import pytest

from adapters.kube.api.errors import ClusterError, ForbiddenError
from tests.cluster.conftest import plural_of, root_of
from tests.cluster.crds import TEXT, fields, several
from tests.cluster.stage import SPACE, Kubelet, Scheduler, Stage
from tests.helpers.eventually import eventually
from tests.helpers.kube.deployed import BASE, FOLDERS, base, kustomize, one, rendered

pytestmark = pytest.mark.cluster
APPLY = "application/apply-patch+yaml"
LABELS = {"type": "object", "additionalProperties": TEXT}
MONITOR = fields(
    selector=fields(matchLabels=LABELS),
    namespaceSelector=fields(matchNames=several(TEXT)),
    endpoints=several(
        fields(
            port=TEXT,
            path=TEXT,
            interval=TEXT | {"pattern": "^([0-9]+(ms|s|m|h))+$"},
        )
    ),
) | {"required": ["endpoints", "selector"]}


RULES = fields(
    groups=several(
        fields(
            name=TEXT,
            rules=several(
                fields(
                    alert=TEXT,
                    expr={"x-kubernetes-int-or-string": True},
                    labels=LABELS,
                    annotations=LABELS,
                    **{"for": TEXT | {"pattern": "^([0-9]+(ms|s|m|h))+$"}},
                )
            ),
        )
    )
)


@pytest.fixture(scope="module")
def whole_stage(fresh):
    """
    A stage of its own: the roles that are taken away here are those of all others.
    """
    stage = Stage(fresh.plane)
    yield stage
    stage.close()


@pytest.fixture(scope="module")
def monitored(fresh):
    """
    The kinds that the Prometheus operator installs, by their documented fields.
    """
    for kind, spec in (("ServiceMonitor", MONITOR), ("PrometheusRule", RULES)):
        plural = f"{kind.lower()}s"
        version = {"name": "v1", "served": True, "storage": True}
        schema = {"openAPIV3Schema": fields(spec=spec) | {"required": ["spec"]}}
        definition = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.monitoring.coreos.com"},
            "spec": {
                "group": "monitoring.coreos.com",
                "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural},
                "versions": [version | {"schema": schema}],
            },
        }
        fresh.apply(definition)
        path = f"/apis/monitoring.coreos.com/v1/{plural}"
        eventually(lambda path=path: _serves(fresh.admin, path), 30.0)


def _serves(admin, path):
    try:
        return admin.call("GET", path)
    except ClusterError:
        return False


def put(admin, raw, *, dry=False):
    """
    Apply a manifest as `kubectl apply --server-side` does; unknown fields are errors.
    """
    meta = raw["metadata"]
    inside = f"/namespaces/{meta['namespace']}" if "namespace" in meta else ""
    plural = plural_of(raw["kind"]).replace("policys", "policies")
    query = "?fieldManager=tests&force=true&fieldValidation=Strict"
    path = f"{root_of(raw)}{inside}/{plural}/{meta['name']}{query}"
    return admin.call("PATCH", path + "&dryRun=All" * dry, raw, form=APPLY)


@pytest.fixture
def deployed(stage):
    """
    The base, installed; what is cluster-wide is taken away again.
    """
    admin = stage.admin
    for raw in base():
        put(admin, raw)
    yield base()
    for raw in base():
        if raw["kind"] not in {"Namespace", "Lease"}:
            space = raw["metadata"].get("namespace")
            inside = f"/namespaces/{space}" if space else ""
            name = raw["metadata"]["name"]
            path = f"{root_of(raw)}{inside}/{plural_of(raw['kind'])}/{name}"
            admin.call("DELETE", path)
    unlabelled = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": None}}}
    admin.call("PATCH", f"/api/v1/namespaces/{SPACE}", unlabelled)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_server_takes_every_manifest_as_it_stands(stage, monitored, folder):
    if not kustomize():
        pytest.skip("neither kustomize nor kubectl is here, which render overlays")
    raws = rendered(folder)
    for raw in raws:
        assert put(stage.admin, raw, dry=True)["metadata"]["name"]

    assert {"Deployment", "ClusterRole", "Lease"} <= {raw["kind"] for raw in raws}


def test_the_server_refuses_a_field_that_it_does_not_know(stage):
    wrong = deepcopy(one(base(), "Deployment"))
    wrong["spec"]["template"]["spec"]["containers"][0]["readinesProbe"] = {}

    with pytest.raises(ClusterError, match="readinesProbe"):
        put(stage.admin, wrong, dry=True)


def test_its_pods_keep_what_its_namespace_restricts(stage, deployed):
    template = one(deployed, "Deployment")["spec"]["template"]
    own = {"metadata": {"name": "one", "namespace": SPACE, **template["metadata"]}}
    raw = {"apiVersion": "v1", "kind": "Pod", "spec": template["spec"], **own}
    path = f"/api/v1/namespaces/{SPACE}/pods?dryRun=All&fieldValidation=Strict"
    root = deepcopy(raw)
    root["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True

    assert "one" == stage.admin.call("POST", path, raw)["metadata"]["name"]
    with pytest.raises(ForbiddenError):
        stage.admin.call("POST", path, root)


def test_its_account_may_do_all_that_it_does_and_no_more(stage, deployed, tmp_path):
    """
    Run with the account's own token, the arguments of the Deployment and its settings.
    """
    account = f"/api/v1/namespaces/{SPACE}/serviceaccounts/phalanx"
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
    token = stage.admin.call("POST", f"{account}/token", asked | {"spec": {}})
    stage.plane.tokens["account"] = token["status"]["token"]
    pod = one(deployed, "Deployment")["spec"]["template"]["spec"]
    command, *words = pod["containers"][0]["args"]
    (config,) = (e["value"] for e in pod["containers"][0]["env"])
    here = config.replace("/etc/phalanx", str(BASE))
    stage.ensure("team")
    stage.empty("team")
    stage.nodes(2)
    with (
        Kubelet(stage),
        Scheduler(
            stage, *words, folder=tmp_path, user="account", config=here
        ) as scheduler,
    ):
        stage.gang("team", "fits", 2, 8)
        stage.gang("team", "waits", 3, 8)
        eventually(lambda: stage.whole("team", fits=2, waits=0))
        eventually(lambda: _condition(stage.pods("team")["waits-0"]))
        port = scheduler.events("listening")[0]["port"]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz") as answer:
            assert b"ok\n" == answer.read()

    path = f"/apis/coordination.k8s.io/v1/namespaces/{SPACE}/leases/phalanx-default"
    assert "run" == command
    assert stage.admin.call("GET", path)["spec"]["holderIdentity"]
    said = {event["event"] for event in scheduler.events()}
    assert not {"status_forbidden", "status_refused", "round_failed"} & said


def _condition(raw):
    said = raw.get("status", {}).get("conditions", [])
    return [c for c in said if c["reason"] == "Unschedulable"]
