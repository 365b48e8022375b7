"""
Parts of GPUs in what people read: counted as parts, never as none.
"""

import json

import pytest

from adapters.cli.main import run
from tests.adapters.documents import scenario

GPU = "nvidia.com/gpu"


@pytest.fixture
def shared(tmp_path):
    """
    A file with sharers that run, parts that start, and one for which there is no room.
    """
    half = {"gpu": {"fraction": 0.5}, "queue": "q"}
    document = scenario(
        nodes=[
            {"name": "a", "allocatable": {GPU: 2}, "gpuMemory": "80Gi"},
            {"name": "b", "allocatable": {GPU: 1}, "gpuMemory": "40Gi"},
        ],
        queues=[{"name": "q", "resources": {GPU: {"quota": 1, "limit": 3}}}],
        gangs=[
            {"name": "runs", "min": 2} | half | _on("a", pods=2, devices=[0]),
            {"name": "part", "min": 1, "gpu": {"fraction": 0.3}, "queue": "q"},
            {"name": "memory", "min": 1, "gpu": {"memory": "20Gi"}, "queue": "q"}
            | _on("b", devices=[0]),
        ],
    )
    path = tmp_path / "shared.yaml"
    path.write_text(json.dumps(document))
    return str(path)


def _on(node, **fields):
    return {"running": [{"node": node, "for": "1h", **fields}]}


def said(capsys, *arguments):
    assert 0 == run([*arguments])
    return capsys.readouterr().out


def test_a_plan_counts_parts_of_gpus(shared, capsys):
    told = said(capsys, "plan", shared)

    assert "2 nodes, 1.5 of 3 GPUs free" in told
    assert "1 gang starts: 1 pod, 0.3 of 1.5 free GPUs" in told


def test_gangs_queues_and_nodes_count_parts_of_gpus(shared, capsys):
    gangs = json.loads(said(capsys, "get", "gangs", "-f", shared, "-o", "json"))
    found = {row["name"]: row["gpus"] for row in gangs["items"]}
    queues = said(capsys, "get", "queues", "-f", shared).splitlines()[1].split()
    nodes = said(capsys, "get", "nodes", "-f", shared)

    assert {"requested": 1, "used": 1} == found["runs"]
    assert {"requested": 0.3, "used": 0} == found["part"]
    assert ["1.5", "1.8", "1", "3"] == queues[-4:]
    assert "1.5 of 3 GPUs used" in nodes
    assert "0.5/1" in nodes


def test_a_node_names_gpus_once_with_the_parts_that_are_taken(shared, capsys):
    told = said(capsys, "describe", "node", "b", "-f", shared)
    (line,) = [line for line in told.splitlines() if line.startswith(GPU)]

    assert [GPU, "1", "0.5", "0", "0.5"] == line.split()
    assert "gpu-part" not in told
    assert "gpu-share" not in told


def test_a_queue_names_gpus_as_files_do(shared, capsys):
    rows = json.loads(said(capsys, "get", "queues", "-f", shared, "-o", "json"))
    (queue,) = rows["items"]

    assert "1.5" == queue["resources"][GPU]["used"]
    assert {GPU} == queue["resources"].keys()


def test_plans_beside_each_other_count_parts_of_gpus(shared, capsys):
    diff = said(capsys, "plan", shared, "--diff", "greedy")
    then = said(capsys, "what-if", shared, "--cancel", "memory")

    assert "GPUs bound" in diff
    assert "0.3     0.3  1.5 free" in diff
    (line,) = [line for line in then.splitlines() if "at work after the plan" in line]
    assert ["1.8", "1.3", "−0.5"] == line.split()[-3:]


@pytest.mark.parametrize("resource", ["gpu", GPU])
def test_a_limit_of_gpus_changes_where_parts_count(shared, capsys, resource):
    less = f"q.{resource}=-1.5"
    then = json.loads(said(capsys, "what-if", shared, "--limit", less, "-o", "json"))

    more = {"change": "limit", "queue": "q", "resource": GPU, "by": -1.5}
    assert [more] == then["changes"]
    assert 1.5 == then["after"]["totals"]["gpus"]


