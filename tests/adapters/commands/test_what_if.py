"""
``phalanx what-if`` and ``phalanx plan diff``: what they say, and what they exit with.
"""

import json

import pytest
import yaml

from adapters.cli.main import run
from adapters.compare import what_would_be
from adapters.files import read_scenario
from adapters.loop import plan_round
from models.changes import AddedNodes, changed
from solver import decide
from tests.adapters.documents import scenario

DEMO = "scenarios/demo/reclaim.yaml"


@pytest.fixture
def asked(capsys):
    """
    A function that asks and gives exit code, standard output and standard error.
    """

    def ask(*words):
        code = run([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return ask


@pytest.fixture
def cluster(tmp_path):
    """
    A node of 8 GPUs with a queue of quota 8, a gang that fits and one that does not.
    """
    document = scenario(
        queues=[{"name": "a.b", "resources": {"nvidia.com/gpu": {"quota": 8}}}],
        gangs=[
            {
                "name": "small",
                "queue": "a.b",
                "min": 1,
                "requests": {"nvidia.com/gpu": 6},
            },
            {
                "name": "large",
                "queue": "a.b",
                "min": 1,
                "requests": {"nvidia.com/gpu": 8},
            },
        ],
    )
    document["given"]["nodes"] = [
        {"name": "dgx", "count": 1, "allocatable": {"cpu": 96, "nvidia.com/gpu": 8}}
    ]
    path = tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


def answer(asked, *words):
    code, out, err = asked("what-if", *words, "-o", "json")
    assert (0, "") == (code, err)
    return json.loads(out)


def became(document):
    return {gang["name"]: gang["became"] for gang in document["gangs"]}


def test_a_node_more_starts_who_waited_for_one(asked, cluster):
    document = answer(asked, cluster, "--add-nodes", "dgx=1")

    assert document["differs"]
    assert ["starts"] == list(became(document).values())
    assert [8, 16] == [
        document[when]["totals"]["clusterGpus"] for when in ("before", "after")
    ]
    assert {"change": "nodes", "like": "dgx", "by": 1} == document["changes"][0]
    assert all(
        tier["proof"] == "proven"
        for when in ("before", "after")
        for tier in document[when]["plan"]["tiers"]
    )


def test_the_plans_of_an_answer_have_no_times(asked, cluster):
    document = answer(asked, cluster, "--add-nodes", "dgx=1")

    for when in ("before", "after"):
        assert document[when]["plan"]["seconds"] is None


def test_gpu_is_short_for_gpus_of_a_model_too(asked, cluster):
    document = yaml.safe_load(cluster.read_text())
    (queue,) = document["given"]["queues"]
    queue["resources"]["nvidia.com/gpu"] = {"models": {"H100": {"quota": 8}}}
    cluster.write_text(yaml.safe_dump(document))

    found = answer(asked, cluster, "--limit", "a.b.gpu@H100=6")

    assert "nvidia.com/gpu@H100" == found["changes"][0]["resource"]


@pytest.mark.parametrize(
    ("said", "differs"), [({}, {"default/large": "starts"}), ({"quota": 6}, {})]
)
def test_a_quota_of_all_models_is_their_sum_unless_it_is_said(
    asked, cluster, said, differs
):
    document = yaml.safe_load(cluster.read_text())
    document["given"]["nodes"][0]["gpuModel"] = "H100"
    (queue,) = document["given"]["queues"]
    models = {"models": {"H100": {"quota": 6}}}
    queue["resources"]["nvidia.com/gpu"] = {**models, **said}
    (_, large) = document["given"]["gangs"]
    document["given"]["gangs"] = [{**large, "preemptible": False}]
    cluster.write_text(yaml.safe_dump(document))

    found = answer(asked, cluster, "--quota", "a.b.gpu@H100=+2")

    assert differs == became(found)


def test_names_of_queues_may_hold_dots_and_gpu_is_short_for_the_only_gpu(
    asked, cluster
):
    document = answer(asked, cluster, "--limit", "a.b.gpu=6")

    change = {"change": "limit", "queue": "a.b", "resource": "nvidia.com/gpu", "to": 6}
    assert [change] == document["changes"]
    assert {"default/large": "waits", "default/small": "starts"} == became(document)


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("--quota a.b.gpu=+4", {"by": 4}),
        ("--quota a.b.gpu=-4", {"by": -4}),
        ("--quota a.b.gpu=unlimited", {"to": None}),
        ("--weight a.b.gpu=3", {"to": 3}),
        ("--limit a.b.cpu=64", {"to": 64_000}),
    ],
)
def test_numbers_of_queues_are_written_as_people_do(words, change, asked, cluster):
    document = answer(asked, cluster, *words.split())

    assert change.items() <= document["changes"][0].items()


