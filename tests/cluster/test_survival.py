"""
What happens to a scheduler, and to the cluster below it, must leave no gang in half.
"""

import json
import signal
import threading
import time
from contextlib import ExitStack
from itertools import count
from random import Random

import pytest

from adapters.kube.api.connect import connect
from tests.cluster.stage import Kubelet, Scheduler
from tests.cluster.webhook import Webhook
from tests.helpers.eventually import eventually

pytestmark = pytest.mark.cluster
KILLS = 30
MIDWAY = 10
PODS = 60
_SPACES = count()


@pytest.fixture
def space(stage):
    name = f"fall-{next(_SPACES)}"
    stage.ensure(name)
    return name


@pytest.fixture
def kubelet(stage):
    with Kubelet(stage) as kubelet:
        yield kubelet


@pytest.fixture
def webhook(stage, tmp_path):
    with Webhook(tmp_path) as webhook:
        webhook.install(stage.admin)
        yield webhook
        webhook.remove(stage.admin)


class Counted:
    """
    Counts the bound pods of a namespace as they happen; none may change its node.
    """

    def __init__(self, stage, space: str) -> None:
        self.bound: dict[str, str] = {}
        self.moved: list[str] = []
        self._admin = connect(stage.plane.kubeconfig("admin"))
        self._space = space
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()
        assert [] == self.moved

    def _run(self) -> None:
        path = f"/api/v1/namespaces/{self._space}/pods"
        while not self._over.is_set():
            for raw in self._admin.call("GET", path)["items"]:
                if node := raw["spec"].get("nodeName"):
                    uid = raw["metadata"]["uid"]
                    if node != self.bound.setdefault(uid, node):
                        self.moved.append(raw["metadata"]["name"])

    def until(self, number: int, seconds: float = 30.0) -> None:
        eventually(lambda: len(self.bound) >= number, seconds)


def binds_done(stage, space: str) -> dict[str, int]:
    """
    Count the binds of each pod that the server carried out.
    """
    counts: dict[str, int] = {}
    for _, verb, name, code in stage.plane.deeds(space):
        if verb == "binding" and code == 201:
            counts[name] = counts.get(name, 0) + 1
    return counts


