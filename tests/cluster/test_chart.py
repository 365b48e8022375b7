"""
The chart with the real helm: what it renders is what kustomize renders, and a server
takes it, upgrades it and lets it go.
"""

import json
import re
import shutil
import subprocess

import pytest
import yaml

from adapters.kube.api.errors import NotFoundError
from adapters.service.run_settings import ConfigFile, running
from tests.cluster.binaries import NoControlPlaneError, must_run, packaging_tool
from tests.helpers.kube.deployed import BASE, FOLDERS, REPOSITORY
from tools.chart.files import CHART
from tools.release.version import current

pytestmark = pytest.mark.cluster
SPACE = "phalanx-system"
HASHED = re.compile(r"^(phalanx-(?:settings|dashboard)(?:-[a-z]+)?)-[a-z0-9]{10}$")


@pytest.fixture(scope="module")
def tool():
    def run(name, *words):
        try:
            path = packaging_tool(name)
        except NoControlPlaneError as error:
            if must_run():
                pytest.fail(f"the cluster tests must run in CI: {error}", pytrace=False)
            pytest.skip(str(error))
        done = subprocess.run(
            [str(path), *map(str, words)], check=False, capture_output=True, text=True
        )
        assert 0 == done.returncode, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def rendered(tool):
    def render(*words):
        text = tool("helm", "template", "any", CHART, "--namespace", SPACE, *words)
        return [raw for raw in yaml.safe_load_all(text) if raw]

    return render


def comparable(raws):
    """
    Lay aside how each of the two names a change of settings, and how it is written.
    """
    found = {}
    for raw in raws:
        meta = raw["metadata"]
        if raw["kind"] == "ConfigMap":
            meta["name"] = plain(meta["name"])
            raw["data"] = {
                key: yaml.safe_load(text) for key, text in raw["data"].items()
            }
        if raw["kind"] == "Deployment":
            template = raw["spec"]["template"]
            sums = template["metadata"].pop("annotations", {})
            assert not sums or {"checksum/settings"} == sums.keys()
            for volume in template["spec"]["volumes"]:
                if named := volume.get("configMap"):
                    named["name"] = plain(named["name"])
        key = raw["kind"], meta.get("namespace"), meta["name"]
        assert key not in found
        found[key] = raw
    return found


def plain(name):
    return HASHED.sub(r"\1", name)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_helm_and_kustomize_render_the_same_objects(tool, rendered, folder):
    words = [] if folder == BASE else ["-f", CHART / "examples" / f"{folder.name}.yaml"]
    wanted = comparable(yaml.safe_load_all(tool("kustomize", "build", folder)))
    has_space = any(kind == "Namespace" for kind, *_ in wanted)
    if has_space:
        words += ["--set", "namespace.create=true"]

    made = comparable(rendered(*words))
    assert wanted.keys() == made.keys()
    for key, raw in wanted.items():
        assert raw == made[key]


@pytest.mark.parametrize("shard", ["default", "blue"])
def test_who_observes_may_write_its_lease_alone_and_finds_it(rendered, shard):
    raws = rendered("--set", f"run.observe=true,shard={shard}")
    rules = [
        rule
        for raw in raws
        if raw["kind"] in {"ClusterRole", "Role"}
        for rule in raw["rules"]
    ]
    writing = [rule for rule in rules if not {"list", "watch"} >= {*rule["verbs"]}]
    names = [name for rule in writing for name in rule.get("resourceNames", [])]
    (lease,) = (raw for raw in raws if raw["kind"] == "Lease")
    settings = running(config(raws), {}, {}).run

    assert {("leases",)} == {tuple(rule["resources"]) for rule in writing}
    assert [f"phalanx-{settings.shard}"] == names == [lease["metadata"]["name"]]
    assert settings.observe


@pytest.mark.parametrize(
    ("said", "words", "others"),
    [
        ("", "In its first ten minutes it evicts nobody", "observes"),
        ("run.evictAfter=30", "In its first 30 seconds it evicts nobody", "observes"),
        ("run.observe=true", "binds and evicts nobody.", "In its first"),
    ],
)
def test_the_notes_say_what_was_installed(tool, tmp_path, said, words, others):
    chart = tmp_path / "chart"
    shutil.copytree(CHART, chart)
    notes = (chart / "templates" / "NOTES.txt").read_text("utf-8")
    shown = f'{{{{- define "shown" }}}}{notes}{{{{- end }}}}\nnotes: |\n'
    shown += '{{ include "shown" . | indent 2 }}\n'
    (chart / "templates" / "shown.yaml").write_text(shown)
    words_of = ["--set", said] if said else []
    text = tool(
        "helm", "template", "any", chart, *words_of, "-s", "templates/shown.yaml"
    )

    assert words in text
    assert others not in text


