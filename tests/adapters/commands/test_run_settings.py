import re

import pytest
import typer

from adapters.cli.views.listed_source import record_path
from adapters.kube.dialects.coscheduling.shared import Family
from adapters.kube.dialects.registry import dialects
from adapters.service.run_settings import BUDGET, as_run_here, read_config, running
from models.errors import InputRejectedError
from tests.adapters.commands.command import phalanx

NOTHING = {"seconds": None, "seed": None, "workers": None}
FILE = """\
apiVersion: phalanx/v1
kind: Config
policy: {seed: 3}
run:
  shard: blue
  interval: 30
  schedulerNames: [phalanx, kai-scheduler]
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(FILE)
    return str(path)


def test_each_setting_says_where_it_comes_from(path, monkeypatch):
    monkeypatch.setenv("PHALANX_INTERVAL", "20")
    monkeypatch.setenv("PHALANX_NODE_POOL", "example.com/pool=a")
    found = running(read_config(path), {"shard": "red"}, NOTHING)

    assert ("red", 20.0, "example.com/pool=a") == (
        found.run.shard,
        found.run.interval,
        found.run.node_pool,
    )
    assert {
        "shard": "flag --shard",
        "interval": "env PHALANX_INTERVAL",
        "nodePool": "env PHALANX_NODE_POOL",
        "schedulerNames": "file",
    } == found.origins
    assert 3 == found.policy.seed


def test_the_environment_lists_with_commas(monkeypatch):
    monkeypatch.setenv("PHALANX_SCHEDULER_NAMES", "phalanx, volcano")

    assert ("phalanx", "volcano") == running(None, {}, NOTHING).run.scheduler_names


def test_how_words_are_read_is_said_as_to_other_commands(monkeypatch):
    monkeypatch.setenv("PHALANX_DIALECT", "ack=alone koordinator=podgroup-first")
    found = running(None, {}, NOTHING)

    assert ("ack=alone", "koordinator=podgroup-first") == found.run.dialects
    assert "env PHALANX_DIALECT" == found.origins["dialects"]


def test_what_may_be_said_often_is_named_as_it_is_said():
    names = {"schedulerNames": ("a", "b"), "dialects": ("ack=alone",)}
    found = running(None, names, NOTHING)

    assert {
        "schedulerNames": "flag --scheduler-name",
        "dialects": "flag --dialect",
    } == found.origins


def test_a_round_in_a_cluster_is_bounded_by_the_clock_unless_said_otherwise(tmp_path):
    path = tmp_path / "c.yaml"
    head = "apiVersion: phalanx/v1\nkind: Config\n"
    path.write_text(f"{head}policy: {{limits: {{deterministic: 2}}}}\n")

    assert BUDGET == running(None, {}, NOTHING).policy.limits.seconds
    assert running(read_config(str(path)), {}, NOTHING).policy.limits.seconds is None


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"interval": 0.0}, "interval"),
        ({"shard": "No Name"}, "shard"),
        ({"leaseRenew": 20.0}, "must rise"),
        ({"listen": "8080"}, "listen .* is not an address such as :8080"),
        ({"namespace": "Mine"}, "namespace"),
        ({"dialects": ("volcano=backwards",)}, "dialects"),
        ({"ownStatus": ("koordinater",)}, "'koordinator', 'ack' or 'coscheduling'"),
        ({"dialects": ("ack=alone", "koordinator=alone")}, "exclude each other"),
    ],
)
def test_what_cannot_work_is_wrong_use(said, words):
    with pytest.raises(typer.BadParameter, match=words):
        running(None, said, NOTHING)


def test_the_status_that_may_be_our_own_is_that_of_whoever_can_be_told_so():
    names = [one.name for one in dialects() if isinstance(one, Family)]

    assert tuple(names) == running(None, {"ownStatus": names}, NOTHING).run.own_status


def test_a_file_of_settings_is_rejected_with_every_problem_and_its_line(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(f"{FILE}  intervall: 3\n  threads: many\n")
    with pytest.raises(InputRejectedError) as caught:
        read_config(str(path))
    said = "\n".join(map(str, caught.value.problems))

    assert "run.intervall, line 8" in said
    assert 'did you mean "interval"?' in said
    assert "run.threads, line 9" in said


def test_a_file_says_at_once_which_addresses_and_names_are_none(tmp_path):
    path = tmp_path / "c.yaml"
    head = FILE.replace("interval: 30", "listen: none")
    path.write_text(head)
    assert "none" == read_config(str(path)).run.listen

    wrong = "  uiListen: foo\n  namespace: my team\n  nodePool: blue\n"
    path.write_text(head.replace("listen: none", "listen: '8080'") + wrong)
    with pytest.raises(InputRejectedError) as caught:
        read_config(str(path))
    said = [str(one) for one in caught.value.problems]

    assert [
        "run.listen, line 6: '8080' is not an address such as :8080",
        "run.namespace, line 9: 'my team' is not a valid name",
        "run.nodePool, line 10: 'blue' is not a label such as example.com/pool=a",
        "run.uiListen, line 8: 'foo' is not an address such as :8080",
    ] == [text.split(" (")[0].split(", or ")[0] for text in said]


def test_config_shows_how_the_scheduler_runs(path, capsys):
    assert 0 == phalanx("config", "show", path)
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}

    assert rows["run.interval"].split()[1:] == ["30", "s", "file"]
    assert "the whole cluster" in rows["run.nodePool"]
    assert rows["seed"].endswith("file")


def test_the_environment_names_the_file_of_settings(path, capsys, monkeypatch):
    monkeypatch.setenv("PHALANX_CONFIG", path)
    assert 0 == phalanx("config", "show")
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}

    assert rows["run.shard"].split()[1:] == ["blue", "file"]
    assert (("phalanx", "kai-scheduler"), "blue") == (
        as_run_here().scheduler_names,
        record_path(None).parent.name,
    )


def test_config_shows_what_bounds_a_round_where_nobody_says_it(path, capsys):
    assert 0 == phalanx("config", "show", path)
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert rows["limits.seconds"].split(maxsplit=3)[1:] == ["2", "s", "default of run"]

    assert 0 == phalanx("config", "show", path, "--seconds", "7")
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert rows["limits.seconds"].split()[1] == "7"
    assert "default of run" not in rows["limits.workers"]


def test_a_scheduler_names_itself_and_what_differs_from_the_defaults(path):
    found = running(read_config(path), {"interval": 5}, NOTHING)

    assert {
        "namespace": "phalanx-system",
        "shard": "blue",
        "schedulerNames": ["phalanx", "kai-scheduler"],
        "interval": 5.0,
    } == found.said()


def test_config_takes_every_flag_of_run(path, capsys):
    shown = ["--shard", "red", "--scheduler-name", "a", "--scheduler-name", "b"]
    assert 0 == phalanx("config", "show", path, *shown, "--no-leader-elect")
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}

    assert rows["run.shard"].split()[1:] == ["red", "flag", "--shard"]
    assert "a, b" in rows["run.schedulerNames"]
    assert "flag --leader-elect" in rows["run.leaderElect"]
    assert rows["run.interval"].split()[1:] == ["30", "s", "file"]
    known = []
    for words in (["run"], ["config", "show"]):
        assert 0 == phalanx(*words, "--help")
        known.append(set(re.findall(r"--[a-z-]+", capsys.readouterr().out)))
    assert known[0] - known[1] == {"--config"}  # there it is the argument


def test_a_node_pool_is_a_label(capsys, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", "/nowhere/at/all")

    assert 2 == phalanx("run", "--node-pool", "blue")
    assert "'blue' is not a label" in capsys.readouterr().err
