"""
``phalanx study``, as a person uses it.
"""

import json
import re

import pytest

from adapters.cli.main import run
from adapters.machine.folder_lock import alone_in

TRACE = "submit,duration,gpus,queue\n" + "".join(
    f"{at * 100},{600 + at * 10},{(1, 2, 8)[at % 3]},{'ab'[at % 2]}\n"
    for at in range(30)
)


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(TRACE)
    return str(path)


def study(kind, trace, folder, *words):
    known = ("--strategy", "greedy", "--workers", "1", "-O", str(folder))
    return run(["study", kind, trace, "--cluster", "2x8", *known, *words])


def test_a_study_of_capacity_says_how_many_nodes_are_enough(trace, tmp_path, capsys):
    words = ("--nodes", "1,2,4", "--target", "wait.mean<=12m")

    assert 0 == study("capacity", trace, tmp_path / "out", *words)
    shown = capsys.readouterr().out
    document = json.loads((tmp_path / "out" / "study.json").read_text())
    assert "4 nodes are enough (tried 1, 2, 4 nodes)" in shown
    assert "with 1 no schedule keeps to it, proven" in shown
    assert ["1x8", "2x8", "4x8"] == [row["cluster"] for row in document["frontier"]]
    assert 0.5 < document["took"]["busy"] <= 1


def test_a_search_tries_few_sizes_and_plays_none_twice(trace, tmp_path, capsys):
    words = ("--nodes", "1..16", "--target", "wait.mean<=12m", "--search")

    assert 0 == study("capacity", trace, tmp_path / "out", *words)
    assert 0 == study("capacity", trace, tmp_path / "out", *words)
    document = json.loads((tmp_path / "out" / "study.json").read_text())
    (way,) = document["enough"]
    assert 3 == way["enough"]
    assert len(way["tried"]) <= 6
    assert 0 == document["took"]["replays"]
    assert "3 nodes are enough" in capsys.readouterr().out


@pytest.mark.parametrize("words", [(), ("--search",)])
def test_nodes_on_which_a_job_never_starts_are_not_enough(words, tmp_path, capsys):
    path = tmp_path / "jobs.csv"
    path.write_text("job,submit,duration,gpus,pods\na,0,1h,8,1\nb,0,1h,8,2\n")
    aim = ("--nodes", "1..3", "--target", "wait.p99<=2h", "--quotas", "none")

    assert 0 == study("capacity", str(path), tmp_path / "out", *aim, *words)
    shown = capsys.readouterr().out
    document = json.loads((tmp_path / "out" / "study.json").read_text())
    left = {row["cluster"]: row["leftOut"] for row in document["frontier"]}
    assert {"1x8": 1, "2x8": 0} == {name: left[name] for name in ("1x8", "2x8")}
    assert "2 nodes are enough" in shown
    assert "with 1 no schedule keeps to it, proven" in shown
    assert "left out, since they can never start there: 1 job of 1x8" in shown


def test_a_study_of_policies_puts_them_side_by_side(trace, tmp_path, capsys):
    words = ("--set", "waiting.heads=0,2", "--set", "waiting.protectAfter=10m", "-o")

    assert 0 == study("policy", trace, tmp_path / "out", *words, "json")
    document = json.loads(capsys.readouterr().out)
    labels = [row["label"] for row in document["frontier"]]
    assert "PolicyStudy" == document["kind"]
    assert [
        "waiting.heads=0 waiting.protectAfter=10m",
        "waiting.heads=2 waiting.protectAfter=10m",
    ] == labels


def test_two_studies_do_not_write_into_one_folder(trace, tmp_path, capsys):
    with alone_in(tmp_path / "out"):
        assert 1 == study("policy", trace, tmp_path / "out")
    assert "another process writes into" in capsys.readouterr().err


def test_what_is_said_twice_is_played_once(trace, tmp_path):
    words = [
        "--set",
        "waiting.heads=1,1",
        "--quotas",
        "none",
        "--quotas",
        "none",
        "--seeds",
        "2",
    ]

    assert 0 == study("policy", trace, tmp_path / "out", *words)
    document = json.loads((tmp_path / "out" / "study.json").read_text())
    (row,) = document["frontier"]
    assert (2, 2) == (document["replays"], row["traces"])


