import logging
import time
from dataclasses import replace

import pytest

from adapters.kube.api.errors import ForbiddenError
from adapters.kube.api.paths import path_of
from adapters.kube.watch.pace import State
from adapters.kube.watch.read_resource import ReadResource
from models.gangs import PodPhase
from tests.adapters.kube.api_server import GROUPS, PODS, key_of
from tests.adapters.kube.following import QUICK, Following
from tests.adapters.kube.raw_pods import raw_pod
from tests.helpers.eventually import eventually

LINE_FAULTS = (
    "truncate",
    "garble",
    "duplicate",
    "replay",
    "reorder",
    "hang",
    "end",
    "reset",
)


def group(name: str, **spec: object) -> dict:
    return {
        "apiVersion": "scheduling.example.io/v1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "team"},
        "spec": spec,
    }


def fill(server, count: int) -> None:
    for index in range(count):
        server.put(PODS, raw_pod(index, 0))


def wanted(server, resource=PODS) -> list[str]:
    return sorted(server.kinds[path_of(resource)].objects)


def test_a_list_in_pages_is_held_whole(server, transport):
    fill(server, 8)
    with Following(transport, PODS) as following:
        eventually(lambda: following.reflectors[0].synced)

        assert wanted(server) == following.names(PODS)
        assert 3 == server.count("list", PODS)


def test_what_happens_is_followed(server, transport):
    fill(server, 2)
    with Following(transport, PODS) as following:
        eventually(lambda: len(following.held(PODS)) == 2)
        fill(server, 4)
        server.put(PODS, raw_pod(0, 0, "node-1"))
        server.delete(PODS, "team-0/job-0-worker-1")
        eventually(lambda: wanted(server) == following.names(PODS))
        pod = following.held(PODS)["team-0/job-0-worker-0"]

        assert ("node-1", PodPhase.RUNNING) == (pod.node, pod.phase)


def test_a_plain_end_is_resumed_without_a_list(server, transport):
    fill(server, 2)
    with Following(transport, PODS) as following:
        for index in range(2, 6):
            eventually(lambda: server.count("watch", PODS))
            server.end(PODS)
            server.put(PODS, raw_pod(index, 0))
        eventually(lambda: wanted(server) == following.names(PODS))

        assert 1 == server.count("list", PODS)


def test_a_watch_resumes_from_the_last_bookmark(server, transport):
    with Following(transport, PODS) as following:
        eventually(lambda: server.count("watch", PODS) == 1)
        server.put(GROUPS, group("other"))
        server.bookmark(PODS)
        shelf = following.cache.shelf(PODS)
        eventually(lambda: shelf.version == str(server.version))
        server.compact(GROUPS)
        server.end(PODS)
        eventually(lambda: server.count("watch", PODS) == 2)

        query = [q for verb, _, q in server.requests if verb == "watch"][-1]
        assert shelf.version == query["resourceVersion"]
        assert "true" == query["allowWatchBookmarks"]


@pytest.mark.parametrize("what", LINE_FAULTS)
@pytest.mark.parametrize("after", [0, 3])
def test_a_spoilt_stream_loses_nothing(server, transport, what, after):
    fill(server, 2)
    server.fault("watch", PODS, what, after=after)
    with Following(transport, PODS) as following:
        eventually(lambda: server.count("watch", PODS))
        fill(server, 10)
        server.put(PODS, raw_pod(0, 0, "node-1"))
        server.delete(PODS, "team-0/job-0-worker-1")
        eventually(lambda: not server.faults_left())
        eventually(lambda: wanted(server) == following.names(PODS))
        eventually(lambda: following.held(PODS)["team-0/job-0-worker-0"].node)


@pytest.mark.parametrize("last", ["bound", "deleted"])
def test_what_comes_late_of_a_pod_does_not_undo_what_came_after(
    server, transport, last
):
    server.fault("watch", PODS, "reorder")
    with Following(transport, PODS) as following:
        eventually(lambda: server.count("watch", PODS) == 1)
        server.put(PODS, raw_pod(0, 0))
        if last == "bound":
            server.put(PODS, raw_pod(0, 0, "node-1"))
        else:
            server.delete(PODS, "team-0/job-0-worker-0")
        server.put(PODS, raw_pod(1, 0))
        eventually(lambda: "team-0/job-0-worker-1" in following.held(PODS))
        pod = following.held(PODS).get("team-0/job-0-worker-0")

        assert (pod.node == "node-1") if last == "bound" else (pod is None)


