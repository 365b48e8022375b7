"""
What ``deploy/`` and the image say, held against what the scheduler does.
"""

import re
import subprocess
import sys
import tomllib

import pytest
import yaml

from adapters.cli.main import run
from adapters.service.run_settings import RunSettings, read_config, running
from adapters.service.shipped import BOUNDS
from tests.helpers.kube.deployed import (
    BASE,
    DEPLOY,
    FOLDERS,
    REPOSITORY,
    base,
    documents,
    one,
)

DOCKERFILE = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")


@pytest.fixture
def deployment():
    return one(base(), "Deployment")["spec"]


@pytest.fixture
def pod(deployment):
    return deployment["template"]["spec"]


@pytest.fixture
def settings():
    return RunSettings.model_validate(documents(BASE / "settings.yaml")[0]["run"])


def probes(pod):
    return {k: v for k, v in pod["containers"][0].items() if k.endswith("Probe")}


def test_the_roles_are_what_run_asks_for_and_nothing_else(capsys):
    assert 0 == run(["config", "role"])

    said = capsys.readouterr().out
    assert said == (BASE / "role.yaml").read_text(encoding="utf-8"), "make roles"


def test_the_role_of_a_shard_is_what_run_asks_for_and_nothing_else(capsys):
    overlay = DEPLOY / "overlays" / "shard"
    shard = documents(overlay / "settings.yaml")[0]["run"]["shard"]
    assert 0 == run(["config", "role", "--shard", shard])

    _, own = yaml.safe_load_all(capsys.readouterr().out)
    assert [own] == documents(overlay / "role.yaml"), "make roles"


def test_the_role_of_a_shard_that_run_refuses_is_refused(capsys):
    assert 2 == run(["config", "role", "--shard", "Team A"])

    said = capsys.readouterr()
    assert "" == said.out
    assert "flag --shard" in said.err


def test_the_roles_of_who_observes_are_what_it_asks_for_and_write_its_lease_alone(
    capsys,
):
    folder = DEPLOY / "overlays" / "observe"
    settings = running(read_config(str(folder / "settings.yaml")), {}, {}).run
    assert 0 == run(["config", "role", "--observe", "--shard", settings.shard])

    said = capsys.readouterr().out
    assert said == (folder / "role.yaml").read_text(encoding="utf-8"), "make roles"
    assert settings.observe
    granted = [rule for raw in documents(folder / "role.yaml") for rule in raw["rules"]]
    writing = [rule for rule in granted if {*rule["verbs"]} - {"list", "watch"}]
    assert [["leases"]] * 2 == [rule["resources"] for rule in writing]
    assert ["phalanx-default"] == writing[1]["resourceNames"]
    assert one(base(), "Lease")["metadata"]["name"] == f"phalanx-{settings.shard}"


def test_objects_that_are_known_by_name_are_granted_by_name():
    for rule in one(base(), "Role")["rules"]:
        names = rule.get("resourceNames", [])
        if rule["resources"] == ["namespaces"]:
            assert rule["verbs"] == ["get"], "a Role reaches only its own namespace"
            continue

        assert bool(names) == (rule["verbs"] != ["create"])
        assert all(name.startswith("phalanx-default") for name in names)


def test_an_api_server_may_listen_on_any_port_that_is_not_reserved():
    egress = one(base(), "NetworkPolicy")["spec"]["egress"]
    ports = [port for rule in egress for port in rule["ports"]]
    for port in (443, 6443, 8443, 16443, 7443, 60000):
        assert any(
            one["protocol"] == "TCP"
            and one["port"] <= port <= one.get("endPort", one["port"])
            for one in ports
        )


def test_no_role_grants_everything_of_a_kind():
    granted = [rule for raw in base() for rule in raw.get("rules", [])]
    made = (["bindrequests"], ["resourceclaims"])
    ours = [rule for rule in granted if rule.get("resources") in made]
    words = {
        word
        for rule in granted
        if rule not in ours
        for part in rule.values()
        for word in part
        if part
    }

    assert granted
    verbs = {"get", "list", "watch", "create", "delete"}
    assert [verbs | {"patch"}, verbs] == [set(x["verbs"]) for x in ours]
    assert not {"*", "delete", "deletecollection", "secrets", "bind"} & words


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_file_of_a_folder_is_used_and_every_file_used_is_there(folder):
    listed = documents(folder / "kustomization.yaml")[0]
    used = set(listed["resources"])
    used |= {patch["path"] for patch in listed.get("patches", []) if "path" in patch}
    for made in listed.get("configMapGenerator", []):
        used |= set(made["files"])

    here = {path.name for path in folder.iterdir()} - {"kustomization.yaml"}
    assert here == {name for name in used if "/" not in name}
    assert all((folder / name).exists() for name in used)