def test_gangs_end_come_and_rise(asked, cluster, tmp_path):
    new = tmp_path / "new.yaml"
    gangs = [
        {"name": "new", "queue": "a.b", "min": 1, "requests": {"nvidia.com/gpu": 1}}
    ]
    document = {
        "apiVersion": "phalanx/v1",
        "kind": "Snapshot",
        "given": {"gangs": gangs},
    }
    new.write_text(yaml.safe_dump(document))

    found = answer(
        asked,
        *(cluster, "--submit", new, "--cancel", "large", "--priority", "new=5"),
    )

    assert {
        "default/large": "gone",
        "default/new": "starts",
        "default/small": "starts",
    } == became(found)
    assert ["submit", "cancel", "priority"] == [c["change"] for c in found["changes"]]


def test_a_limit_of_parts_is_counted_where_nothing_asks_for_parts(asked, cluster):
    found = answer(asked, cluster, "--limit", "a.b.gpu=6.5")

    assert 6.5 == found["changes"][0]["to"]
    assert [8, 6] == [found[x]["totals"]["gpus"] for x in ("before", "after")]


def test_a_part_that_is_submitted_fits_where_nothing_asks_for_parts(asked, cluster):
    part = {"name": "part", "queue": "a.b", "min": 1, "gpu": {"fraction": 0.5}}
    new = cluster.with_name("new.yaml")
    document = {"apiVersion": "phalanx/v1", "kind": "Snapshot"}
    new.write_text(yaml.safe_dump(document | {"given": {"gangs": [part]}}))
    found = answer(asked, cluster, "--submit", new, "--cancel", "large")

    assert [8, 6.5] == [found[x]["totals"]["gpus"] for x in ("before", "after")]


def test_another_policy_is_planned_on_the_same_snapshot(asked, cluster, tmp_path):
    other = tmp_path / "policy.yaml"
    document = scenario(gangs=[])
    document["policy"] = {"tiers": ["gangs"]}
    other.write_text(yaml.safe_dump(document))

    found = answer(asked, cluster, "--policy", other)

    assert found["before"]["plan"]["snapshot"] == found["after"]["plan"]["snapshot"]
    assert ["gangs", "order"] == [t["name"] for t in found["after"]["plan"]["tiers"]]


def test_a_range_is_a_series_as_a_table_with_a_bar_for_each_amount(asked, cluster):
    code, out, _ = asked("what-if", cluster, "--add-nodes", "dgx=0..4:2")

    assert 0 == code
    rows = [each for each in out.splitlines() if each[-1:] in set("█▊▋")]
    assert ["0", "2", "4"] == [row.split()[0] for row in rows]
    assert ["8", "14", "14"] == [row.split()[1] for row in rows]


def test_a_series_has_a_schema_too(asked, cluster):
    document = answer(asked, cluster, "--add-nodes", "dgx=0..1")

    assert "WhatIfSeries" == document["kind"]
    assert [0, 1] == [item["amount"] for item in document["items"]]
    assert [False, True] == [item["differs"] for item in document["items"]]