@pytest.mark.slow
def test_thirty_killed_leaders_leave_no_gang_in_half(stage, kubelet, space, tmp_path):
    stage.nodes(8)
    chance = Random(6)
    users = ("phalanx", "second")
    with ExitStack() as running:

        def start(user: str) -> Scheduler:
            made = Scheduler(stage, folder=tmp_path, user=user, threads="1")
            return running.enter_context(made)

        leader, other = start(users[0]), start(users[1])
        for number in range(KILLS):
            leader, other = leading_first(leader, other)
            gang = f"gang-{number}"
            with Counted(stage, space) as counted:
                stage.gang(space, gang, PODS, 1)
                if number % 3:  # else at some moment around the creation
                    counted.until(chance.randrange(1, PODS // 2))
                else:
                    time.sleep(chance.random() * 0.3)
                leader.process.send_signal(signal.SIGKILL)
                leader.process.wait()
                leader, other = other, start(leader.user)
                counted.until(PODS, 60)  # whole, and nobody else
            stage.empty(space)

    done = binds_done(stage, space)
    # Who is killed may never hear of the last bind that he asked for, nor the audit.
    assert KILLS * PODS - KILLS <= len(done) <= KILLS * PODS
    assert {1} == set(done.values())  # no pod was bound twice
    by_gang = {name: len(who) for name, who in binders(stage, space).items()}
    assert {f"gang-{number}" for number in range(KILLS)} == by_gang.keys()
    # Two bound pods of it: the first died between its first and its last bind.
    assert sum(number == 2 for number in by_gang.values()) >= MIDWAY


def binders(stage, space: str) -> dict[str, set[str]]:
    """
    List who bound pods of each gang, by the receipts of the server.
    """
    found: dict[str, set[str]] = {}
    for user, verb, name, code in stage.plane.deeds(space):
        if verb == "binding" and code == 201:
            found.setdefault(name.rpartition("-")[0], set()).add(user)
    return found


def leading_first(one: Scheduler, two: Scheduler) -> tuple[Scheduler, Scheduler]:
    """
    Wait until one of two leads and the other follows the cluster too.
    """
    eventually(lambda: one.leads() or two.leads())
    leader, other = (one, two) if one.leads() else (two, one)
    eventually(lambda: len(other.events("resource_synced")) > 5)
    return leader, other


def test_a_leader_that_was_paused_binds_nothing(stage, kubelet, space, tmp_path):
    stage.nodes(30)
    with (
        Scheduler(stage, folder=tmp_path, user="phalanx", threads="1") as paused,
        Counted(stage, space) as counted,
    ):
        eventually(paused.leads)
        with Scheduler(stage, folder=tmp_path, user="second", threads="1") as other:
            eventually(lambda: len(other.events("resource_synced")) > 5)
            stage.gang(space, "first", 200, 1)
            counted.until(5)
            paused.process.send_signal(signal.SIGSTOP)
            left = len(stage.bound(space))
            eventually(lambda: stage.whole(space, first=200))
            before = stage.plane.deeds(space)
            paused.process.send_signal(signal.SIGCONT)
            eventually(lambda: paused.events("leadership_lost"))
            stage.gang(space, "second", 20, 1)
            eventually(lambda: stage.whole(space, second=20))
            after = stage.plane.deeds(space)[len(before) :]

    assert 0 < left < 200
    assert paused.receipts()["skipped"] > 0
    late = [deed for deed in after if deed[0] != "second"]
    assert {"second"} == {user for user, *_ in after}, late
    assert {1} == set(binds_done(stage, space).values())


def test_a_signal_ends_begun_gangs_and_begins_no_other(stage, kubelet, space, tmp_path):
    stage.nodes(20)
    stage.create(stage.group(space, f"g{i}", 30) for i in range(5))
    stage.create(p for i in range(5) for p in stage.members(space, f"g{i}", 30, 1))
    with (
        Scheduler(stage, folder=tmp_path, threads="1") as scheduler,
        Counted(stage, space) as counted,
    ):
        counted.until(3)
        scheduler.process.terminate()
        code = scheduler.process.wait(30)
    found = sorted(stage.gangs_bound(space).values())

    assert 0 == code
    assert {0, 30} == set(found)


def test_the_next_leader_does_not_wait_for_one_that_left(stage, space, tmp_path):
    stage.nodes(1)
    long = {"lease_duration": "60", "lease_renew": "40", "lease_retry": "0.3"}
    with Scheduler(stage, folder=tmp_path, user="phalanx", **long) as first:
        eventually(first.leads)
        with Scheduler(stage, folder=tmp_path, user="second", **long) as second:
            eventually(lambda: len(second.events("resource_synced")) > 5)
            first.process.terminate()
            began = time.monotonic()
            eventually(second.leads)

            assert time.monotonic() - began < 10


def test_a_restarted_api_server_delays_and_breaks_nothing(
    stage, kubelet, space, tmp_path
):
    stage.nodes(20)
    with (
        Scheduler(stage, folder=tmp_path, threads="1") as scheduler,
        Counted(stage, space) as counted,
    ):
        eventually(scheduler.leads)
        stage.gang(space, "first", 100, 1)
        counted.until(5)
        counted.__exit__()
        stage.plane.stop_server()
        time.sleep(1)
        stage.plane.start_server()
        eventually(lambda: stage.whole(space, first=100), 60)
        stage.gang(space, "second", 4, 1)
        eventually(lambda: stage.whole(space, second=4), 60)

    assert scheduler.process.returncode == -signal.SIGKILL  # until the test ended it
    assert {1} == set(binds_done(stage, space).values())


def test_watches_that_end_in_a_burst_lose_nothing(stage, kubelet, space, tmp_path):
    """
    The server ends every watch each second, without a word, while pods appear.
    """
    stage.nodes(250)
    gangs = {f"g{i}": 4 for i in range(500)}
    with Scheduler(stage, folder=tmp_path, watch="1") as scheduler:
        eventually(scheduler.leads)
        stage.create(stage.group(space, name, 4) for name in gangs)
        began = time.monotonic()
        stage.create(p for g in gangs for p in stage.members(space, g, 4, 1))
        burst = time.monotonic() - began
        eventually(lambda: stage.whole(space, **gangs), 120)

    assert burst > 2  # so that every watch ended more than once meanwhile
    assert {1} == set(binds_done(stage, space).values())


def test_a_slow_store_delays_and_breaks_nothing(stage, kubelet, space, tmp_path):
    stage.nodes(20)
    with (
        Scheduler(stage, folder=tmp_path, threads="4") as scheduler,
        Counted(stage, space) as counted,
    ):
        eventually(scheduler.leads)
        stage.gang(space, "first", 100, 1)
        counted.until(5)
        for _ in range(5):  # longer than the lease is sure, the third time
            stage.plane.signal_store(signal.SIGSTOP)
            time.sleep(1.5)
            stage.plane.signal_store(signal.SIGCONT)
            time.sleep(0.2)
        eventually(lambda: stage.whole(space, first=100), 60)

    assert {1} == set(binds_done(stage, space).values())


def test_a_node_that_goes_between_plan_and_bind_gets_no_pod(
    stage, kubelet, space, tmp_path
):
    names = stage.nodes(13)
    with (
        Scheduler(stage, folder=tmp_path, threads="1") as scheduler,
        Counted(stage, space) as counted,
    ):
        eventually(scheduler.leads)
        stage.gang(space, "first", 100, 1)
        counted.until(2)
        scheduler.process.send_signal(signal.SIGSTOP)
        used = set(stage.bound(space).values())
        gone = max(name for name in names if name not in used)  # the last to be filled
        stage.admin.call("DELETE", f"/api/v1/nodes/{gone}")
        scheduler.process.send_signal(signal.SIGCONT)
        eventually(lambda: scheduler.events("round_finished"))
        on_it = [p for p, node in stage.bound(space).items() if node == gone]
        stage.nodes(1, first=20)
        eventually(lambda: stage.whole(space, first=100), 60)

    assert [] == on_it
    failed = scheduler.events("operation_failed")
    assert any("is gone" in event["message"] for event in failed)


def test_what_a_webhook_refuses_waits_and_lets_others_pass(
    stage, kubelet, space, tmp_path, webhook
):
    stage.nodes(3)
    webhook.refused = space, "doomed-1"
    with Scheduler(stage, folder=tmp_path) as scheduler:
        eventually(scheduler.leads)
        stage.gang(space, "doomed", 3, 4)
        eventually(lambda: scheduler.events("operation_failed"))
        stage.gang(space, "fine", 2, 4)
        eventually(lambda: stage.whole(space, fine=2))
        refused = scheduler.events("operation_failed")
        webhook.refused = None
        eventually(lambda: stage.whole(space, doomed=3), 60)

    assert "not today" in refused[0]["message"]
    assert "refused" == refused[0]["result"]


def test_a_gang_that_stays_in_half_is_evicted_whole(
    stage, kubelet, space, tmp_path, webhook
):
    stage.nodes(3)
    webhook.refused = space, "doomed-1"
    settings = tmp_path / "config.json"
    head = {"apiVersion": "phalanx/v1", "kind": "Config"}
    settings.write_text(json.dumps(head | {"policy": {"evict": {"staleAfter": 3}}}))
    with Scheduler(stage, f"--config={settings}", folder=tmp_path) as scheduler:
        stage.gang(space, "doomed", 3, 8)
        eventually(lambda: scheduler.events("operation_failed"))
        half = stage.bound(space)
        stage.gang(space, "fine", 3, 8)
        eventually(lambda: stage.whole(space, fine=3))
    left = {name for _, verb, name, _ in stage.plane.deeds(space) if verb == "eviction"}

    assert "doomed-0" in half
    assert "doomed-1" not in half
    assert half.keys() == left


def test_promises_survive_the_leader_that_made_them(stage, space, tmp_path):
    """
    No kubelet ends the evicted pods until the second leader is there.
    """
    from tests.cluster.test_run import kai_gang, queue

    stage.nodes(1)
    stage.create([queue("top", "", 8), queue("rich", "top", 8)])
    stage.create([queue("poor", "top", 0)])
    with Scheduler(stage, folder=tmp_path) as first:
        kai_gang(stage, space, "lent", "poor", pods=1, gpus=8)
        eventually(lambda: stage.whole(space, lent=1))
        path = f"/api/v1/namespaces/{space}/pods/lent-0/status"
        stage.admin.call("PATCH", path, {"status": {"phase": "Running"}})
        kai_gang(stage, space, "back", "rich", pods=1, gpus=8)
        eventually(
            lambda: first.events("round_planned")[-1]["operations"] == {"Reserve": 1}
        )
    with Scheduler(stage, folder=tmp_path) as second, Kubelet(stage):
        eventually(lambda: stage.whole(space, back=1))

    planned = [event["operations"] for event in second.events("round_planned")]
    assert not any("Evict" in operations for operations in planned)