@pytest.mark.parametrize("path", sorted(DEPLOY.glob("**/settings.yaml")), ids=str)
def test_every_file_of_settings_is_one(path):
    assert running(read_config(str(path)), {}, {"seconds": None}).run


@pytest.mark.parametrize("path", sorted(DEPLOY.glob("**/settings.yaml")), ids=str)
def test_what_leaves_in_one_round_is_bounded_as_the_page_recommends(path):
    page = (REPOSITORY / "docs" / "reference" / "files.md").read_text("utf-8")
    recommended = yaml.safe_load(page.partition("```yaml\nevict: ")[2].split("\n")[0])
    settings = running(read_config(str(path)), {}, {"seconds": None})

    assert recommended == documents(path)[0]["policy"]["evict"] == BOUNDS
    evict = settings.policy.evict
    assert None not in {evict.max_pods, evict.max_gangs, evict.max_moves}
    assert evict.max_lost_per_gpu is not None
    assert 600 == settings.run.evict_after


def test_two_replicas_of_which_one_may_leave_and_one_leads(deployment, settings):
    budget = one(base(), "PodDisruptionBudget")["spec"]
    lease = one(base(), "Lease")["metadata"]

    assert 2 == deployment["replicas"]
    assert 1 == budget["maxUnavailable"]
    assert settings.leader_elect
    assert (f"phalanx-{settings.shard}", settings.namespace) == (
        lease["name"],
        lease["namespace"],
    )


