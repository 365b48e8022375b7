"""
What was observed may be incomplete or wrong, and is planned around, however it is read.
"""

import json

import pytest

from adapters.compare.outcome import gpus_of_nodes
from adapters.files import read_scenarios, scenario_of
from adapters.files.bundles import FailedRound, save
from adapters.files.writing.snapshot_writer import snapshot_document
from adapters.inventory.listed import Seen
from adapters.inventory.nodes import node_rows
from models.errors import InputRejectedError
from models.policy import Policy
from tests.adapters.documents import GPU
from tests.helpers.kube.manifests import node, pod

HALF = {"min": 1, "gpu": {"fraction": 0.6}}
GIVEN = {
    "nodes": [{"name": "n", "allocatable": {GPU: 2}, "gpuMemory": "80Gi"}],
    "gangs": [
        {"name": "a", **HALF, "running": [{"node": "n", "devices": [0]}]},
        {"name": "b", **HALF, "running": [{"node": "n", "devices": [0]}]},
        {"name": "c", **HALF, "running": [{"node": "n"}]},
        {"name": "d", "minGroups": 2, "groups": [{"name": "x", "min": 1}]},
    ],
}
POLICY = {"apiVersion": "phalanx/v1", "kind": "Scenario", "given": {}, "policy": {}}


def of_kind(kind, **said):
    return {"apiVersion": "phalanx/v1", "kind": kind, "given": GIVEN, **said}


def written(folder, **documents):
    paths = [folder / f"{name}.json" for name in documents]
    for path, document in zip(paths, documents.values(), strict=True):
        path.write_text(json.dumps(document))
    return [str(path) for path in paths]


def problems(*paths):
    with pytest.raises(InputRejectedError) as caught:
        read_scenarios(paths)
    return [str(each) for each in caught.value.problems]


def test_a_snapshot_is_read_beside_a_policy_as_it_is_alone(tmp_path):
    alone, beside = written(tmp_path, alone=of_kind("Snapshot"), policy=POLICY)

    assert read_scenarios([alone]).snapshot == read_scenarios([alone, beside]).snapshot


def test_what_somebody_wrote_beside_a_snapshot_is_still_judged(tmp_path):
    gangs = [{"name": "e", "minGroups": 2, "groups": [{"name": "x", "min": 1}]}]
    more = {**of_kind("Scenario"), "given": {"gangs": gangs}}
    (said,) = problems(*written(tmp_path, seen=of_kind("Snapshot"), more=more))

    assert "2 groups are needed, but there are 1" in said


def test_a_scenario_says_all_of_it(tmp_path):
    said = "\n".join(problems(*written(tmp_path, made=of_kind("Scenario"))))

    for words in ("device 0 of n", "each of these pods has 1 devices", "2 groups are"):
        assert words in said


def test_a_bundle_can_be_read_whatever_was_observed(tmp_path):
    seen = scenario_of("seen", of_kind("Snapshot")).snapshot
    path = save(tmp_path, "r-1", FailedRound(seen, Policy()), ValueError("no"))

    assert seen == read_scenarios([str(path)]).snapshot


@pytest.mark.parametrize(
    "asks", [{"aliyun.com/gpu-mem": 20}, {"volcano.sh/vgpu-number": 1}]
)
def test_a_pod_of_which_nobody_knows_the_device_can_be_saved(asks):
    limits = {name: str(amount) for name, amount in asks.items()}
    runs = pod(
        gpus=0,
        nodeName="n",
        containers=[{"name": "main", "resources": {"limits": limits}}],
    )
    given = {"manifests": [node(), {**runs, "status": {"phase": "Running"}}]}
    seen = scenario_of("m", of_kind("Scenario") | {"given": given}).snapshot

    assert scenario_of("saved", snapshot_document(seen)).snapshot.gangs == seen.gangs
    (row,) = node_rows(Seen(snapshot=seen, policy=Policy(), source="m"))
    assert (1, 7) == (row.gpus_used, row.gpus_free)
    assert (8, 7) == gpus_of_nodes(seen)