@pytest.mark.parametrize("how", ["log", "status", "line"])
def test_an_expired_version_is_listed_again(server, transport, how):
    fill(server, 5)
    with Following(transport, PODS) as following:
        eventually(lambda: server.count("watch", PODS) == 1)
        eventually(lambda: following.reflectors[0].synced)
        kept = following.held(PODS)["team-0/job-0-worker-2"]
        if how == "status":
            server.fault("watch", PODS, "status", code=410)
        elif how == "line":
            server.fault("watch", PODS, "error", code=410)
            server.put(PODS, raw_pod(7, 0))
        server.end(PODS)
        if how == "log":
            server.put(PODS, raw_pod(8, 0))
            server.delete(PODS, "team-0/job-0-worker-0")
            server.compact(PODS)
            server.end(PODS)
        server.put(PODS, raw_pod(9, 0))
        eventually(lambda: wanted(server) == following.names(PODS))

        assert kept is following.held(PODS)["team-0/job-0-worker-2"]


def test_a_list_that_expires_between_pages_begins_again(server, transport):
    fill(server, 8)
    server.fault("list", PODS, "status", code=410, after=1)
    with Following(transport, PODS) as following:
        eventually(lambda: following.reflectors[0].synced)

        assert wanted(server) == following.names(PODS)
        assert 5 == server.count("list", PODS)


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_list_that_is_refused_between_pages_goes_on_from_there(
    server, transport, code
):
    fill(server, 30)  # ten pages
    for _ in range(9):
        server.fault("list", PODS, "status", code=code, after=1)
    with Following(transport, PODS) as following:
        eventually(lambda: following.reflectors[0].synced)

        assert wanted(server) == following.names(PODS)
        assert 19 == server.count("list", PODS)


def test_a_list_that_is_always_refused_on_one_page_begins_again(server, transport):
    fill(server, 8)
    server.fault("list", PODS, "status", code=500, after=1)
    for _ in range(2):
        server.fault("list", PODS, "status", code=500)
    with Following(transport, PODS) as following:
        eventually(lambda: following.reflectors[0].synced)

        assert wanted(server) == following.names(PODS)
        assert 7 == server.count("list", PODS)


def test_an_object_that_comes_again_under_its_name_is_the_new_one(server, transport):
    fill(server, 1)
    with Following(transport, PODS) as following:
        eventually(lambda: following.reflectors[0].synced)
        server.delete(PODS, "team-0/job-0-worker-0")
        again = raw_pod(0, 0)
        again["metadata"]["uid"] = "another"
        server.put(PODS, again)
        eventually(
            lambda: (
                (pod := following.held(PODS).get("team-0/job-0-worker-0"))
                and pod.uid == "another"
            )
        )


def test_a_refused_list_is_tried_again_ever_more_slowly(server, transport):
    pace = replace(QUICK, first=0.02, longest=10.0)
    for _ in range(5):
        server.fault("list", PODS, "status", code=403)
    with Following(transport, PODS, pace=pace) as following:
        (reflector,) = following.reflectors
        eventually(lambda: isinstance(reflector.error, ForbiddenError))
        began = time.monotonic()
        eventually(lambda: reflector.synced)

        assert time.monotonic() - began >= 0.02 * (1 + 2 + 4 + 8) / 2
        assert reflector.error is None


def test_a_busy_server_is_left_alone_as_long_as_it_says(server, transport):
    server.fault("list", PODS, "status", code=429, retry_after=1)
    began = time.monotonic()
    with Following(transport, PODS) as following:
        eventually(lambda: following.reflectors[0].synced)

        assert time.monotonic() - began >= 1.0


@pytest.mark.parametrize("what", ["silent", "slow"])
def test_a_server_that_does_not_answer_is_asked_again(server, transport, what):
    fill(server, 2)
    server.fault("list", PODS, what, seconds=0.6)
    with Following(transport, PODS) as following:
        eventually(lambda: following.reflectors[0].synced)

        assert wanted(server) == following.names(PODS)


def test_a_watch_that_always_ends_at_once_is_no_busy_loop(server, transport):
    pace = replace(QUICK, first=0.05, longest=10.0, short=1.0)
    with Following(transport, PODS, pace=pace) as following:
        began = time.monotonic()
        while time.monotonic() - began < 0.6:
            eventually(lambda: following.reflectors[0]._stream)
            server.end(PODS)

        assert server.count("watch", PODS) < 8


