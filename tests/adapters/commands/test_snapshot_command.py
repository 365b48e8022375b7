"""
``phalanx snapshot``: show, save, diff, check and anonymise.
"""

import json

import pytest
import yaml

from adapters.cli.main import run
from adapters.kube.gangs.kinds import NEEDED
from tests.adapters.kube.api_server import NODES, PODS, ApiServer
from tests.adapters.kube.following import kubeconfig
from tests.adapters.kube.raw_pods import raw_node, raw_pod
from tests.helpers.kube.manifests import node, pod

JOB = ("batch/v1", "Job", "secret-train")
RAWS = (
    node("secret-node", 2, labels={"secret.example.com/rack": "secret-rack"}),
    *(
        pod(
            f"secret-train-{i}",
            namespace="secret-team",
            owner=JOB,
            labels={"team": "secret-label"},
            annotations={"note": "secret-note"},
            nodeSelector={"secret.example.com/rack": "secret-rack"},
            containers=[
                {
                    "name": "secret-main",
                    "image": "secret.example.com/image:1",
                    "resources": {"limits": {"nvidia.com/gpu": "1"}},
                }
            ],
        )
        for i in "ab"
    ),
)


@pytest.fixture
def manifests(tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text(yaml.safe_dump_all(RAWS))
    return str(path)


BY_NUMBER = {"key": "k", "operator": "Gt", "value": "4"}


def out(capfd, *words):
    code = run(list(words))
    return code, capfd.readouterr().out


def planned(capfd, path):
    return out(capfd, "plan", path, "-o", "csv")


def test_what_is_shown_has_the_plan_of_the_manifests(manifests, tmp_path, capfd):
    code, text = out(capfd, "snapshot", "show", manifests)
    shown = tmp_path / "shown.yaml"
    shown.write_text(text)

    assert 0 == code
    assert "kind: Snapshot" in text
    assert planned(capfd, manifests) == planned(capfd, str(shown))


def test_json_is_shown_too(manifests, capfd):
    _, text = out(capfd, "snapshot", "show", manifests, "-o", "json")

    assert "secret-train" == json.loads(text)["given"]["gangs"][0]["name"]


@pytest.mark.parametrize("flags", [[], ["--raw"]])
@pytest.mark.parametrize("name", ["saved.yaml", "saved.json"])
def test_what_is_saved_has_the_same_plan(manifests, tmp_path, capfd, flags, name):
    path = str(tmp_path / name)

    assert 0 == run(["snapshot", "save", manifests, "--to", path, *flags])
    capfd.readouterr()
    assert planned(capfd, manifests) == planned(capfd, path)


def test_a_file_that_exists_is_not_written_over(manifests, capfd):
    assert 2 == run(["snapshot", "save", manifests, "--to", manifests])
    assert "name another path" in capfd.readouterr().err


def test_nothing_private_is_left_in_an_anonymised_snapshot(manifests, tmp_path, capfd):
    code, text = out(capfd, "snapshot", "anonymise", manifests)
    anonymous = tmp_path / "anonymous.yaml"
    anonymous.write_text(text)

    assert 0 == code
    assert "secret" not in text
    assert 3 == len(planned(capfd, str(anonymous))[1].splitlines())


def test_two_snapshots_are_compared(manifests, tmp_path, capfd):
    other = tmp_path / "other.yaml"
    raws = [yaml.safe_load(yaml.safe_dump(raw)) for raw in RAWS]
    raws[0]["status"]["allocatable"]["cpu"] = "32"
    other.write_text(yaml.safe_dump_all([*raws, node("new")]))

    same, nothing = out(capfd, "snapshot", "diff", manifests, manifests)
    code, text = out(capfd, "snapshot", "diff", manifests, str(other))
    assert (0, "0 differences\n") == (same, nothing)
    assert 3 == code
    assert "+ node new" in text
    assert "~ node secret-node: allocatable.cpu: 64 → 32" in text

    _, text = out(capfd, "snapshot", "diff", manifests, str(other), "-o", "json")
    assert {"field": "allocatable.cpu", "before": 64, "after": 32}.items() <= (
        json.loads(text)["items"][1].items()
    )


def test_a_difference_in_what_is_known_of_run_times_is_told(tmp_path, capfd):
    paths = []
    for owner, half in (("a", 0.4), ("b", 0.5)):
        kind = {"queue": "q", "owner": owner, "gpus": 8}
        times = [{**kind, "ended": [{"within": 60, "gangs": 3}]}]
        levels = [{"after": 3600, "half": half, "most": 0.8, "nearly": 0.9}]
        given = {"runTimes": times, "runTimeLevels": levels}
        head = {"apiVersion": "phalanx/v1", "kind": "Snapshot"}
        paths.append(tmp_path / f"{owner}.json")
        paths[-1].write_text(json.dumps({**head, "given": given}))
    code, text = out(capfd, "snapshot", "diff", *map(str, paths))

    assert 3 == code
    assert [
        "- run times q a 8",
        "+ run times q b 8",
        "~ run time levels 3600: half: 0.4 → 0.5",
        "3 differences",
    ] == text.splitlines()


def test_everything_that_is_not_obeyed_is_told(tmp_path, capfd):
    path = tmp_path / "m.yaml"
    bad = pod("bad", hostNetwork=True, tolerations=[BY_NUMBER])
    foreign = pod("foreign", schedulerName="volcano")
    path.write_text(yaml.safe_dump_all([node(), pod("good"), bad, foreign]))

    code, text = out(capfd, "snapshot", "check", str(path))
    assert 3 == code
    assert "default/bad: UnsupportedConstraint: " in text
    assert "spec.tolerations[0].operator" in text
    assert "warning: pods of other schedulers: 1 waiting" in text
    assert text.endswith("1 node, 2 gangs, 1 cannot be planned as written, 1 warning\n")


def test_a_snapshot_without_faults_passes(manifests, capfd):
    code, text = out(capfd, "snapshot", "check", manifests)

    assert 0 == code
    assert text.endswith("1 gang, 0 cannot be planned as written, 1 warning\n")


def test_what_is_rejected_exits_as_everywhere(tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text("apiVersion: v1\nkind: Pod\n")

    assert 4 == run(["snapshot", "check", str(path)])


def test_an_empty_list_is_named_and_the_page_of_the_dialects_too(tmp_path, capfd):
    path = tmp_path / "m.yaml"
    path.write_text("apiVersion: v1\nkind: List\nitems: []\n")
    code = run(["snapshot", "check", str(path)])
    said = capfd.readouterr().err

    assert 4 == code
    assert f"error: {path}: 1 problem" in said
    assert "docs/reference/dialects.md" in said


def test_without_a_file_the_cluster_is_read(tmp_path, capfd, monkeypatch):
    with ApiServer(*NEEDED) as server:
        server.put(NODES, raw_node(0, 0))
        server.put(PODS, raw_pod(0, 0, None))
        monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, server.url))
        code, text = out(capfd, "snapshot", "show", "-o", "json")

    assert 0 == code
    shown = json.loads(text)
    assert ["node-0"] == [n["name"] for n in shown["given"]["nodes"]]
    assert server.url == shown["source"]
    assert shown["observed"].endswith("Z")


def test_a_cluster_that_nobody_names_cannot_be_reached(tmp_path, capfd, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))

    assert 5 == run(["snapshot", "show"])
    assert "in: the cluster" in capfd.readouterr().err


def test_a_cluster_that_is_not_there_is_told_in_few_lines(tmp_path, capfd, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, "http://127.0.0.1:1"))

    assert 5 == run(["snapshot", "show"])
    lines = capfd.readouterr().err.splitlines()
    assert lines[0].startswith("error: no snapshot: ")
    assert lines[1].startswith("  pods were not read yet (cannot list pods: ")
    assert lines[1].endswith("Connection refused at 127.0.0.1:1)")
    assert lines[2].endswith("other kinds likewise")
    assert 5 == len(lines)  # what is wrong with all kinds is said once
