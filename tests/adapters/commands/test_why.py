"""
``phalanx why``: for eyes, for programs, and what it says of names that nothing has.
"""

import json

import pytest

from adapters.cli.main import run
from tests.adapters.documents import scenario

FILE = "scenarios/reasons/quota-limit-reached.yaml"
KEYS = [
    *("apiVersion", "kind", "gang", "state", "certain", "verdict", "sentence"),
    *("because", "proof", "besides", "place", "instead", "remedies", "tried"),
    *("untried", "proven", "later", "when"),
]


def test_the_first_line_is_the_verdict_and_the_second_has_the_numbers(capsys):
    assert 0 == run(["why", "gang", "train", FILE])

    first, second, *_ = capsys.readouterr().out.splitlines()
    assert "default/train Waiting: limit" == first
    assert second.startswith("  needs 5 GPUs; queue research may still use 4 of its")


def test_room_that_queues_keep_is_no_limit_of_the_queue_of_a_gang(capsys):
    kept = "scenarios/queues/two-queues-keep-room-from-a-third.yaml"

    assert 0 == run(["why", "gang", "c-4", kept])

    shown = capsys.readouterr().out
    assert "limit      all queues but a and b  1 GPU      4     0" in shown


def test_json_has_all_keys(capsys):
    assert 0 == run(["why", "gang", "default/train", FILE, "-o", "json"])

    found = json.loads(capsys.readouterr().out)
    assert KEYS == [*found]
    assert "limit" == found["verdict"]
    assert {
        "rule": "limit",
        "at": "research",
        "has": 8,
        "used": 4,
        "needs": 5,
    }.items() <= (found["because"][0].items())
    assert {"change": "limit", "queue": "research", "by": 1}.items() <= (
        found["remedies"][0]["changes"][0].items()
    )


def test_what_the_plan_would_lose_with_a_gang_is_said_to_all(capsys):
    file = "scenarios/reasons/outranked-by-what-is-worth-more.yaml"
    short = "entitled work would be worth 12 GPUs less"

    assert 0 == run(["why", "gang", "small", file])
    shown = capsys.readouterr().out
    assert f"  With it, {short}: default/large (16 GPUs) would wait" in shown

    assert 0 == run(["why", "gang", "small", file, "-o", "json"])
    found = json.loads(capsys.readouterr().out)["instead"]
    assert found.pop("sentence").startswith(f"with it, {short}: ")
    nobody = {"starts": [], "leaves": [], "shrinks": []}
    assert found == {
        "tier": "entitled",
        "band": 0,
        "value": 4_000_000_000,
        "then": 1_000_000_000,
        "proven": True,
        "tried": True,
        "others": {**nobody, "waits": ["default/large"]},
    }

    assert 0 == run(["describe", "gang", "small", "-f", file])
    assert f"; with it, {short}\n" in capsys.readouterr().out


def test_a_gang_that_starts_does_not_wait(capsys):
    starts = "scenarios/contract/example.yaml"

    assert 0 == run(["why", "gang", "train", starts, "-o", "json"])

    found = json.loads(capsys.readouterr().out)
    assert "none" == found["verdict"]
    assert [] == found["because"] == found["remedies"]


def test_a_summary_counts_what_holds_back_whom_and_says_what_starts_most(capsys):
    group = "scenarios/reasons/quota-limit-of-a-whole-group.yaml"

    assert 0 == run(["why", "--summary", group, "-o", "json"])

    found = json.loads(capsys.readouterr().out)
    assert [{"rule": "limit", "at": "q", "gangs": 2, "gpus": 6}] == found["blockers"]
    assert ["default/left", "default/right"] == found["best"]["starts"]
    assert 1 == found["best"]["changes"][0]["by"]


def test_a_summary_of_another_queue_holds_back_nobody(capsys):
    reclaim = "scenarios/demo/reclaim.yaml"

    assert 0 == run(["why", "--summary", reclaim, "-q", "batch"])
    assert "Nothing waits." == capsys.readouterr().out.strip()


def test_a_summary_tells_where_others_than_those_asked_for_wait(capsys):
    demo = "scenarios/demo/fragmented.yaml"

    assert 0 == run(["why", "--summary", demo, "-n", "defualt"])
    said = capsys.readouterr().out.strip()
    assert "None of the 2 gangs that wait matches." == said


