"""
``phalanx get``: gangs, queues, nodes and rounds in lists.
"""

import csv
import io
import json

import pytest

from adapters.cli.main import run
from adapters.cli.views.listing import span
from adapters.inventory.selectors import SelectorError, selector
from tests.adapters.commands.command import phalanx
from tests.adapters.documents import scenario
from tests.adapters.kube.following import kubeconfig
from tests.adapters.kube.status_cases import telling
from tests.adapters.lists.listed import GPU, table


def items(capsys, *words):
    assert 0 == phalanx(*words, "-o", "json")
    return json.loads(capsys.readouterr().out)["items"]


def names(capsys, *words):
    assert 0 == phalanx(*words, "-o", "name")
    return capsys.readouterr().out.split()


def test_gangs_are_shown_as_they_are_now_and_why_they_wait(busy, capsys):
    head, *rows = table(capsys, "get", "gangs", "-f", busy)

    heads = ["NAME", "QUEUE", "STATE", "PODS", "GPUS", "AGE", "REASON"]
    assert head.split() == [*heads, "WAITS", "FOR", "STARTS"]
    assert [
        "default/giant batch Waiting 0/1 64 0s NoFittingNode never –",
        "default/train research Running 2/2 6 2h – – –",
        "other/short batch Waiting 0/3 3 5m WaitingForPods pods –",
    ] == [" ".join(row.split()) for row in rows[:3]]
    assert "they hold 6 of 20 GPUs of all nodes (30.0 %)" in rows[4]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), ["default/giant", "default/train", "other/short"]),
        (("-A",), ["default/giant", "default/train", "other/short"]),
        (("-n", "other"), ["other/short"]),
        (("-q", "batch"), ["default/giant", "other/short"]),
        (("--state", "running"), ["default/train"]),
        (("--reason", "WaitingForPods"), ["other/short"]),
        (("short",), ["other/short"]),
        (("other/short", "train"), ["default/train", "other/short"]),
        (("--sort-by", "-gpus"), ["default/giant", "default/train", "other/short"]),
        (("--sort-by", "gpus"), ["other/short", "default/train", "default/giant"]),
    ],
)
def test_gangs_are_chosen_and_sorted(busy, capsys, words, expected):
    assert expected == names(capsys, "get", "gangs", "-f", busy, *words)


def test_reasons_of_a_file_are_those_that_the_plan_gives(capsys):
    file = "scenarios/reasons/like-gangs-have-reasons-of-their-own.yaml"
    listed = items(capsys, "get", "gangs", "-f", file)
    assert 0 == phalanx("plan", file, "-o", "json")
    planned = json.loads(capsys.readouterr().out)["gangs"]

    said = {line["name"]: line["reason"] for line in planned if line["reason"]}
    assert said == {
        f"{row['namespace']}/{row['name']}": row["reason"]
        for row in listed
        if row["reason"]
    }


def test_a_list_and_why_say_the_same_of_a_gang_that_waits(capsys):
    file = "scenarios/reasons/like-gangs-have-reasons-of-their-own.yaml"
    for row in items(capsys, "get", "gangs", "-f", file):
        if row["reason"]:
            assert 0 == phalanx("why", "gang", row["name"], file, "-o", "json")
            said = json.loads(capsys.readouterr().out)

            assert row["message"] == said["sentence"]
            assert row["waitsFor"].split()[0] == said["verdict"]


def test_a_list_says_when_gangs_start_where_limits_tell(tmp_path, capsys):
    runs = {"name": "runs", "min": 1, "requests": {GPU: 8}, "maxRuntime": "2h"}
    runs["running"] = [{"node": "n", "pods": 1, "for": "30m"}]
    waits = {"name": "waits", "min": 1, "requests": {GPU: 8}}
    given = {"nodes": [{"name": "n", "allocatable": {GPU: 8}}], "gangs": [runs, waits]}
    path = tmp_path / "limits.json"
    head = {"apiVersion": "phalanx/v1", "kind": "Snapshot"}
    path.write_text(json.dumps({**head, "given": given}))

    (row,) = items(capsys, "get", "gangs", "waits", "-f", path)
    assert ("room", "in 1h30m at the latest") == (row["waitsFor"], row["starts"])