def test_a_server_back_at_an_older_version_is_listed_again(server, transport):
    fill(server, 3)
    with Following(transport, PODS) as following:
        eventually(lambda: server.count("watch", PODS) == 1)
        for _ in range(3):
            server.fault("watch", PODS, "status", code=504)
        server.end(PODS)
        eventually(lambda: server.count("list", PODS) == 2)
        eventually(lambda: server.count("watch", PODS) == 5)

        assert wanted(server) == following.names(PODS)


def test_a_kind_that_is_not_installed_is_said_once_and_picked_up_later(
    server, transport, caplog
):
    server.remove(GROUPS)
    with (
        caplog.at_level(logging.INFO, "adapters.kube.watch.reflector"),
        Following(transport, GROUPS) as following,
    ):
        (reflector,) = following.reflectors
        eventually(lambda: server.count("list", GROUPS) >= 3)
        missing = reflector.state
        server.install(GROUPS)
        server.put(GROUPS, group("train"))
        eventually(lambda: reflector.synced)
        eventually(lambda: following.names(GROUPS) == ["team/train"])
        server.remove(GROUPS)
        eventually(lambda: reflector.state is State.MISSING)

        assert State.MISSING is missing
        assert [] == following.names(GROUPS)
    said = [record.message for record in caplog.records]
    assert 2 == said.count("resource_missing")


def test_a_kind_that_was_read_is_not_forgotten_for_a_moment_without_it(
    server, transport, caplog
):
    server.put(GROUPS, group("train"))
    with (
        caplog.at_level(logging.INFO, "adapters.kube.watch.reflector"),
        Following(transport, GROUPS) as following,
    ):
        (reflector,) = following.reflectors
        eventually(lambda: reflector.synced)
        listed = server.count("list", GROUPS)
        for _ in range(5):
            server.fault("list", GROUPS, "status", code=404)
        server.fault("watch", GROUPS, "status", code=404)
        eventually(lambda: server.count("list", GROUPS) > listed + 5)
        eventually(lambda: reflector.error is None)

        assert ["team/train"] == following.names(GROUPS)
    assert "resource_missing" not in [record.message for record in caplog.records]


def test_a_refusal_of_what_is_not_installed_is_no_refusal(server, transport):
    server.remove(GROUPS)
    for _ in range(5000):
        server.fault("list", GROUPS, "status", code=403)
    with Following(transport, GROUPS) as following:
        eventually(lambda: following.reflectors[0].state is State.MISSING)


def test_a_refusal_of_what_is_installed_is_one(server, transport):
    for _ in range(50):
        server.fault("list", GROUPS, "status", code=403)
    with Following(transport, GROUPS) as following:
        (reflector,) = following.reflectors
        eventually(lambda: reflector.error)

        assert State.UNSYNCED is reflector.state


def test_an_object_without_a_name_is_told(server, transport):
    broken = raw_pod(0, 0)
    broken["metadata"]["name"] = 7
    server.put(PODS, broken)
    with Following(transport, PODS) as following:
        (reflector,) = following.reflectors
        eventually(lambda: reflector.passed_by)

        assert "without a name" in str(reflector.passed_by)
        assert reflector.synced


def test_staleness_grows_while_nothing_is_heard(server, transport):
    with Following(transport, PODS) as following:
        (reflector,) = following.reflectors
        eventually(lambda: reflector.synced)
        fresh = reflector._fresh
        reflector._clock = lambda: fresh + 40.0

        assert 40.0 == reflector.staleness()


def test_a_dead_line_is_noticed_and_begun_anew(server, transport):
    fill(server, 1)
    server.fault("watch", PODS, "hang")
    with Following(transport, PODS) as following:
        (reflector,) = following.reflectors
        eventually(lambda: server.count("watch", PODS) == 1)
        fill(server, 2)
        eventually(lambda: server.count("watch", PODS) == 2)
        eventually(lambda: len(following.held(PODS)) == 2)

        assert reflector.error is None


def test_a_reflector_stops_at_once(server, transport):
    pace = replace(QUICK, watch=60)
    with Following(transport, PODS, GROUPS, pace=pace) as following:
        eventually(lambda: server.count("watch", GROUPS))
        eventually(lambda: server.count("watch", PODS))
        began = time.monotonic()
        for reflector in following.reflectors:
            reflector.stop()

        assert all(reflector.join(2.0) for reflector in following.reflectors)
        assert time.monotonic() - began < 5


# --- objects that cannot be read ----------------------------------------------