def test_helm_finds_nothing_to_mend(tool):
    assert "0 chart(s) failed" in tool("helm", "lint", "--strict", CHART)
    for example in sorted((CHART / "examples").iterdir()):
        assert "0 chart(s) failed" in tool(
            "helm", "lint", "--strict", CHART, "-f", example
        )


def config(raws):
    (text,) = (
        raw["data"]["settings.yaml"]
        for raw in raws
        if raw["kind"] == "ConfigMap" and "settings.yaml" in raw["data"]
    )
    return ConfigFile.model_validate(yaml.safe_load(text))


def deployment(raws):
    (found,) = (raw for raw in raws if raw["kind"] == "Deployment")
    return found["spec"]["template"]


def test_a_bound_of_a_million_stays_a_number_and_null_is_the_default(
    rendered, tmp_path
):
    values = tmp_path / "values.yaml"
    values.write_text(
        "policy: {evict: {maxPods: 1000000, maxGangs: null, maxMoves: null}}"
    )
    evict = config(rendered("-f", values)).policy.evict

    assert (1_000_000, None, 16) == (evict.max_pods, evict.max_gangs, evict.max_moves)


def test_a_namespace_of_digits_stays_a_text(rendered):
    raws = rendered("--set", "namespace.create=true", "--set-string=namespace.name=12")

    assert {None, "12"} == {raw["metadata"].get("namespace") for raw in raws}
    assert "12" in {raw["metadata"]["name"] for raw in raws}


def test_other_settings_replace_the_pods_and_other_images_are_named(rendered):
    digest = f"sha256:{'0' * 64}"
    first = deployment(rendered())
    second = deployment(
        rendered(
            *("--set", "run.interval=20,image.repository=r.example.com/p"),
            *("--set", f"image.digest={digest},image.pullPolicy=Always"),
            *("--set", "imagePullSecrets[0].name=key,nodeSelector.role=infra"),
        )
    )

    assert first["metadata"]["annotations"] != second["metadata"]["annotations"]
    assert f"phalanx:{current(REPOSITORY)}" == first["spec"]["containers"][0]["image"]
    assert f"r.example.com/p@{digest}" == second["spec"]["containers"][0]["image"]
    assert "Always" == second["spec"]["containers"][0]["imagePullPolicy"]
    assert [{"name": "key"}] == second["spec"]["imagePullSecrets"]
    assert {"role": "infra"} == second["spec"]["nodeSelector"]


def test_an_operator_of_prometheus_finds_it_by_its_own_labels(rendered):
    said = (
        "monitoring.enabled=true,monitoring.labels.release=stack,monitoring.namespace=m"
    )
    raws = rendered("--set", said)
    labelled = [
        raw["kind"]
        for raw in raws
        if "stack" == raw["metadata"]["labels"].get("release")
    ]

    assert ["PrometheusRule", "ServiceMonitor"] == sorted(labelled)
    assert json.dumps({"kubernetes.io/metadata.name": "m"}) in json.dumps(raws)


def test_a_server_takes_a_release_upgrades_it_and_lets_it_go(fresh, tool):
    where = ("--namespace", SPACE, "--kubeconfig", fresh.plane.kubeconfig("admin"))
    path = f"/apis/apps/v1/namespaces/{SPACE}/deployments/phalanx"
    lease = f"/apis/coordination.k8s.io/v1/namespaces/{SPACE}/leases/phalanx-default"

    said = tool("helm", "install", "gangs", CHART, "--create-namespace", *where)
    first = fresh.admin.call("GET", path)["spec"]
    fresh.admin.call("PATCH", lease, {"spec": {"holderIdentity": "somebody"}})
    tool(
        "helm", "upgrade", "gangs", CHART, "--set", "replicas=3,run.interval=20", *where
    )
    second = fresh.admin.call("GET", path)["spec"]
    held = fresh.admin.call("GET", lease)["spec"]
    tool("helm", "uninstall", "gangs", *where)

    assert f"kubectl -n {SPACE} rollout status deployment/phalanx" in said
    assert "image.repository is not set" in said
    assert (2, 3) == (first["replicas"], second["replicas"])
    assert first["template"]["metadata"] != second["template"]["metadata"]
    assert "somebody" == held["holderIdentity"]
    for gone in (
        path,
        lease,
        "/apis/rbac.authorization.k8s.io/v1/clusterroles/phalanx",
    ):
        with pytest.raises(NotFoundError):
            fresh.admin.call("GET", gone)