def test_json_holds_the_numbers_of_a_gang(busy, capsys):
    (short,) = items(capsys, "get", "gangs", "short", "-f", busy)

    assert ("short", "other", "Waiting", 300) == (
        short["name"],
        short["namespace"],
        short["state"],
        short["ageSeconds"],
    )
    assert (3, 3, 1, 0) == tuple(
        short["pods"][word] for word in ("total", "min", "pending", "running")
    )
    assert "needs 3 pods, has 1 that may start" == short["message"]


def test_csv_is_for_programs(busy, capsys):
    assert 0 == phalanx("get", "gangs", "-f", busy, "-o", "csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))

    assert ("2", "2", "7200", "") == (
        rows[1]["pods_running"],
        rows[1]["pods_total"],
        rows[1]["age_seconds"],
        rows[1]["reason"],
    )


def test_queues_say_what_they_may_hold_and_what_they_use(busy, capsys):
    batch, research = items(capsys, "get", "queues", "-f", busy)

    assert {"Running": 1} == research["gangs"]
    assert {
        "quota": "8",
        "limit": "12",
        "weight": 1,
        "fairShare": "6",
        "used": "6",
        "borrowed": "0",
        "kept": "0",
        "overTime": None,
    } == research["resources"][GPU]
    assert {"Waiting": 2} == batch["gangs"]
    assert batch["resources"][GPU]["limit"] is None


def test_of_a_parent_it_is_said_that_only_its_own_gangs_are_counted(capsys):
    words = "a parent counts what is below it, of gangs only its own"
    for name, has_parents in (("", False), ("-three-levels-up", True)):
        path = f"scenarios/queues/limit-holds{name}.yaml"
        shown = "\n".join(table(capsys, "get", "queues", "-f", path))
        assert (words in shown) is has_parents


def test_queues_say_what_they_keep_where_some_do(capsys):
    path = "scenarios/queues/two-queues-keep-room-from-a-third.yaml"
    rows = items(capsys, "get", "queues", "-f", path)
    kept = {row["name"]: row["resources"][GPU]["kept"] for row in rows}

    head, *_ = table(capsys, "get", "queues", "-f", path)

    assert {"a": "4", "b": "4", "c": "0"} == kept
    assert "KEPT" in head
    head, *_ = table(capsys, "get", "queues", "-f", "scenarios/queues/limit-holds.yaml")
    assert "KEPT" not in head


def test_queues_say_what_they_used_over_time_and_whom_they_owe(capsys):
    path = "scenarios/queues/usage-weighs-on-the-share.yaml"
    owing, owed = (
        row["resources"][GPU]["overTime"]
        for row in items(capsys, "get", "queues", "-f", path)
    )
    shown = "\n".join(table(capsys, "get", "queues", "-f", path))
    assert 0 == phalanx("describe", "queue", "busy", "-f", path)

    assert {"usage": "120.5", "fairPart": "60.25", "owes": {"rare": "60.25"}} == owing
    assert {"usage": "0", "fairPart": "60.25", "owes": {}} == owed
    assert "60.2 to rare" in shown
    assert "its fair part is 60.2; owes 60.2 to rare" in capsys.readouterr().out


def test_queues_say_for_whom_nodes_are_held(capsys):
    path = "scenarios/waiting/an-entitled-head-is-firm-against-entitled-work.yaml"
    serve, train = items(capsys, "get", "queues", "-f", path)
    shown = "\n".join(table(capsys, "get", "queues", "-f", path))

    assert ({}, {"default/large": 0}) == (serve["holds"], train["holds"])
    assert "default/large (0s)" in shown

    head, *_ = table(capsys, "get", "queues", "-f", "scenarios/queues/limit-holds.yaml")
    assert "HELD FOR" not in head


def test_nodes_say_what_is_left_on_them(busy, capsys):
    first, second, old = items(capsys, "get", "nodes", "-f", busy)

    assert ("2", "8", "0") == (
        first["free"][GPU],
        second["free"][GPU],
        old["free"][GPU],
    )
    assert ({"default/train": 2}, "Closed") == (first["gangs"], old["state"])
    assert ["n-0", "n-1"] == names(capsys, "get", "nodes", "-f", busy, "-l", "rack=a")


def test_rounds_are_listed_with_what_came_of_them(recorded, capsys):
    head, first, second, *_ = table(capsys, "get", "rounds", "--rounds", recorded)

    assert head.startswith("NAME  OUTCOME   PLAN")
    assert ["r0", "rejected"] == first.split()[:2]
    assert ["r1", "done", "feasible", "1", "1", "2", "0", "0", "8"] == second.split()[
        :9
    ]
    assert ["r1"] == names(capsys, "get", "rounds", "--rounds", recorded, "--last", 1)


def test_the_record_is_looked_for_where_run_keeps_it(recorded, capsys, monkeypatch):
    folder = recorded.parent / "kept" / "west"
    folder.mkdir(parents=True)
    recorded.rename(folder / "rounds.jsonl")
    monkeypatch.setenv("PHALANX_FOLDER", str(folder.parent))
    monkeypatch.setenv("PHALANX_SHARD", "west")

    assert ["r0", "r1"] == names(capsys, "get", "rounds")


def test_gangs_of_a_recorded_round_are_those_that_it_decided_on(recorded, capsys):
    words = ("get", "gangs", "--round", "last", "--rounds", recorded)
    head, *rows = table(capsys, *words)

    assert head.split() == [
        *("NAME", "QUEUE", "STATE", "PODS", "BINDING", "RUNNING", "REASON"),
    ]
    assert ["default/starts", "default/waits"] == [row.split()[0] for row in rows[:2]]
    assert "1 more that run" in rows[-1]
    assert ["default/waits"] == names(capsys, *words, "--state", "Waiting")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("get", "gangs", "trian"), 2, "no gang 'trian'"),
        (("get", "gangs", "trian"), 2, "did you mean train?"),
        (("describe", "node", "n-9"), 2, "did you mean n-1?"),
        (("get", "gangs", "--sort-by", "gpu"), 2, "did you mean gpus?"),
        (("get", "gangs", "-l", "a=b"), 2, "no labels"),
        (("get", "nodes", "-l", "a in b"), 2, "is not a part of a selector"),
        (("get", "gangs", "-w"), 2, "leave out --watch"),
        (("get", "gangs", "--round", "last"), 2, "so it reads no file"),
        (("get", "gangs", "--context", "c"), 2, "--context is for the cluster"),
        (("describe", "node", "n-1", "--kubeconfig", "k"), 2, "-f looks at files"),
    ],
)
def test_a_wrong_question_is_answered_with_what_to_do(busy, capsys, words, code, said):
    assert code == phalanx(*words, "-f", busy)
    assert said in capsys.readouterr().err