def test_everything_selects_the_pods_of_the_deployment(deployment):
    labels = deployment["template"]["metadata"]["labels"].items()
    selectors = [
        deployment["selector"]["matchLabels"],
        one(base(), "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        one(base(), "Service")["spec"]["selector"],
        one(base(), "NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
    ]

    assert all(selector.items() <= labels for selector in selectors)


def test_it_is_asked_where_it_listens(pod, settings):
    (port,) = pod["containers"][0]["ports"]

    assert f":{port['containerPort']}" == settings.listen
    assert {"http"} == {probe["httpGet"]["port"] for probe in probes(pod).values()}
    assert "http" == one(base(), "Service")["spec"]["ports"][0]["targetPort"]
    assert f"EXPOSE {port['containerPort']}\n" in DOCKERFILE


def test_it_has_time_to_end_what_it_began(pod, settings):
    assert settings.shutdown + 5 <= pod["terminationGracePeriodSeconds"]


def test_it_writes_only_where_a_volume_is(pod):
    container = pod["containers"][0]
    names = {volume["name"]: volume for volume in pod["volumes"]}
    places = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    kept = re.search(r"PHALANX_FOLDER=(\S+)", DOCKERFILE)

    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert kept
    for place in (kept[1], "/tmp"):  # noqa: S108 - what libraries write to
        assert "sizeLimit" in names[places[place]["name"]]["emptyDir"]
    assert {"name": "PHALANX_CONFIG", "value": "/etc/phalanx/settings.yaml"} in (
        container["env"]
    )
    assert places["/etc/phalanx"]["readOnly"]


def test_the_record_outlives_its_pods_in_production(pod):
    folder = DEPLOY / "overlays" / "production"
    (claim,) = documents(folder / "records.yaml")
    (patch,) = documents(folder / "kustomization.yaml")[0]["patches"]
    (step,) = yaml.safe_load(patch["patch"])
    at = int(step["path"].rpartition("/")[2])

    assert pod["volumes"][at]["name"] == step["value"]["name"]
    named = step["value"]["persistentVolumeClaim"]["claimName"]
    assert claim["metadata"]["name"] == named
    assert ["ReadWriteMany"] == claim["spec"]["accessModes"]


def test_the_image_runs_as_the_user_of_the_pod_which_is_not_root(pod):
    user = pod["securityContext"]["runAsUser"]
    said = re.findall(r"^USER (\d+):(\d+)$", DOCKERFILE, re.MULTILINE)

    assert user > 0
    assert [(str(user), str(user))] == said
    assert DOCKERFILE.index("USER ") > DOCKERFILE.rindex("\nFROM ")


def test_the_image_installs_nothing_that_is_not_locked():
    joined = DOCKERFILE.replace("\\\n", " ")
    installs = re.findall(r"pip\S*(?: --python \S+)? install (.*?)(?:&&|\n)", joined)
    locked = [words for words in installs if "--require-hashes" in words]
    own = [words for words in installs if words.startswith("--no-deps /wheel/")]

    assert {"build.txt", "run.txt"} == {
        name for words in locked for name in re.findall(r"requirements/(\S+)", words)
    }
    assert 1 == len(own)
    assert len(installs) == len(locked) + len(own)


def test_the_image_has_every_package_of_the_wheel_and_its_version():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    ignored = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8")
    image = documents(BASE / "kustomization.yaml")[0]["images"][0]

    assert all(f"COPY {name} {name}\n" in DOCKERFILE for name in packages)
    assert all(f"!{name}\n" in ignored for name in packages)
    assert project["project"]["version"] == image["newTag"]


def test_the_lock_of_the_build_is_a_part_of_that_of_development():
    def pins(name):
        text = (REPOSITORY / "requirements" / name).read_text(encoding="utf-8")
        return set(re.split(r"\n(?=\S)", text.strip()))

    assert any(pin.startswith("hatchling==") for pin in pins("build.txt"))
    assert pins("build.txt") <= pins("dev.txt")


def test_no_manifest_names_a_registry():
    paths = [path for folder in FOLDERS for path in folder.glob("*.yaml")]
    texts = [path.read_text("utf-8") for path in paths]
    names = [
        container["image"]
        for text in texts
        for raw in yaml.safe_load_all(text)
        if raw["kind"] == "Deployment"
        for container in raw["spec"]["template"]["spec"]["containers"]
    ]

    assert ["phalanx"] == names


def test_alerts_are_about_metrics_that_there_are():
    page = (REPOSITORY / "docs" / "reference" / "metrics.md").read_text("utf-8")
    (rules,) = documents(DEPLOY / "overlays" / "monitoring" / "alerts.yaml")
    (group,) = rules["spec"]["groups"]
    named = {
        name
        for rule in group["rules"]
        for name in re.findall(r"phalanx_\w+", rule["expr"])
    }

    assert named
    assert not [n for n in named if f"`{n.removesuffix('_total')}`" not in page]
    assert all(rule["annotations"]["summary"] for rule in group["rules"])


def test_series_of_an_alert_that_meet_have_the_same_labels():
    """
    Two series meet only where all labels are equal, and one is left out in silence.
    """
    (rules,) = documents(DEPLOY / "overlays" / "monitoring" / "alerts.yaml")
    (group,) = rules["spec"]["groups"]
    met = [
        re.split(r"\b(?:unless|and)\b", rule["expr"])
        for rule in group["rules"]
        if re.search(r"\b(?:unless|and)\b", rule["expr"])
    ]
    kept = [[re.findall(r"\bby \((.*?)\)", side) for side in sides] for sides in met]

    assert kept
    assert all(sides[0] and sides == [sides[0]] * len(sides) for sides in kept)


def test_settings_are_read_where_nothing_can_be_written():
    fault = (
        "import sys, tempfile\n"
        "def refused(*_): raise FileNotFoundError(2, 'No usable temporary directory')\n"
        "tempfile.gettempdir = tempfile._get_default_tempdir = refused\n"
        "from adapters.cli.main import run\n"
        "sys.exit(run(['config', 'show']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", fault], check=False, capture_output=True, text=True
    )

    assert (0, "") == (done.returncode, done.stderr)
    assert "run.folder" in done.stdout


def test_what_was_read_of_a_large_object_is_given_back():
    assert "MALLOC_MMAP_THRESHOLD_=1048576" in DOCKERFILE