def test_what_starts_most_of_a_queue_is_a_change_that_starts_gangs_of_it(
    capsys, tmp_path
):
    """
    An open node starts a gang of the other queue, a higher limit the one of this.
    """
    document = scenario(
        nodes=[
            {"name": "n", "allocatable": {"nvidia.com/gpu": 8}},
            {
                "name": "closed",
                "allocatable": {"nvidia.com/gpu": 8},
                "labels": {"disk": "fast"},
                "unschedulable": True,
            },
        ],
        queues=[
            {"name": "mine", "resources": {"nvidia.com/gpu": {"limit": 2}}},
            {"name": "other"},
        ],
        gangs=[
            {
                "name": "one",
                "queue": "mine",
                "min": 1,
                "requests": {"nvidia.com/gpu": 4},
            },
            {
                "name": "two",
                "count": 2,
                "queue": "other",
                "min": 1,
                "requests": {"nvidia.com/gpu": 4},
                "nodeSelector": {"disk": "fast"},
            },
        ],
    )
    path = tmp_path / "two-queues.json"
    path.write_text(json.dumps(document))

    bests = []
    for words in ([], ["-q", "mine"], ["-q", "other"]):
        assert 0 == run(["why", "--summary", str(path), *words, "-o", "json"])
        best = json.loads(capsys.readouterr().out)["best"]
        bests.append((best["changes"][0]["change"], best["starts"]))

    others = ["default/two-0", "default/two-1"]
    assert [
        ("open", others),
        ("limit", ["default/one"]),
        ("open", others),
    ] == bests


def test_a_summary_of_a_queue_that_is_not_there_is_wrong_use(capsys):
    assert 2 == run(["why", "--summary", FILE, "-q", "reserch"])
    assert "no queue 'reserch'" in (said := capsys.readouterr().err)
    assert "did you mean research?" in said


def test_who_names_a_file_and_no_gang_is_told_so(capsys):
    assert 2 == run(["why", "gang", FILE])
    assert f"{FILE} is a file, and no gang is named" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["gang"], ["train"], ["gang", "nobody", FILE]])
def test_what_means_nothing_is_wrong_use(words, capsys):
    assert 2 == run(["why", *words])
    assert "error: " in capsys.readouterr().err


def test_the_namespace_beside_a_gang_says_which_one_is_meant(capsys, tmp_path):
    both = [
        {"name": "g", "namespace": name, "min": 1, "requests": {"nvidia.com/gpu": gpus}}
        for name, gpus in (("a", 9), ("b", 10))
    ]
    path = tmp_path / "two.json"
    nodes = [{"name": "n", "allocatable": GPUS}]
    path.write_text(json.dumps(scenario(nodes=nodes, gangs=both)))

    assert 0 == run(["why", "gang", "g", "-n", "b", str(path)])
    assert capsys.readouterr().out.startswith("b/g Waiting: never")
    assert 1 < run(["why", "gang", "g", str(path)])
    assert "the name of several gangs: a/g, b/g" in capsys.readouterr().err
    assert 2 == run(["why", "gang", "g", "-n", "c", str(path)])
    assert "there is no gang 'c/g'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--queue", "q"], "--queue is for --summary"),
        (["--round", "last"], "so it reads no file"),
    ],
)
def test_what_would_be_passed_over_beside_one_gang_is_refused(capsys, words, told):
    assert 2 == run(["why", "gang", "train", FILE, *words])
    assert told in capsys.readouterr().err


def test_a_summary_of_a_recorded_round_is_refused_before_a_cluster_is_asked(capsys):
    assert 2 == run(["why", "--summary", "--round", "r2"])

    assert "not for a recorded round" in capsys.readouterr().err


def test_a_summary_tells_of_places_that_are_not_free_yet(capsys):
    assert 0 == run(["why", "--summary", "scenarios/demo/reclaim.yaml"])

    said = capsys.readouterr().out
    assert "2 gangs have their places reserved, until others leave." in said
    assert "Nothing waits." not in said


GPUS = {"nvidia.com/gpu": 8}
FULL = {
    "name": "runs",
    "min": 1,
    "requests": GPUS,
    "running": [{"node": "cut", "pods": 1}],
}


def summary_of(capsys, path, **given):
    path.write_text(json.dumps(scenario(**given)))
    assert 0 == run(["why", "--summary", str(path), "-o", "json"])
    return json.loads(capsys.readouterr().out)


def test_one_more_node_is_tried_of_each_kind_that_those_who_wait_can_tell(
    capsys, tmp_path
):
    """
    Both nodes offer as much, but only GPUs of one of them may be cut.
    """
    cut = {"model": "H100-80GB", "devices": [0, 1]}
    found = summary_of(
        capsys,
        tmp_path / "kinds.json",
        nodes=[
            {"name": "cut", "allocatable": GPUS, "gpuMemory": "80Gi", "mig": cut},
            {"name": "plain", "allocatable": GPUS},
        ],
        gangs=[
            {**FULL, "preemptible": False},
            {"name": "slice", "count": 2, "min": 1, "gpu": {"mig": "3g.40gb"}},
        ],
    )

    assert {"change": "nodes", "like": "cut", "by": 1}.items() <= (
        found["best"]["changes"][0].items()
    )
    assert ["default/slice-0", "default/slice-1"] == found["best"]["starts"]