def test_a_remedy_names_gpus_and_their_price_as_files_do(tmp_path, capsys):
    half = {"gpu": {"fraction": 0.5}, "queue": "q", "min": 1}
    document = scenario(
        nodes=[{"name": "a", "allocatable": {GPU: 4}}],
        queues=[{"name": "q", "resources": {GPU: {"quota": 0.5, "limit": 0.5}}}],
        gangs=[{"name": name} | half for name in "ab"],
    )
    path = tmp_path / "small.yaml"
    path.write_text(json.dumps(document))
    why = json.loads(said(capsys, "why", "gang", "b", str(path), "-o", "json"))
    best = json.loads(said(capsys, "why", "--summary", str(path), "-o", "json"))["best"]

    more = {"change": "limit", "queue": "q", "resource": GPU}
    assert [more | {"by": 1}] == why["remedies"][0]["changes"]
    assert [more | {"by": 1}] == best["changes"]
    assert 1 == best["price"]


def test_a_node_shows_its_gpus_as_cells_and_who_is_on_which(shared, capsys):
    told = said(capsys, "describe", "node", "a", "-f", shared).splitlines()
    rows = json.loads(said(capsys, "get", "nodes", "-f", shared, "-o", "json"))["items"]

    assert "GPUs         │██████│      │" in told
    (first,) = [line for line in told if line.startswith("  0 ")]
    sharers = "default/runs-0 (0.5), default/runs-1 (0.5)"
    assert first.split("  ")[-3:] == ["shared, phalanx", "0 compute", sharers]
    assert any(line.split() == ["1", "idle", "all"] for line in told)
    assert [
        {"name": "default/runs-0", "has": "0.5"},
        {"name": "default/runs-1", "has": "0.5"},
    ] == rows[0]["devices"][0]["pods"]
    assert ["shared, phalanx"] == [one["state"] for one in rows[1]["devices"]]


def test_a_device_booked_beyond_itself_takes_nothing_of_the_others(tmp_path, capsys):
    """
    Two work together on one GPU of which there is not as much: the others are free.
    """
    most = {"gpu": {"fraction": 0.75}, "queue": "q", "min": 1}
    gangs = [{"name": "a"} | most | _on("a", devices=[0])]
    whole = {"name": "c", "queue": "q", "min": 1, "requests": {GPU: 2}}
    gangs += [whole, {"name": "d"} | most]
    taken = {"device": 0, "contract": "phalanx", "cores": 0.75, "memory": "60Gi"}
    node = {"name": "a", "allocatable": {GPU: 3}, "gpuMemory": "80Gi"}
    node |= {"used": {GPU: 1}, "taken": [taken]}
    path = tmp_path / "over.yaml"
    path.write_text(
        json.dumps(scenario(nodes=[node], queues=[{"name": "q"}], gangs=gangs))
    )
    plan = said(capsys, "plan", str(path))
    told = said(capsys, "describe", "node", "a", "-f", str(path))

    assert "1 node, 2 of 3 GPUs free" in plan
    assert "gives what it needs to default/c: 2 of 2 GPUs free where it fits" in plan
    assert "none, 0.5 compute and 40 GiB too much" in told
    assert "2 of 3 GPUs used" not in said(capsys, "get", "nodes", "-f", str(path))
    assert "1 of 3 GPUs used" in said(capsys, "get", "nodes", "-f", str(path))


def test_instances_say_their_slices_and_whole_gpus_without_names_are_counted(
    tmp_path, capsys
):
    node = {
        "name": "m",
        "allocatable": {GPU: 3},
        "gpuMemory": "80Gi",
        "mig": {"model": "H100-80GB", "devices": [2]},
        "used": {GPU: 1},
    }
    cut = _on("m", devices=[{"device": 2, "start": 4}])
    gangs = [{"name": "cut", "min": 1, "gpu": {"mig": "3g.40gb"}} | cut]
    path = tmp_path / "cut.yaml"
    path.write_text(json.dumps(scenario(nodes=[node], gangs=gangs)))
    told = said(capsys, "describe", "node", "m", "-f", str(path))

    assert "default/cut-0 (3g.40gb on slices 4-7)" in told
    assert "1 more GPU is in use; which ones is not said" in told