@pytest.mark.parametrize(
    ("change", "code"), [("dgx=0", 0), ("dgx=1", 3), ("dgx=0..1", 3)]
)
def test_the_detailed_exit_code_says_whether_anything_differs(
    change, code, asked, cluster
):
    words = ("what-if", cluster, "--add-nodes", change)

    assert code == asked(*words, "--detailed-exitcode")[0]
    assert 0 == asked(*words)[0]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("", 2, "no change is named"),
        ("--add-nodes dgx", 2, "is not written like"),
        ("--add-nodes dgx=x", 2, "'x' is not a whole number"),
        ("--add-nodes dgx=9..3", 2, "ends below where it begins"),
        ("--add-nodes dgx=0..4:0", 2, "has steps of 0"),
        ("--add-nodes dgx=0..", 2, "is not a range"),
        ("--add-nodes dgx=-1", 2, "is out of range, 0 to 2147483647"),
        ("--add-nodes dgx=0..900", 2, "at most 200 are planned"),
        ("--add-nodes dgx=0..2 --quota a.b.gpu=0..2", 2, "only one change"),
        (
            "--quota a.b.gpu=4 --quota a.b.gpu=8",
            2,
            "the quota of a.b.nvidia.com/gpu is",
        ),
        ("--limit a.b.gpu=+4 --limit a.b.gpu=0..8", 2, "and only one can hold"),
        ("--priority small=1 --priority default/small=2", 2, "changed twice"),
        ("--drain dgx --uncordon dgx", 2, "node dgx is changed twice"),
        ("--quota a.c.gpu=2", 2, "there is no queue 'a'"),
        ("--quota a=2", 2, "names no resource"),
        ("--quota a.b.gpu=many", 2, "is not a quantity"),
        ("--drain nod", 4, "node: there is no nod (there is dgx)"),
        ("--cancel a,,b", 2, "is not a list of names"),
        ("--cancel smal", 4, "did you mean default/small?"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_way_out(
    words, code, said, asked, cluster
):
    found, out, err = asked("what-if", cluster, *words.split())

    assert (code, "") == (found, out)
    assert said in err


def test_differences_add_up_and_what_is_said_twice_alike_is_no_mistake(asked, cluster):
    twice = "--quota a.b.gpu=+4 --quota a.b.gpu=-2 --drain dgx --drain dgx"

    document = answer(asked, cluster, *twice.split())

    assert [4, -2] == [one["by"] for one in document["changes"] if "by" in one]


def test_a_what_if_plans_two_rounds_and_none_beside_them(monkeypatch):
    """
    What it costs beyond them is a row of the bench: ``why/1k``, by ``rounds``.
    """
    one = read_scenario("scenarios/demo/fragmented.yaml")
    more = [AddedNodes(like="h100-0", number=1)]
    asking = what_would_be.WhatIfAsked("x", one.snapshot, one.policy, more, one.policy)
    given = []

    def counted(snapshot, policy, **more):
        given.append((snapshot, more["memo"]))
        return decide(snapshot, policy, **more)

    for name in ("decide", "decide_or_fall_back"):
        monkeypatch.setattr(plan_round, name, counted)
    found = what_would_be.answer(asking, lambda _: None)

    assert [one.snapshot, changed(one.snapshot, more)] == [each for each, _ in given]
    assert given[0][1] is given[1][1]
    assert [decide(each, one.policy).operations for each, _ in given] == [
        found.before.plan.operations,
        found.after.plan.operations,
    ]


def test_plan_diff_compares_two_files_of_plans(asked, tmp_path):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, strategy in zip(paths, ("solver", "greedy"), strict=True):
        path.write_text(asked("plan", DEMO, "-o", "json", "--strategy", strategy)[1])

    same = asked("plan", "diff", paths[0], paths[0], "--detailed-exitcode")
    other = asked("plan", "diff", *paths, "--detailed-exitcode")
    document = json.loads(asked("plan", "diff", *paths, "-o", "json")[1])

    assert (0, 3) == (same[0], other[0])
    assert "Nothing differs" in same[1]
    assert "LEAVE " in other[1]
    assert ("PlanDiff", True) == (document["kind"], document["sameSnapshot"])
    assert "leaves" == became(document)["default/embed"]
    embed = next(each for each in document["gangs"] if "embed" in each["name"])
    assert (["reclaim"], ["default/reward-model"]) == (embed["rules"], embed["for"])
    assert "Evicting  reclaim, for default/reward-model\n" in other[1]


def test_plans_of_different_snapshots_are_said_to_be(asked, tmp_path):
    paths = [tmp_path / f"{name}.json" for name in ("reclaim", "fragmented")]
    for path in paths:
        file = f"scenarios/demo/{path.stem}.yaml"
        path.write_text(asked("plan", file, "--strategy", "greedy", "-o", "json")[1])

    same, other = (asked("plan", "diff", paths[0], path)[1] for path in paths)
    assert "snapshots" not in same.splitlines()[0]
    assert other.splitlines()[0].endswith(", of different snapshots")


@pytest.mark.parametrize("words", [("plan", "diff"), ("verify",)])
@pytest.mark.parametrize("text", ["", "[1]", "no json", "{}"])
def test_who_names_no_plan_is_told_how_plans_are_made(asked, tmp_path, words, text):
    path = tmp_path / "a.json"
    path.write_text(text)

    code, _, told = asked(*words, DEMO, path)

    assert code == 4
    assert "do: name a plan, as `phalanx plan FILE -o json` writes it" in told


def test_a_quota_above_the_limit_is_said_to_be_of_no_use(asked, cluster):
    code, _, err = asked(
        "what-if", cluster, "--limit", "a.b.gpu=8", "--quota", "a.b.gpu=12"
    )

    assert code == 0
    assert "queue a.b has a quota of 12 nvidia.com/gpu, and the limit of queue" in err
    assert "a.b is 8: what is above it can never be used" in err


def test_a_quota_within_the_limit_is_not_warned_about(asked, cluster):
    _, _, err = asked(
        "what-if", cluster, "--limit", "a.b.gpu=12", "--quota", "a.b.gpu=12"
    )

    assert "warning" not in err


@pytest.mark.parametrize("words", ["+4", "-4", "+0..4"])
def test_more_of_what_is_unlimited_is_said_to_change_nothing(asked, cluster, words):
    code, out, err = asked("what-if", cluster, "--limit", f"a.b.gpu={words}")

    assert code == 0
    assert "queue a.b has no limit of nvidia.com/gpu to add to or take from" in err
    assert "Nothing differs" in out or "AMOUNT" in out


def test_a_misspelt_resource_is_refused_with_names_as_files_write_them(asked, tmp_path):
    document = scenario(
        queues=[{"name": "a", "resources": {"nvidia.com/gpu": {"quota": 0.5}}}],
        gangs=[{"name": "part", "queue": "a", "min": 1, "gpu": {"fraction": 0.5}}],
    )
    path = tmp_path / "parts.yaml"
    path.write_text(yaml.safe_dump(document))
    code, _, err = asked("what-if", path, "--quota", "a.gup=4")

    assert code == 4
    assert "nvidia.com/gpu" in err
    assert "gpu-share" not in err


def test_a_budget_that_is_submitted_protects_who_is_there(asked, tmp_path):
    document = scenario(
        queues=[
            {"name": name, "resources": {"nvidia.com/gpu": {"quota": quota}}}
            for name, quota in (("guest", 0), ("owner", 8))
        ],
        gangs=[
            {
                "name": name,
                "queue": queue,
                "min": 1,
                "requests": {"nvidia.com/gpu": 8},
                **more,
            }
            for name, queue, more in (
                ("runs", "guest", {"running": [{"node": "dgx", "for": "1h"}]}),
                ("waits", "owner", {}),
            )
        ],
    )
    document["given"]["nodes"] = [{"name": "dgx", "allocatable": {"nvidia.com/gpu": 8}}]
    there, new = tmp_path / "there.yaml", tmp_path / "new.yaml"
    there.write_text(yaml.safe_dump(document))
    gangs = [{"name": "new", "queue": "owner", "min": 1, "requests": {"pods": 1}}]
    budgets = [{"name": "b", "gangs": ["runs"], "allowed": 0}]
    document = scenario(gangs=gangs) | {"given": {"gangs": gangs, "budgets": budgets}}
    new.write_text(yaml.safe_dump(document))

    told = became(answer(asked, there, "--submit", new))

    assert "stays" == told["default/runs"]


@pytest.mark.parametrize("more", [(), ("--cordon", "dgx")], ids=["alone", "with more"])
def test_a_file_that_brings_no_gang_is_refused_and_its_warnings_are_said(
    asked, tmp_path, more
):
    cluster, new = tmp_path / "cluster.yaml", tmp_path / "new.yaml"
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "dgx"}}
    cluster.write_text(yaml.safe_dump({**node, "status": {"allocatable": {"cpu": 8}}}))
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "uid": "u"}}
    spec = {"schedulerName": "volcano", "containers": [{"name": "c"}]}
    new.write_text(yaml.safe_dump({**pod, "spec": spec}))
    code, out, err = asked("what-if", cluster, "--submit", new, *more)

    assert (2, "") == (code, out)
    assert f"--submit {new} brings no gang that is planned" in err
    assert "pods of other schedulers: 1 waiting" in err