def test_a_record_that_is_not_there_is_named(tmp_path, capsys):
    path = tmp_path / "none.jsonl"

    assert 2 == phalanx("get", "rounds", "--rounds", path)
    assert str(path) in capsys.readouterr().err
    assert 2 == phalanx("describe", "round", "--rounds", path)


def test_a_round_of_another_name_is_not_there(recorded, capsys):
    assert 2 == phalanx("describe", "round", "r7", "--rounds", recorded)
    assert "no round 'r7'" in capsys.readouterr().err


def test_who_runs_on_is_not_said_to_be_no_gang_of_a_recorded_round(recorded, capsys):
    where = ("--round", "last", "--rounds", recorded)

    assert 0 == phalanx("get", "gangs", "runs", *where)
    said = capsys.readouterr().out
    assert "None of the 2 gangs that round r1 recorded matches." == said.strip()
    assert 2 == phalanx("why", "gang", "runs", *where)
    assert "which lists who starts, waits or leaves" in capsys.readouterr().err


def test_tiers_of_a_recorded_round_have_their_units(recorded, capsys):
    head, value, *_ = table(capsys, "describe", "round", "--rounds", recorded)[10:]

    assert ["TIER", "WANTED", "GREEDY", "BOUND", "GAP"] == head.split()
    assert "1 entitled most value 50.0 % 50.0 % proven" == " ".join(value.split())


def test_gangs_of_a_queue_wait_for_what_is_said_where_gangs_are_listed(
    tmp_path, capsys
):
    path = tmp_path / "drained.json"
    node = {"name": "n", "allocatable": {GPU: 8}, "unschedulable": True}
    wide = {"name": "wide", "queue": "q", "min": 1, "requests": {GPU: 4}}
    path.write_text(
        json.dumps(scenario(nodes=[node], gangs=[wide], queues=[{"name": "q"}]))
    )
    (_, listed, *_) = table(capsys, "get", "gangs", "-q", "q", "-f", path)

    assert "nodes n" in listed
    assert listed in table(capsys, "describe", "queue", "q", "-f", path)


