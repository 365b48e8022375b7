from contextlib import suppress
from dataclasses import dataclass

import pytest

from adapters.kube.api.api_resources import Resource
from adapters.kube.api.errors import ForbiddenError, SnapshotRefusedError
from adapters.kube.objects.pod_reader import pod_record
from adapters.kube.watch.cache import Cache
from adapters.kube.watch.pace import State
from models.gangs import PodPhase
from tests.adapters.kube.api_server import GROUPS, NODES, PODS
from tests.adapters.kube.raw_pods import raw_pod

REFUSED = "podgroups.scheduling.example.io"
POD = "team-0/job-0-worker-0"
UID = raw_pod(0, 0)["metadata"]["uid"]


@dataclass
class Followed:
    """
    A reflector that says what the test wants.
    """

    resource: Resource = PODS
    state: State = State.SYNCED
    age: float | None = 0.0
    error: Exception | None = None

    def staleness(self) -> float | None:
        return self.age


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def cache(clock):
    cache = Cache([PODS, NODES, GROUPS], clock=clock, confirm=30, oldest=90)
    put(cache, raw_pod(0, 5))
    put(cache, raw_pod(1, 6, "node-1"))
    return cache


def put(cache: Cache, raw: dict) -> None:
    record, version = pod_record(raw), raw["metadata"]["resourceVersion"]
    cache.shelf(PODS).put(record.key, int(version), record, version)


def pod(cache: Cache, key: str = POD):
    return {p.key: p for p in cache.view([]).pods}[key]


def test_a_view_says_which_versions_it_was_read_from(cache):
    cache.shelf(NODES).replace({}, "40")
    cache.shelf(PODS).mark("41")

    assert {"pods": "41", "nodes": "40"} == cache.view([]).versions


def test_a_view_does_not_change_afterwards(cache):
    view = cache.view([])
    put(cache, raw_pod(2, 7))
    cache.shelf(PODS).drop(POD, "8")

    assert [POD, "team-0/job-0-worker-1"] == [p.key for p in view.pods]


@pytest.mark.parametrize(
    ("followed", "problem"),
    [
        (Followed(state=State.UNSYNCED, age=None), "pods were not read yet"),
        (Followed(age=91.4), "pods are 91 s old, more than 90 s"),
        (Followed(state=State.MISSING), "pods are not served"),
        (
            Followed(GROUPS, State.UNSYNCED, None, ForbiddenError("list x", "", "r")),
            f"{REFUSED} were not read yet (cannot list x: the role lacks the rule r)",
        ),
    ],
)
def test_a_view_is_refused_with_what_lacks_and_how_old_it_is(cache, followed, problem):
    with pytest.raises(SnapshotRefusedError) as caught:
        cache.view([Followed(NODES), followed])

    assert (problem,) == caught.value.problems
    assert f"no snapshot: {problem}" == str(caught.value)


def test_a_kind_that_is_not_installed_refuses_nothing(cache):
    view = cache.view([Followed(GROUPS, State.MISSING, 0.0)])

    assert ("scheduling.example.io", "PodGroup") not in view.objects.by_kind


def test_an_installed_kind_without_objects_is_there(cache):
    cache.shelf(GROUPS).replace({}, "3")

    assert {("scheduling.example.io", "PodGroup"): ()} == cache.view([]).objects.by_kind


def test_an_object_in_two_versions_is_there_once():
    older = Resource(group="g", version="v1alpha1", plural="ws", kind="W")
    newer = Resource(group="g", version="v1alpha2", plural="ws", kind="W")
    cache = Cache([newer, older])
    cache.shelf(older).replace({"a/b": (1, {"v": 1})}, "5")
    cache.shelf(newer).replace({"a/b": (1, {"v": 2})}, "5")

    assert ({"v": 2},) == cache.view([]).objects.of("g", "W")


def test_pods_are_found_by_node(cache):
    one = [p.name for p in cache.pods_on("node-1")]
    put(cache, raw_pod(1, 9, "node-2"))
    cache.shelf(PODS).drop("team-0/job-0-worker-1", "10")

    assert ["job-0-worker-1"] == one
    assert ((), ()) == (cache.pods_on("node-1"), cache.pods_on("node-2"))


def test_an_assumed_pod_counts_as_bound(cache):
    cache.assume(POD, UID, "node-3")
    view = cache.view([])

    assert (POD,) == view.assumed
    assert ("node-3", PodPhase.RUNNING) == (pod(cache).node, pod(cache).phase)


def test_a_confirmed_pod_is_assumed_no_more(cache):
    cache.assume(POD, UID, "node-3")
    put(cache, raw_pod(0, 7))
    still = cache.view([]).assumed
    put(cache, raw_pod(0, 8, "node-3"))

    assert ((POD,), ()) == (still, cache.view([]).assumed)


def test_the_server_is_believed_where_it_says_another_node(cache):
    cache.assume(POD, UID, "node-3")
    put(cache, raw_pod(0, 8, "node-4"))

    assert "node-4" == pod(cache).node


@pytest.mark.parametrize("how", ["dropped", "another", "leaving", "listed"])
def test_an_assumed_pod_that_is_gone_is_assumed_no_more(cache, how):
    cache.assume(POD, UID, "node-3")
    raw = raw_pod(0, 9)
    if how == "dropped":
        cache.shelf(PODS).drop(POD, "9")
    elif how == "listed":
        cache.shelf(PODS).replace({}, "9")
    elif how == "another":
        raw["metadata"]["uid"] = "another"
        put(cache, raw)
    else:
        raw["metadata"]["deletionTimestamp"] = "2026-11-01T12:00:00Z"
        put(cache, raw)

    assert () == cache.view([]).assumed