def test_a_policy_may_stand_in_the_settings_of_run(asked, cluster, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("apiVersion: phalanx/v1\nkind: Config\npolicy: {seed: 7}\n")
    code, out, err = asked("what-if", cluster, "--policy", config)

    assert (0, "") == (code, err)
    assert "Nothing differs" in out


def test_a_file_without_a_policy_is_said_to_have_none(asked, cluster):
    code, _, err = asked("what-if", cluster, "--policy", cluster)

    assert code == 0
    assert "has no policy of its own; the default policy applies" in err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "limits: {seconds: 5}\n",
            'unknown field "limits" (it belongs inside "policy")',
        ),
        ("policy: {seed: 7}\n", 'the field "kind" is missing (write kind: Config)'),
        (
            "apiVersion: phalanx/v1\nkind: Scenario\npolicy: {seed: 7}\n",
            'the field "given" is missing (it may be {})',
        ),
    ],
)
def test_who_gives_bare_settings_is_told_how_to_write_them(
    asked, cluster, tmp_path, text, told
):
    bare = tmp_path / "bare.yaml"
    bare.write_text(text)
    code, _, err = asked("what-if", cluster, "--policy", bare)

    assert code == 4
    assert told in err


def test_the_queue_that_is_made_up_for_who_names_none_comes_with_it(asked, tmp_path):
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "dgx"}}
    node["status"] = {"allocatable": {"cpu": 8, "pods": 110}}
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
    queue |= {"metadata": {"name": "research"}, "status": {"state": "Open"}}
    pods = {"containers": [{"name": "c"}], "schedulerName": "volcano"}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}}
    job["spec"] = {"template": {"spec": pods}}
    limited = {**queue, "metadata": {"name": "new"}, "spec": {"capability": {"cpu": 4}}}
    files = {}
    for name, items in {
        "there": [node, queue],
        "job": [job],
        "both": [job, limited],
    }.items():
        files[name] = tmp_path / f"{name}.yaml"
        files[name].write_text(yaml.safe_dump_all(items))
    words = ["what-if", files["there"], "--scheduler-name", "volcano", "-o", "json"]
    code, out, _ = asked(*words, "--submit", files["job"])

    assert code == 0
    assert {"default/train": "starts"} == became(json.loads(out))
    _, _, err = asked(*words, "--submit", files["both"])
    assert "brings queues too (new)" in err