def deep(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


ODD = {
    "nested as no parser goes": {"x": deep(900)},
    "nested deeper than kinds are": {"x": {"y": deep(150)}},
    "larger than any server takes": {"x": "y" * 5_000_000},
}


@pytest.mark.parametrize("case", ODD)
def test_an_object_that_cannot_be_read_is_passed_by_and_told(server, transport, case):
    server.put(GROUPS, group("before", minMember=1))
    server.put(GROUPS, group("odd", **ODD[case]))
    with Following(transport, GROUPS) as following:
        (reflector,) = following.reflectors
        eventually(lambda: reflector.synced)
        listed = following.names(GROUPS)
        server.put(GROUPS, group("late", **ODD[case]))
        server.put(GROUPS, group("after", minMember=1))
        eventually(lambda: "team/after" in following.held(GROUPS))
        passed = dict(reflector.passed_by)
        server.put(GROUPS, group("odd", minMember=2))
        server.delete(GROUPS, "team/late")
        eventually(lambda: not reflector.passed_by)

        assert ["team/before"] == listed
        assert {"team/odd", "team/late"} == set(passed)
        assert ["team/after", "team/before", "team/odd"] == following.names(GROUPS)
        assert 0 == reflector.thread.restarts
        assert 1 == server.count("list", GROUPS)


def test_an_object_that_can_no_longer_be_read_is_kept_as_it_was(server, transport):
    server.put(PODS, raw_pod(0, 0, "node-1"))
    server.put(PODS, raw_pod(1, 0))
    key = "team-0/job-0-worker-0"
    with Following(transport, PODS) as following:
        eventually(lambda: len(following.held(PODS)) == 2)
        odd = raw_pod(0, 0, "node-1")
        server.put(PODS, odd | {"spec": {"nodeName": "no name of a node"}})
        (reflector,) = following.reflectors
        eventually(lambda: key in reflector.passed_by)
        by_watch = following.held(PODS)[key].node
        server.compact(PODS)
        server.end(PODS)
        eventually(lambda: server.count("list", PODS) == 2)
        eventually(lambda: reflector.synced and len(following.held(PODS)) == 2)

        assert ("node-1", "node-1") == (by_watch, following.held(PODS)[key].node)
        assert "spec.nodeName" in reflector.passed_by[key]


def test_a_thread_that_broke_begins_again_and_reads_all(server, transport, monkeypatch):
    fill(server, 2)
    with Following(transport, PODS) as following:
        (reflector,) = following.reflectors
        eventually(lambda: len(following.held(PODS)) == 2)
        take, broken = ReadResource.take, []

        def broke(followed, line: bytes) -> bool:
            if not broken:
                broken.append(line)
                raise SystemExit(1)
            return take(followed, line)

        monkeypatch.setattr(ReadResource, "take", broke)
        fill(server, 3)
        eventually(lambda: len(following.held(PODS)) == 3, 10)

        assert 1 == reflector.thread.restarts
        assert 2 == server.count("list", PODS)


@pytest.mark.parametrize(
    ("word", "value", "field"),
    [
        ("kind", "ConfigMap", "kind: 'ConfigMap' is not PodGroup"),
        ("apiVersion", "x/v1", "apiVersion: 'x/v1' is not scheduling.example.io/v1"),
        ("namespace", "", "metadata.namespace: '', and podgroups have a namespace"),
    ],
)
def test_an_object_that_says_to_be_another_is_passed_by(
    server, transport, word, value, field
):
    odd = group("odd")
    place = odd["metadata"] if word == "namespace" else odd
    place[word] = value
    server.put(GROUPS, odd)
    server.put(GROUPS, group("good"))
    with Following(transport, GROUPS) as following:
        (reflector,) = following.reflectors
        eventually(lambda: reflector.synced)

        assert ["team/good"] == following.names(GROUPS)
        assert [field] == list(reflector.passed_by.values())


def test_a_store_that_was_put_back_is_read_anew(server, transport):
    fill(server, 1)
    before = server.version
    fill(server, 40)
    with Following(transport, PODS) as following:
        eventually(lambda: server.count("watch", PODS) == 1)
        server.fault("watch", PODS, "status", code=503)
        with server.changed:
            kind = server.kinds[path_of(PODS)]
            kind.objects = {key_of(raw := raw_pod(0, 0)): raw}
            kind.log.clear()
            server.version = before
        server.end(PODS)
        eventually(lambda: server.count("watch", PODS) > 2)
        fill(server, 3)
        eventually(lambda: wanted(server) == following.names(PODS))

        assert 3 == len(following.names(PODS))