def test_policies_of_one_file_name_are_told_apart(trace, tmp_path):
    files = []
    for folder, heads in (("a", 0), ("b", 2)):
        path = tmp_path / folder / "policy.yaml"
        path.parent.mkdir()
        path.write_text(
            "{apiVersion: phalanx/v1, kind: Scenario, rule: x, given: {}, expect: {}, "
            f"policy: {{waiting: {{heads: {heads}}}}}}}"
        )
        files.append(str(path))
    words = [word for file in files for word in ("--policy", file)]

    assert 0 == study("policy", trace, tmp_path / "out", *words)
    document = json.loads((tmp_path / "out" / "study.json").read_text())
    assert files == [row["label"] for row in document["frontier"]]


def test_clusters_of_other_nodes_do_not_say_how_many_are_enough(tmp_path, capsys):
    path = tmp_path / "jobs.csv"
    path.write_text("job,submit,duration,gpus,pods\na,0,1h,8,1\nb,0,1h,1,2\n")
    aim = [
        "--nodes",
        "1..3",
        "--other",
        "10x4",
        "--target",
        "wait.p99<=2h",
        "--quotas",
        "none",
    ]

    assert 0 == study("capacity", str(path), tmp_path / "out", *aim)
    shown = capsys.readouterr().out
    assert "Nx8 greedy none as given: 1 node is enough (tried 1, 2, 3 nodes)" in shown
    assert "Nx4 greedy none as given: not enough with any (tried 10 nodes)" in shown


def test_where_some_is_stopped_a_study_says_what_that_cost(tmp_path, capsys):
    path = tmp_path / "jobs.csv"
    early = "".join(f"{at},7200,8,a\n" for at in range(4))
    late = "".join(f"{3600 + at},7200,8,b\n" for at in range(4))
    path.write_text(f"submit,duration,gpus,queue\n{early}{late}")
    words = ("--quotas", "gpu-hours", "--evictions")
    values = ("--set", "evict.maxLostPerGpu=null,60")

    assert 0 == study("policy", str(path), tmp_path / "out", *words, *values)
    found = capsys.readouterr().out
    lost = [float(number) for number in re.findall(r"([\d.]+) GPU-h", found)]
    assert "FAIRNESS" in found
    assert "WORK LOST" in found
    assert "done again" in found
    assert lost[0] > lost[1] == 0

    assert 0 == study("policy", str(path), tmp_path / "still", *words[:2], *values)
    assert "WORK LOST" not in capsys.readouterr().out


def test_a_tier_is_reached_by_its_name(trace, tmp_path, capsys):
    policy = tmp_path / "policy.yaml"
    tiers = "[{name: late, after: 10d}, gangs]"
    policy.write_text(
        "apiVersion: phalanx/v1\nkind: Scenario\ngiven: {}\n"
        f"policy: {{tiers: {tiers}, waiting: {{heads: 0}}}}\n"
    )
    words = ("--policy", str(policy), "--set", "tiers.late.after=0s,1000d", "-o")

    assert 0 == study("policy", trace, tmp_path / "out", *words, "json")
    document = json.loads(capsys.readouterr().out)
    labels = [row["label"] for row in document["frontier"]]
    assert ["policy tiers.late.after=0s", "policy tiers.late.after=1000d"] == labels


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--nodes", "8..4"), "is not a range"),
        (("--search",), "needs --nodes and --target"),
        (("--target", "happiness<=3"), "'happiness' is none of wait.mean"),
        (("--set", "waiting.heds=1"), "a policy has no 'heds' there"),
        (("--set", "wait.heads=1"), "a policy has no 'wait' there"),
        (("--set", "seed.of.all=1"), "a policy has no 'seed' there"),
        (("--set", "tiers.late.after=1d"), "a policy has no 'late' there"),
        (("--set", "tiers.packing=1"), "say which option of 'packing'"),
        (("--set", "tiers.packing.after=1d"), "options of the tier late only"),
        (("--nodes", "4", "--cluster", "jobs.csv"), "varies the first kind"),
        (("--nodes", ""), "neither a number nor a range"),
        (("--quotas", "fair"), "is not gpu-hours or none"),
        (
            ("--set", "waiting.heads=1", "--set", "waiting.heads=2"),
            "--set waiting.heads is said more than once",
        ),
        (
            [
                "--nodes",
                "2..4",
                "--search",
                "--target",
                "wait.p99<=1h",
                "--other",
                "9x4",
            ],
            "study --other without it",
        ),
    ],
)
def test_what_cannot_be_studied_is_refused(trace, tmp_path, capsys, words, what):
    assert study("capacity", trace, tmp_path / "out", *words) in {2, 4}
    assert what in capsys.readouterr().err