def test_an_assumption_expires(cache, clock):
    cache.assume(POD, UID, "node-3")
    clock.now += 29.9
    before = pod(cache).node
    clock.now += 0.2

    assert ("node-3", None) == (before, pod(cache).node)


@pytest.mark.parametrize("leaves", [False, True])
def test_nothing_assumed_expires_while_the_watch_of_pods_is_silent(
    cache, clock, leaves
):
    if leaves:
        put(cache, raw_pod(0, 8, "node-3"))
        cache.assume_leaving(POD, UID)
    else:
        cache.assume(POD, UID, "node-3")
    clock.now += 70
    silent = cache.view([Followed(NODES), Followed(PODS, age=41.0)]).assumed
    heard = cache.view([Followed(NODES, age=70.0), Followed(PODS, age=39.0)]).assumed

    assert ((POD,), ()) == (silent, heard)


def test_a_failed_binding_is_forgotten(cache):
    cache.assume(POD, UID, "node-3")
    cache.forget(POD)

    assert pod(cache).node is None


@pytest.mark.parametrize(
    ("key", "uid"),
    [(POD, "another"), ("team-0/none", UID), ("team-0/job-0-worker-1", UID)],
)
def test_only_a_pod_that_waits_can_be_assumed(cache, key, uid):
    cache.assume(key, uid, "node-3")

    assert () == cache.view([]).assumed


def test_a_list_keeps_the_records_that_did_not_change(cache):
    same, changed = pod(cache), pod(cache, "team-0/job-0-worker-1")
    listed = {
        POD: (5, pod_record(raw_pod(0, 5))),
        changed.key: (9, pod_record(raw_pod(1, 9, "node-2"))),
    }
    cache.shelf(PODS).replace(listed, "9")

    assert same is pod(cache)
    assert "node-2" == pod(cache, changed.key).node
    assert [changed.key] == [p.key for p in cache.pods_on("node-2")]
    assert () == cache.pods_on("node-1")


PLACE = (GROUPS.group, "v1", GROUPS.plural, "team", "g")


def came(cache, number: int, **raw) -> None:
    cache.shelf(GROUPS).put("team/g", number, raw, str(number))


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize(("made", "changes"), [("8", False), ("9", True), ("", True)])
def test_a_version_of_a_group_that_we_wrote_is_no_change(cache, made, changes, early):
    came(cache, 7)
    before = cache.revision
    with cache.writing(PLACE) as tell:
        if early:  # the watch may be faster than the answer
            came(cache, 8, phase="Inqueue")
        tell(made)
    if not early:
        came(cache, 8, phase="Inqueue")

    assert changes == (before < cache.revision)
    assert {"phase": "Inqueue"} == cache.shelf(GROUPS).records["team/g"]


def test_what_others_write_while_we_do_and_after_us_is_a_change(cache):
    came(cache, 7, min=1)
    revisions = [cache.revision]
    with cache.writing(PLACE) as tell:
        came(cache, 8, min=2)
        came(cache, 9, min=2, phase="Inqueue")
        tell("9")
    revisions.append(cache.revision)
    came(cache, 10, min=3, phase="Inqueue")
    revisions.append(cache.revision)

    assert sorted(set(revisions)) == revisions


def test_of_two_writes_in_a_row_the_first_is_heard_of_during_the_second(cache):
    came(cache, 7)
    before = cache.revision
    with cache.writing(PLACE) as tell:
        tell("8")
    with cache.writing(PLACE) as tell:
        came(cache, 8, phase="Inqueue")
        tell("9")
    came(cache, 9, phase="Running")

    assert before == cache.revision
    assert {"phase": "Running"} == cache.shelf(GROUPS).records["team/g"]


def test_what_we_make_is_no_change_and_what_others_make_meanwhile_is(cache):
    before = cache.revision
    with cache.writing(PLACE) as tell:
        tell("8")
    came(cache, 8)
    own = cache.revision
    cache.shelf(GROUPS).drop("team/g", "9")
    gone = cache.revision
    with cache.writing(PLACE):
        came(cache, 10)

    assert before == own < gone < cache.revision


def test_a_write_that_fails_hides_nothing(cache):
    came(cache, 7)
    before = cache.revision
    with suppress(ValueError), cache.writing(PLACE):
        came(cache, 8, min=2)
        raise ValueError
    after = cache.revision
    came(cache, 9, min=3)

    assert before < after < cache.revision


def test_versions_that_never_come_back_do_not_pile_up(cache):
    for number in range(5000):
        with cache.writing(PLACE) as tell:
            tell(str(number + 1))

    assert 1000 >= len(cache.shelf(GROUPS)._own)


def test_what_is_wrong_with_many_kinds_alike_is_told_once():
    kinds = ["pods", "nodes", "jobs.batch", "queues.example.com"]
    what = "{0} were not read yet (cannot list {0}: refused)"
    alike = [what.format(kind) for kind in kinds]
    error = SnapshotRefusedError([*alike, "namespaces are not served"])

    assert (alike[0], "… and 3 other kinds likewise", "namespaces are not served") == (
        error.told
    )
    assert len(error.problems) == 5
    assert "jobs.batch" not in str(error)
    assert tuple(alike[:3]) == SnapshotRefusedError(alike[:3]).told