def test_what_nobody_matches_is_told_from_what_is_not_there(tmp_path, capsys):
    path = tmp_path / "two.yaml"
    nodes = [{"name": "n", "count": 2, "allocatable": {GPU: 8}}]
    path.write_text(json.dumps(scenario(nodes=nodes, queues=[{"name": "q"}])))

    of = ("get", "nodes", "-l", "rack=r9", "-f", path)
    assert [f"None of the 2 nodes in {path} matches."] == table(capsys, *of)
    of = ("get", "queues", "--state", "Closed", "-f", path)
    assert [f"None of the 1 queue in {path} matches."] == table(capsys, *of)


def test_an_empty_file_has_nothing_to_list(tmp_path, capsys):
    path = tmp_path / "empty.yaml"
    path.write_text("{apiVersion: phalanx/v1, kind: Snapshot, given: {}}")

    assert [f"No gangs in {path}."] == table(capsys, "get", "gangs", "-f", path)
    assert [] == items(capsys, "get", "nodes", "-f", path)
    assert "No queues" in table(capsys, "get", "queues", "-f", path)[0]


def test_a_name_in_two_namespaces_must_be_said_in_full(tmp_path, capsys):
    path = tmp_path / "two.json"
    twins = [{"name": "a", "namespace": space, "min": 1} for space in ("x", "y")]
    path.write_text(json.dumps(scenario(gangs=twins)))

    assert 2 == phalanx("describe", "gang", "a", "-f", path)
    assert "x/a, y/a" in capsys.readouterr().err
    assert 0 == phalanx("describe", "gang", "a", "-n", "y", "-f", path)


def test_a_cluster_is_read_with_what_its_pods_say(tmp_path, capsys):
    with telling("volcano", tmp_path) as tells:
        tells.writer.write(tells.told())
        where = ("--kubeconfig", kubeconfig(tmp_path, tells.server.url))
        waits, *_ = [
            row
            for row in items(capsys, "get", "gangs", *where)
            if row["name"] == "waits"
        ]
        found = items(capsys, "get", "gangs", *where, "-l", "no=such")
        described = table(capsys, "describe", "gang", "team/waits", *where)

    assert "DemandExceedsCluster" == waits["reason"]
    assert [] == found
    assert "Read from    volcano" in described


def test_kubectl_gang_is_the_same_command(busy, capsys):
    assert 0 == phalanx("get", "gang", "train", "-f", busy, "-o", "name")
    assert "default/train\n" == capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("", {}, True),
        ("a=b", {"a": "b"}, True),
        ("a==b", {"a": "c"}, False),
        ("a!=b", {}, True),
        ("a!=b", {"a": "b"}, False),
        ("a", {"a": ""}, True),
        ("!a", {"a": ""}, False),
        ("a in (b, c),d", {"a": "c", "d": "x"}, True),
        ("a in (b, c),d", {"a": "c"}, False),
        ("a notin (b)", {}, True),
        ("example.com/x=y", {"example.com/x": "y"}, True),
    ],
)
def test_selectors_are_those_of_kubectl(text, labels, expected):
    assert expected is selector(text)(labels)


@pytest.mark.parametrize("text", ["a b", "=b", "a in b", "a in (b", "(a)", "a>1"])
def test_what_is_no_selector_is_refused(text):
    with pytest.raises(SelectorError):
        selector(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (3599, "59m"),
        (3600, "1h"),
        (11_520, "3h12m"),
        (172_800, "2d"),
        (187_200, "2d4h"),
    ],
)
def test_times_are_written_as_kubectl_writes_them(seconds, text):
    assert text == span(seconds)


@pytest.mark.parametrize("words", [("get", "gangs"), ("describe", "gang", "train")])
def test_who_names_a_file_without_f_is_told_how(words, busy, capsys):
    assert 2 == run([*words, str(busy)])
    assert f"look at it with -f {busy}" in capsys.readouterr().err.replace(
        "look at the file with", "look at it with"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--state", "wating"), "there is no state 'wating' (did you mean Waiting?)"),
        (("--reason", "Fragmentd"), "(did you mean Fragmented?)"),
        (("--state", "x"), "there is Running, Reserved"),
    ],
)
def test_a_word_that_nothing_can_have_is_refused(busy, capsys, words, said):
    assert 2 == phalanx("get", "gangs", "-f", busy, *words)
    assert said in capsys.readouterr().err


def test_a_file_that_is_no_record_of_rounds_is_refused(busy, capsys):
    for words in (("get", "rounds"), ("get", "events"), ("describe", "round", "last")):
        assert 2 == phalanx(*words, "--rounds", busy)
        assert "is no record of rounds" in capsys.readouterr().err