def test_gpus_that_pods_claim_are_counted_in_plans_and_on_nodes(tmp_path, capsys):
    claimed = {"claimed-devices.gpu-share": 7000, "claimed-devices.gpu": 1}
    offered = {name: 3 * amount for name, amount in claimed.items()}
    gangs = [{"name": "h", "min": 2, "requests": claimed}]
    nodes = [{"name": "n", "allocatable": offered}]
    path = tmp_path / "claimed.yaml"
    path.write_text(json.dumps(scenario(nodes=nodes, gangs=gangs)))

    assert "2 pods, 2 of 3 free GPUs" in said(capsys, "plan", str(path))
    assert "0/3" in said(capsys, "get", "nodes", "-f", str(path))


def test_a_node_whose_gpus_are_only_shared_is_idle_until_somebody_has_a_part(
    tmp_path, capsys
):
    node = {
        "name": "s",
        "allocatable": {GPU: 2},
        "used": {GPU: 2},
        "gpuMemory": "15Gi",
        "taken": [{"device": at, "contract": "gpushare"} for at in range(2)],
    }
    part = {"memory": "6Gi", "contract": "gpushare"}
    gangs = [{"name": "p", "min": 2, "gpu": part}]
    path = tmp_path / "kept.yaml"
    path.write_text(json.dumps(scenario(nodes=[node], gangs=gangs)))

    assert "0.8 of 2 free GPUs" in said(capsys, "plan", str(path))
    assert "0 of 2 GPUs used" in said(capsys, "get", "nodes", "-f", str(path))
    assert "others" not in said(capsys, "describe", "node", "s", "-f", str(path))


def test_gangs_hold_gpus_that_they_claim(tmp_path, capsys):
    claimed = {"claimed-devices.gpu-share": 7000, "claimed-devices.gpu": 1}
    offered = {name: 2 * amount for name, amount in claimed.items()}
    gangs = [
        {"name": "h", "min": 1, "requests": claimed} | _on("n", pods=1),
        {"name": "w", "min": 2, "requests": claimed},
    ]
    nodes = [{"name": "n", "allocatable": offered}]
    path = tmp_path / "claimed.yaml"
    path.write_text(json.dumps(scenario(nodes=nodes, gangs=gangs)))

    held = "they hold 1 of 2 GPUs of all nodes (50.0 %)"
    assert held in said(capsys, "get", "gangs", "-f", str(path))
    assert "add 1 node like n (price 40)" in said(capsys, "why", "gang", "w", str(path))


def test_a_node_does_not_list_what_it_has_without_a_limit(tmp_path, capsys):
    slots = "attachable-volumes-csi-a", "attachable-volumes-csi-b"
    offers = {GPU: 1, "linked-gpus-from-2": 2**20, slots[0]: 2**20, slots[1]: 3}
    path = tmp_path / "slots.yaml"
    path.write_text(json.dumps(scenario(nodes=[{"name": "n", "allocatable": offers}])))
    told = said(capsys, "describe", "node", "n", "-f", str(path))

    assert "1048576" not in told
    assert "3" == _row(told, "slots for volumes of driver b")[-4]


def _row(told, begins):
    (line,) = [line for line in told.splitlines() if line.startswith(begins)]
    return line.split()


def test_a_node_says_compute_and_memory_of_parts_that_ask_for_both(tmp_path, capsys):
    amounts = {"c": {"cores": 0.3, "memory": "8Gi"}, "m": {"memory": "8Gi"}}
    gangs = [
        {"name": name, "min": 1, "gpu": gpu} | _on("a", devices=[0])
        for name, gpu in amounts.items()
    ]
    node = {"name": "a", "allocatable": {GPU: 1}, "gpuMemory": "80Gi"}
    path = tmp_path / "both.yaml"
    path.write_text(json.dumps(scenario(nodes=[node], gangs=gangs)))

    told = said(capsys, "describe", "node", "a", "-f", str(path))
    assert "default/c-0 (0.3 compute, 8 GiB), default/m-0 (8 GiB)" in told
