"""
`phalanx hold` and `release`: annotations on objects that are there, and nothing else.
"""

import json

import pytest

from adapters.cli.main import run
from adapters.kube.acting.pause import NAMESPACES, PAUSE, Pause
from adapters.kube.dialects.workloads import RESOURCES
from adapters.kube.gangs.holds import HELD_BY, HELD_SINCE, HOLD
from adapters.kube.gangs.kinds import NEEDED
from tests.adapters.kube.api_server import NODES, PODS
from tests.adapters.kube.following import kubeconfig, transport_to
from tests.adapters.kube.writing_server import WritingServer
from tests.helpers.kube.manifests import node, obj, pod

JOBS = next(each for each in RESOURCES if each.kind == "Job")
GANG = "gang.scheduling.koordinator.sh"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """
    A Job with a pod, and a gang that only annotations of its two pods make.
    """
    with WritingServer(*NEEDED, JOBS, NAMESPACES) as server:
        server.put(NODES, node())
        job = obj("batch/v1", "Job", "train", "default")
        server.put(JOBS, {**job, "spec": {"parallelism": 1}})
        server.put(PODS, pod("train-0", owner=("batch/v1", "Job", "train")))
        said = {f"{GANG}/name": "pair", f"{GANG}/min-available": "2"}
        for i in range(2):
            server.put(PODS, pod(f"pair-{i}", annotations=said))
        monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, server.url))
        monkeypatch.setenv("USER", "alice")
        yield server


def reason_of(name, capfd):
    assert 0 == run(["get", "gangs", name, "-o", "json"])
    (row,) = json.loads(capfd.readouterr().out)["items"]
    return row["reason"], row["message"]


def annotations(server, resource, key):
    return server.object(resource, key)["metadata"].get("annotations", {})


def test_a_gang_is_held_on_its_own_object_and_released_there(server, capfd):
    assert 0 == run(["hold", "gang", "train", "--reason", "no data yet"])
    told = capfd.readouterr().out
    held = annotations(server, JOBS, "default/train")
    reason, message = reason_of("train", capfd)
    assert 0 == run(["release", "gang", "default/train"])
    freed = annotations(server, JOBS, "default/train")

    assert "gang default/train is held: it stands on Job default/train\n" == told
    assert ("no data yet", "alice") == (held[HOLD], held[HELD_BY])
    assert "Held" == reason
    assert f"is held by alice since {held[HELD_SINCE]}: no data yet" == message
    assert not {HOLD, HELD_BY, HELD_SINCE} & {k for k, v in freed.items() if v}
    assert {"PATCH", "POST"} >= {verb for verb, _, _ in server.writes}


def test_a_gang_without_an_object_is_held_on_all_its_pods(server, capfd):
    assert 0 == run(["hold", "gang", "pair"])
    held = [HOLD in annotations(server, PODS, f"default/pair-{i}") for i in range(2)]

    assert [True, True] == held
    assert "Pod default/pair-0 and 1 more" in capfd.readouterr().out
    assert "Held" == reason_of("pair", capfd)[0]

    assert 0 == run(["release", "gang", "pair"])
    assert "it stood on Pod default/pair-0 and 1 more" in capfd.readouterr().out
    assert (None, None) == reason_of("pair", capfd)


def test_who_is_held_already_keeps_who_since_when_and_why(server, capfd, monkeypatch):
    words = (HOLD, HELD_BY, HELD_SINCE)
    assert 0 == run(["hold", "gang", "pair", "--reason", "no data yet"])
    before = annotations(server, PODS, "default/pair-0")
    said = {f"{GANG}/name": "pair", f"{GANG}/min-available": "2"}
    server.put(PODS, pod("pair-2", annotations=said))
    capfd.readouterr()
    monkeypatch.setenv("USER", "bob")
    assert 0 == run(["hold", "gang", "pair"])
    told = capfd.readouterr().out
    names = [f"default/pair-{i}" for i in range(3)]
    kept = [annotations(server, PODS, name) for name in names]

    since = before[HELD_SINCE]
    assert f"is held already by alice since {since}: no data yet\n" in told
    for notes in kept:
        assert [before[word] for word in words] == [notes[word] for word in words]

    assert 0 == run(["hold", "gang", "pair", "--reason", "a new disk"])
    notes = annotations(server, PODS, names[0])
    assert "is held: it stands on" in capfd.readouterr().out
    assert ("a new disk", "bob") == (notes[HOLD], notes[HELD_BY])


def test_a_dry_run_writes_nothing(server, capfd):
    assert 0 == run(["hold", "gang", "pair", "--dry-run"])

    assert "nothing was written" in capfd.readouterr().out
    assert [] == server.writes


def test_what_is_not_held_is_not_released_and_what_is_not_there_is_named(server, capfd):
    assert 0 == run(["release", "gang", "train"])
    assert "gang default/train is not held\n" == capfd.readouterr().out
    assert 2 == run(["hold", "gang", "trian"])
    assert "did you mean" in capfd.readouterr().err


def test_who_runs_and_is_held_says_so(server, capfd):
    bound = pod("train-0", owner=("batch/v1", "Job", "train"), nodeName="n")
    server.put(PODS, {**bound, "status": {"phase": "Running"}})
    assert 0 == run(["hold", "gang", "train"])
    capfd.readouterr()

    reason, message = reason_of("train", capfd)
    assert "Held" == reason
    assert message.endswith("what runs goes on")


def test_a_namespace_that_is_paused_says_who_since_when_and_why(
    server, capfd, tmp_path
):
    server.put(NAMESPACES, obj("v1", "Namespace", "phalanx-system"))
    now = [0.0]
    pause = Pause(transport_to(tmp_path, server), "phalanx-system", lambda: now[0])
    assert pause() is None
    assert 0 == run(["pause", "--no-wait", "--reason", "a new fabric"])
    assert pause() is None, "it is asked again after two seconds"
    now[0] += 2
    facts = pause().facts

    assert ("alice", "a new fabric") == (facts["by"], facts["detail"])
    assert facts["since"].endswith("Z")
    server.fault("get", NAMESPACES, "status")
    now[0] += 2
    assert facts == pause().facts

    assert 0 == run(["resume"])
    now[0] += 2
    assert pause() is None
    assert PAUSE not in annotations(server, NAMESPACES, "phalanx-system")


def test_a_second_pause_keeps_the_first_and_what_is_not_paused_is_not_resumed(
    server, capfd, monkeypatch
):
    server.put(NAMESPACES, obj("v1", "Namespace", "phalanx-system"))
    assert 0 == run(["resume"])
    assert "not paused: no pause stands on Namespace phalanx-system\n" == (
        capfd.readouterr().out
    )
    assert 0 == run(["pause", "--no-wait", "--reason", "a new fabric"])
    before = annotations(server, NAMESPACES, "phalanx-system")
    capfd.readouterr()
    monkeypatch.setenv("USER", "bob")
    assert 0 == run(["pause", "--no-wait"])

    told = capfd.readouterr().out
    assert "paused already by alice since " in told
    assert ": a new fabric; it stands on Namespace phalanx-system" in told
    assert before == annotations(server, NAMESPACES, "phalanx-system")


def test_a_cluster_without_the_namespace_is_not_paused(server, tmp_path):
    assert Pause(transport_to(tmp_path, server), "nowhere", lambda: 0.0)() is None