def test_of_many_closed_nodes_those_are_opened_that_somebody_could_use(
    capsys, tmp_path
):
    closed = [
        {"name": f"c{at}", "allocatable": GPUS, "unschedulable": True}
        for at in range(8)
    ]
    closed[7]["labels"] = {"disk": "fast"}
    wants = {"min": 1, "requests": GPUS, "nodeSelector": {"disk": "fast"}}
    path = tmp_path / "closed.json"
    found = summary_of(capsys, path, nodes=closed, gangs=[{"name": "g", **wants}])

    assert {"change": "open", "node": "c7"} == found["best"]["changes"][0]
    assert 0 == found["untried"]
    assert 0 == run(["why", "gang", "g", str(path), "-o", "json"])
    why = json.loads(capsys.readouterr().out)
    assert "8 nodes are closed to new pods, with 64 GPUs free" == why["sentence"]
    assert [{"change": "open", "node": "c7"}] == why["remedies"][0]["changes"]


def test_of_many_running_gangs_one_is_evicted_that_holds_enough(capsys, tmp_path):
    """
    Seven small ones hold less, but leave too little room even alone.
    """
    sizes = {"big": ("a", 8)} | {f"small-{at}": ("b", 1) for at in range(7)}
    runs = [
        {
            "name": name,
            "min": 1,
            "requests": {"nvidia.com/gpu": gpus},
            "running": [{"node": node, "pods": 1}],
            "preemptible": False,
        }
        for name, (node, gpus) in sizes.items()
    ]
    path = tmp_path / "many.json"
    late = {"name": "late", "priority": 5, "min": 1, "requests": GPUS}
    nodes = [{"name": name, "allocatable": GPUS} for name in "ab"]
    path.write_text(json.dumps(scenario(nodes=nodes, gangs=[*runs, late])))

    assert 0 == run(["why", "gang", "late", str(path), "-o", "json"])
    why = json.loads(capsys.readouterr().out)
    assert [{"change": "evict", "gangs": ["default/big"]}] == (
        why["remedies"][0]["changes"]
    )
    assert 2 == why["untried"]


def test_of_many_kinds_of_nodes_the_cheapest_are_added(capsys, tmp_path):
    offers = [{"cpu": 96 + at, **GPUS} for at in range(5)]
    nodes = [{"name": f"k{at}", "allocatable": one} for at, one in enumerate(offers)]
    nodes.append({"name": "small", "allocatable": {"cpu": 8, "nvidia.com/gpu": 1}})
    runs = [
        {
            "name": f"on-{node['name']}",
            "min": 1,
            "requests": {"nvidia.com/gpu": node["allocatable"]["nvidia.com/gpu"]},
            "running": [{"node": node["name"], "pods": 1}],
            "preemptible": False,
        }
        for node in nodes
    ]
    late = {"name": "late", "min": 1, "requests": {"cpu": 1, "nvidia.com/gpu": 1}}
    path = tmp_path / "kinds.json"
    path.write_text(json.dumps(scenario(nodes=nodes, gangs=[*runs, late])))

    assert 0 == run(["why", "gang", "late", str(path), "-o", "json"])
    why = json.loads(capsys.readouterr().out)
    added = [one for one in why["remedies"] if one["changes"][0]["change"] == "nodes"]
    assert ("small", 20) == (added[0]["changes"][0]["like"], added[0]["price"])
    assert 4 == len(added)


def test_a_limit_that_is_raised_has_its_price_by_whole_units(capsys, tmp_path):
    asks = {"min": 1, "requests": {"cpu": "2500m"}}
    found = summary_of(
        capsys,
        tmp_path / "limit.json",
        nodes=[{"name": "n", "allocatable": {"cpu": 96}}],
        queues=[{"name": "q", "resources": {"cpu": {"limit": 2}}}],
        gangs=[{"name": "g", "count": 2, "queue": "q", **asks}],
    )

    assert {"resource": "cpu", "by": 3000}.items() <= (
        found["best"]["changes"][0].items()
    )
    assert 3 == found["best"]["price"]


def test_a_gang_whose_queue_lists_no_model_is_told_of_models(capsys, tmp_path):
    gpu = "nvidia.com/gpu"
    nodes = [
        {"name": model, "allocatable": {gpu: 8}, "gpuModel": model}
        for model in ("H100", "T4")
    ]
    queues = [
        {"name": "listing", "resources": {gpu: {"models": {"H100": {"quota": 8}}}}},
        {"name": "plain", "resources": {gpu: {"quota": 8}}},
    ]
    gang = {"name": "g", "queue": "plain", "min": 2, "requests": {gpu: 8}}
    path = tmp_path / "models.json"
    path.write_text(json.dumps(scenario(nodes=nodes, queues=queues, gangs=[gang])))

    assert 0 == run(["why", "gang", "g", str(path), "-o", "json"])
    why = json.loads(capsys.readouterr().out)
    assert (
        "needs 16 GPUs of models that no queue names; 8 of 8 are free where it may be"
        == why["sentence"]
    )
